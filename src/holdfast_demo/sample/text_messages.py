"""Text messages: styles, mentions, quotes, link previews, edits, deletions, pins."""

from holdfast.backup.schema.backup_pb2 import BodyRange, ChatItem, Quote, StandardMessage
from holdfast_demo.sample.attachments import all_tiers, fill_attachment, fill_pointer, on_device, random_location
from holdfast_demo.sample.chats import QuotableMessage
from holdfast_demo.sample.item_context import ItemContext, react, react_often
from holdfast_demo.sample.people import DAY
from holdfast_demo.sample.texts import STYLES, beginning_of, fill_mention, fill_styled, unusual_text

__all__ = [
    "admin_deleted",
    "deleted",
    "edited",
    "expiring",
    "long_text",
    "pinned",
    "pinned_forever",
    "plain",
    "quote_of_missing",
    "release_note",
    "reply",
    "reply_last",
    "styled",
    "unread_expiring",
    "unusual",
    "with_all_styles",
    "with_link_preview",
    "with_many_reactions",
    "with_mention",
]

WEEK = 7 * DAY


def add_quotable(context: ItemContext, text: str) -> None:
    """Add a text to the recent messages, which can be quoted."""
    context.chat.recent.append(QuotableMessage(context.sent, context.author.id, text))


def plain(item: ChatItem, context: ItemContext) -> None:
    """Add a text."""
    text = context.next_text()
    message = item.standardMessage
    message.text.body = text
    react_often(message.reactions, context)
    add_quotable(context, text)


def with_many_reactions(item: ChatItem, context: ItemContext) -> None:
    """Add a text with several reactions."""
    plain(item, context)
    item.standardMessage.ClearField("reactions")
    react(item.standardMessage.reactions, context, 5)


def unusual(item: ChatItem, context: ItemContext) -> None:
    """Add a text that looks dangerous or unusual."""
    text = unusual_text(context.rng)
    item.standardMessage.text.body = text
    add_quotable(context, text)


def styled(item: ChatItem, context: ItemContext) -> None:
    """Add a text with a style on one word."""
    words = context.next_text().split(" ")
    fill_styled(item.standardMessage.text, words, {context.rng.below(len(words)): context.rng.pick(STYLES)})
    add_quotable(context, " ".join(words))


def with_all_styles(item: ChatItem, context: ItemContext) -> None:
    """Add a text with every style."""
    words = ["🎻 Loud!", "softly", "(the soprano faints)", "never", "da_capo()", "and tea."]
    fill_styled(item.standardMessage.text, words, dict(enumerate(STYLES)))
    add_quotable(context, " ".join(words))


def with_mention(item: ChatItem, context: ItemContext) -> None:
    """Add a text that mentions a participant."""
    fill_mention(item.standardMessage.text, context.other_participant(), context.next_text())
    react_often(item.standardMessage.reactions, context)
    add_quotable(context, item.standardMessage.text.body)


def quote(message: StandardMessage, earlier: QuotableMessage, context: ItemContext) -> None:
    """Quote an earlier message of the chat."""
    quoted = message.quote
    quoted.targetSentTimestamp = earlier.sent
    quoted.authorId = earlier.author
    quoted.type = earlier.kind
    if earlier.text:
        quoted.text.body = earlier.text
    if earlier.content_type:
        attachment = quoted.attachments.add(contentType=earlier.content_type)
        if earlier.file_name:
            attachment.fileName = earlier.file_name
        if earlier.content_type.startswith("image/"):
            fill_attachment(
                attachment.thumbnail,
                context.rng.pick(context.sample.library["drawing"]),
                context.rng,
                context.sent,
                where=on_device,
            )


def reply(item: ChatItem, context: ItemContext) -> None:
    """Add a text that quotes one of the recent messages, if there are any."""
    recent = context.chat.recent
    if recent:
        quote(item.standardMessage, recent[-1 - context.rng.below(min(3, len(recent)))], context)
    plain(item, context)


def reply_last(item: ChatItem, context: ItemContext) -> None:
    """Add a text that quotes the last message."""
    if context.chat.recent:
        quote(item.standardMessage, context.chat.recent[-1], context)
    plain(item, context)


def quote_of_missing(item: ChatItem, context: ItemContext) -> None:
    """Add a text that quotes a message that is not in the backup."""
    quoted = item.standardMessage.quote
    quoted.authorId = context.other_participant().id
    quoted.type = Quote.NORMAL
    fill_styled(quoted.text, ["whatever", "it", "was"], {2: BodyRange.ITALIC})
    plain(item, context)


def with_link_preview(item: ChatItem, context: ItemContext) -> None:
    """Add a text with a link and its preview."""
    number = context.rng.below(10_000)
    url = f"https://example.org/walks/{number}?map=1&view=<all>"
    message = item.standardMessage
    message.text.body = f"{context.next_text()} {url}"
    preview = message.linkPreview.add(url=url, title=f"Walk no. {number}")
    preview.description = "Four hours, two hills, one café. Dogs & children welcome."
    preview.date = context.sent - context.rng.below(300) * DAY
    fill_pointer(
        preview.image,
        context.rng.pick(context.sample.library["photo"]),
        context.rng,
        context.sent,
        random_location(context.rng),
    )
    add_quotable(context, message.text.body)


def long_text(item: ChatItem, context: ItemContext) -> None:
    """Add a long text: the message has its beginning, a file all of it."""
    media = context.rng.pick(context.sample.library["long_text"])
    message = item.standardMessage
    message.text.body = beginning_of(media.content)
    fill_pointer(message.longText, media, context.rng, context.sent, context.rng.pick((on_device, all_tiers)))
    react_often(message.reactions, context)
    add_quotable(context, message.text.body[:100])


def edited(item: ChatItem, context: ItemContext) -> None:
    """Add a text with one or two earlier revisions."""
    plain(item, context)
    text = item.standardMessage.text.body
    versions = context.rng.between(1, 2)
    for number in range(versions):
        revision = ChatItem(chatId=item.chatId, authorId=item.authorId)
        revision.dateSent = item.dateSent - (versions - number) * 400
        if item.HasField("incoming"):
            revision.incoming.CopyFrom(item.incoming)
        else:
            revision.outgoing.CopyFrom(item.outgoing)
        revision.standardMessage.text.body = text[: len(text) // 2 + number + 1]
        item.revisions.append(revision)


def expiring(item: ChatItem, context: ItemContext) -> None:
    """Add a text whose timer is running, and does not expire within a day after the backup."""
    plain(item, context)
    item.expireStartDate = context.arrived
    item.expiresInMs = ((context.sample.backup_time - context.arrived) // WEEK + 2) * WEEK


def unread_expiring(item: ChatItem, context: ItemContext) -> None:
    """Add an unread text whose timer starts when it is read."""
    plain(item, context)
    item.incoming.read = False
    item.expiresInMs = 4 * WEEK


def release_note(item: ChatItem, context: ItemContext) -> None:
    """Add a release note with a picture."""
    message = item.standardMessage
    fill_styled(message.text, ["New:", "folders, polls, and a quieter bell."], {0: BodyRange.BOLD})
    fill_attachment(
        message.attachments.add(),
        context.rng.pick(context.sample.library["drawing"]),
        context.rng,
        context.sent,
        where=random_location(context.rng),
    )


def deleted(item: ChatItem, _context: ItemContext) -> None:
    """Mark the message as deleted for everyone."""
    item.remoteDeletedMessage.SetInParent()


def admin_deleted(item: ChatItem, context: ItemContext) -> None:
    """Mark the message as deleted by an admin of the group."""
    item.adminDeletedMessage.adminId = context.sample.me.id


def pinned(item: ChatItem, context: ItemContext) -> None:
    """Add a text that is pinned for a month."""
    plain(item, context)
    item.pinDetails.pinnedAtTimestamp = context.arrived
    item.pinDetails.pinExpiresAtTimestamp = context.arrived + 30 * DAY


def pinned_forever(item: ChatItem, context: ItemContext) -> None:
    """Add a text that is pinned without an end."""
    plain(item, context)
    item.pinDetails.pinnedAtTimestamp = context.arrived
    item.pinDetails.pinNeverExpires = True
