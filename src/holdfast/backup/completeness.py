"""Answers whether a backup may be the only copy: it opens, it can be imported, and no attachment is lost."""

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
from holdfast.backup.container import KeyMaterial
from holdfast.backup.container.attachments import AttachmentKey
from holdfast.backup.container.chunks import CHUNK
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
# So many errors are kept to be listed; all are counted.
MOST_ERRORS: Final = 1000
OWNER: Final = "You"


class Answer(StrEnum):
    """The one word."""

    COMPLETE = "complete"
    INCOMPLETE = "incomplete"


class Loss(StrEnum):
    """What became of an attachment that cannot be had from the backup."""

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
    """An attachment of one message that is not in the backup, or not as it was; `loss` says which."""

    chat: str = field(repr=False)
    sent_ms: int
    person: str = field(repr=False)
    file_name: str = field(repr=False)
    content_type: str = field(repr=False)
    loss: Loss
    frame: int


@public
@redacted
@dataclass(frozen=True, slots=True)
class Completeness:
    """Whether everything a backup means to hold can be had from it.

    `errors` counts what an importer trips over, of which `findings` lists the first ones. `lost` has every use of
    an attachment that cannot be had, sorted by chat, date and person; `attachments` counts those that were looked
    for. `not_on_device` has those the device did not have itself when it wrote the backup: they are not lost with
    it, and no backup of it holds them.
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
    """Say whether a backup, in any form `open` takes, may be the only copy there is.

    It must open and be authentic, an importer must find no error in it, and the file of every attachment must be
    there, decrypt and have its hash. A form that keeps no attachments is complete only if no message has any.

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
    """Answer for a backup of which nothing can be read."""
    return Completeness(Answer.INCOMPLETE, "", 0, 0, 0, validation.counts[Severity.ERROR], tuple(errors), (), ())


def examined(
    backup: Backup,
    validation: ValidationRun,
    errors: list[Finding],
    states: dict[str, Loss | None] | None = None,
) -> Completeness:
    """Look for every attachment, and put the answer together.

    `states` has what is known of attachments already, and gets what is found of the others.
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
        # Validation has said where; what is behind that place cannot be looked for.
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
    """Say what is wrong with an attachment, if anything is; `states` has those that were looked at before."""
    attachment = pointer.attachment
    if attachment is None or media is None:
        return Loss.NOT_KEPT
    if attachment.name not in states:
        states[attachment.name] = read_through(media, attachment)
    return states[attachment.name]


def read_through(media: AttachmentStore, attachment: AttachmentKey) -> Loss | None:
    """Decrypt an attachment to its end, where its hash is compared."""
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
    """Who is who in a backup: the names of people and chats."""

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
        return LostAttachment(
            chat, pointer.sent_ms, person, pointer.file_name, pointer.content_type, loss, pointer.frame
        )
