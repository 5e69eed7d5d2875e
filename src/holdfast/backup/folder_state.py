"""The state of a backup folder after the last run of `keep`: the hash of each file, and the result of its check.

It is a cache in a file beside the archive; an entry is valid while the hash of its file is the same. Without it
everything is read again.
"""

import hashlib
import os
from collections.abc import Callable, Iterable, Sequence
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Final

import msgspec

from holdfast.backup.archives.file_paths import KEEP_STATE, beside
from holdfast.backup.archives.media_cipher import EncryptedFileWriter, MediaKey
from holdfast.backup.archives.media_files import KeptFile
from holdfast.backup.completeness import Loss, LostAttachment
from holdfast.backup.container.atomic_write import write_atomically
from holdfast.backup.errors import AttachmentError
from holdfast.backup.path_text import path_text
from holdfast.backup.public import public
from holdfast.redacted_repr import redacted

__all__ = [
    "THREADS",
    "CopiesState",
    "FolderState",
    "KeptSnapshot",
    "SnapshotState",
    "StateFile",
    "Verdict",
    "hash_files",
    "list_files",
]

VERSION: Final = 1
# Threads help: reading waits for the disk, and hashing releases the GIL.
THREADS: Final = 4
# A thread takes so many files at a time: to hand over each by itself takes as long as to hash 50 kB.
GROUP: Final = 16
# The depth of a phone's backup folder; an export has no more levels.
DEEPEST: Final = 8


@public
@redacted
class KeptSnapshot(msgspec.Struct, frozen=True, kw_only=True):
    """A snapshot of a folder, and the result of its import.

    `known` is set if its messages were in the archive before. `lost` has the first of `lost_count` attachments
    that are neither in the folder nor in the archive, `lost_before` of which an earlier snapshot of the folder has
    lost too; `damaged_files` is the number of those with a good copy only in the archive. `problem` says why
    nothing could be imported, and is empty otherwise.
    """

    name: str
    made_ms: int = 0
    digest: str = ""
    known: bool = False
    messages: int = 0
    new: int = 0
    changed: int = 0
    vanished: int = 0
    skipped: int = 0
    attachments: int = 0
    copied: int = 0
    damaged_files: int = 0
    errors: int = 0
    findings: tuple[str, ...] = ()
    lost: tuple[LostAttachment, ...] = ()
    lost_count: int = 0
    lost_before: int = 0
    not_on_device: int = 0
    problem: str = ""

    @property
    def complete(self) -> bool:
        """Whether everything that the snapshot refers to is in the archive."""
        return not (self.problem or self.errors or self.lost_count)


@redacted
class Verdict(msgspec.Struct, frozen=True, array_like=True):
    """The result of checking an attachment file with this hash: no hash for no file, no loss for a valid file."""

    sha256: str | None
    loss: Loss | None = None


@redacted
class SnapshotState(msgspec.Struct, frozen=True):
    """An imported snapshot: the hashes of its files, the attachments it refers to, and the result.

    `lost_files` names the attachments that are lost, and `losses` has a hash of each use of one, the same in every
    snapshot that has it.
    """

    files: dict[str, str]
    attachments: tuple[str, ...]
    result: KeptSnapshot
    lost_files: tuple[str, ...] = ()
    losses: tuple[str, ...] = ()


@redacted
class FolderState(msgspec.Struct):
    """The state of one folder: its snapshots by name, and its attachment files by name."""

    snapshots: dict[str, SnapshotState] = msgspec.field(default_factory=dict)
    verdicts: dict[str, Verdict] = msgspec.field(default_factory=dict)


@redacted
class CopiesState(msgspec.Struct):
    """The state of the copies of attachments: the path of the last one verified, and those found damaged."""

    verified_to: str = ""
    damaged: set[str] = msgspec.field(default_factory=set)


@redacted
class KeepState(msgspec.Struct):
    """The content of the state file: the folders that are kept in one archive, by path, and the copies."""

    version: int = VERSION
    folders: dict[str, FolderState] = msgspec.field(default_factory=dict)
    copies: CopiesState = msgspec.field(default_factory=CopiesState)


class StateFile:
    """The state file beside an archive; an unreadable one is ignored.

    It contains names of chats and people: with the key of an encrypted archive's media, it is encrypted.
    """

    def __init__(self, archive: Path, key: MediaKey | None = None) -> None:
        self.path = beside(archive, KEEP_STATE)
        self.key = key
        self._all = self._read()
        self._used: set[str] = set()
        self._damaged = set(self._all.copies.damaged)

    def _read(self) -> KeepState:
        try:
            with KeptFile(self.path, self.key).open() as source:
                keep_state = msgspec.json.decode(source.read(), type=KeepState)
        except (OSError, AttachmentError, msgspec.DecodeError, UnicodeDecodeError):
            return KeepState()
        return keep_state if keep_state.version == VERSION else KeepState()

    def folder(self, path: Path) -> FolderState:
        """Return the state of a folder; changes to it are written by `save`."""
        name = path_text(os.path.realpath(path))
        self._used.add(name)
        return self._all.folders.setdefault(name, FolderState())

    @property
    def copies(self) -> CopiesState:
        """The state of the copies of attachments, of all folders; changes to it are written by `save`."""
        return self._all.copies

    def save(self) -> None:
        """Replace the file atomically; what another run has saved of other folders meanwhile is kept."""
        saved = self._read()
        self._all.folders = saved.folders | {name: self._all.folders[name] for name in self._used}
        copies = self._all.copies
        found, replaced = copies.damaged - self._damaged, self._damaged - copies.damaged
        copies.damaged = (saved.copies.damaged - replaced) | found
        self._damaged = set(copies.damaged)
        content = msgspec.json.encode(self._all)
        with write_atomically(self.path, replace=True) as target:
            if self.key is None:
                target.write(content)
            else:
                writer = EncryptedFileWriter(target, self.key, self.path.name)
                writer.write(content)
                writer.finish()


def list_files(folder: Path) -> list[Path]:
    """Return the files of a folder and its subfolders, without symbolic links and unfinished files."""
    files: list[Path] = []
    waiting = [(folder, 0)]
    while waiting:
        place, depth = waiting.pop()
        try:
            entries = list(os.scandir(place))
        except OSError:
            continue
        for entry in entries:
            if entry.is_dir(follow_symlinks=False):
                if depth < DEEPEST:
                    waiting.append((Path(entry.path), depth + 1))
            elif entry.is_file(follow_symlinks=False):
                files.append(Path(entry.path))
    return sorted(files)


def hash_files(
    paths: Iterable[Path], progress: Callable[[int], None] | None = None
) -> tuple[dict[Path, str], int]:
    """Return the SHA-256 of the readable files, hashed in parallel, and the number of bytes.

    `progress` is called with the bytes so far.
    """
    hashes: dict[Path, str] = {}
    completed = 0
    wanted = list(paths)
    groups = [wanted[start : start + GROUP] for start in range(0, len(wanted), GROUP)]
    with ThreadPoolExecutor(min(THREADS, os.cpu_count() or 1)) as pool:
        for group, results in zip(groups, pool.map(hash_group, groups), strict=True):
            for path, result in zip(group, results, strict=True):
                if result is not None:
                    hashes[path] = result[0]
                    completed += result[1]
            if progress is not None:
                progress(completed)
    return hashes, completed


def hash_group(paths: Sequence[Path]) -> list[tuple[str, int] | None]:
    """Hash some files, one after the other."""
    return [hash_file(path) for path in paths]


def hash_file(path: Path) -> tuple[str, int] | None:
    """Return the SHA-256 and the size of a file; None if it cannot be read."""
    try:
        with path.open("rb") as source:
            return hashlib.file_digest(source, "sha256").hexdigest(), source.tell()
    except OSError:
        return None
