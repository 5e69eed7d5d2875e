"""Records read from an archive, used by commands, pages and exports.

They are msgspec structs, as one export creates millions of them: a struct is created in a twentieth of the time of
a dataclass.
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
    """A position in a chat, stable across imports: a cursor for pagination."""

    ms: int
    n: int
    id: int


@redacted
class Snapshot(Struct, frozen=True, gc=False):
    """An imported backup."""

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
    """A chat; `vanished` if the latest snapshot no longer contains it."""

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
    """A contact or the owner of an account."""

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

    `role` is its purpose; `media_name` is its file name in a local backup, `path` its path in the media folder if
    it was copied there. `blur_hash` is the BlurHash of an image.
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
    """A reaction to a message."""

    author_id: int
    author: str
    emoji: str
    sent_ms: int


@redacted
class Receipt(Struct, frozen=True, gc=False):
    """The delivery status of a message for one recipient."""

    recipient_id: int
    recipient: str
    status: str
    at_ms: int
    reason: str | None


@redacted
class Revision(Struct, frozen=True, gc=False):
    """An earlier revision of an edited message; the oldest has number 1."""

    n: int
    sent_ms: int
    text: str | None


@redacted
class Quote(Struct, frozen=True, gc=False):
    """The quoted message; `target_id` is its id if the archive has it."""

    author_id: int
    author: str
    type: str
    text: str | None
    target_sent_ms: int | None
    target_id: int | None


@redacted
class Link(Struct, frozen=True, gc=False):
    """A link preview."""

    url: str
    title: str | None
    description: str | None
    date_ms: int | None


@redacted
class TextRange(Struct, frozen=True, gc=False):
    """A style or mention in a text; positions are in UTF-16 code units."""

    start: int
    length: int
    style: str | None
    mention_id: int | None
    mention: str | None


@redacted
class PollOption(Struct, frozen=True, gc=False):
    """An option of a poll with its voters."""

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
    """A field of a contact card: a phone number, an email address or a postal address."""

    field: str
    type: str
    label: str | None
    value: str


@redacted
class Card(Struct, frozen=True, gc=False):
    """A shared contact."""

    name: str | None
    organization: str | None
    fields: tuple[CardField, ...]


@redacted
class Change(Struct, frozen=True, gc=False):
    """A change of a message between two snapshots: an edit, a reaction, a receipt, a vote."""

    seen_ms: int
    what: str
    who: str | None
    before: str | None
    after: str | None


@public
@redacted
class Message(Struct, frozen=True, gc=False):
    """A message with its related records.

    `sentence` describes what is more than text: updates, calls, payments, deleted messages. `vanished_ms` is when
    the first backup without the message was made. `unfolded` is True if `text` is the full text of one stored as a
    file.
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
    """A page of messages; `older` and `newer` are the positions of the next pages, None at the ends."""

    messages: tuple[Message, ...]
    older: Position | None
    newer: Position | None


@redacted
class SkippedRecord(Struct, frozen=True, gc=False):
    """What an import skipped or replaced by a default; `frame` 1 is the first frame after the header."""

    snapshot: int
    source: str
    frame: int
    record: str
    action: str
    what: str
    times: int
