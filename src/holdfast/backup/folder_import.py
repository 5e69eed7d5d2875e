"""Implements `keep`: validates all snapshots of a phone's backup folder and imports them with their attachments.

Each step is atomic: an import is one transaction, attachments are renamed into place, and the state file is
written last. A run that was killed is repeated.
"""

import hashlib
import time
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import suppress
from dataclasses import dataclass, field
from itertools import chain
from os import PathLike
from pathlib import Path
from typing import Final

import msgspec

from holdfast.backup import archives, backup_reader
from holdfast.backup.archives import Archive
from holdfast.backup.archives.media_store import CopiedAttachment
from holdfast.backup.backup_reader import Backup
from holdfast.backup.completeness import (
    Completeness,
    Loss,
    LostAttachment,
    examined,
    read_through,
    summary_of,
)
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
from holdfast.backup.container.material import KeyMaterial
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
    CopiesState,
    FolderState,
    KeptSnapshot,
    SnapshotState,
    StateFile,
    Verdict,
    hash_files,
    list_files,
)
from holdfast.backup.kept_copies import SHARE, verify_copies
from holdfast.backup.media import kept
from holdfast.backup.path_text import path_text
from holdfast.backup.public import public
from holdfast.backup.rules import Finding, Severity
from holdfast.backup.rules.validator import start_validation
from holdfast.backup.target_check import check_target_against
from holdfast.redacted_repr import redacted

__all__ = ["Kept", "keep"]

# The most lost attachments and findings of a snapshot that are stored; all are counted.
MOST_LISTED: Final = 200
# The digits of the hash of a loss: enough to tell millions apart.
LOSS_DIGITS: Final = 24
# The age in seconds after which a temporary file is considered left by a killed process.
LEFT_BEHIND_S: Final = 3600


@public
@redacted
@dataclass(frozen=True, slots=True)
class Kept:
    """The result of `keep`: the snapshots of the folder, oldest first, and whether all of them are archived.

    `copies` is the number of attachment files that were beside the archive before, `verified` of which were read
    again and compared with their hashes. Of those that were damaged or missing, `recopied` were copied again;
    `damaged_copies` were not, as no file of the folder has their content.
    """

    folder: Path
    archive: Path
    snapshots: tuple[KeptSnapshot, ...]
    unchanged: bool
    copies: int = 0
    verified: int = 0
    recopied: int = 0
    damaged_copies: int = 0

    @property
    def complete(self) -> bool:
        """Whether everything that the snapshots refer to is in the archive."""
        return bool(self.snapshots) and all(snapshot.complete for snapshot in self.snapshots)

    @property
    def latest(self) -> KeptSnapshot | None:
        """The newest snapshot that could be read."""
        readable = [snapshot for snapshot in self.snapshots if not snapshot.problem]
        return max(readable, key=lambda snapshot: snapshot.made_ms, default=None)

    @property
    def lost_count(self) -> int:
        """The number of lost attachments, each counted once, however many snapshots refer to it."""
        return sum(snapshot.lost_count - snapshot.lost_before for snapshot in self.snapshots)


@redacted
@dataclass(frozen=True, slots=True)
class SnapshotSource:
    """A backup to import, with its files; `store` is a content store that it may share with others."""

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
    verify: bool = False,
    progress: Callable[[str, int], None] | None = None,
) -> Kept:
    """Import every snapshot of a backup folder that is not in an archive yet, with all attachments, verified.

    The results of the last run are reused for files with the same hash, so that an unchanged folder costs little
    more than hashing it. Of the copies beside the archive, the first run verifies all, and a later one about a
    twentieth, or all with `verify`. Nothing is ever removed from the archive. With a passphrase, a new archive is
    encrypted.
    `progress` is called with a description of what is being read, and the number of bytes so far.

    >>> hb.keep("phone", "kept.db", hb.read_keys(key_file)).complete
    True
    """
    keys = read_keys(key) if isinstance(key, str) else key
    place, target = Path(folder), Path(archive)
    sources = find_sources(place)
    # Keys are checked before anything slow.
    archive_key, media_key = archives.archive_keys(target, passphrase)
    state = StateFile(target, media_key)
    folder_state = state.folder(place)
    if any(source.name not in folder_state.snapshots for source in sources):
        check_keys(sources, keys)
    check_target_against([source.path for source in sources], target)
    make_folder(target.parent)
    with archives.open(target, create=True, passphrase=passphrase, key=archive_key) as opened:
        state.key = opened.media.key
        remove_left_behind(opened.media_folder)
        run = FolderImport(opened, keys, folder_state, state.copies, state.save, progress, verify=verify)
        snapshots, unchanged = run.run(sources)
        return Kept(
            folder=place,
            archive=target,
            snapshots=snapshots,
            unchanged=unchanged,
            copies=run.copies,
            verified=run.verified,
            recopied=run.recopied,
            damaged_copies=len(state.copies.damaged),
        )


def find_sources(place: Path) -> list[SnapshotSource]:
    """Return the snapshots of a folder, oldest first; anything else is a single backup."""
    snapshot_folders = find_snapshots(place) if place.is_dir() else []
    if snapshot_folders:
        return [
            SnapshotSource(
                path_text(snapshot_folder.path.name),
                snapshot_folder.path,
                tuple(snapshot_folder.path / part for part in (MAIN, METADATA, MANIFEST)),
                snapshot_folder.store,
            )
            for snapshot_folder in reversed(snapshot_folders)
        ]
    if not place.exists():
        raise UnreadableBackup(f"{place} cannot be read: there is no such file or folder")
    return [SnapshotSource(path_text(place.name), place, ())]


def check_keys(sources: list[SnapshotSource], keys: KeyMaterial | None) -> None:
    """Raise `KeyIncomplete`, or `WrongKey` if the key fits none of the snapshots."""
    wrong: WrongKey | None = None
    for source in reversed(sources):
        try:
            backup_reader.open(source.path, keys).close()
        except KeyIncomplete:
            raise
        except WrongKey as error:
            wrong = error
        except BackupError:
            # A damaged snapshot does not prove the key wrong. It is reported later, unless there are no others.
            if len(sources) == 1 and source.store is None:
                raise
        else:
            return
    if wrong is not None:
        raise wrong


def make_folder(path: Path) -> None:
    """Create the folder of the archive, readable only by its owner, if it does not exist."""
    try:
        make_private_folder(path)
    except OSError as error:
        raise UnwritableBackup(f"{path} cannot be made: {error.strerror}") from error


def remove_left_behind(folder: Path) -> None:
    """Remove temporary media files left by a killed process."""
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
    copy_state: CopiesState
    save: Callable[[], None]
    progress: Callable[[str, int], None] | None
    verify: bool = False
    hashes: dict[Path, str] = field(default_factory=dict)
    media: dict[str, tuple[str, int]] = field(default_factory=dict)
    copies: int = 0
    verified: int = 0
    recopied: int = 0

    def run(self, sources: list[SnapshotSource]) -> tuple[tuple[KeptSnapshot, ...], bool]:
        """Import what is new; return the results, and whether nothing has changed since the last run."""
        sources = [self.with_files(source) for source in sources]
        stores = {source.store for source in sources if source.store is not None}
        paths = [path for source in sources for path in source.files]
        paths += [path for store in sorted(stores) for path in list_files(store)]
        self.hashes, size = hash_files(paths, self.telling("checking the files"))
        self.media = self.kept_media()
        self.verify_copies(None if self.verify or not self.known.snapshots else size // SHARE)
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
        for name in gone:
            del self.known.snapshots[name]
        self.save()
        if stores:
            around = sources[0].path.parent
            results += [
                KeptSnapshot(name=path_text(path.name), problem=path_text(str(without_main(path))))
                for path in incomplete_snapshots(around)
            ]
        return self.with_repeated_losses(results), unchanged

    def with_repeated_losses(self, results: list[KeptSnapshot]) -> tuple[KeptSnapshot, ...]:
        """Count in each result the lost attachments that an earlier one has lost too."""
        earlier: set[str] = set()
        counted: list[KeptSnapshot] = []
        for result in results:
            state = self.known.snapshots.get(result.name)
            losses = set() if state is None else set(state.losses)
            counted.append(msgspec.structs.replace(result, lost_before=len(losses & earlier)))
            earlier |= losses
        return tuple(counted)

    def with_files(self, source: SnapshotSource) -> SnapshotSource:
        """Return a source with its files, for a backup that is not a snapshot of a phone."""
        if source.files:
            return source
        files = list_files(source.path) if source.path.is_dir() else [source.path]
        return SnapshotSource(source.name, source.path, tuple(files))

    def telling(self, description: str) -> Callable[[int], None] | None:
        """Return a progress callback with a description."""
        progress = self.progress
        return None if progress is None else lambda completed: progress(description, completed)

    def kept_media(self) -> dict[str, tuple[str, int]]:
        """Return path and size of the archived attachments by name; removed ones have no path."""
        rows = self.archive.connection.execute("SELECT media_name, path, size FROM media")
        return {name: (path, size) for name, path, size in rows}

    def verify_copies(self, most: int | None) -> None:
        """Compare copies of attachments with their hashes, about `most` bytes of them or all."""
        self.verified, self.copies = verify_copies(
            self.archive, self.copy_state, most, self.telling("checking the copies")
        )

    def is_kept(self, name: str) -> bool:
        """Return whether an attachment is archived with the correct size, or was removed."""
        path, size = self.media.get(name, (None, 0))
        if not path:
            return path is not None
        # Its size does not show that it is damaged.
        if path in self.copy_state.damaged:
            return False
        file = self.archive.kept_file(path)
        try:
            return file is not None and file.size >= size
        except OSError:
            return False

    def is_archived(self, name: str) -> bool:
        """Return whether an attachment is archived with the correct size."""
        return bool(self.media.get(name, ("", 0))[0]) and self.is_kept(name)

    def file_hash(self, source: SnapshotSource, name: str) -> str | None:
        """Return the hash of the file of an attachment; None if it does not exist."""
        return None if source.store is None else self.hashes.get(source.store / name[:2] / name)

    def hashes_of(self, source: SnapshotSource) -> dict[str, str]:
        """Return the hashes of the files of a snapshot."""
        return {
            path_text(path.relative_to(source.path).as_posix()): self.hashes[path]
            for path in source.files
            if path in self.hashes
        }

    def is_unchanged(self, source: SnapshotSource, state: SnapshotState) -> bool:
        """Return whether a snapshot, its attachments and their copies are unchanged since the last run."""
        if state.files != self.hashes_of(source):
            return False
        for name in state.attachments:
            verdict = self.known.verdicts.get(name)
            if verdict is None or verdict.sha256 != self.file_hash(source, name):
                return False
            # A lost attachment is still in neither place.
            if verdict.loss is None and not self.is_kept(name):
                return False
        # Earlier versions did not store which uses were lost.
        if state.result.lost_count and not state.losses:
            return False
        # Another folder may have had an attachment that this one has lost.
        return not any(self.is_archived(name) for name in state.lost_files)

    def import_snapshot(self, source: SnapshotSource) -> KeptSnapshot:
        """Import one snapshot, and store the result; one that cannot be read does not stop the others."""
        try:
            state = self.examine(source)
        except (KeyIncomplete, ArchiveError, UnwritableBackup):
            raise
        except BackupError as error:
            self.known.snapshots.pop(source.name, None)
            return KeptSnapshot(name=source.name, problem=path_text(str(error)))
        # What is new in this run is not new in the next.
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
                return self.result(source, summary_of(validation, errors), {}, KeptSnapshot(name=name))
            with backup_reader.open(source.path, self.keys) as backup:
                imported = self.archive.add(backup)
                row = self.archive.connection.execute(
                    "SELECT digest FROM snapshot WHERE id = ?", (imported.snapshot,)
                ).fetchone()
                copied, damaged, losses = self.copy_attachments(source, backup)
            states: dict[str, Loss | None] = dict(losses)
            completeness = examined(validation.backup, validation, errors, states)
        for attachment, loss in states.items():
            # Attachments that were removed from the archive are not copied, and have no verdict yet.
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
        return self.result(source, completeness, states, result)

    def copy_attachments(self, source: SnapshotSource, backup: Backup) -> tuple[int, int, dict[str, None]]:
        """Copy the attachments that are not archived yet, and verify the files of the others.

        Return the number of copied attachments, the number of archived ones whose file in the folder is damaged or
        missing, and the names of all that are archived now.
        """
        if backup.media is None:
            return 0, 0, {}
        copied = completed = 0
        there: dict[str, None] = {}
        again: set[str] = set()
        tell = self.telling(f"copying attachments of {source.name}")
        failed: set[str] = set()
        damaged_copies = self.copy_state.damaged
        known_damaged = len(damaged_copies)
        copying = self.archive.copy_media(backup, damaged=damaged_copies)
        for copied_attachment in chain(copying, self.copy_again(backup, failed)):
            completed += copied_attachment.size
            if tell is not None:
                tell(completed)
            if copied_attachment.problem or copied_attachment.path is None:
                failed.add(copied_attachment.media_name)
                continue
            there[copied_attachment.media_name] = None
            damaged_copies.discard(copied_attachment.path)
            self.media[copied_attachment.media_name] = (copied_attachment.path, copied_attachment.size)
            copied += copied_attachment.new
            sha256 = self.file_hash(source, copied_attachment.media_name)
            verdict = self.known.verdicts.get(copied_attachment.media_name)
            if copied_attachment.new:
                self.known.verdicts[copied_attachment.media_name] = Verdict(sha256)
            elif verdict is None or verdict.sha256 != sha256 or source.store is None:
                again.add(copied_attachment.media_name)
        self.recopied += known_damaged - len(damaged_copies)
        for attachment in self.attachments(backup, again):
            loss = read_through(backup.media, attachment)
            self.known.verdicts[attachment.name] = Verdict(self.file_hash(source, attachment.name), loss)
        damaged = sum(self.known.verdicts[name].loss is not None for name in there)
        return copied, damaged, there

    def copy_again(self, backup: Backup, failed: set[str]) -> Iterator[CopiedAttachment]:
        """Copy attachments that could not be read: a later one may have had the same content."""
        if failed:
            yield from self.archive.copy_media(backup, only=set(failed), damaged=self.copy_state.damaged)

    @staticmethod
    def attachments(backup: Backup, names: set[str]) -> Iterator[AttachmentKey]:
        """Yield the attachments of a backup that have one of these names, each once."""
        if names:
            for _pointer, attachment in kept(backup):
                if attachment.name in names:
                    yield attachment

    def result(
        self,
        source: SnapshotSource,
        completeness: Completeness,
        attachments: dict[str, Loss | None],
        result: KeptSnapshot,
    ) -> SnapshotState:
        """Return the result for a snapshot."""
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
        lost_files = tuple(name for name, loss in attachments.items() if loss is not None)
        losses = hashes_of_losses(completeness.lost)
        return SnapshotState(self.hashes_of(source), tuple(attachments), snapshot, lost_files, losses)


def hashes_of_losses(lost: tuple[LostAttachment, ...]) -> tuple[str, ...]:
    """Return a hash of each use of a lost attachment; names of chats and numbers of frames may change."""
    uses: Counter[tuple[str, ...]] = Counter()
    hashes: list[str] = []
    for item in lost:
        file = (item.media_name,) if item.media_name else (item.person, item.file_name, item.content_type)
        use = (str(item.sent_ms), *file)
        uses[use] += 1
        hashes.append(hashlib.sha256(msgspec.json.encode((use, uses[use]))).hexdigest()[:LOSS_DIGITS])
    return tuple(hashes)


def words_of(finding: Finding) -> str:
    """Return the description of a finding, without its location."""
    detail = f" ({finding.detail})" if finding.detail else ""
    return f"{finding.rule.wrong.removesuffix('.')}{detail}"
