"""Messages that carry something: pictures, voices, stickers, cards, badges, replies to stories."""

from holdfast.backup.schema.backup_pb2 import (
    ChatItem,
    ContactAttachment,
    GiftBadge,
    MessageAttachment,
    Quote,
)
from holdfast_demo.sample.attachments import Locate, anywhere, attach, everywhere, on_device, point, waiting
from holdfast_demo.sample.chats import Said
from holdfast_demo.sample.item_context import Fill, Moment, react, react_often
from holdfast_demo.sample.media import Media, Use
from holdfast_demo.sample.texts import opening

__all__ = [
    "album",
    "animation",
    "borderless",
    "card",
    "clip",
    "document",
    "gift",
    "kept",
    "liked_sticker",
    "photo",
    "sticker",
    "story_emoji",
    "story_letter",
    "story_text",
    "view_once",
    "viewed_once",
    "voice",
]

CARD_NUMBER, CARD_MAIL, CARD_ADDRESS = (
    ContactAttachment.Phone,
    ContactAttachment.Email,
    ContactAttachment.PostalAddress,
)


def add(
    item: ChatItem,
    at: Moment,
    use: Use,
    *,
    where: Locate | None = None,
    flag: MessageAttachment.Flag.ValueType = MessageAttachment.NONE,
) -> MessageAttachment:
    """Attach a file of the library."""
    attachment = item.standardMessage.attachments.add()
    media = at.dice.pick(at.stage.library[use])
    attach(attachment, media, at.dice, at.sent, where=where or anywhere(at.dice), flag=flag)
    return attachment


def remember(item: ChatItem, at: Moment) -> None:
    """Keep a message with a file in mind, so that it can be quoted."""
    message = item.standardMessage
    pointer = message.attachments[0].pointer
    said = Said(
        at.sent, at.author.id, message.text.body, content_type=pointer.contentType, file_name=pointer.fileName
    )
    at.room.recent.append(said)


def photo(item: ChatItem, at: Moment) -> None:
    """Share a picture, often with a word about it."""
    add(item, at, at.dice.pick(("photo", "photo", "drawing")))
    if at.dice.one_in(2):
        item.standardMessage.text.body = at.say()
    react_often(item.standardMessage.reactions, at)
    remember(item, at)


def kept(where: Locate) -> Fill:
    """Share a picture whose file is at a given place."""

    def fill(item: ChatItem, at: Moment) -> None:
        add(item, at, "photo", where=where).pointer.caption = "Seen from the bridge"
        remember(item, at)

    return fill


def album(item: ChatItem, at: Moment) -> None:
    """Share several pictures at once."""
    for _ in range(at.dice.between(2, 5)):
        add(item, at, "photo")
    remember(item, at)


def voice(item: ChatItem, at: Moment) -> None:
    """Leave a voice message, which has no text."""
    add(item, at, "voice", flag=MessageAttachment.VOICE_MESSAGE)
    react_often(item.standardMessage.reactions, at)
    remember(item, at)


def animation(item: ChatItem, at: Moment) -> None:
    """Share a moving picture."""
    add(item, at, "animation", flag=MessageAttachment.GIF)
    remember(item, at)


def borderless(item: ChatItem, at: Moment) -> None:
    """Share a picture that is shown without a frame."""
    add(item, at, "sticker", flag=MessageAttachment.BORDERLESS)
    remember(item, at)


def document(item: ChatItem, at: Moment) -> None:
    """Share a document."""
    add(item, at, "document")
    remember(item, at)


def clip(item: ChatItem, at: Moment) -> None:
    """Share a film that has not been downloaded, so that nothing but its size is known here."""
    film = Media("video/mp4", b"", b"", "clip.mp4", 1280, 720, at.dice.pick(at.stage.library["photo"]).blur_hash)
    attachment = item.standardMessage.attachments.add()
    attach(attachment, film, at.dice, at.sent, where=waiting)
    attachment.pointer.locatorInfo.size = at.dice.between(1_000_000, 30_000_000)
    attachment.pointer.incrementalMac = at.dice.randbytes(96)
    attachment.pointer.incrementalMacChunkSize = 65_536
    remember(item, at)


def sticker(item: ChatItem, at: Moment) -> None:
    """Send a sticker, of an installed pack or of one that is not."""
    message = item.stickerMessage
    shelf = at.stage.library["sticker"]
    number = at.dice.below(len(shelf))
    if at.dice.one_in(5):
        message.sticker.packId, message.sticker.packKey = at.dice.randbytes(16), at.dice.randbytes(32)
    else:
        pack = at.dice.pick(at.stage.packs)
        message.sticker.packId, message.sticker.packKey = pack.id, pack.key
    message.sticker.stickerId = number + 1
    message.sticker.emoji = at.dice.pick(("😊", "🎶", "☔"))
    point(message.sticker.data, shelf[number], at.dice, at.sent, anywhere(at.dice))
    react_often(message.reactions, at)


def liked_sticker(item: ChatItem, at: Moment) -> None:
    """Send a sticker that people react to."""
    sticker(item, at)
    item.stickerMessage.ClearField("reactions")
    react(item.stickerMessage.reactions, at, 3)


def view_once(item: ChatItem, at: Moment) -> None:
    """Send a picture to be seen once, which nobody has opened yet."""
    photos = at.stage.library["photo"]
    attach(item.viewOnceMessage.attachment, at.dice.pick(photos), at.dice, at.sent, where=everywhere)
    react(item.viewOnceMessage.reactions, at, 1)
    at.room.recent.append(Said(at.sent, at.author.id, "", Quote.VIEW_ONCE))


def viewed_once(item: ChatItem, at: Moment) -> None:
    """Send a picture to be seen once, which is gone because it was seen."""
    item.viewOnceMessage.SetInParent()
    at.room.recent.append(Said(at.sent, at.author.id, "", Quote.VIEW_ONCE))


def gift(item: ChatItem, at: Moment) -> None:
    """Give a badge that could not be redeemed.

    The other states need a credential that only the service can issue, so they do not occur in samples.
    """
    item.giftBadge.state = GiftBadge.FAILED
    at.room.recent.append(Said(at.sent, at.author.id, "", Quote.GIFT_BADGE))


def story_text(item: ChatItem, at: Moment) -> None:
    """Answer somebody's story in words."""
    item.directStoryReplyMessage.textReply.text.body = at.say()
    react(item.directStoryReplyMessage.reactions, at, 1)


def story_letter(item: ChatItem, at: Moment) -> None:
    """Answer somebody's story at length."""
    answer = item.directStoryReplyMessage.textReply
    media = at.dice.pick(at.stage.library["letter"])
    answer.text.body = opening(media.content)
    point(answer.longText, media, at.dice, at.sent, on_device)


def story_emoji(item: ChatItem, at: Moment) -> None:
    """Answer somebody's story with a sign."""
    item.directStoryReplyMessage.emoji = at.dice.pick(("🔥", "😍", "👏🏽"))


def card(item: ChatItem, at: Moment) -> None:
    """Pass on an address card on which every line is filled in."""
    contact = item.contactMessage.contact
    name = contact.name
    name.prefix, name.givenName, name.middleName = "Dr.", "Ottilie", "Maria"
    name.familyName, name.suffix, name.nickname = "Haselbach", "jun.", "Otti"
    contact.organization = "Chor am Reihersee e. V."
    for number, phone in enumerate(CARD_NUMBER.Type.values()[1:]):
        label = "Boat house" if phone == CARD_NUMBER.CUSTOM else ""
        contact.number.add(value=f"+1 555 01{20 + number}", type=phone, label=label)
    for number, mail in enumerate(CARD_MAIL.Type.values()[1:]):
        label = "Choir" if mail == CARD_MAIL.CUSTOM else ""
        contact.email.add(value=f"otti{number}@example.org", type=mail, label=label)
    for address in CARD_ADDRESS.Type.values()[1:]:
        contact.address.add(
            type=address,
            label="Summer house" if address == CARD_ADDRESS.CUSTOM else "",
            street="Am Steg 3",
            pobox="12 34",
            neighborhood="Altes Ufer",
            city="Mühlbrück",
            region="Farntal",
            postcode="00012",
            country="Nowhere",
        )
    point(contact.avatar, at.dice.pick(at.stage.library["drawing"]), at.dice, at.sent, on_device)
    react(item.contactMessage.reactions, at, 2)
