"""Finds the backups of a dataset, with their names, key files and change stamps."""

import os
import re
from collections.abc import Iterable, Iterator
from contextlib import suppress
from os import PathLike
from pathlib import Path
from typing import Final

import msgspec

from holdfast.backup.archives.file_paths import KEEP_STATE, MEDIA_SUFFIX, is_archive
from holdfast.backup.container.folder import (
    MAIN,
    METADATA,
    STORE,
    incomplete_snapshots,
    is_snapshot,
    is_unfinished,
    snapshots_in,
)
from holdfast.backup.container.keyfile import read_keys
from holdfast.backup.container.material import KeyMaterial
from holdfast.backup.container.takeout import LINES
from holdfast.backup.errors import KeyRefused, TargetRefused, UnreadableBackup
from holdfast.backup.path_text import path_text
from holdfast.backup.target_check import is_same
from holdfast.redacted_repr import redacted

__all__ = ["DatasetSource", "find_dataset_sources", "read_key_file"]

KEY_SUFFIX: Final = ".key"
# Of the files that SQLite keeps beside an open archive.
SQLITE_SUFFIXES: Final = ("-journal", "-wal", "-shm")
# A key file has a few short lines.
MAX_KEY_FILE_BYTES: Final = 64 * 1024
# Nobody keeps backups in deeper folders.
MAX_DEPTH: Final = 12
AS_SOURCE: Final = "if it has backups, give it as a source too"
# Characters that are not safe in names of folders and S3 objects; they become `_`.
UNSAFE: Final = re.compile(r"[^\w.@+-]")
# The end of a longer name is used: file systems limit a name to 255 bytes, of which the target needs some.
MAX_NAME_BYTES: Final = 200


@redacted
class DatasetSource(msgspec.Struct, frozen=True):
    """A backup: its name in the dataset, its path, and its key file."""

    name: str
    path: str
    key_file: str | None = None

    def stamp(self) -> str:
        """Return the sizes and times of its files, to detect changes; empty if they cannot be read."""
        return " ".join(f"{name}:{stat.st_size}:{stat.st_mtime_ns}" for name, stat in self._files())

    def size(self) -> int:
        """Return the total size of its files; 0 if they cannot be read."""
        return sum(stat.st_size for _name, stat in self._files())

    def _files(self) -> Iterator[tuple[str, os.stat_result]]:
        path = Path(self.path)
        files = [path / part for part in (MAIN, METADATA, LINES)] if path.is_dir() else [path]
        for file in files:
            with suppress(OSError):
                yield path_text(file.name), file.stat()

    def check_file_type(self) -> None:
        """Raise an error for a pipe or a device: opening it might wait forever."""
        path = Path(self.path)
        if path.exists() and not path.is_file() and not path.is_dir():
            raise UnreadableBackup(f"{path} is a pipe or a device, not a file")

    def keys(self) -> KeyMaterial | None:
        """Read the key file."""
        return None if self.key_file is None else read_key_file(Path(self.key_file))


def read_key_file(path: Path) -> KeyMaterial:
    """Read a key file; errors name the file, never its content."""
    try:
        with path.open("rb") as source:
            raw = source.read(MAX_KEY_FILE_BYTES + 1)
    except OSError as error:
        raise UnreadableBackup(f"the key file {path} cannot be read: {error.strerror}") from error
    if len(raw) > MAX_KEY_FILE_BYTES:
        raise KeyRefused(f"the key file {path} is far too large to hold keys")
    try:
        return read_keys(raw.decode("utf-8-sig"))
    except UnicodeDecodeError:
        raise KeyRefused(f"the key file {path} is not text") from None
    except KeyRefused as error:
        raise KeyRefused(f"the key file {path} cannot be used: {error}") from None


def find_dataset_sources(
    sources: Iterable[str | PathLike[str]],
    *,
    keys: Path | None = None,
    key_file: Path | None = None,
    target: Path | None = None,
    skipped: dict[str, str] | None = None,
) -> list[DatasetSource]:
    """Return the backups at some paths, sorted by name.

    A path is a backup, or a folder that is searched recursively. In the folder of a phone every snapshot is a
    backup. Hidden files, key files, the files beside an archive and `target` are skipped. A folder that cannot be
    listed is a source, whose error is reported when it is read. Other folders that are not searched are added to
    `skipped`, by path with the reason. Raise `TargetRefused` if two backups would have the same name in the
    dataset.
    """
    skipped = {} if skipped is None else skipped
    by_name: dict[str, DatasetSource] = {}
    for source in sources:
        root = Path(source)
        if not root.exists():
            raise UnreadableBackup(f"{root} does not exist")
        for path in backups_below(root, target, skipped, 0):
            inside = path.relative_to(root).as_posix() if path != root else path.resolve().name
            safe_name = UNSAFE.sub("_", inside.replace("/", "--"))
            name = safe_name.encode()[-MAX_NAME_BYTES:].decode(errors="ignore")
            dataset_source = DatasetSource(name, os.path.abspath(path), find_key(path, name, keys, key_file))  # noqa: PTH100  # keeps symbolic links
            existing = by_name.setdefault(name.casefold(), dataset_source)
            if existing.path != dataset_source.path:
                raise TargetRefused(
                    f"{existing.path} and {dataset_source.path} would both be called {name} in the dataset; "
                    "rename one, or put both below one folder and give that"
                )
    return sorted(by_name.values(), key=lambda dataset_source: dataset_source.name)


def backups_below(path: Path, target: Path | None, skipped: dict[str, str], depth: int) -> Iterator[Path]:
    """Yield the backups in a file or folder, recursively; add the folders that are not searched to `skipped`."""
    if not path.is_dir() or is_snapshot(path) or (path / LINES).is_file():
        yield path
        return
    if target is not None and is_same(path, target):
        return
    # A snapshot without its messages is reported when it is read; its attachments are no backups.
    snapshots = [*(snapshot.path for snapshot in snapshots_in(path)), *incomplete_snapshots(path)]
    yield from snapshots
    if path in snapshots:
        return
    # There may be other backups beside them.
    try:
        children = sorted(path.iterdir())
    except OSError as error:
        raise UnreadableBackup(f"{path} cannot be read: {error.strerror}") from error
    unfinished = [child for child in children if is_unfinished(child) and child.is_dir()]
    for child in unfinished:
        skipped[path_text(str(child))] = "it is a snapshot that the phone has not finished writing"
    of_phone = {*snapshots, *unfinished}
    for child in children:
        if child.name.startswith(".") or child.name.endswith(KEY_SUFFIX):
            continue
        if child in of_phone or (of_phone and child.name == STORE) or belongs_to_archive(child):
            continue
        if not child.is_dir() or not os.access(child, os.R_OK | os.X_OK):
            yield child
        elif child.is_symlink():
            skipped[path_text(str(child))] = f"it is a symbolic link to a folder; {AS_SOURCE}"
        elif depth == MAX_DEPTH:
            skipped[path_text(str(child))] = f"it is more than {MAX_DEPTH} levels deep; {AS_SOURCE}"
        else:
            yield from backups_below(child, target, skipped, depth + 1)


def belongs_to_archive(path: Path) -> bool:
    """Return whether a file or folder belongs to an archive beside it, as its attachments do."""
    return any(
        path.name.endswith(suffix) and is_archive(path.with_name(path.name.removesuffix(suffix)))
        for suffix in (MEDIA_SUFFIX, KEEP_STATE, *SQLITE_SUFFIXES)
        if path.name != suffix
    )


def find_key(path: Path, name: str, keys: Path | None, default: Path | None) -> str | None:
    """Return the key file of a backup: by name in `keys`, beside it, beside its folder, else the default."""
    candidates = [] if keys is None else [keys / f"{name}{KEY_SUFFIX}"]
    for base in (path, path.parent) if path.is_dir() else (path,):
        candidates += [base.with_name(base.name + KEY_SUFFIX)] if base.name else []
        candidates += [base.with_suffix(KEY_SUFFIX)] if base.suffix else []
    for candidate in candidates:
        if candidate.is_file():
            return os.path.abspath(candidate)  # noqa: PTH100  # keeps symbolic links
    return None if default is None else os.path.abspath(default)  # noqa: PTH100  # keeps symbolic links
