"""Keeps a phone's backup folder: every snapshot validated and imported into an archive, every attachment with it.

Each step leaves the archive sound: an import is one transaction, an attachment appears whole or not at all, and
what is known of the folder is written after what it speaks of. A run that was killed is repeated.
"""

import time
from collections.abc import Callable, Iterator
from contextlib import suppress
from dataclasses import dataclass, field
from os import PathLike
from pathlib import Path
from typing import Final

import msgspec

from holdfast.backup import archives, backup_reader
from holdfast.backup.apart import keep_apart_from
from holdfast.backup.archives import Archive
from holdfast.backup.backup_reader import Backup
from holdfast.backup.completeness import Completeness, Loss, examined, read_through, summary_of
from holdfast.backup.container import KeyMaterial
from holdfast.backup.container.attachments import AttachmentKey
from holdfast.backup.container.folder import (
    MAIN,
    MANIFEST,
    METADATA,
    find_snapshots,
    incomplete_snapshots,
    without_main,
)
from holdfast.backup.container.keyfile import read_keys
from holdfast.backup.container.private import make_private_folder
from holdfast.backup.errors import (
    ArchiveError,
    BackupError,
    KeyIncomplete,
    UnreadableBackup,
    UnwritableBackup,
    WrongKey,
)
from holdfast.backup.folder_state import (
    FolderState,
    KeptSnapshot,
    SnapshotState,
    StateFile,
    Verdict,
    hash_files,
    list_files,
)
from holdfast.backup.media import kept
from holdfast.backup.public import public
from holdfast.backup.rules import Finding, Severity
from holdfast.backup.rules.validator import start_validation
from holdfast.redacted_repr import redacted

__all__ = ["Kept", "keep"]

# So many lost attachments and findings of a snapshot are remembered to be listed; all are counted.
MOST_LISTED: Final = 200
# Files under temporary names that nobody has written to for so long were left by a process that was killed.
LEFT_BEHIND_S: Final = 3600


@public
@redacted
@dataclass(frozen=True, slots=True)
class Kept:
    """What `keep` found: the snapshots of the folder, the oldest first, and whether everything in them is kept."""

    folder: Path
    archive: Path
    snapshots: tuple[KeptSnapshot, ...]
    unchanged: bool

    @property
    def complete(self) -> bool:
        """Whether all that the snapshots mean to hold is in the archive."""
        return bool(self.snapshots) and all(snapshot.complete for snapshot in self.snapshots)

    @property
    def latest(self) -> KeptSnapshot | None:
        """The newest snapshot that could be read."""
        readable = [snapshot for snapshot in self.snapshots if not snapshot.problem]
        return max(readable, key=lambda snapshot: snapshot.made_ms, default=None)


@redacted
@dataclass(frozen=True, slots=True)
class SnapshotSource:
    """A backup to import, with the files it consists of; `store` holds attachments it may share with others."""

    name: str
    path: Path
    files: tuple[Path, ...]
    store: Path | None = None


@public
def keep(
    folder: str | PathLike[str],
    archive: str | PathLike[str],
    key: KeyMaterial | str | None = None,
    *,
    passphrase: str | None = None,
    progress: Callable[[str, int], None] | None = None,
) -> Kept:
    """Import every snapshot of a backup folder that an archive lacks, with all attachments; verify each of them.

    What the last run found of a file is taken over while the file has the same hash, so that an unchanged folder
    costs little more than hashing it. Nothing is ever removed from the archive. With a passphrase a new archive is
    encrypted. `progress` is called with what is being read and the bytes of it so far.

    >>> hb.keep("phone", "kept.db", hb.read_keys(key_file)).complete
    True
    """
    keys = read_keys(key) if isinstance(key, str) else key
    place, target = Path(folder), Path(archive)
    sources = find_sources(place)
    # Keys are asked for before anything that takes long.
    archive_key, media_key = archives.keys_of(target, passphrase)
    state = StateFile(target, media_key)
    folder_state = state.folder(place)
    if any(source.name not in folder_state.snapshots for source in sources):
        check_keys(sources, keys)
    keep_apart_from([source.path for source in sources], target)
    make_folder(target.parent)
    with archives.open(target, create=True, passphrase=passphrase, key=archive_key) as opened:
        state.key = opened.media.key
        remove_left_behind(opened.media_folder)
        run = FolderImport(opened, keys, folder_state, state.save, progress)
        return Kept(place, target, *run.run(sources))


def find_sources(place: Path) -> list[SnapshotSource]:
    """Find the snapshots of a folder, the oldest first; what is no such folder is one backup."""
    snapshot_folders = find_snapshots(place) if place.is_dir() else []
    if snapshot_folders:
        return [
            SnapshotSource(
                snapshot_folder.path.name,
                snapshot_folder.path,
                tuple(snapshot_folder.path / part for part in (MAIN, METADATA, MANIFEST)),
                snapshot_folder.store,
            )
            for snapshot_folder in reversed(snapshot_folders)
        ]
    if not place.exists():
        raise UnreadableBackup(f"{place} cannot be read: there is no such file or folder")
    return [SnapshotSource(place.name, place, ())]


def check_keys(sources: list[SnapshotSource], keys: KeyMaterial | None) -> None:
    """Raise `KeyIncomplete`, or `WrongKey` where the key opens none of the snapshots."""
    wrong: WrongKey | None = None
    for source in reversed(sources):
        try:
            backup_reader.open(source.path, keys).close()
        except KeyIncomplete:
            raise
        except WrongKey as error:
            wrong = error
        except BackupError:
            # A damaged one says nothing of the key. It is reported with the others, unless there are none.
            if len(sources) == 1 and source.store is None:
                raise
        else:
            return
    if wrong is not None:
        raise wrong


def make_folder(path: Path) -> None:
    """Make the folder of the archive, for its owner alone, where there is none."""
    try:
        make_private_folder(path)
    except OSError as error:
        raise UnwritableBackup(f"{path} cannot be made: {error.strerror}") from error


def remove_left_behind(folder: Path) -> None:
    """Remove the temporary files that a killed process left among the media."""
    before = time.time() - LEFT_BEHIND_S
    for part in folder.glob("??/.*.part"):
        with suppress(OSError):
            if part.stat().st_mtime < before:
                part.unlink()


@redacted
@dataclass(slots=True)
class FolderImport:
    """One run over a folder."""

    archive: Archive
    keys: KeyMaterial | None
    known: FolderState
    save: Callable[[], None]
    progress: Callable[[str, int], None] | None
    hashes: dict[Path, str] = field(default_factory=dict)
    media: dict[str, tuple[str, int]] = field(default_factory=dict)

    def run(self, sources: list[SnapshotSource]) -> tuple[tuple[KeptSnapshot, ...], bool]:
        """Import what is new; return the results, and whether nothing has changed since the last run."""
        sources = [self.with_files(source) for source in sources]
        stores = {source.store for source in sources if source.store is not None}
        paths = [path for source in sources for path in source.files]
        paths += [path for store in sorted(stores) for path in list_files(store)]
        self.hashes = hash_files(paths, self.telling("checking the files"))
        self.media = self.kept_media()
        imported = {digest for (digest,) in self.archive.connection.execute("SELECT digest FROM snapshot")}
        results: list[KeptSnapshot] = []
        unchanged = True
        for source in sources:
            state = self.known.snapshots.get(source.name)
            if state is not None and state.result.digest in imported and self.is_unchanged(source, state):
                results.append(state.result)
                continue
            unchanged = False
            results.append(self.import_snapshot(source))
        gone = set(self.known.snapshots) - {source.name for source in sources}
        if gone:
            for name in gone:
                del self.known.snapshots[name]
            self.save()
        if stores:
            around = sources[0].path.parent
            results += [
                KeptSnapshot(name=path.name, problem=str(without_main(path)))
                for path in incomplete_snapshots(around)
            ]
        return tuple(results), unchanged

    def with_files(self, source: SnapshotSource) -> SnapshotSource:
        """Find the files of a backup that is no snapshot of a phone."""
        if source.files:
            return source
        files = list_files(source.path) if source.path.is_dir() else [source.path]
        return SnapshotSource(source.name, source.path, tuple(files))

    def telling(self, description: str) -> Callable[[int], None] | None:
        """Return what tells of progress with one thing."""
        progress = self.progress
        return None if progress is None else lambda completed: progress(description, completed)

    def kept_media(self) -> dict[str, tuple[str, int]]:
        """Return the path and the size of the attachments beside the archive by name; no path of removed ones."""
        rows = self.archive.connection.execute("SELECT media_name, path, size FROM media")
        return {name: (path, size) for name, path, size in rows}

    def is_kept(self, name: str) -> bool:
        """Return whether an attachment lies beside the archive, as long as it should be, or was removed."""
        path, size = self.media.get(name, (None, 0))
        if not path:
            return path is not None
        file = self.archive.kept_file(path)
        try:
            return file is not None and file.size >= size
        except OSError:
            return False

    def file_hash(self, source: SnapshotSource, name: str) -> str | None:
        """Return the hash of the file of an attachment; None where there is none."""
        return None if source.store is None else self.hashes.get(source.store / name[:2] / name)

    def hashes_of(self, source: SnapshotSource) -> dict[str, str]:
        """Return the hashes of the files a snapshot consists of."""
        return {
            path.relative_to(source.path).as_posix(): self.hashes[path]
            for path in source.files
            if path in self.hashes
        }

    def is_unchanged(self, source: SnapshotSource, state: SnapshotState) -> bool:
        """Return whether a snapshot, its attachments, and their copies are what they were in the last run."""
        if state.files != self.hashes_of(source):
            return False
        for name in state.attachments:
            verdict = self.known.verdicts.get(name)
            if verdict is None or verdict.sha256 != self.file_hash(source, name):
                return False
            # One that is lost is in neither place, as before.
            if verdict.loss is None and not self.is_kept(name):
                return False
        return True

    def import_snapshot(self, source: SnapshotSource) -> KeptSnapshot:
        """Import one snapshot, and remember what was found; one that cannot be read stops no other."""
        try:
            state = self.examine(source)
        except (KeyIncomplete, ArchiveError, UnwritableBackup):
            raise
        except BackupError as error:
            self.known.snapshots.pop(source.name, None)
            return KeptSnapshot(name=source.name, problem=str(error))
        # What is new now is no news in the next run.
        old = msgspec.structs.replace(state.result, known=True, new=0, changed=0, vanished=0, copied=0)
        self.known.snapshots[source.name] = msgspec.structs.replace(state, result=old)
        self.save()
        return state.result

    def examine(self, source: SnapshotSource) -> SnapshotState:
        """Validate a snapshot, import it, and copy and verify its attachments."""
        name = source.name
        with start_validation(
            source.path, self.keys, profile="import", media=None, progress=self.telling(f"validating {name}")
        ) as validation:
            errors: list[Finding] = []
            for finding in validation:
                if finding.severity is Severity.ERROR and len(errors) < MOST_LISTED:
                    errors.append(finding)
            if validation.backup is None:
                return self.result(source, summary_of(validation, errors), (), KeptSnapshot(name=name))
            with backup_reader.open(source.path, self.keys) as backup:
                imported = self.archive.add(backup)
                row = self.archive.connection.execute(
                    "SELECT digest FROM snapshot WHERE id = ?", (imported.snapshot,)
                ).fetchone()
                copied, damaged, losses = self.copy_attachments(source, backup)
            states: dict[str, Loss | None] = dict(losses)
            completeness = examined(validation.backup, validation, errors, states)
        for attachment, loss in states.items():
            # What was removed from the archive was read where it is, and has no verdict yet.
            if loss is not None or attachment not in self.known.verdicts:
                self.known.verdicts[attachment] = Verdict(self.file_hash(source, attachment), loss)
        result = KeptSnapshot(
            name=name,
            digest=row[0],
            known=imported.known,
            new=imported.new,
            changed=imported.changed,
            vanished=imported.vanished,
            skipped=imported.skipped,
            copied=copied,
            damaged_files=damaged,
        )
        return self.result(source, completeness, tuple(states), result)

    def copy_attachments(self, source: SnapshotSource, backup: Backup) -> tuple[int, int, dict[str, None]]:
        """Copy the attachments the archive lacks, and verify the files of those it has.

        Returned are how many were copied, of how many the folder's file is damaged or missing although the archive
        has them, and the names of all that the archive has now.
        """
        if backup.media is None:
            return 0, 0, {}
        copied = completed = 0
        there: dict[str, None] = {}
        again: set[str] = set()
        tell = self.telling(f"copying attachments of {source.name}")
        for copied_attachment in self.archive.copy_media(backup):
            completed += copied_attachment.size
            if tell is not None:
                tell(completed)
            if copied_attachment.problem or copied_attachment.path is None:
                continue
            there[copied_attachment.media_name] = None
            self.media[copied_attachment.media_name] = (copied_attachment.path, copied_attachment.size)
            copied += copied_attachment.new
            sha256 = self.file_hash(source, copied_attachment.media_name)
            verdict = self.known.verdicts.get(copied_attachment.media_name)
            if copied_attachment.new:
                self.known.verdicts[copied_attachment.media_name] = Verdict(sha256)
            elif verdict is None or verdict.sha256 != sha256 or source.store is None:
                again.add(copied_attachment.media_name)
        for attachment in self.attachments(backup, again):
            loss = read_through(backup.media, attachment)
            self.known.verdicts[attachment.name] = Verdict(self.file_hash(source, attachment.name), loss)
        damaged = sum(self.known.verdicts[name].loss is not None for name in there)
        return copied, damaged, there

    @staticmethod
    def attachments(backup: Backup, names: set[str]) -> Iterator[AttachmentKey]:
        """Yield the attachments of a backup that have one of some names, each once."""
        if names:
            for _pointer, attachment in kept(backup):
                if attachment.name in names:
                    yield attachment

    def result(
        self,
        source: SnapshotSource,
        completeness: Completeness,
        attachments: tuple[str, ...],
        result: KeptSnapshot,
    ) -> SnapshotState:
        """Put together what was found of a snapshot."""
        snapshot = msgspec.structs.replace(
            result,
            made_ms=completeness.made_ms,
            messages=completeness.messages,
            attachments=completeness.attachments,
            errors=completeness.errors,
            findings=tuple(words_of(finding) for finding in completeness.findings),
            lost=completeness.lost[:MOST_LISTED],
            lost_count=len(completeness.lost),
            not_on_device=len(completeness.not_on_device),
            problem="" if result.digest else "nothing in it can be read",
        )
        return SnapshotState(self.hashes_of(source), attachments, snapshot)


def words_of(finding: Finding) -> str:
    """Say what a finding is, without its place in the file."""
    detail = f" ({finding.detail})" if finding.detail else ""
    return f"{finding.rule.wrong.removesuffix('.')}{detail}"
