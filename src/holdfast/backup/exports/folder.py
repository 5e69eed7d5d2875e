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

OURS: Final = ".holdfast-export"
MANIFEST: Final = f"{OURS}.json"
JOURNAL: Final = f"{OURS}.running"
PART: Final = f"{OURS}.part"
LOCK: Final = f"{OURS}.lock"
FORMAT: Final = "holdfast export"
VERSION: Final = 1
# The note that tells what the whole export was made from.
WHOLE: Final = "whole"
# The note that tells whose export it is.
ACCOUNTS: Final = "accounts"
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
class Entry:
    """What is known of a file: `mark` is a digest of its content, or names the file it was placed from."""

    size: int
    mtime_ns: int
    mark: str


class ExportTarget(Protocol):
    """What an export is written to, a folder or a stream: takes files by name, knows what an earlier run wrote."""

    path: Path
    notes: dict[str, Any]

    def settled(self) -> ExportSummary | None:
        """End a run that would change nothing; None where there may be something to do."""

    def recall(self, key: str) -> Any:
        """Return what an earlier run wrote down; None for nothing."""

    def remember(self, key: str, value: bytes) -> None:
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
        self.known: dict[str, Entry] = {}
        self.kept: dict[str, Entry] = {}
        self.notes: dict[str, Any] = {}
        self.noted: dict[str, str] = {}
        self.taken: dict[str, str] = {}
        self.homes = {""}
        self.written = self.unchanged = 0
        self.numbers = count()
        with export_errors(path):
            make_private_folder(path)
            check_target(path)
        self.lock = FileLock(path / LOCK, mode=0o600, thread_local=False)
        self.take()
        try:
            self.journal = self.begin()
        except BaseException:
            self.release()
            raise

    def take(self) -> None:
        """Take the folder for this run."""
        with export_errors(self.path):
            try:
                self.lock.acquire(blocking=False)
            except Timeout:
                raise ExportRefused(f"another export is being written to {self.path}") from None

    def release(self) -> None:
        """Let others have the folder; the file of the lock goes while it is held, or with it where it must."""
        with suppress(OSError):
            (self.path / LOCK).unlink()
        self.lock.release()

    def begin(self) -> TextIO:
        """Learn what earlier runs wrote, and open the list that grows."""
        with export_errors(self.path):
            for name in (MANIFEST, JOURNAL):
                if (self.path / name).is_file():
                    self.learn((self.path / name).read_text("utf-8", "replace").split("\n"))
            self.check_accounts()
            for part in self.path.glob(f"{PART}.*"):
                part.unlink()
            self.interrupted = (self.path / JOURNAL).exists()
            journal = open(  # noqa: SIM115  # open until the export ends
                self.path / JOURNAL, "a", encoding="utf-8", opener=private
            )
            # The last line of a run that was killed may have been cut off.
            journal.write(f"{head(self.form)}\n" if not self.interrupted else "\n")
            if self.accounts:
                self.noted[ACCOUNTS] = line = note_line(ACCOUNTS, json.dumps(self.accounts))
                journal.write(f"{line}\n")
            journal.flush()
            return journal

    def check_accounts(self) -> None:
        """Refuse to replace an export of which some account is not among those that are exported now."""
        before = self.notes.get(ACCOUNTS)
        if not self.accounts or not is_list_of_accounts(before):
            return
        now = {mark for marks in self.accounts for mark in marks}
        if not all(now.intersection(marks) for marks in before):
            raise ExportRefused(f"{self.path} holds the export of another account; name another folder")

    def learn(self, lines: list[str]) -> None:
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
                case [str(name), int(size), int(mtime), str(mark)] if fit(name):
                    self.known[name] = Entry(size, mtime, mark)
                case {"note": str(key), "value": value}:
                    self.notes[key] = value

    def settled(self) -> ExportSummary | None:
        """End a run that would change nothing; return what it did, None where there may be something to do.

        The last run ended well, what it was made from had the same stamp, and its files are as they were.
        """
        if self.interrupted or not self.stamp or self.notes.get(WHOLE) != self.stamp:
            return None
        if not all(same(self.path / name, entry) for name, entry in self.known.items()):
            return None
        with export_errors(self.path):
            (self.path / JOURNAL).unlink()
        return ExportSummary(0, len(self.known), 0)

    def recall(self, key: str) -> Any:
        """Return what an earlier run wrote down, as JSON tells it; None for nothing."""
        return self.notes.get(key)

    def remember(self, key: str, value: bytes) -> None:
        """Write something down for the next run, in JSON; what no run writes down again is forgotten."""
        self.noted[key] = line = note_line(key, value.decode())
        self.note(line)

    def note(self, line: str) -> None:
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
            if not self.still(name, path, mark):
                part = self.part()
                try:
                    with open(part, "wb", opener=private) as target:
                        target.write(content)
                    self.settle(name, path, part, mark)
                except OSError as error:
                    raise unwritable(path, error) from error
            return mark
        with self.writing(name) as target:
            for piece in content:
                target.write(piece)
        return self.kept[name].mark

    def keep(self, name: str, mark: str) -> bool:
        """Leave a file as it is, if it is there with the content of a mark; tell whether it is."""
        return fit(name) and self.still(name, self.claim(name), mark)

    def read(self, name: str) -> bytes:
        """Read a file of the export again."""
        path = self.claim(name)
        with export_errors(path):
            return Path(path).read_bytes()

    @contextmanager
    def writing(self, name: str) -> Iterator[BinaryIO]:
        """Open a file to write; it gets its name when the block ends well, unless it has this content already."""
        path = self.claim(name)
        part = self.part()
        with export_errors(path):
            target = open(part, "w+b", opener=private)  # noqa: SIM115  # closed below
        try:
            with target:
                yield target
                with export_errors(path):
                    target.flush()
                    target.seek(0)
                    mark = hashlib.file_digest(target, DIGEST).hexdigest()
            if self.still(name, path, mark):
                Path(part).unlink()
            else:
                with export_errors(path):
                    self.settle(name, path, part, mark)
        except OSError as error:
            Path(part).unlink(missing_ok=True)
            raise unwritable(path, error) from error
        except BaseException:
            Path(part).unlink(missing_ok=True)
            raise

    def place(self, name: str, source: KeptFile, identity: str | None = None) -> None:
        """Put a file here that lies elsewhere, as a link to it where that can be, else as a copy.

        It is not read again while its `identity` stays: by default its name, its size and its time.
        """
        path = self.claim(name)
        with export_errors(source.path):
            state, size = source.path.stat(), source.size
        mark = f"from {identity or f'{source.path.name} {state.st_mtime_ns}'} {size}"
        if self.still(name, path, mark):
            return
        with export_errors(path):
            part = self.part()
            if source.key is not None or not linked(source.path, part):
                try:
                    with source.open() as content, open(part, "wb", opener=private) as target:
                        shutil.copyfileobj(content, target, 1 << 20)
                except AttachmentError:
                    Path(part).unlink(missing_ok=True)
                    raise
            self.settle(name, path, part, mark)
            # Two names of one file are not made one by renaming.
            Path(part).unlink(missing_ok=True)

    def has(self, name: str) -> bool:
        """Return whether this run has already put a file of that name."""
        return name in self.kept

    def claim(self, name: str) -> str:
        """Check a name and make the folder it lies in; nothing that is written leaves the export's folder."""
        if not fit(name):
            raise ValueError(f"{name!r} is no name for a file of an export")
        if self.taken.setdefault(name.casefold(), name) != name:
            raise ValueError(f"{name!r} and {self.taken[name.casefold()]!r} are one file on some disks")
        self.make(name.rpartition("/")[0])
        return os.path.join(self.path, name)  # noqa: PTH118  # a path object for each file takes long

    def make(self, home: str) -> None:
        """Make a folder inside the export's, and those it lies in."""
        if home in self.homes:
            return
        self.make(home.rpartition("/")[0])
        level = self.path / home
        with export_errors(level):
            level.mkdir(mode=0o700, exist_ok=True)
            if level.is_symlink():
                raise ExportRefused(f"{level} is a link to elsewhere; remove it or name another folder")
        self.homes.add(home)

    def still(self, name: str, path: str, mark: str) -> bool:
        """Return whether a file is there and is what it should be, and if so keep it."""
        entry = self.known.get(name)
        if entry is None or entry.mark != mark or not same(path, entry):
            return False
        if name not in self.kept:
            self.unchanged += 1
            self.kept[name] = entry
        return True

    def part(self) -> str:
        """Choose a name for a file that is not ready yet."""
        return os.path.join(self.path, f"{PART}.{next(self.numbers)}")  # noqa: PTH118  # the same

    def settle(self, name: str, path: str, part: str, mark: str) -> None:
        """Give a file its name, after it was entered in the list."""
        if name not in self.known and os.path.lexists(path):
            Path(part).unlink()
            raise ExportRefused(f"{path} is in the way and not of this export; move it, or name another folder")
        state = os.stat(part)  # noqa: PTH116  # the same
        entry = Entry(state.st_size, state.st_mtime_ns, mark)
        self.note(line_of(name, entry))
        os.replace(part, path)  # noqa: PTH105  # the same
        self.written += name not in self.kept
        self.known[name] = self.kept[name] = entry

    def finish(self) -> ExportSummary:
        """Remove what earlier exports wrote and this one has not, and write down what there is."""
        removed = 0
        homes: set[Path] = set()
        if self.stamp:
            self.remember(WHOLE, json.dumps(self.stamp).encode())
        with export_errors(self.path):
            for name in sorted(self.known.keys() - self.kept.keys()):
                path = self.path / name
                # A file that somebody has changed is theirs now.
                if inside(self.path, path) and same(path, self.known[name]):
                    path.unlink()
                    removed += 1
                    homes.add(path.parent)
            for home in sorted(homes, key=lambda folder: len(folder.parts), reverse=True):
                prune(home, self.path)
            part = self.path / f"{PART}.list"
            with open(part, "w", encoding="utf-8", opener=private) as target:
                target.write(f"{head(self.form)}\n")
                target.writelines(f"{line_of(name, entry)}\n" for name, entry in sorted(self.kept.items()))
                target.writelines(f"{line}\n" for line in self.noted.values())
                target.flush()
                os.fsync(target.fileno())
            part.replace(self.path / MANIFEST)
            (self.path / JOURNAL).unlink()
        return ExportSummary(self.written, self.unchanged, removed)

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, problem: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.journal.close()
        self.release()


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
        raise unwritable(path, error) from error


def unwritable(path: str | Path, error: OSError) -> UnwritableBackup:
    """Say what could not be written."""
    return UnwritableBackup(f"{path} cannot be written: {error.strerror or error}")


def linked(source: Path, target: str) -> bool:
    """Make a hard link; return whether there can be one."""
    try:
        os.link(source, target)
    except OSError as error:
        if error.errno not in NO_LINKS:
            raise
        return False
    return True


def private(path: str, flags: int) -> int:
    """Open a file that only its owner can read, and never through a link."""
    return os.open(path, flags | getattr(os, "O_NOFOLLOW", 0), 0o600)


def head(form: str) -> str:
    """Write the first line of a list."""
    return json.dumps({"format": FORMAT, "version": VERSION, "form": form})


def note_line(key: str, value: str) -> str:
    """Write the line of a note, whose value is JSON."""
    return f'{{"note":{json.dumps(key)},"value":{value}}}'


def line_of(name: str, entry: Entry) -> str:
    """Write the line of a file."""
    return json.dumps([name, entry.size, entry.mtime_ns, entry.mark], ensure_ascii=False)


def fit(name: str) -> bool:
    """Return whether a name leads to a place inside the folder, on any system."""
    # A part that is `.` or `..` ends with a dot as well.
    return FORBIDDEN.isdisjoint(name) and not any(
        part == "" or part[-1] in " ." or part.startswith(OURS) or WINDOWS_DEVICES.fullmatch(part)
        for part in name.split("/")
    )


def same(path: str | Path, entry: Entry) -> bool:
    """Return whether a file looks as it did when it was written."""
    try:
        state = os.lstat(path)
    except OSError:
        return False
    return stat.S_ISREG(state.st_mode) and (state.st_size, state.st_mtime_ns) == (entry.size, entry.mtime_ns)


def inside(home: Path, path: Path) -> bool:
    """Return whether a file lies in a folder, with no link on the way."""
    return path.parent.resolve().is_relative_to(home.resolve()) and not any(
        level.is_symlink() for level in path.parents if level != home and level.is_relative_to(home)
    )


def prune(home: Path, top: Path) -> None:
    """Remove a folder and those around it, as far as they are empty."""
    while home != top and not any(home.iterdir()):
        home.rmdir()
        home = home.parent


def is_list_of_accounts(note: object) -> TypeGuard[list[list[str]]]:
    """Return whether a note is the digests of the accounts of an export; what somebody else wrote there is not."""
    return isinstance(note, list) and all(
        isinstance(marks, list) and bool(marks) and all(isinstance(mark, str) for mark in marks) for marks in note
    )
