"""Writes the folder of an export, and the next time only what has changed.

A list of what was written is kept in the folder, with the size, the time and a digest of each file. While an
export runs, a second list grows beside it: each file is entered there before it gets its name. Whatever ends the
run, the next one knows which files are of exports, and finishes what this one began.

Both lists also hold notes: what whoever writes an export wants to know the next time.
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
# The note that tells what the whole export was made from.
STAMP_NOTE: Final = "whole"
# The note that tells whose export it is.
ACCOUNTS_NOTE: Final = "accounts"
# Of each account what it can be recognised by.
Accounts = Sequence[Sequence[str]]
# Processors have instructions for this one.
DIGEST: Final = hashlib.sha256
# What no name of an export holds: what file systems read as a path, and what cannot be shown.
FORBIDDEN: Final = frozenset('\\:*?"<>|\x7f') | {chr(code) for code in range(32)}


@public
@dataclass(frozen=True, slots=True)
class ExportSummary:
    """What an export did: files that were written, that were there already, and that are no longer of it."""

    written: int
    unchanged: int
    removed: int


@redacted
@dataclass(frozen=True, slots=True)
class ManifestEntry:
    """What is known of a file: `mark` is a digest of its content, or names the file it was placed from."""

    size: int
    mtime_ns: int
    mark: str


class ExportTarget(Protocol):
    """What an export is written to, a folder or a stream: takes files by name, knows what an earlier run wrote."""

    path: Path
    notes: dict[str, Any]

    def finish_unchanged(self) -> ExportSummary | None:
        """End a run that would change nothing; None where there may be something to do."""

    def read_note(self, key: str) -> Any:
        """Return what an earlier run wrote down; None for nothing."""

    def write_note(self, key: str, value: bytes) -> None:
        """Write something down for the next run, in JSON."""

    def put(self, name: str, content: bytes | Iterable[bytes], mark: str = "") -> str:
        """Write a file, and return the mark of its content; whoever knows the mark says it."""

    def keep(self, name: str, mark: str) -> bool:
        """Leave a file as it is, if it is there with the content of a mark; tell whether it is."""

    def read(self, name: str) -> bytes:
        """Read a file that an earlier run wrote and this one has kept."""

    def place(self, name: str, source: KeptFile, identity: str | None = None) -> None:
        """Put a file here that lies elsewhere."""

    def has(self, name: str) -> bool:
        """Return whether this run has already put a file of that name."""

    def finish(self) -> ExportSummary:
        """End the export."""


class ExportFolder:
    """The folder of an export while it is written; used in a `with` block, and ended by `finish()`.

    `stamp` stands for all that the export is made from, empty where that cannot be told. `accounts` lists of each
    account what it can be recognised by: an export of another account is not replaced.
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
        """Take the folder for this run."""
        with export_errors(self.path):
            try:
                self.lock.acquire(blocking=False)
            except Timeout:
                raise ExportRefused(f"another export is being written to {self.path}") from None

    def release_lock(self) -> None:
        """Let others have the folder; the file of the lock goes while it is held, or with it where it must."""
        with suppress(OSError):
            (self.path / LOCK).unlink()
        self.lock.release()

    def open_journal(self) -> TextIO:
        """Learn what earlier runs wrote, and open the list that grows."""
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
            # The last line of a run that was killed may have been cut off.
            journal.write(f"{header_line(self.form)}\n" if not self.interrupted else "\n")
            if self.accounts:
                self.new_notes[ACCOUNTS_NOTE] = line = note_line(ACCOUNTS_NOTE, json.dumps(self.accounts))
                journal.write(f"{line}\n")
            journal.flush()
            return journal

    def check_accounts(self) -> None:
        """Refuse to replace an export of which some account is not among those that are exported now."""
        previous_accounts = self.notes.get(ACCOUNTS_NOTE)
        if not self.accounts or not is_list_of_accounts(previous_accounts):
            return
        current_marks = {mark for marks in self.accounts for mark in marks}
        if not all(current_marks.intersection(marks) for marks in previous_accounts):
            raise ExportRefused(f"{self.path} holds the export of another account; name another folder")

    def read_entries(self, lines: list[str]) -> None:
        """Read a list of files; a line that was cut off is none."""
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
        """End a run that would change nothing; return what it did, None where there may be something to do.

        The last run ended well, what it was made from had the same stamp, and its files are as they were.
        """
        if self.interrupted or not self.stamp or self.notes.get(STAMP_NOTE) != self.stamp:
            return None
        if not all(is_unchanged(self.path / name, entry) for name, entry in self.previous.items()):
            return None
        with export_errors(self.path):
            (self.path / JOURNAL).unlink()
        return ExportSummary(0, len(self.previous), 0)

    def read_note(self, key: str) -> Any:
        """Return what an earlier run wrote down, as JSON tells it; None for nothing."""
        return self.notes.get(key)

    def write_note(self, key: str, value: bytes) -> None:
        """Write something down for the next run, in JSON; what no run writes down again is forgotten."""
        self.new_notes[key] = line = note_line(key, value.decode())
        self.append_line(line)

    def append_line(self, line: str) -> None:
        """Write a line to the list that grows, so that it is there when this process is not."""
        self.journal.write(f"{line}\n")
        self.journal.flush()

    def put(self, name: str, content: bytes | Iterable[bytes], mark: str = "") -> str:
        """Write a file; where it has this content already, leave it. Return the mark of its content.

        Whoever knows the mark says it.
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
        """Leave a file as it is, if it is there with the content of a mark; tell whether it is."""
        return is_valid_name(name) and self.keep_if_unchanged(name, self.claim(name), mark)

    def read(self, name: str) -> bytes:
        """Read a file of the export again."""
        path = self.claim(name)
        with export_errors(path):
            return Path(path).read_bytes()

    @contextmanager
    def open_file(self, name: str) -> Iterator[BinaryIO]:
        """Open a file to write; it gets its name when the block ends well, unless it has this content already."""
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
        """Put a file here that lies elsewhere, as a link to it where that can be, else as a copy.

        It is not read again while its `identity` stays: by default its name, its size and its time.
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
            # Two names of one file are not made one by renaming.
            Path(part_path).unlink(missing_ok=True)

    def has(self, name: str) -> bool:
        """Return whether this run has already put a file of that name."""
        return name in self.current

    def claim(self, name: str) -> str:
        """Check a name and make the folder it lies in; nothing that is written leaves the export's folder."""
        if not is_valid_name(name):
            raise ValueError(f"{name!r} is no name for a file of an export")
        if self.claimed_names.setdefault(name.casefold(), name) != name:
            raise ValueError(f"{name!r} and {self.claimed_names[name.casefold()]!r} are one file on some disks")
        self.make_folder(name.rpartition("/")[0])
        return os.path.join(self.path, name)  # noqa: PTH118  # a path object for each file takes long

    def make_folder(self, folder: str) -> None:
        """Make a folder inside the export's, and those it lies in."""
        if folder in self.existing_folders:
            return
        self.make_folder(folder.rpartition("/")[0])
        path = self.path / folder
        with export_errors(path):
            path.mkdir(mode=0o700, exist_ok=True)
            if path.is_symlink():
                raise ExportRefused(f"{path} is a link to elsewhere; remove it or name another folder")
        self.existing_folders.add(folder)

    def keep_if_unchanged(self, name: str, path: str, mark: str) -> bool:
        """Return whether a file is there and is what it should be, and if so keep it."""
        entry = self.previous.get(name)
        if entry is None or entry.mark != mark or not is_unchanged(path, entry):
            return False
        if name not in self.current:
            self.unchanged += 1
            self.current[name] = entry
        return True

    def part_path(self) -> str:
        """Choose a name for a file that is not ready yet."""
        return os.path.join(self.path, f"{PART}.{next(self.part_numbers)}")  # noqa: PTH118  # the same

    def commit_file(self, name: str, path: str, part_path: str, mark: str) -> None:
        """Give a file its name, after it was entered in the list."""
        if name not in self.previous and os.path.lexists(path):
            Path(part_path).unlink()
            raise ExportRefused(f"{path} is in the way and not of this export; move it, or name another folder")
        status = os.stat(part_path)  # noqa: PTH116  # the same
        entry = ManifestEntry(status.st_size, status.st_mtime_ns, mark)
        self.append_line(entry_line(name, entry))
        os.replace(part_path, path)  # noqa: PTH105  # the same
        self.written += name not in self.current
        self.previous[name] = self.current[name] = entry

    def finish(self) -> ExportSummary:
        """Remove what earlier exports wrote and this one has not, and write down what there is."""
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
    """Refuse a folder that holds something else than an export; one that is not there yet will do."""
    with export_errors(path):
        names = {entry.name for entry in path.iterdir()} if os.path.lexists(path) else set()
    if names - {LOCK} and MANIFEST not in names and JOURNAL not in names:
        raise ExportRefused(f"{path} is not empty and holds no export; name a new folder, or an empty one")


@contextmanager
def export_errors(path: str | Path) -> Iterator[None]:
    """Say of a disk that fails what could not be written."""
    try:
        yield
    except OSError as error:
        raise write_error(path, error) from error


def write_error(path: str | Path, error: OSError) -> UnwritableBackup:
    """Say what could not be written."""
    return UnwritableBackup(f"{path} cannot be written: {error.strerror or error}")


def try_hard_link(source: Path, target: str) -> bool:
    """Make a hard link; return whether there can be one."""
    try:
        os.link(source, target)
    except OSError as error:
        if error.errno not in NO_LINKS:
            raise
        return False
    return True


def open_private(path: str, flags: int) -> int:
    """Open a file that only its owner can read, and never through a link."""
    return os.open(path, flags | getattr(os, "O_NOFOLLOW", 0), 0o600)


def header_line(form: str) -> str:
    """Write the first line of a list."""
    return json.dumps({"format": FORMAT, "version": VERSION, "form": form})


def note_line(key: str, value: str) -> str:
    """Write the line of a note, whose value is JSON."""
    return f'{{"note":{json.dumps(key)},"value":{value}}}'


def entry_line(name: str, entry: ManifestEntry) -> str:
    """Write the line of a file."""
    return json.dumps([name, entry.size, entry.mtime_ns, entry.mark], ensure_ascii=False)


def is_valid_name(name: str) -> bool:
    """Return whether a name leads to a place inside the folder, on any system."""
    # A part that is `.` or `..` ends with a dot as well.
    return FORBIDDEN.isdisjoint(name) and not any(
        part == "" or part[-1] in " ." or part.startswith(PREFIX) or WINDOWS_DEVICES.fullmatch(part)
        for part in name.split("/")
    )


def is_unchanged(path: str | Path, entry: ManifestEntry) -> bool:
    """Return whether a file looks as it did when it was written."""
    try:
        status = os.lstat(path)
    except OSError:
        return False
    return stat.S_ISREG(status.st_mode) and (status.st_size, status.st_mtime_ns) == (entry.size, entry.mtime_ns)


def is_inside(folder: Path, path: Path) -> bool:
    """Return whether a file lies in a folder, with no link on the way."""
    return path.parent.resolve().is_relative_to(folder.resolve()) and not any(
        level.is_symlink() for level in path.parents if level != folder and level.is_relative_to(folder)
    )


def remove_empty_folders(folder: Path, top: Path) -> None:
    """Remove a folder and those around it, as far as they are empty."""
    while folder != top and not any(folder.iterdir()):
        folder.rmdir()
        folder = folder.parent


def is_list_of_accounts(note: object) -> TypeGuard[list[list[str]]]:
    """Return whether a note is the digests of the accounts of an export; what somebody else wrote there is not."""
    return isinstance(note, list) and all(
        isinstance(marks, list) and bool(marks) and all(isinstance(mark, str) for mark in marks) for marks in note
    )
