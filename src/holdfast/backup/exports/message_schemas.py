"""Records of messages and their parts in exports to JSON Lines."""

from typing import Any, Literal

import msgspec

from holdfast.redacted_repr import redacted

__all__ = [
    "ExportedAttachment",
    "ExportedCall",
    "ExportedChange",
    "ExportedContactCard",
    "ExportedContactField",
    "ExportedEvent",
    "ExportedGiftBadge",
    "ExportedLink",
    "ExportedMessage",
    "ExportedPart",
    "ExportedPayment",
    "ExportedPoll",
    "ExportedPollOption",
    "ExportedPollVote",
    "ExportedQuote",
    "ExportedReaction",
    "ExportedReceipt",
    "ExportedRevision",
    "ExportedSticker",
    "ExportedTextRange",
]


class ExportedPart(msgspec.Struct, frozen=True, omit_defaults=True, gc=False):
    """Base class of the records: immutable, unknown values are omitted."""


@redacted
class ExportedAttachment(ExportedPart, frozen=True):
    """A file of a message.

    `role` is `attachment`, `long_text`, `link_image`, `quoted`, `sticker` or `avatar`. `flag` marks a voice
    message, a borderless picture or a GIF. `media_name` is its name in a local backup, `file` its path in this
    export.
    """

    role: str
    n: int
    size: int
    content_type: str | None = None
    file_name: str | None = None
    width: int | None = None
    height: int | None = None
    caption: str | None = None
    flag: str | None = None
    blur_hash: str | None = None
    plaintext_hash: str | None = None
    media_name: str | None = None
    file: str | None = None


@redacted
class ExportedTextRange(ExportedPart, frozen=True):
    """A style or a mention in a text; `start` and `length` count UTF-16 code units."""

    start: int
    length: int
    style: str | None = None
    mention_id: int | None = None
    mention: str | None = None
    mention_aci: str | None = None


@redacted
class ExportedReaction(ExportedPart, frozen=True):
    """A reaction to a message."""

    author_id: int
    author: str
    emoji: str
    sent_ms: int


@redacted
class ExportedReceipt(ExportedPart, frozen=True):
    """The delivery status of a message for one recipient."""

    recipient_id: int
    recipient: str
    status: str
    at_ms: int
    sealed_sender: bool | None = None
    reason: str | None = None


@redacted
class ExportedQuote(ExportedPart, frozen=True):
    """The quote of a reply; `target_id` is the quoted message if the archive has it."""

    author_id: int
    author: str
    type: str
    text: str | None = None
    ranges: tuple[ExportedTextRange, ...] = ()
    target_sent_ms: int | None = None
    target_id: int | None = None


@redacted
class ExportedLink(ExportedPart, frozen=True):
    """A link preview."""

    url: str
    title: str | None = None
    description: str | None = None
    date_ms: int | None = None


@redacted
class ExportedRevision(ExportedPart, frozen=True):
    """An earlier version of an edited message; the oldest has number 1."""

    n: int
    sent_ms: int
    received_ms: int | None = None
    text: str | None = None
    ranges: tuple[ExportedTextRange, ...] = ()
    quote: ExportedQuote | None = None
    links: tuple[ExportedLink, ...] = ()
    attachments: tuple[ExportedAttachment, ...] = ()


@redacted
class ExportedPollVote(ExportedPart, frozen=True):
    """A vote for an option; `votes` is how often that person has voted, of which the last counts."""

    voter_id: int
    voter: str
    votes: int


@redacted
class ExportedPollOption(ExportedPart, frozen=True):
    """An option of a poll with its votes."""

    text: str
    votes: tuple[ExportedPollVote, ...] = ()


@redacted
class ExportedPoll(ExportedPart, frozen=True):
    """A poll."""

    question: str
    allow_multiple: bool
    has_ended: bool
    options: tuple[ExportedPollOption, ...] = ()


@redacted
class ExportedSticker(ExportedPart, frozen=True):
    """A sticker and its pack."""

    pack_id: str
    sticker_id: int
    emoji: str | None = None


@redacted
class ExportedPayment(ExportedPart, frozen=True):
    """A payment."""

    status: str
    amount: str | None = None
    fee: str | None = None
    note: str | None = None
    reason: str | None = None
    at_ms: int | None = None
    block_index: int | None = None
    block_ms: int | None = None


@redacted
class ExportedGiftBadge(ExportedPart, frozen=True):
    """The state of a donated badge."""

    state: str


@redacted
class ExportedContactField(ExportedPart, frozen=True):
    """A phone number, email address or postal address of a contact card."""

    field: str
    type: str
    value: str
    label: str | None = None


@redacted
class ExportedContactCard(ExportedPart, frozen=True):
    """A contact card; `name` is the full name."""

    name: str | None = None
    given_name: str | None = None
    family_name: str | None = None
    prefix: str | None = None
    suffix: str | None = None
    middle_name: str | None = None
    nickname: str | None = None
    organization: str | None = None
    fields: tuple[ExportedContactField, ...] = ()


@redacted
class ExportedCall(ExportedPart, frozen=True):
    """A call; `kind` is `individual` or `group`."""

    kind: str
    state: str
    read: bool
    call_id: str | None = None
    type: str | None = None
    direction: str | None = None
    started_ms: int | None = None
    ended_ms: int | None = None
    ringer_id: int | None = None
    starter_id: int | None = None


@redacted
class ExportedEvent(ExportedPart, frozen=True):
    """An update in a chat; its type is the name of the field in the backup format."""

    type: str
    details: dict[str, Any] = msgspec.field(default_factory=dict)


@redacted
class ExportedChange(ExportedPart, frozen=True):
    """A change in a later backup: an edit, a reaction, a receipt, a vote.

    `seen_ms` is the time of that backup.
    """

    seen_ms: int
    what: str
    who_id: int | None = None
    who: str | None = None
    before: str | None = None
    after: str | None = None


@redacted
class ExportedMessage(ExportedPart, frozen=True, kw_only=True, tag="message", tag_field="record"):
    """A message with its attachments, reactions, revisions and other parts.

    `sentence` describes updates, calls, payments and deleted messages as text. `order_ms` and `order_n` are its
    position in the chat. `first_seen_ms` is the time of the earliest backup that has it, `vanished_ms` that of the
    first later backup without it.
    """

    id: int
    account_id: int
    chat_id: int
    chat: str
    author_id: int
    author: str
    direction: Literal["incoming", "outgoing", "none"]
    kind: str
    text: str | None = None
    sentence: str | None = None
    sent: str | None = None
    sent_ms: int
    first_sent_ms: int
    received_ms: int | None = None
    server_sent_ms: int | None = None
    order_ms: int
    order_n: int
    read: bool | None = None
    sealed_sender: bool | None = None
    sms: bool = False
    expire_start_ms: int | None = None
    expires_in_ms: int | None = None
    pinned_ms: int | None = None
    pinned_until_ms: int | None = None
    first_seen_ms: int
    vanished_ms: int | None = None
    ranges: tuple[ExportedTextRange, ...] = ()
    attachments: tuple[ExportedAttachment, ...] = ()
    reactions: tuple[ExportedReaction, ...] = ()
    quote: ExportedQuote | None = None
    links: tuple[ExportedLink, ...] = ()
    revisions: tuple[ExportedRevision, ...] = ()
    receipts: tuple[ExportedReceipt, ...] = ()
    changes: tuple[ExportedChange, ...] = ()
    poll: ExportedPoll | None = None
    sticker: ExportedSticker | None = None
    payment: ExportedPayment | None = None
    gift_badge: ExportedGiftBadge | None = None
    contact_card: ExportedContactCard | None = None
    deleted_by_id: int | None = None
    deleted_by: str | None = None
    events: tuple[ExportedEvent, ...] = ()
    call: ExportedCall | None = None
