"""Checks the attachment files beside a backup, and the manifest that lists them."""

from collections import deque
from collections.abc import Iterator
from typing import Final

from holdfast.backup.backup_reader import Backup
from holdfast.backup.container.chunks import CHUNK
from holdfast.backup.container.folder import SnapshotFolder, snapshots_in
from holdfast.backup.errors import (
    AttachmentError,
    AttachmentMismatch,
    AttachmentMissing,
    AttachmentTooShort,
    AttachmentTruncated,
    BackupError,
)
from holdfast.backup.media import kept
from holdfast.backup.rules.finding import Finding
from holdfast.backup.rules.registry import rule_numbered
from holdfast.backup.rules.rule import Profile
from holdfast.backup.rules.rule_numbers import number_of_rule

__all__ = ["check_files", "check_manifest"]

MANIFEST_PRESENT: Final = number_of_rule("folder.manifest.present")
MANIFEST_READABLE: Final = number_of_rule("folder.manifest.readable")
MANIFEST_COMPLETE: Final = number_of_rule("folder.manifest.complete")
UNUSED: Final = number_of_rule("media.file.unused")
# The rule that each error breaks; the first that matches counts.
RULES: Final[tuple[tuple[type[AttachmentError], int], ...]] = (
    (AttachmentMissing, number_of_rule("media.file.present")),
    (AttachmentTruncated, number_of_rule("media.file.whole")),
    (AttachmentTooShort, number_of_rule("media.file.whole")),
    (AttachmentMismatch, number_of_rule("media.file.hash")),
    (AttachmentError, number_of_rule("media.file.opens")),
)


def check_manifest(backup: Backup, profile: Profile) -> Iterator[Finding]:
    """Yield findings about the manifest of a snapshot, if the backup is one."""
    if backup.snapshot is None:
        return
    try:
        if backup.snapshot.has_manifest():
            deque(backup.snapshot.manifest(), maxlen=0)
        else:
            yield from finding_of(MANIFEST_PRESENT, profile, None)
    except BackupError:
        yield from finding_of(MANIFEST_READABLE, profile, None)


def manifest_names(snapshot: SnapshotFolder | None) -> set[str] | None:
    """Return the attachments in the manifest of a snapshot, None if there is no readable manifest."""
    try:
        return set(snapshot.manifest()) if snapshot is not None and snapshot.has_manifest() else None
    except BackupError:
        return None


def check_files(backup: Backup, profile: Profile, *, decrypt: bool) -> Iterator[Finding]:
    """Check that every attachment file exists; with `decrypt`, decrypt each and report unreferenced files.

    An export may have been made without attachments: missing ones are reported only with `decrypt`.
    """
    media = backup.media
    if media is None or not (decrypt or media.has_files()):
        return
    names: set[str] = set()
    expected = manifest_names(backup.snapshot)
    for pointer, attachment in kept(backup):
        names.add(attachment.name)
        if expected is not None and attachment.name not in expected:
            yield from finding_of(MANIFEST_COMPLETE, profile, pointer.frame, pointer.path)
        try:
            if not decrypt:
                media.check(attachment)
                continue
            with media.open(attachment) as source:
                while source.read(CHUNK):
                    pass
        except AttachmentError as error:
            number = next(number for kind, number in RULES if isinstance(error, kind))
            yield from finding_of(number, profile, pointer.frame, pointer.path)
    if backup.snapshot is not None and decrypt:
        for _file in unused(backup.snapshot, names):
            yield from finding_of(UNUSED, profile, None, detail=_file)


def finding_of(
    number: int, profile: Profile, frame: int | None, path: str = "", detail: str = ""
) -> Iterator[Finding]:
    """Yield a finding, unless the profile excludes the rule."""
    rule = rule_numbered(number)
    severity = rule.severity(profile)
    if severity is not None:
        yield Finding(rule, severity, frame, None, path, detail)


def unused(snapshot: SnapshotFolder, names: set[str]) -> Iterator[str]:
    """Yield the files of the content store that are neither in `names` nor in the manifest of any snapshot.

    If a manifest cannot be read, no file is reported: the manifest may refer to any of them.
    """
    named = set(names)
    try:
        for other in snapshots_in(snapshot.path.parent):
            named.update(other.manifest())
    except BackupError:
        return
    for folder in sorted(snapshot.store.glob("[0-9a-f][0-9a-f]")):
        for file in sorted(folder.iterdir()):
            if file.name not in named:
                yield f"{folder.name}/{file.name}"
