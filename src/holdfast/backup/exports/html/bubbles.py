"""HTML of messages as chat bubbles; exports and the website share them and `chat.css`.

Exports render hundreds of thousands, so they are concatenated strings, with fast paths for plain messages.
"""

import hashlib
import re
from collections.abc import Sequence
from functools import lru_cache
from typing import Final

from holdfast.backup.archives.model import (
    ArchivedAttachment,
    Card,
    Link,
    Message,
    Poll,
    Quote,
    Reaction,
    Revision,
    TextRange,
)
from holdfast.backup.archives.sentences import format_duration
from holdfast.backup.bidi import isolated
from holdfast.backup.exports.html.clock import TimeFormatter, day_label, iso_date
from holdfast.backup.exports.html.files import (
    Addresses,
    album,
    download_attribute,
    file_block,
    is_embedded,
    label,
    picture,
    size_label,
)
from holdfast.backup.exports.html.markup import escape, is_address, is_only_emoji, rich_text
from holdfast.backup.exports.media import display_kind

__all__ = [
    "COLORS",
    "GROUP_GAP_MS",
    "Addresses",
    "author_elements",
    "bubble",
    "color_of",
    "continues_group",
    "day_line",
    "initials",
    "plain_bubble",
]

COLORS: Final = 12
# Consecutive messages of an author are grouped, unless this much time lies between them.
GROUP_GAP_MS: Final = 10 * 60_000
# A text with fewer characters has its time on the same line.
SHORT_TEXT: Final = 56
UTC_CLOCK: Final = TimeFormatter()
STATUS_ICONS: Final = {
    state: f' <span class="s {state}" role="img" aria-label="{title}" title="{title}">{sign}</span>'
    for state, title, sign in (
        ("pending", "Not sent yet", "◌"),
        ("sent", "Sent", "✓"),
        ("delivered", "Delivered", "✓✓"),
        ("read", "Read", "✓✓"),
        ("viewed", "Viewed", "✓✓"),
        ("failed", "Not delivered to everybody", "!"),
        ("skipped", "Not sent", "\u2013"),
    )
}
# Text between bidirectional isolate characters.
ISOLATED: Final = re.compile("\u2068([^\u2068\u2069]*)\u2069")
# Emoji before the sentence of a message, by kind.
KIND_EMOJI: Final = {
    "payment": "💸",
    "gift_badge": "🎁",
    "deleted": "🚫",
    "deleted_by_admin": "🚫",
    "view_once": "①",
}
# Start of an item, by whether it is outgoing, continues a group, and is short.
ITEM_STARTS: Final = tuple(
    f'<li class="m {side}{follows}{short}" id="m'
    for side in ("in", "out")
    for follows in ("", " f")
    for short in ("", " k")
)
KIND_CLASSES: Final = {kind: f" {kind}" for kind in ("deleted", "deleted_by_admin", "sticker")}
QUOTED: Final = {"VIEW_ONCE": "View-once media", "GIFT_BADGE": "Donation", "POLL": "Poll"}
FIELDS: Final = {"phone": "☎", "email": "✉", "address": "⌂"}


@lru_cache(maxsize=4096)
def color_of(number: int) -> int:
    """Return the color number of a recipient: a hash of the id."""
    return int.from_bytes(hashlib.blake2b(number.to_bytes(8, "big"), digest_size=2).digest(), "big") % COLORS


def initials(name: str) -> str:
    """Return the first characters of the first and last word of a name."""
    words = [letters for word in name.split() if (letters := "".join(filter(str.isalnum, word)))]
    if not words:
        return name[:1] or "?"
    return "".join(word[0] for word in (words if len(words) == 1 else (words[0], words[-1]))).upper()


@lru_cache(maxsize=4096)
def author_elements(number: int, name: str) -> tuple[str, str]:
    """Return the avatar and the name of an author."""
    color = color_of(number)
    avatar = f'<span class="av c{color}" aria-hidden="true">{escape(initials(name))}</span>'
    return avatar, f'<b class="n c{color}" dir="auto">{escape(name)}</b>'


@lru_cache(maxsize=4096)
def isolated_name(name: str) -> str:
    """Return a name in a `bdi` element, which isolates its text direction."""
    return f"<bdi>{escape(name)}</bdi>"


# Few distinct emoji are used often.
cached_escape = lru_cache(maxsize=4096)(escape)


def continues_group(before: Message | None, message: Message) -> bool:
    """Return whether a message is grouped with the one before it."""
    return (
        before is not None
        and before.author_id == message.author_id
        and before.direction == message.direction
        and before.kind != "update"
        and message.position.ms - before.position.ms < GROUP_GAP_MS
    )


def day_line(day: int) -> str:
    """Return the heading of a day."""
    date = iso_date(day)
    return f'<li class="day"><h2 id="d{date}"><time datetime="{date}">{day_label(day)}</time></h2></li>\n'


def plain_bubble(
    number: int, text: str, author: tuple[str, str], stamp: str, status: str | None, *, is_own: bool, follows: bool
) -> str:
    """Return a plain text message as `bubble` does; `author` is the result of `author_elements`."""
    avatar, name = author
    if is_own:
        stamp += STATUS_ICONS.get(status or "", "")
    if is_own or follows:
        avatar = ""
    begin = ITEM_STARTS[4 * is_own + 2 * follows + (len(text) < SHORT_TEXT and "\n" not in text)]
    return f'{begin}{number}">{avatar}<div class="b">{name}{paragraph(text)}<p class="w">{stamp}</p></div></li>\n'


def paragraph(text: str, ranges: Sequence[TextRange] = ()) -> str:
    """Return the text of a message; a few emoji alone are shown large."""
    size = "" if text.isascii() or not is_only_emoji(text) else " big"
    return f'<p class="t{size}" dir="auto">{rich_text(text, ranges)}</p>'


def bubble(
    message: Message,
    addresses: Addresses,
    clock: TimeFormatter = UTC_CLOCK,
    *,
    day: int | None = None,
    follows: bool = False,
    detail: str = "",
) -> str:
    """Return a message as a list item.

    `day` is the day of the heading above, whose date is not repeated; `follows` omits the avatar of an author who
    also wrote the message before; `detail` is the URL of a page with details, if there is one.
    """
    stamp = clock.time_element(message.sent_ms, day)
    if detail:
        stamp = f'<a class="dt" href="{escape(detail)}">{stamp}</a>'
    kind = message.kind
    vanished_class = " gone" if message.vanished_ms is not None else ""
    labels = ""
    if vanished_class or message.expires_in_ms or message.pinned_ms or message.sms:
        labels = message_labels(message, clock)
    if kind == "update":
        sentence = sentence_html(message.sentence) or escape(message.text or "")
        return (
            f'<li class="m up{vanished_class}" id="m{message.id}"><p dir="auto">{sentence}</p>'
            f'<p class="w">{labels}{stamp}</p></li>\n'
        )
    revisions = message.revisions
    avatar, name = author_elements(message.author_id, message.author)
    if message.direction == "outgoing":
        side, avatar = "out", ""
        stamp += STATUS_ICONS.get(message.status or "", "")
    else:
        side = "in"
    if follows:
        side += " f"
        avatar = ""
    text = message.text
    if kind == "message" and not message.attachments and text:
        content = paragraph(text, message.ranges)
        if len(text) < SHORT_TEXT and not labels and not revisions and "\n" not in text:
            side += " k"
        if message.links:
            content += "".join([link_card(link, None, addresses) for link in message.links])
    else:
        side += KIND_CLASSES.get(kind, "")
        content = body(message, addresses)
    if message.quote is not None:
        content = quote_block(message, message.quote, addresses) + content
    reactions = reaction_list(message.reactions, clock) if message.reactions else ""
    return (
        f'<li class="m {side}{vanished_class}" id="m{message.id}">{avatar}<div class="b">{name}{content}'
        f'<p class="w">{labels}{stamp}</p>{edits(revisions, clock) if revisions else ""}</div>{reactions}</li>\n'
    )


def body(message: Message, addresses: Addresses) -> str:
    """Return the content of a message that is not plain text."""
    parts: list[str] = []
    kind, text = message.kind, message.text
    pictures = {
        archived_attachment.n: archived_attachment
        for archived_attachment in message.attachments
        if archived_attachment.role == "link_image" and not archived_attachment.revision
    }
    archived_attachments = [
        attachment
        for attachment in message.attachments
        if attachment.role == "attachment"
        and not attachment.revision
        and display_kind(attachment) in {"image", "video"}
    ]
    if len(archived_attachments) > 1:
        parts.append(album(archived_attachments, addresses))
    for attachment in message.attachments:
        if attachment.revision or (len(archived_attachments) > 1 and attachment in archived_attachments):
            continue
        if attachment.role == "attachment":
            parts.append(file_block(attachment, addresses))
        elif attachment.role == "sticker":
            parts.append(sticker(attachment, message.sentence, addresses))
    if message.poll is not None:
        parts.append(poll_block(message.poll))
    elif message.card is not None:
        parts.append(card_block(message.card, message.attachments, addresses))
    elif message.sentence and kind != "sticker":
        sign = KIND_EMOJI.get(kind, "")
        parts.append(f'<p class="said" dir="auto">{sign} {sentence_html(message.sentence)}</p>')
    elif kind == "story_reply":
        parts.append('<p class="said">Reply to a story</p>')
    if text and kind != "poll":
        parts.append(paragraph(text, message.ranges))
    parts += [link_card(link, pictures.get(n), addresses) for n, link in enumerate(message.links)]
    if not message.unfolded:
        parts += [
            long_text(attachment, addresses)
            for attachment in message.attachments
            if attachment.role == "long_text"
        ]
    return "".join(parts)


def message_labels(message: Message, clock: TimeFormatter) -> str:
    """Return the labels of a message: pinned, SMS, disappearing, vanished."""
    spans: list[str] = []
    if message.pinned_ms:
        spans.append('<span title="Pinned">📌 pinned</span>')
    if message.sms:
        spans.append("<span>SMS</span>")
    if message.expires_in_ms:
        spans.append(f"<span>⏱ {escape(format_duration(message.expires_in_ms))}</span>")
    if message.vanished_ms is not None:
        spans.append(f"<span>gone from the backup of {clock.time_element(message.vanished_ms)}</span>")
    return " ".join([*spans, ""])


def edits(revisions: tuple[Revision, ...], clock: TimeFormatter) -> str:
    """Return the earlier versions of a message, collapsed."""
    rows = "".join(
        f"<li>{clock.time_element(revision.sent_ms)}"
        f'<p class="t" dir="auto">{rich_text(revision.text or "")}</p></li>'
        for revision in revisions
    )
    return f'<details class="ed"><summary>Edited</summary><ol>{rows}</ol></details>'


def reaction_list(reactions: tuple[Reaction, ...], clock: TimeFormatter) -> str:
    """Return the reactions to a message: counts, and when expanded the authors."""
    counts: dict[str, int] = {}
    rows = ""
    for reaction in reactions:
        emoji = cached_escape(reaction.emoji)
        counts[emoji] = counts.get(emoji, 0) + 1
        rows += f"<li>{emoji} {isolated_name(reaction.author)} {clock.time_element(reaction.sent_ms)}</li>"
    labels = [emoji if count == 1 else f"{emoji}&#8239;{count}" for emoji, count in counts.items()]
    return (
        f'<details class="re"><summary aria-label="Reactions: {" ".join(labels)}"><span>'
        f"{'</span> <span>'.join(labels)}</span></summary><ul>{rows}</ul></details>"
    )


def quote_block(message: Message, quote: Quote, addresses: Addresses) -> str:
    """Return the quote of a message, with a link to the quoted message."""
    address = addresses.message(quote.target_id) if quote.target_id is not None else None
    name = isolated_name(quote.author)
    head = f'<a href="{escape(address)}">{name}</a>' if address else f"<b>{name}</b>"
    shown, thumbnail = "", ""
    for attachment in message.attachments:
        if attachment.role == "quoted" and not attachment.revision:
            shown = attachment.file_name or label(attachment)
            place = addresses.media(attachment) if display_kind(attachment) == "image" else None
            thumbnail = picture(attachment, addresses.thumbnail(attachment, place), ' class="th"') if place else ""
            break
    text = rich_text(quote.text, message.quote_ranges, links=False) if quote.text else ""
    kind_label = escape(QUOTED.get(quote.type, "") or shown)
    content = f'<span class="what">{kind_label}</span> {text}' if kind_label else text
    color = color_of(quote.author_id)
    return f'<blockquote class="q c{color}">{thumbnail}{head}<p dir="auto">{content}</p></blockquote>'


def sentence_html(sentence: str | None) -> str:
    """Return a sentence as HTML; isolate characters around names become `bdi` elements."""
    return ISOLATED.sub(r"<bdi>\1</bdi>", escape(sentence or ""))


def sticker(attachment: ArchivedAttachment, sentence: str | None, addresses: Addresses) -> str:
    """Return a sticker, or its emoji if the file is missing."""
    place = addresses.media(attachment) if display_kind(attachment) == "image" else None
    if place is not None:
        return f'<div class="stick">{picture(attachment, place)}</div>'
    return f'<p class="said big" dir="auto">{sentence_html(sentence) or escape(label(attachment))}</p>'


def long_text(attachment: ArchivedAttachment, addresses: Addresses) -> str:
    """Return a link to the file of a long text."""
    place = addresses.media(attachment)
    if place is None or attachment.revision:
        return ""
    download = download_attribute(attachment) if is_embedded(place) else ""
    size = size_label(attachment.size)
    return f'<p class="said"><a href="{escape(place)}"{download}>The whole text</a>, {size}</p>'


def link_card(link: Link, image: ArchivedAttachment | None, addresses: Addresses) -> str:
    """Return a link preview; only HTTP and HTTPS URLs are links."""
    place = addresses.media(image) if image is not None and display_kind(image) == "image" else None
    thumbnail = (
        picture(image, addresses.thumbnail(image, place), ' class="th"') if image is not None and place else ""
    )
    title = escape(link.title or link.url)
    if is_address(link.url):
        title = f'<a href="{escape(link.url)}" rel="noreferrer" dir="auto">{title}</a>'
    more = f'<p dir="auto">{escape(link.description)}</p>' if link.description else ""
    return f'<div class="card">{thumbnail}<b>{title}</b>{more}<small dir="ltr">{escape(link.url)}</small></div>'


def poll_block(poll: Poll) -> str:
    """Return a poll with its votes."""
    most = max((len(option.voters) for option in poll.options), default=0) or 1
    rows = "".join(
        f'<li><span class="o" dir="auto">{escape(option.text)}</span> <span class="nr">{len(option.voters)}</span>'
        f'<progress max="{most}" value="{len(option.voters)}" aria-hidden="true"></progress>'
        f"{voters(option.voters)}</li>"
        for option in poll.options
    )
    kind = "Several answers allowed" if poll.allow_multiple else "One answer"
    state = ", ended" if poll.has_ended else ""
    return (
        f'<div class="poll"><p class="t" dir="auto"><b>{escape(poll.question)}</b></p>'
        f'<p class="said">Poll. {kind}{state}.</p><ul>{rows}</ul></div>'
    )


def voters(names: tuple[str, ...]) -> str:
    """Return the names of voters."""
    return f"<small>{', '.join(isolated_name(name) for name in names)}</small>" if names else ""


def card_block(card: Card, attachments: tuple[ArchivedAttachment, ...], addresses: Addresses) -> str:
    """Return a contact card."""
    avatar = ""
    for attachment in attachments:
        if (
            attachment.role == "avatar"
            and display_kind(attachment) == "image"
            and (place := addresses.media(attachment))
        ):
            avatar = picture(attachment, place, ' class="th"')
    lines = "".join(
        f'<li><span aria-hidden="true">{FIELDS.get(line.field, "")}</span> <bdi>{escape(line.value)}</bdi></li>'
        for line in card.fields
    )
    work = f'<p dir="auto">{escape(card.organization)}</p>' if card.organization else ""
    name = escape(isolated(card.name or card.organization or "Contact"))
    return f'<div class="card contact">{avatar}<b dir="auto">{name}</b>{work}<ul>{lines}</ul></div>'
