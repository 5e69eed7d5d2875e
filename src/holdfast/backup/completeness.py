"""Checks whether a backup is complete: it opens, it can be imported, and no attachment is lost."""

import io
import shutil
import tempfile
from collections.abc import Callable
from contextlib import ExitStack
from dataclasses import dataclass, field
from enum import StrEnum
from os import PathLike
from typing import BinaryIO, Final

from google.protobuf.message import DecodeError

from holdfast.backup.backup_reader import Backup
from holdfast.backup.container.attachments import AttachmentKey
from holdfast.backup.container.chunks import CHUNK
from holdfast.backup.container.material import KeyMaterial
from holdfast.backup.container.media import AttachmentStore
from holdfast.backup.errors import (
    AttachmentError,
    AttachmentMismatch,
    AttachmentMissing,
    AttachmentTooShort,
    AttachmentTruncated,
    DamagedBackup,
)
from holdfast.backup.media import Pointer, pointers
from holdfast.backup.names import recipient_name
from holdfast.backup.public import public
from holdfast.backup.rules import Finding, Severity
from holdfast.backup.rules.validator import ValidationRun, start_validation
from holdfast.backup.schema import BackupInfo, backup_pb2
from holdfast.backup.wire.collect import Selection, collect_block
from holdfast.backup.wire.stream import NO_CAP
from holdfast.redacted_repr import redacted

__all__ = ["Answer", "Completeness", "Loss", "LostAttachment", "check_completeness"]

NAMED: Final = Selection(["Frame.recipient", "Frame.chat", "Frame.chatItem"])
# The most errors that are listed; all are counted.
MOST_ERRORS: Final = 1000
OWNER: Final = "You"


class Answer(StrEnum):
    """The result of a completeness check."""

    COMPLETE = "complete"
    INCOMPLETE = "incomplete"


class Loss(StrEnum):
    """Why an attachment cannot be read from the backup."""

    MISSING = "missing"
    TRUNCATED = "truncated"
    DAMAGED = "damaged"
    MISMATCH = "mismatch"
    NOT_KEPT = "not kept"
    NOT_DOWNLOADED = "not downloaded"


LOSSES: Final[tuple[tuple[type[AttachmentError], Loss], ...]] = (
    (AttachmentMissing, Loss.MISSING),
    (AttachmentTruncated, Loss.TRUNCATED),
    (AttachmentTooShort, Loss.TRUNCATED),
    (AttachmentMismatch, Loss.MISMATCH),
    (AttachmentError, Loss.DAMAGED),
)


@redacted
@dataclass(frozen=True, slots=True)
class LostAttachment:
    """An attachment of a message that is missing or damaged; `loss` says which.

    `media_name` is the name of its file in the content store of a phone's folder, empty if the backup has none.
    `chat` and `person` are empty for the wallpaper of a chat.
    """

    chat: str = field(repr=False)
    sent_ms: int
    person: str = field(repr=False)
    file_name: str = field(repr=False)
    content_type: str = field(repr=False)
    loss: Loss
    frame: int
    media_name: str = ""


@public
@redacted
@dataclass(frozen=True, slots=True)
class Completeness:
    """Whether everything that a backup refers to can be read from it.

    `errors` is the number of import errors, of which `findings` lists the first. `lost` has every use of an
    attachment that cannot be read, sorted by chat, date and person; `attachments` is the number that was checked.
    `not_on_device` has those that the device itself did not have when it wrote the backup: no backup of that
    device contains them.
    """

    answer: Answer
    form: str
    made_ms: int
    messages: int
    attachments: int
    errors: int
    findings: tuple[Finding, ...] = field(repr=False)
    lost: tuple[LostAttachment, ...] = field(repr=False)
    not_on_device: tuple[LostAttachment, ...] = field(repr=False)


@public
def check_completeness(
    source: str | PathLike[str] | BinaryIO,
    key: KeyMaterial | str | None = None,
    *,
    progress: Callable[[int], None] | None = None,
) -> Completeness:
    """Return whether a backup, in any form that `open` accepts, is complete, so that it can be the only copy.

    It must be authentic and have no import errors, and the file of every attachment must exist, decrypt and match
    its hash. A form without attachments is complete only if no message has any.

    >>> hb.check_completeness("phone", hb.read_keys(key_file)).answer.value
    'complete'
    """
    with ExitStack() as stack:
        if not isinstance(source, str | PathLike) and not source.seekable():
            # It is read more than once.
            spooled = stack.enter_context(tempfile.TemporaryFile())
            shutil.copyfileobj(source, spooled, CHUNK)
            spooled.seek(0, io.SEEK_SET)
            source = spooled
        validation = stack.enter_context(
            start_validation(source, key, profile="import", media=None, progress=progress)
        )
        errors: list[Finding] = []
        for finding in validation:
            if finding.severity is Severity.ERROR and len(errors) < MOST_ERRORS:
                errors.append(finding)
        backup = validation.backup
        return summary_of(validation, errors) if backup is None else examined(backup, validation, errors)


def summary_of(validation: ValidationRun, errors: list[Finding]) -> Completeness:
    """Return the result for a backup of which nothing can be read."""
    return Completeness(Answer.INCOMPLETE, "", 0, 0, 0, validation.counts[Severity.ERROR], tuple(errors), (), ())


def examined(
    backup: Backup,
    validation: ValidationRun,
    errors: list[Finding],
    states: dict[str, Loss | None] | None = None,
) -> Completeness:
    """Check every attachment, and return the result.

    `states` has the results for attachments that are known already, and the results of this check are added to it.
    """
    states = {} if states is None else states
    directory = RecipientNames()
    lost: list[LostAttachment] = []
    elsewhere: list[LostAttachment] = []
    looked_for = 0
    count = validation.counts[Severity.ERROR]
    try:
        directory.read(backup)
        for pointer in pointers(backup):
            if pointer.attachment is None and (backup.media is not None or not pointer.unkept):
                if pointer.unkept or pointer.remote:
                    loss = Loss.NOT_KEPT if pointer.unkept else Loss.NOT_DOWNLOADED
                    elsewhere.append(directory.lost(pointer, loss))
                continue
            looked_for += 1
            file_loss = loss_of(pointer, backup.media, states)
            if file_loss is not None:
                lost.append(directory.lost(pointer, file_loss))
    except DamagedBackup:
        # Validation has reported the damage; attachments after it cannot be checked.
        count = max(count, 1)
    return Completeness(
        Answer.INCOMPLETE if count or lost else Answer.COMPLETE,
        backup.form.value,
        BackupInfo.FromString(backup.header).backupTimeMs,
        directory.messages,
        looked_for,
        count,
        tuple(errors),
        in_order(lost),
        in_order(elsewhere),
    )


def in_order(lost: list[LostAttachment]) -> tuple[LostAttachment, ...]:
    """Sort by chat, date and person."""
    return tuple(
        sorted(
            lost,
            key=lambda attachment: (
                attachment.chat.casefold(),
                attachment.sent_ms,
                attachment.person.casefold(),
                attachment.frame,
            ),
        )
    )


def loss_of(pointer: Pointer, media: AttachmentStore | None, states: dict[str, Loss | None]) -> Loss | None:
    """Return the loss of an attachment, None if it can be read; `states` has those that were checked before."""
    attachment = pointer.attachment
    if attachment is None or media is None:
        return Loss.NOT_KEPT
    if attachment.name not in states:
        states[attachment.name] = read_through(media, attachment)
    return states[attachment.name]


def read_through(media: AttachmentStore, attachment: AttachmentKey) -> Loss | None:
    """Decrypt an attachment to its end, which verifies its hash."""
    try:
        with media.open(attachment) as source:
            while source.read(CHUNK):
                pass
    except AttachmentError as error:
        return next(loss for kind, loss in LOSSES if isinstance(error, kind))
    return None


@redacted
@dataclass(slots=True)
class RecipientNames:
    """The names of people and chats of a backup, by id."""

    people: dict[int, str] = field(default_factory=dict, repr=False)
    chats: dict[int, int] = field(default_factory=dict)
    owner: int = 0
    messages: int = 0

    def read(self, backup: Backup) -> None:
        """Read the names, and count the messages."""
        slots = NAMED.slots
        for block in backup.blocks():
            entries, frames, fault, at = collect_block(block.data, NO_CAP, NAMED)
            if fault:
                raise block.damaged(fault, frames, at)
            for slot, depth, start, end in entries:
                if depth:
                    continue
                if slot == slots["Frame.chatItem"]:
                    self.messages += 1
                    continue
                try:
                    self._enter(block.data[start:end], person=slot == slots["Frame.recipient"])
                except DecodeError:
                    _ = block.frame_at(start).message  # raises, with the place
                    raise

    def _enter(self, raw: bytes, *, person: bool) -> None:
        if not person:
            chat = backup_pb2.Chat.FromString(raw)
            self.chats[chat.id] = chat.recipientId
            return
        recipient = backup_pb2.Recipient.FromString(raw)
        self.people[recipient.id] = recipient_name(recipient)
        if recipient.WhichOneof("destination") == "self":
            self.owner = recipient.id

    def lost(self, pointer: Pointer, loss: Loss) -> LostAttachment:
        """Name the message an attachment belongs to."""
        chat = self.people.get(self.chats.get(pointer.chat, 0), "Unknown") if pointer.chat else ""
        person = OWNER if pointer.author and pointer.author == self.owner else self.people.get(pointer.author, "")
        name = "" if pointer.attachment is None else pointer.attachment.name
        return LostAttachment(
            chat, pointer.sent_ms, person, pointer.file_name, pointer.content_type, loss, pointer.frame, name
        )
