"""Writes the folder of an export incrementally: a later run writes only changed files.

The folder has a manifest with the size, modification time and a digest of each file. A running export appends to a
journal: each file is recorded there before it is renamed to its final name. After a crash the next run knows which
files belong to exports, and completes the interrupted one.

Manifest and journal also hold notes: JSON values that an exporter stores for the next run.
"""

import hashlib
import json
import os
import shutil
import stat
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from itertools import count
from pathlib import Path
from types import TracebackType
from typing import Any, BinaryIO, Final, Protocol, Self, TextIO, TypeGuard

from filelock import FileLock, Timeout

from holdfast.backup.archives.media_files import KeptFile
from holdfast.backup.container.atomic_write import NO_LINKS
from holdfast.backup.container.private import make_private_folder
from holdfast.backup.errors import AttachmentError, ExportRefused, UnwritableBackup
from holdfast.backup.media import WINDOWS_DEVICES
from holdfast.backup.public import public
from holdfast.redacted_repr import redacted

__all__ = ["ExportFolder", "ExportSummary", "ExportTarget", "check_target"]

PREFIX: Final = ".holdfast-export"
MANIFEST: Final = f"{PREFIX}.json"
JOURNAL: Final = f"{PREFIX}.running"
PART: Final = f"{PREFIX}.part"
LOCK: Final = f"{PREFIX}.lock"
FORMAT: Final = "holdfast export"
VERSION: Final = 1
# Key of the note with the stamp of the whole export.
STAMP_NOTE: Final = "whole"
# Key of the note with the accounts of the export.
ACCOUNTS_NOTE: Final = "accounts"
# Digests of the identifying values of each account.
Accounts = Sequence[Sequence[str]]
# SHA-256 has hardware support.
DIGEST: Final = hashlib.sha256
# Characters that are not allowed in names: path syntax of file systems, and control characters.
FORBIDDEN: Final = frozenset('\\:*?"<>|\x7f') | {chr(code) for code in range(32)}


@public
@dataclass(frozen=True, slots=True)
class ExportSummary:
    """The result of an export: numbers of files written, left unchanged and removed."""

    written: int
    unchanged: int
    removed: int


@redacted
@dataclass(frozen=True, slots=True)
class ManifestEntry:
    """A file of the manifest: `mark` is a digest of its content, or identifies the file it was copied from."""

    size: int
    mtime_ns: int
    mark: str


class ExportTarget(Protocol):
    """The target of an export, a folder or a stream: takes files by name, and knows those of an earlier run."""

    path: Path
    notes: dict[str, Any]

    def finish_unchanged(self) -> ExportSummary | None:
        """Complete a run that would change nothing; None if there may be changes."""

    def read_note(self, key: str) -> Any:
        """Return a note of an earlier run, or None."""

    def write_note(self, key: str, value: bytes) -> None:
        """Store a note, encoded as JSON, for the next run."""

    def put(self, name: str, content: bytes | Iterable[bytes], mark: str = "") -> str:
        """Write a file and return the mark of its content, which the caller may pass if it is known."""

    def keep(self, name: str, mark: str) -> bool:
        """Keep an existing file if its content has this mark; return whether it was kept."""

    def read(self, name: str) -> bytes:
        """Read a file of an earlier run that this run has kept."""

    def place(self, name: str, source: KeptFile, identity: str | None = None) -> None:
        """Copy a file from elsewhere into the export."""

    def has(self, name: str) -> bool:
        """Return whether this run has written a file of that name."""

    def finish(self) -> ExportSummary:
        """Complete the export."""


class ExportFolder:
    """The folder of a running export; a context manager, completed by `finish()`.

    `stamp` is a digest of all inputs of the export, empty if unknown. `accounts` are the identifying digests of
    each account: an export of another account is not replaced.
    """

    def __init__(self, path: Path, form: str, stamp: str = "", accounts: Accounts = ()) -> None:
        self.path = path
        self.accounts = accounts
        self.form = form
        self.stamp = stamp
        self.interrupted = False
        self.previous: dict[str, ManifestEntry] = {}
        self.current: dict[str, ManifestEntry] = {}
        self.notes: dict[str, Any] = {}
        self.new_notes: dict[str, str] = {}
        self.claimed_names: dict[str, str] = {}
        self.existing_folders = {""}
        self.written = self.unchanged = 0
        self.part_numbers = count()
        with export_errors(path):
            make_private_folder(path)
            check_target(path)
        self.lock = FileLock(path / LOCK, mode=0o600, thread_local=False)
        self.acquire()
        try:
            self.journal = self.open_journal()
        except BaseException:
            self.release_lock()
            raise

    def acquire(self) -> None:
        """Acquire the lock of the folder."""
        with export_errors(self.path):
            try:
                self.lock.acquire(blocking=False)
            except Timeout:
                raise ExportRefused(f"another export is being written to {self.path}") from None

    def release_lock(self) -> None:
        """Release the lock; its file is deleted while the lock is held, where the system allows that."""
        with suppress(OSError):
            (self.path / LOCK).unlink()
        self.lock.release()

    def open_journal(self) -> TextIO:
        """Read manifest and journal of earlier runs, and open the journal for appending."""
        with export_errors(self.path):
            for name in (MANIFEST, JOURNAL):
                if (self.path / name).is_file():
                    self.read_entries((self.path / name).read_text("utf-8", "replace").split("\n"))
            self.check_accounts()
            for part_path in self.path.glob(f"{PART}.*"):
                part_path.unlink()
            self.interrupted = (self.path / JOURNAL).exists()
            journal = open(  # noqa: SIM115  # open until the export ends
                self.path / JOURNAL, "a", encoding="utf-8", opener=open_private
            )
            # The last line of a killed run may be truncated.
            journal.write(f"{header_line(self.form)}\n" if not self.interrupted else "\n")
            if self.accounts:
                self.new_notes[ACCOUNTS_NOTE] = line = note_line(ACCOUNTS_NOTE, json.dumps(self.accounts))
                journal.write(f"{line}\n")
            journal.flush()
            return journal

    def check_accounts(self) -> None:
        """Raise `ExportRefused` if the existing export has an account that this one does not have."""
        previous_accounts = self.notes.get(ACCOUNTS_NOTE)
        if not self.accounts or not is_list_of_accounts(previous_accounts):
            return
        current_marks = {mark for marks in self.accounts for mark in marks}
        if not all(current_marks.intersection(marks) for marks in previous_accounts):
            raise ExportRefused(f"{self.path} holds the export of another account; name another folder")

    def read_entries(self, lines: list[str]) -> None:
        """Read the lines of a manifest or journal; a truncated line is ignored."""
        for n, line in enumerate(lines):
            try:
                values = json.loads(line)
            except ValueError:
                continue
            match values:
                case {"format": str(name), "version": int(version), "form": str(form)} if n == 0:
                    if name != FORMAT or version > VERSION:
                        raise ExportRefused(f"{self.path} was written by a later version of Holdfast")
                    if form != self.form:
                        raise ExportRefused(f"{self.path} holds an export to {form}; name another folder")
                case [str(name), int(size), int(mtime), str(mark)] if is_valid_name(name):
                    self.previous[name] = ManifestEntry(size, mtime, mark)
                case {"note": str(key), "value": value}:
                    self.notes[key] = value

    def finish_unchanged(self) -> ExportSummary | None:
        """Complete a run that would change nothing and return its result; None if there may be changes.

        Nothing changes if the last run was complete and had the same stamp, and its files are unmodified.
        """
        if self.interrupted or not self.stamp or self.notes.get(STAMP_NOTE) != self.stamp:
            return None
        if not all(is_unchanged(self.path / name, entry) for name, entry in self.previous.items()):
            return None
        with export_errors(self.path):
            (self.path / JOURNAL).unlink()
        return ExportSummary(0, len(self.previous), 0)

    def read_note(self, key: str) -> Any:
        """Return a note of an earlier run, decoded from JSON; None if there is none."""
        return self.notes.get(key)

    def write_note(self, key: str, value: bytes) -> None:
        """Store a note, encoded as JSON, for the next run; a note that a run does not store is dropped."""
        self.new_notes[key] = line = note_line(key, value.decode())
        self.append_line(line)

    def append_line(self, line: str) -> None:
        """Append a line to the journal and flush it, so that it survives the process."""
        self.journal.write(f"{line}\n")
        self.journal.flush()

    def put(self, name: str, content: bytes | Iterable[bytes], mark: str = "") -> str:
        """Write a file, unless it has this content already; return the mark of its content.

        The caller may pass the mark if it is known.
        """
        if isinstance(content, bytes):
            path = self.claim(name)
            mark = mark or DIGEST(content).hexdigest()
            if not self.keep_if_unchanged(name, path, mark):
                part_path = self.part_path()
                try:
                    with open(part_path, "wb", opener=open_private) as target:
                        target.write(content)
                    self.commit_file(name, path, part_path, mark)
                except OSError as error:
                    raise write_error(path, error) from error
            return mark
        with self.open_file(name) as target:
            for chunk in content:
                target.write(chunk)
        return self.current[name].mark

    def keep(self, name: str, mark: str) -> bool:
        """Keep an existing file if its content has this mark; return whether it was kept."""
        return is_valid_name(name) and self.keep_if_unchanged(name, self.claim(name), mark)

    def read(self, name: str) -> bytes:
        """Read a file of the export."""
        path = self.claim(name)
        with export_errors(path):
            return Path(path).read_bytes()

    @contextmanager
    def open_file(self, name: str) -> Iterator[BinaryIO]:
        """Open a file for writing; it is renamed to its name on success, unless that has this content already."""
        path = self.claim(name)
        part_path = self.part_path()
        with export_errors(path):
            target = open(part_path, "w+b", opener=open_private)  # noqa: SIM115  # closed below
        try:
            with target:
                yield target
                with export_errors(path):
                    target.flush()
                    target.seek(0)
                    mark = hashlib.file_digest(target, DIGEST).hexdigest()
            if self.keep_if_unchanged(name, path, mark):
                Path(part_path).unlink()
            else:
                with export_errors(path):
                    self.commit_file(name, path, part_path, mark)
        except OSError as error:
            Path(part_path).unlink(missing_ok=True)
            raise write_error(path, error) from error
        except BaseException:
            Path(part_path).unlink(missing_ok=True)
            raise

    def place(self, name: str, source: KeptFile, identity: str | None = None) -> None:
        """Add a file from elsewhere, as a hard link if possible, else as a copy.

        It is not read again while its `identity` is unchanged: by default its name, size and modification time.
        """
        path = self.claim(name)
        with export_errors(source.path):
            status, size = source.path.stat(), source.size
        mark = f"from {identity or f'{source.path.name} {status.st_mtime_ns}'} {size}"
        if self.keep_if_unchanged(name, path, mark):
            return
        with export_errors(path):
            part_path = self.part_path()
            if source.key is not None or not try_hard_link(source.path, part_path):
                try:
                    with source.open() as content, open(part_path, "wb", opener=open_private) as target:
                        shutil.copyfileobj(content, target, 1 << 20)
                except AttachmentError:
                    Path(part_path).unlink(missing_ok=True)
                    raise
            self.commit_file(name, path, part_path, mark)
            # Renaming does nothing if both names are hard links to the same file.
            Path(part_path).unlink(missing_ok=True)

    def has(self, name: str) -> bool:
        """Return whether this run has written a file of that name."""
        return name in self.current

    def claim(self, name: str) -> str:
        """Check a name and create its parent folder; return its path, which is inside the export's folder."""
        if not is_valid_name(name):
            raise ValueError(f"{name!r} is not a valid name for a file of an export")
        if self.claimed_names.setdefault(name.casefold(), name) != name:
            raise ValueError(
                f"{name!r} and {self.claimed_names[name.casefold()]!r} are the same file on some file systems"
            )
        self.make_folder(name.rpartition("/")[0])
        return os.path.join(self.path, name)  # noqa: PTH118  # a path object for each file takes long

    def make_folder(self, folder: str) -> None:
        """Create a folder of the export and its parents."""
        if folder in self.existing_folders:
            return
        self.make_folder(folder.rpartition("/")[0])
        path = self.path / folder
        with export_errors(path):
            path.mkdir(mode=0o700, exist_ok=True)
            if path.is_symlink():
                raise ExportRefused(f"{path} is a symbolic link; remove it or name another folder")
        self.existing_folders.add(folder)

    def keep_if_unchanged(self, name: str, path: str, mark: str) -> bool:
        """Keep a file if it exists with this mark and is unmodified; return whether it was kept."""
        entry = self.previous.get(name)
        if entry is None or entry.mark != mark or not is_unchanged(path, entry):
            return False
        if name not in self.current:
            self.unchanged += 1
            self.current[name] = entry
        return True

    def part_path(self) -> str:
        """Return the path of a new temporary file."""
        return os.path.join(self.path, f"{PART}.{next(self.part_numbers)}")  # noqa: PTH118  # the same

    def commit_file(self, name: str, path: str, part_path: str, mark: str) -> None:
        """Record a file in the journal and rename it to its final name."""
        if name not in self.previous and os.path.lexists(path):
            Path(part_path).unlink()
            raise ExportRefused(f"{path} exists and is not part of this export; move it, or name another folder")
        status = os.stat(part_path)  # noqa: PTH116  # the same
        entry = ManifestEntry(status.st_size, status.st_mtime_ns, mark)
        self.append_line(entry_line(name, entry))
        os.replace(part_path, path)  # noqa: PTH105  # the same
        self.written += name not in self.current
        self.previous[name] = self.current[name] = entry

    def finish(self) -> ExportSummary:
        """Remove files of earlier exports that this one does not have, and write the manifest."""
        removed = 0
        folders: set[Path] = set()
        if self.stamp:
            self.write_note(STAMP_NOTE, json.dumps(self.stamp).encode())
        with export_errors(self.path):
            for name in sorted(self.previous.keys() - self.current.keys()):
                path = self.path / name
                # A file that somebody has changed is theirs now.
                if is_inside(self.path, path) and is_unchanged(path, self.previous[name]):
                    path.unlink()
                    removed += 1
                    folders.add(path.parent)
            for folder in sorted(folders, key=lambda folder: len(folder.parts), reverse=True):
                remove_empty_folders(folder, self.path)
            part_path = self.path / f"{PART}.list"
            with open(part_path, "w", encoding="utf-8", opener=open_private) as target:
                target.write(f"{header_line(self.form)}\n")
                target.writelines(f"{entry_line(name, entry)}\n" for name, entry in sorted(self.current.items()))
                target.writelines(f"{line}\n" for line in self.new_notes.values())
                target.flush()
                os.fsync(target.fileno())
            part_path.replace(self.path / MANIFEST)
            (self.path / JOURNAL).unlink()
        return ExportSummary(self.written, self.unchanged, removed)

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, problem: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.journal.close()
        self.release_lock()


def check_target(path: Path) -> None:
    """Raise `ExportRefused` for a folder that is neither new, empty nor an export."""
    with export_errors(path):
        names = {entry.name for entry in path.iterdir()} if os.path.lexists(path) else set()
    if names - {LOCK} and MANIFEST not in names and JOURNAL not in names:
        raise ExportRefused(f"{path} is not empty and is not an export; name a new or an empty folder")


@contextmanager
def export_errors(path: str | Path) -> Iterator[None]:
    """Convert an `OSError` to `UnwritableBackup`."""
    try:
        yield
    except OSError as error:
        raise write_error(path, error) from error


def write_error(path: str | Path, error: OSError) -> UnwritableBackup:
    """Return the error for a path that cannot be written."""
    return UnwritableBackup(f"{path} cannot be written: {error.strerror or error}")


def try_hard_link(source: Path, target: str) -> bool:
    """Create a hard link; return false if the file systems do not support it."""
    try:
        os.link(source, target)
    except OSError as error:
        if error.errno not in NO_LINKS:
            raise
        return False
    return True


def open_private(path: str, flags: int) -> int:
    """Open a file with mode 0600, without following symbolic links."""
    return os.open(path, flags | getattr(os, "O_NOFOLLOW", 0), 0o600)


def header_line(form: str) -> str:
    """Return the first line of a manifest or journal."""
    return json.dumps({"format": FORMAT, "version": VERSION, "form": form})


def note_line(key: str, value: str) -> str:
    """Return the line of a note, whose value is JSON."""
    return f'{{"note":{json.dumps(key)},"value":{value}}}'


def entry_line(name: str, entry: ManifestEntry) -> str:
    """Return the line of a file."""
    return json.dumps([name, entry.size, entry.mtime_ns, entry.mark], ensure_ascii=False)


def is_valid_name(name: str) -> bool:
    """Return whether a name is a valid relative path inside the folder on any operating system."""
    # This excludes `.` and `..`, which end with a dot.
    return FORBIDDEN.isdisjoint(name) and not any(
        part == "" or part[-1] in " ." or part.startswith(PREFIX) or WINDOWS_DEVICES.fullmatch(part)
        for part in name.split("/")
    )


def is_unchanged(path: str | Path, entry: ManifestEntry) -> bool:
    """Return whether a regular file has the size and modification time of its entry."""
    try:
        status = os.lstat(path)
    except OSError:
        return False
    return stat.S_ISREG(status.st_mode) and (status.st_size, status.st_mtime_ns) == (entry.size, entry.mtime_ns)


def is_inside(folder: Path, path: Path) -> bool:
    """Return whether a file is in a folder, with no symbolic link on the path."""
    return path.parent.resolve().is_relative_to(folder.resolve()) and not any(
        level.is_symlink() for level in path.parents if level != folder and level.is_relative_to(folder)
    )


def remove_empty_folders(folder: Path, top: Path) -> None:
    """Remove a folder and its parents below `top` while they are empty."""
    while folder != top and not any(folder.iterdir()):
        folder.rmdir()
        folder = folder.parent


def is_list_of_accounts(note: object) -> TypeGuard[list[list[str]]]:
    """Return whether a note is a list of the digests of accounts."""
    return isinstance(note, list) and all(
        isinstance(marks, list) and bool(marks) and all(isinstance(mark, str) for mark in marks) for marks in note
    )
