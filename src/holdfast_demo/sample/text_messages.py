"""Messages that are mainly text."""

from holdfast.backup.schema.backup_pb2 import BodyRange, ChatItem, Quote, StandardMessage
from holdfast_demo.sample.attachments import anywhere, attach, everywhere, on_device, point
from holdfast_demo.sample.chats import Said
from holdfast_demo.sample.item_context import Moment, react, react_often
from holdfast_demo.sample.people import DAY
from holdfast_demo.sample.texts import STYLES, curious, emphasise, mention, opening

__all__ = [
    "addressed",
    "admin_deleted",
    "announcement",
    "curiosity",
    "deleted",
    "edited",
    "expiring",
    "forgotten_quote",
    "letter",
    "link",
    "pinned",
    "pinned_for_good",
    "plain",
    "praised",
    "reply",
    "reply_last",
    "styled",
    "styled_in_every_way",
    "unread_expiring",
]

WEEK = 7 * DAY


def remember(at: Moment, text: str) -> None:
    """Keep a text in mind, so that it can be quoted."""
    at.room.recent.append(Said(at.sent, at.author.id, text))


def plain(item: ChatItem, at: Moment) -> None:
    """Say something."""
    text = at.say()
    message = item.standardMessage
    message.text.body = text
    react_often(message.reactions, at)
    remember(at, text)


def praised(item: ChatItem, at: Moment) -> None:
    """Say something that many react to."""
    plain(item, at)
    item.standardMessage.ClearField("reactions")
    react(item.standardMessage.reactions, at, 5)


def curiosity(item: ChatItem, at: Moment) -> None:
    """Say something that looks dangerous and is not."""
    text = curious(at.dice)
    item.standardMessage.text.body = text
    remember(at, text)


def styled(item: ChatItem, at: Moment) -> None:
    """Say something with emphasis on one word."""
    words = at.say().split(" ")
    emphasise(item.standardMessage.text, words, {at.dice.below(len(words)): at.dice.pick(STYLES)})
    remember(at, " ".join(words))


def styled_in_every_way(item: ChatItem, at: Moment) -> None:
    """Say something with every emphasis there is."""
    words = ["🎻 Loud!", "softly", "(the soprano faints)", "never", "da_capo()", "and tea."]
    emphasise(item.standardMessage.text, words, dict(enumerate(STYLES)))
    remember(at, " ".join(words))


def addressed(item: ChatItem, at: Moment) -> None:
    """Say something to one person of the room."""
    mention(item.standardMessage.text, at.other(), at.say())
    react_often(item.standardMessage.reactions, at)
    remember(at, item.standardMessage.text.body)


def quote(message: StandardMessage, said: Said, at: Moment) -> None:
    """Quote something said earlier in the same room."""
    quoted = message.quote
    quoted.targetSentTimestamp = said.sent
    quoted.authorId = said.author
    quoted.type = said.kind
    if said.text:
        quoted.text.body = said.text
    if said.content_type:
        attachment = quoted.attachments.add(contentType=said.content_type)
        if said.file_name:
            attachment.fileName = said.file_name
        if said.content_type.startswith("image/"):
            attach(
                attachment.thumbnail, at.dice.pick(at.stage.library["drawing"]), at.dice, at.sent, where=on_device
            )


def reply(item: ChatItem, at: Moment) -> None:
    """Answer one of the last things said, or just speak where nothing has been said yet."""
    recent = at.room.recent
    if recent:
        quote(item.standardMessage, recent[-1 - at.dice.below(min(3, len(recent)))], at)
    plain(item, at)


def reply_last(item: ChatItem, at: Moment) -> None:
    """Answer the last thing said."""
    if at.room.recent:
        quote(item.standardMessage, at.room.recent[-1], at)
    plain(item, at)


def forgotten_quote(item: ChatItem, at: Moment) -> None:
    """Quote something that is no longer there."""
    quoted = item.standardMessage.quote
    quoted.authorId = at.other().id
    quoted.type = Quote.NORMAL
    emphasise(quoted.text, ["whatever", "it", "was"], {2: BodyRange.ITALIC})
    plain(item, at)


def link(item: ChatItem, at: Moment) -> None:
    """Recommend a page."""
    number = at.dice.below(10_000)
    url = f"https://example.org/walks/{number}?map=1&view=<all>"
    message = item.standardMessage
    message.text.body = f"{at.say()} {url}"
    preview = message.linkPreview.add(url=url, title=f"Walk no. {number}")
    preview.description = "Four hours, two hills, one café. Dogs & children welcome."
    preview.date = at.sent - at.dice.below(300) * DAY
    point(preview.image, at.dice.pick(at.stage.library["photo"]), at.dice, at.sent, anywhere(at.dice))
    remember(at, message.text.body)


def letter(item: ChatItem, at: Moment) -> None:
    """Write more than fits: the message holds the beginning, a file holds all of it."""
    media = at.dice.pick(at.stage.library["letter"])
    message = item.standardMessage
    message.text.body = opening(media.content)
    point(message.longText, media, at.dice, at.sent, at.dice.pick((on_device, everywhere)))
    react_often(message.reactions, at)
    remember(at, message.text.body[:100])


def edited(item: ChatItem, at: Moment) -> None:
    """Say something that was worded differently before; the earlier versions are kept."""
    plain(item, at)
    text = item.standardMessage.text.body
    versions = at.dice.between(1, 2)
    for number in range(versions):
        revision = ChatItem(chatId=item.chatId, authorId=item.authorId)
        revision.dateSent = item.dateSent - (versions - number) * 400
        if item.HasField("incoming"):
            revision.incoming.CopyFrom(item.incoming)
        else:
            revision.outgoing.CopyFrom(item.outgoing)
        revision.standardMessage.text.body = text[: len(text) // 2 + number + 1]
        item.revisions.append(revision)


def expiring(item: ChatItem, at: Moment) -> None:
    """Say something whose time is running, but not out before the backup is a day old."""
    plain(item, at)
    item.expireStartDate = at.arrived
    item.expiresInMs = ((at.stage.backup_time - at.arrived) // WEEK + 2) * WEEK


def unread_expiring(item: ChatItem, at: Moment) -> None:
    """Say something whose time begins only when it is read."""
    plain(item, at)
    item.incoming.read = False
    item.expiresInMs = 4 * WEEK


def announcement(item: ChatItem, at: Moment) -> None:
    """Announce a new version, with a picture."""
    message = item.standardMessage
    emphasise(message.text, ["New:", "folders, polls, and a quieter bell."], {0: BodyRange.BOLD})
    attach(
        message.attachments.add(),
        at.dice.pick(at.stage.library["drawing"]),
        at.dice,
        at.sent,
        where=anywhere(at.dice),
    )


def deleted(item: ChatItem, _at: Moment) -> None:
    """Take back what was said."""
    item.remoteDeletedMessage.SetInParent()


def admin_deleted(item: ChatItem, at: Moment) -> None:
    """Have a message taken back by whoever looks after the group."""
    item.adminDeletedMessage.adminId = at.stage.me.id


def pinned(item: ChatItem, at: Moment) -> None:
    """Say something that stays on top of the chat for a month."""
    plain(item, at)
    item.pinDetails.pinnedAtTimestamp = at.arrived
    item.pinDetails.pinExpiresAtTimestamp = at.arrived + 30 * DAY


def pinned_for_good(item: ChatItem, at: Moment) -> None:
    """Say something that stays on top of the chat."""
    plain(item, at)
    item.pinDetails.pinnedAtTimestamp = at.arrived
    item.pinDetails.pinNeverExpires = True
