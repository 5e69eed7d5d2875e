"""What messages say in words: in a line of the list of chats, and to the search."""

from collections.abc import Iterator

from holdfast.backup.archives.model import Message
from holdfast.backup.exports.html.markup import insert_names
from holdfast.backup.exports.html.sources import FileKey

__all__ = ["has_mentions", "long_texts", "preview_line", "searchable_text"]


def preview_line(message: Message) -> str:
    """Say in a line what a message says."""
    text = insert_names(message.text or "", message.ranges) or message.sentence
    text = text or ("📎" if message.attachments else "")
    line = " ".join(text[:200].split())[:90]
    name = "You" if message.direction == "outgoing" else message.author
    return f"{name}: {line}" if line and message.kind != "update" else line


def long_texts(message: Message) -> Iterator[FileKey]:
    """Yield the files that hold texts of a message."""
    for attachment in message.attachments:
        if attachment.role == "long_text" and attachment.media_name is not None:
            yield attachment.media_name, attachment.content_type, attachment.file_name


def has_mentions(message: Message) -> bool:
    """Return whether a message mentions somebody, or quotes where somebody is."""
    return any(text_range.style is None for text_range in (*message.ranges, *message.quote_ranges))


def searchable_text(message: Message) -> str:
    """Say what the search page finds and shows of a message, empty for nothing."""
    text = message.text
    if text and message.ranges:
        text = insert_names(text, message.ranges)
    if message.kind == "message" and not message.attachments and not message.links:
        return text or ""
    texts = [part for part in (text, message.sentence) if part]
    for attachment in message.attachments:
        if attachment.role == "attachment" and not attachment.revision:
            texts += [part for part in (attachment.file_name, attachment.caption) if part]
    texts += [part for link in message.links for part in (link.title, link.url) if part]
    if message.poll is not None:
        texts += [option.text for option in message.poll.options]
    if message.card is not None:
        texts += [line.value for line in message.card.fields]
    return " · ".join(texts)
