"""Plain text of messages: previews for the list of chats, and text for the search index."""

from collections.abc import Iterator

from holdfast.backup.archives.model import Message
from holdfast.backup.exports.html.markup import insert_names
from holdfast.backup.exports.html.sources import FileKey

__all__ = ["has_mentions", "long_texts", "preview_line", "searchable_text"]


def preview_line(message: Message) -> str:
    """Return a message as a preview of one line."""
    text = insert_names(message.text or "", message.ranges) or message.sentence
    text = text or ("📎" if message.attachments else "")
    line = " ".join(text[:200].split())[:90]
    name = "You" if message.direction == "outgoing" else message.author
    return f"{name}: {line}" if line and message.kind != "update" else line


def long_texts(message: Message) -> Iterator[FileKey]:
    """Yield the files with the long text of a message."""
    for attachment in message.attachments:
        if attachment.role == "long_text" and attachment.media_name is not None:
            yield attachment.media_name, attachment.content_type, attachment.file_name


def has_mentions(message: Message) -> bool:
    """Return whether a message or its quote has mentions."""
    return any(text_range.style is None for text_range in (*message.ranges, *message.quote_ranges))


def searchable_text(message: Message) -> str:
    """Return the text of a message that the search page finds and shows, empty for none."""
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
