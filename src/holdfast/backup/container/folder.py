"""The folder a phone writes local backups to.

SignalBackups/
    signal-backup-2026-01-31-23-59-59/   one snapshot: metadata, main, files
    files/00/ ... files/ff/              attachment files, shared by all snapshots
"""

import re
from collections.abc import Iterator
from contextlib import suppress
from dataclasses import dataclass
from itertools import islice
from pathlib import Path
from typing import BinaryIO, Final

from holdfast.backup.container.contained_files import open_contained
from holdfast.backup.container.manifest import read_manifest
from holdfast.backup.container.metadata import WITHOUT_METADATA, LocalMetadata
from holdfast.backup.errors import FolderIncomplete, UnreadableBackup
from holdfast.backup.parts import Part
from holdfast.redacted_repr import redacted

__all__ = [
    "MAIN",
    "MANIFEST",
    "METADATA",
    "STORE",
    "SnapshotFolder",
    "find_snapshots",
    "incomplete_snapshots",
    "phone_folders",
    "without_main",
]

METADATA: Final = "metadata"
MAIN: Final = "main"
MANIFEST: Final = "files"
STORE: Final = "files"
# The suffix of a snapshot's name until it is complete.
UNFINISHED: Final = "-tmp"
# The name a phone gives a snapshot: no other folder has it, even if nothing is left in this one.
DATED: Final = re.compile(r"signal-backup(-[0-9]+){6}")
METADATA_LIMIT: Final = 64 * 1024
# The most entries of a folder that are searched for snapshots: it may be a large download folder.
SEARCHED: Final = 10_000


@redacted
@dataclass(frozen=True, slots=True)
class SnapshotFolder:
    """A snapshot of a local backup folder; nothing outside of `root` is read."""

    path: Path
    root: Path

    @property
    def store(self) -> Path:
        """The content store with the attachment files of all snapshots."""
        return self.path.parent / STORE

    def metadata(self) -> LocalMetadata:
        """Read the metadata file, which has the encrypted backup id of this snapshot."""
        try:
            with open_contained(self.root, self.path / METADATA) as source:
                raw = source.read(METADATA_LIMIT + 1)
        except FileNotFoundError:
            problem = f"{self.path} has no file {METADATA}; {WITHOUT_METADATA}"
            raise FolderIncomplete(problem, part=Part.METADATA_MISSING) from None
        if len(raw) > METADATA_LIMIT:
            raise UnreadableBackup(f"{self.path / METADATA} is far too large to be what its name says")
        return LocalMetadata.parse(raw)

    def open_main(self) -> BinaryIO:
        """Open the encrypted container."""
        try:
            return open_contained(self.root, self.path / MAIN)
        except FileNotFoundError:
            raise without_main(self.path) from None

    def has_manifest(self) -> bool:
        """Return whether there is a list of attachment files."""
        return (self.path / MANIFEST).exists()

    def manifest(self) -> Iterator[str]:
        """Yield the attachment files this snapshot refers to; a snapshot without a manifest names none."""
        try:
            source = open_contained(self.root, self.path / MANIFEST)
        except FileNotFoundError:
            return
        with source:
            yield from read_manifest(source)


def without_main(path: Path) -> FolderIncomplete:
    """Return the error for a snapshot without its main file."""
    return FolderIncomplete(f"{path} has no file {MAIN}: the messages are missing", part=Part.MAIN)


def incomplete_snapshots(path: Path) -> list[Path]:
    """Return the snapshots that lack their main file, newest first; the folder itself may be one."""
    named = [
        child
        for child in (path, *folders_in(path))
        if child.name.startswith("signal-backup") and not is_unfinished(child)
    ]
    return sorted((child for child in named if not is_snapshot(child) and has_some(child)), reverse=True)


def has_some(path: Path) -> bool:
    """Return whether a folder is a snapshot by its name, or has at least one of the other files of one."""
    return bool(DATED.fullmatch(path.name)) or (path / METADATA).is_file() or (path / MANIFEST).is_file()


def find_snapshots(path: Path) -> list[SnapshotFolder]:
    """Return the snapshots of a folder, newest first; none if it is not a local backup.

    The folder may be a snapshot, the folder of all snapshots under any name, or its parent. The parent of several
    such folders, as of two phones, raises `UnreadableBackup`: to read one of them would pass over the others.
    """
    if is_snapshot(path):
        return [SnapshotFolder(path, path.parent)]
    snapshot_folders = snapshots_in(path)
    if snapshot_folders:
        return snapshot_folders
    folders = phone_folders(path)
    if len(folders) > 1:
        names = ", ".join(folder.name for folder in folders)
        raise UnreadableBackup(f"{path} has several backup folders: {names}; give the path of one of them")
    return snapshots_in(folders[0]) if folders else []


def phone_folders(path: Path) -> list[Path]:
    """Return the subfolders of a folder that are backup folders of phones, by name."""
    found: dict[Path, Path] = {}
    for child in folders_in(path):
        # Other folders beside it are nobody's business: `lost+found` of a memory card cannot be read.
        with suppress(UnreadableBackup, OSError):
            if snapshots_in(child) and (child / STORE).is_dir():
                # A symbolic link may be another name of the same folder.
                found.setdefault(child.resolve(), child)
    return list(found.values())


def is_snapshot(path: Path) -> bool:
    """Return whether a folder looks like one snapshot, even if part of it is missing or cannot be read."""
    named = path.name.startswith("signal-backup")
    try:
        return (path / MAIN).is_file() and (named or (path / METADATA).is_file())
    except PermissionError:
        # Reading it reports the error, which must not hide the other snapshots.
        return named


def is_unfinished(path: Path) -> bool:
    """Return whether a folder has the name of a snapshot that a phone is writing."""
    return path.name.startswith("signal-backup") and path.name.endswith(UNFINISHED)


def snapshots_in(path: Path) -> list[SnapshotFolder]:
    """Return the complete snapshots of a folder, newest first: their names sort by time."""
    names = sorted(
        (
            child.name
            for child in folders_in(path)
            if child.name.startswith("signal-backup") and not is_unfinished(child) and is_snapshot(child)
        ),
        reverse=True,
    )
    return [SnapshotFolder(path / name, path) for name in names]


def folders_in(path: Path) -> list[Path]:
    """Return the direct subfolders of a folder, by name."""
    try:
        return sorted(child for child in islice(path.iterdir(), SEARCHED) if child.is_dir())
    except OSError as error:
        raise UnreadableBackup(f"{path} cannot be read: {error.strerror}") from error
