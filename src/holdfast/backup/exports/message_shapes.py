"""The records of messages and of what hangs on them."""

from typing import Any, Literal

import msgspec

from holdfast.redacted_repr import redacted

__all__ = [
    "Attachment",
    "Call",
    "Change",
    "ContactCard",
    "ContactField",
    "Event",
    "GiftBadge",
    "Link",
    "Message",
    "Part",
    "Payment",
    "Poll",
    "PollOption",
    "PollVote",
    "Quote",
    "Reaction",
    "Receipt",
    "Revision",
    "Sticker",
    "TextRange",
]


class Part(msgspec.Struct, frozen=True, omit_defaults=True, gc=False):
    """What all of these are: nothing of them changes, and what is not known is left out."""


@redacted
class Attachment(Part, frozen=True):
    """A file of a message.

    `role` tells what for: `attachment`, `long_text`, `link_image`, `quoted`, `sticker` or `avatar`. `flag` tells a
    voice message, a borderless picture or a GIF. `media_name` is the name a local backup keeps it under, `file`
    where it lies in this export.
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
class TextRange(Part, frozen=True):
    """A style, or a mention of somebody, in a text; `start` and `length` count UTF-16 units."""

    start: int
    length: int
    style: str | None = None
    mention_id: int | None = None
    mention: str | None = None
    mention_aci: str | None = None


@redacted
class Reaction(Part, frozen=True):
    """Somebody's reaction."""

    author_id: int
    author: str
    emoji: str
    sent_ms: int


@redacted
class Receipt(Part, frozen=True):
    """What became of a message on its way to one recipient."""

    recipient_id: int
    recipient: str
    status: str
    at_ms: int
    sealed_sender: bool | None = None
    reason: str | None = None


@redacted
class Quote(Part, frozen=True):
    """What a message answers to; `target_id` is the quoted message where the archive has it."""

    author_id: int
    author: str
    type: str
    text: str | None = None
    ranges: tuple[TextRange, ...] = ()
    target_sent_ms: int | None = None
    target_id: int | None = None


@redacted
class Link(Part, frozen=True):
    """The preview of a page."""

    url: str
    title: str | None = None
    description: str | None = None
    date_ms: int | None = None


@redacted
class Revision(Part, frozen=True):
    """An earlier wording, the oldest has number 1."""

    n: int
    sent_ms: int
    received_ms: int | None = None
    text: str | None = None
    ranges: tuple[TextRange, ...] = ()
    quote: Quote | None = None
    links: tuple[Link, ...] = ()
    attachments: tuple[Attachment, ...] = ()


@redacted
class PollVote(Part, frozen=True):
    """Who chose an answer; `votes` counts how often that person has voted, the last time counts."""

    voter_id: int
    voter: str
    votes: int


@redacted
class PollOption(Part, frozen=True):
    """An answer and who chose it."""

    text: str
    votes: tuple[PollVote, ...] = ()


@redacted
class Poll(Part, frozen=True):
    """A poll."""

    question: str
    allow_multiple: bool
    has_ended: bool
    options: tuple[PollOption, ...] = ()


@redacted
class Sticker(Part, frozen=True):
    """Which sticker of which pack."""

    pack_id: str
    sticker_id: int
    emoji: str | None = None


@redacted
class Payment(Part, frozen=True):
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
class GiftBadge(Part, frozen=True):
    """What became of a badge that was given."""

    state: str


@redacted
class ContactField(Part, frozen=True):
    """A phone number, an email address or a place on a contact card."""

    field: str
    type: str
    value: str
    label: str | None = None


@redacted
class ContactCard(Part, frozen=True):
    """Somebody's card; `name` is the whole name."""

    name: str | None = None
    given_name: str | None = None
    family_name: str | None = None
    prefix: str | None = None
    suffix: str | None = None
    middle_name: str | None = None
    nickname: str | None = None
    organization: str | None = None
    fields: tuple[ContactField, ...] = ()


@redacted
class Call(Part, frozen=True):
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
class Event(Part, frozen=True):
    """What happened besides messages, named as the field of the backup's format that tells of it."""

    type: str
    details: dict[str, Any] = msgspec.field(default_factory=dict)


@redacted
class Change(Part, frozen=True):
    """What a later backup said differently: an edit, a reaction, a receipt, a vote.

    `seen_ms` is when that backup was made.
    """

    seen_ms: int
    what: str
    who_id: int | None = None
    who: str | None = None
    before: str | None = None
    after: str | None = None


@redacted
class Message(Part, frozen=True, kw_only=True, tag="message", tag_field="record"):
    """A message with all that hangs on it.

    `sentence` says in words what is more than text: updates, calls, payments, deleted messages. `order_ms` and
    `order_n` are its place in the chat. `first_seen_ms` is when the earliest backup was made that has it,
    `vanished_ms` when the first one was made that no longer had it.
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
    ranges: tuple[TextRange, ...] = ()
    attachments: tuple[Attachment, ...] = ()
    reactions: tuple[Reaction, ...] = ()
    quote: Quote | None = None
    links: tuple[Link, ...] = ()
    revisions: tuple[Revision, ...] = ()
    receipts: tuple[Receipt, ...] = ()
    changes: tuple[Change, ...] = ()
    poll: Poll | None = None
    sticker: Sticker | None = None
    payment: Payment | None = None
    gift_badge: GiftBadge | None = None
    contact_card: ContactCard | None = None
    deleted_by_id: int | None = None
    deleted_by: str | None = None
    events: tuple[Event, ...] = ()
    call: Call | None = None
