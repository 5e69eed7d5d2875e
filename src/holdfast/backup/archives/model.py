"""What is read from an archive: plain records, the same for commands, pages and exports.

Millions of them are made for one export, and a struct is made in a twentieth of the time a dataclass takes.
"""

from msgspec import Struct

from holdfast.backup.public import public
from holdfast.redacted_repr import redacted

__all__ = [
    "ArchivedAttachment",
    "Card",
    "CardField",
    "Change",
    "Chat",
    "Link",
    "Message",
    "Page",
    "Person",
    "Poll",
    "PollOption",
    "Position",
    "Quote",
    "Reaction",
    "Receipt",
    "Revision",
    "SkippedRecord",
    "Snapshot",
    "TextRange",
]


class Position(Struct, frozen=True, gc=False, order=True):
    """A place in a chat: pages begin before or after it, whatever is imported meanwhile."""

    ms: int
    n: int
    id: int


@redacted
class Snapshot(Struct, frozen=True, gc=False):
    """One backup that was imported."""

    id: int
    account_id: int
    account: str
    made_ms: int
    app_version: str
    messages: int
    frames: int
    digest: str
    source: str


@public
@redacted
class Chat(Struct, frozen=True, gc=False):
    """A chat; `vanished` when the latest snapshot no longer has it."""

    id: int
    account_id: int
    account: str
    name: str
    kind: str
    messages: int
    latest_ms: int | None
    archived: bool
    pinned_order: int | None
    vanished: bool


@public
@redacted
class Person(Struct, frozen=True, gc=False):
    """Somebody in an account: a contact or the owner."""

    id: int
    account_id: int
    account: str
    name: str
    kind: str
    aci: str | None
    pni: str | None
    phone: str | None
    username: str | None
    profile_name: str | None
    blocked: bool
    avatar_color: str | None
    messages: int
    vanished: bool


@redacted
class ArchivedAttachment(Struct, frozen=True, gc=False):
    """A file of a message.

    `role` tells what for; `media_name` is the name a local backup keeps it under, `path`
    where it lies beside the archive, if it was copied there. `blur_hash` describes a few colours of a picture.
    """

    role: str
    n: int
    revision: int
    content_type: str | None
    file_name: str | None
    size: int
    width: int | None
    height: int | None
    caption: str | None
    flag: str | None
    plaintext_hash: str | None
    media_name: str | None
    path: str | None
    blur_hash: str | None = None


@redacted
class Reaction(Struct, frozen=True, gc=False):
    """Somebody's reaction."""

    author_id: int
    author: str
    emoji: str
    sent_ms: int


@redacted
class Receipt(Struct, frozen=True, gc=False):
    """What became of a message on its way to one recipient."""

    recipient_id: int
    recipient: str
    status: str
    at_ms: int
    reason: str | None


@redacted
class Revision(Struct, frozen=True, gc=False):
    """An earlier wording, the oldest has number 1."""

    n: int
    sent_ms: int
    text: str | None


@redacted
class Quote(Struct, frozen=True, gc=False):
    """What a message answers to; `target_id` is the quoted message where the archive has it."""

    author_id: int
    author: str
    type: str
    text: str | None
    target_sent_ms: int | None
    target_id: int | None


@redacted
class Link(Struct, frozen=True, gc=False):
    """The preview of a page."""

    url: str
    title: str | None
    description: str | None
    date_ms: int | None


@redacted
class TextRange(Struct, frozen=True, gc=False):
    """A style, or a mention of somebody, in a text; places count UTF-16 units."""

    start: int
    length: int
    style: str | None
    mention_id: int | None
    mention: str | None


@redacted
class PollOption(Struct, frozen=True, gc=False):
    """One answer and who chose it."""

    text: str
    voters: tuple[str, ...]


@redacted
class Poll(Struct, frozen=True, gc=False):
    """A poll."""

    question: str
    allow_multiple: bool
    has_ended: bool
    options: tuple[PollOption, ...]


@redacted
class CardField(Struct, frozen=True, gc=False):
    """One line of a contact card: a phone number, an email address or where somebody lives."""

    field: str
    type: str
    label: str | None
    value: str


@redacted
class Card(Struct, frozen=True, gc=False):
    """A contact that was sent."""

    name: str | None
    organization: str | None
    fields: tuple[CardField, ...]


@redacted
class Change(Struct, frozen=True, gc=False):
    """What a later snapshot said differently of a message: an edit, a reaction, a receipt, a vote."""

    seen_ms: int
    what: str
    who: str | None
    before: str | None
    after: str | None


@public
@redacted
class Message(Struct, frozen=True, gc=False):
    """A message with all that hangs on it.

    `sentence` says in words what is more than text: updates, calls, payments, deleted messages. `vanished_ms` is
    when the first backup was made that no longer had it. `unfolded` tells that `text` is the whole of one that was
    kept as a file.
    """

    id: int
    chat_id: int
    chat: str
    author_id: int
    author: str
    direction: str
    kind: str
    text: str | None
    sentence: str | None
    sent_ms: int
    received_ms: int | None
    position: Position
    sms: bool
    expires_in_ms: int | None
    pinned_ms: int | None
    vanished_ms: int | None
    attachments: tuple[ArchivedAttachment, ...] = ()
    reactions: tuple[Reaction, ...] = ()
    quote: Quote | None = None
    links: tuple[Link, ...] = ()
    ranges: tuple[TextRange, ...] = ()
    quote_ranges: tuple[TextRange, ...] = ()
    revisions: tuple[Revision, ...] = ()
    poll: Poll | None = None
    card: Card | None = None
    status: str | None = None
    receipts: tuple[Receipt, ...] = ()
    changes: tuple[Change, ...] = ()
    unfolded: bool = False


@redacted
class Page(Struct, frozen=True, gc=False):
    """Some messages in a row; `older` and `newer` are where the next pages begin, None at the ends."""

    messages: tuple[Message, ...]
    older: Position | None
    newer: Position | None


@redacted
class SkippedRecord(Struct, frozen=True, gc=False):
    """What an import left out or read as something else; `frame` 1 is the first frame after the header."""

    snapshot: int
    source: str
    frame: int
    record: str
    action: str
    what: str
    times: int
