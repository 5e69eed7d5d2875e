"""Messages with attachments, stickers, contact cards, gift badges and story replies."""

from holdfast.backup.schema.backup_pb2 import (
    ChatItem,
    ContactAttachment,
    GiftBadge,
    MessageAttachment,
    Quote,
)
from holdfast_demo.sample.attachments import (
    FillLocator,
    all_tiers,
    fill_attachment,
    fill_pointer,
    not_downloaded,
    on_device,
    random_location,
)
from holdfast_demo.sample.chats import QuotableMessage
from holdfast_demo.sample.item_context import Fill, ItemContext, react, react_often
from holdfast_demo.sample.media import Media, MediaUse
from holdfast_demo.sample.texts import beginning_of

__all__ = [
    "album",
    "animation",
    "borderless",
    "contact_card",
    "document",
    "gift_badge",
    "long_story_reply",
    "photo",
    "photo_at",
    "sticker",
    "sticker_with_reactions",
    "story_emoji_reply",
    "story_reply",
    "undownloaded_video",
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
    context: ItemContext,
    use: MediaUse,
    *,
    where: FillLocator | None = None,
    flag: MessageAttachment.Flag.ValueType = MessageAttachment.NONE,
) -> MessageAttachment:
    """Add an attachment with a file of the library."""
    attachment = item.standardMessage.attachments.add()
    media = context.rng.pick(context.sample.library[use])
    fill_attachment(
        attachment, media, context.rng, context.sent, where=where or random_location(context.rng), flag=flag
    )
    return attachment


def add_quotable(item: ChatItem, context: ItemContext) -> None:
    """Add a message with a file to the recent messages, which can be quoted."""
    message = item.standardMessage
    pointer = message.attachments[0].pointer
    earlier = QuotableMessage(
        context.sent,
        context.author.id,
        message.text.body,
        content_type=pointer.contentType,
        file_name=pointer.fileName,
    )
    context.chat.recent.append(earlier)


def photo(item: ChatItem, context: ItemContext) -> None:
    """Add a picture, with a text in half of the cases."""
    add(item, context, context.rng.pick(("photo", "photo", "drawing")))
    if context.rng.one_in(2):
        item.standardMessage.text.body = context.next_text()
    react_often(item.standardMessage.reactions, context)
    add_quotable(item, context)


def photo_at(where: FillLocator) -> Fill:
    """Return a function that adds a picture whose file has the given location."""

    def fill(item: ChatItem, context: ItemContext) -> None:
        add(item, context, "photo", where=where).pointer.caption = "Seen from the bridge"
        add_quotable(item, context)

    return fill


def album(item: ChatItem, context: ItemContext) -> None:
    """Add several pictures."""
    for _ in range(context.rng.between(2, 5)):
        add(item, context, "photo")
    add_quotable(item, context)


def voice(item: ChatItem, context: ItemContext) -> None:
    """Add a voice message."""
    add(item, context, "voice", flag=MessageAttachment.VOICE_MESSAGE)
    react_often(item.standardMessage.reactions, context)
    add_quotable(item, context)


def animation(item: ChatItem, context: ItemContext) -> None:
    """Add an animated GIF."""
    add(item, context, "animation", flag=MessageAttachment.GIF)
    add_quotable(item, context)


def borderless(item: ChatItem, context: ItemContext) -> None:
    """Add a picture with the flag `BORDERLESS`."""
    add(item, context, "sticker", flag=MessageAttachment.BORDERLESS)
    add_quotable(item, context)


def document(item: ChatItem, context: ItemContext) -> None:
    """Add a document."""
    add(item, context, "document")
    add_quotable(item, context)


def undownloaded_video(item: ChatItem, context: ItemContext) -> None:
    """Add a video that was not downloaded: only its size is known."""
    film = Media(
        "video/mp4", b"", b"", "clip.mp4", 1280, 720, context.rng.pick(context.sample.library["photo"]).blur_hash
    )
    attachment = item.standardMessage.attachments.add()
    fill_attachment(attachment, film, context.rng, context.sent, where=not_downloaded)
    attachment.pointer.locatorInfo.size = context.rng.between(1_000_000, 30_000_000)
    attachment.pointer.incrementalMac = context.rng.randbytes(96)
    attachment.pointer.incrementalMacChunkSize = 65_536
    add_quotable(item, context)


def sticker(item: ChatItem, context: ItemContext) -> None:
    """Add a sticker of an installed or another pack."""
    message = item.stickerMessage
    files = context.sample.library["sticker"]
    number = context.rng.below(len(files))
    if context.rng.one_in(5):
        message.sticker.packId, message.sticker.packKey = context.rng.randbytes(16), context.rng.randbytes(32)
    else:
        pack = context.rng.pick(context.sample.packs)
        message.sticker.packId, message.sticker.packKey = pack.id, pack.key
    message.sticker.stickerId = number + 1
    message.sticker.emoji = context.rng.pick(("😊", "🎶", "☔"))
    fill_pointer(message.sticker.data, files[number], context.rng, context.sent, random_location(context.rng))
    react_often(message.reactions, context)


def sticker_with_reactions(item: ChatItem, context: ItemContext) -> None:
    """Add a sticker with reactions."""
    sticker(item, context)
    item.stickerMessage.ClearField("reactions")
    react(item.stickerMessage.reactions, context, 3)


def view_once(item: ChatItem, context: ItemContext) -> None:
    """Add a view-once picture that was not opened."""
    photos = context.sample.library["photo"]
    fill_attachment(
        item.viewOnceMessage.attachment, context.rng.pick(photos), context.rng, context.sent, where=all_tiers
    )
    react(item.viewOnceMessage.reactions, context, 1)
    context.chat.recent.append(QuotableMessage(context.sent, context.author.id, "", Quote.VIEW_ONCE))


def viewed_once(item: ChatItem, context: ItemContext) -> None:
    """Add a view-once message whose picture was viewed and deleted."""
    item.viewOnceMessage.SetInParent()
    context.chat.recent.append(QuotableMessage(context.sent, context.author.id, "", Quote.VIEW_ONCE))


def gift_badge(item: ChatItem, context: ItemContext) -> None:
    """Add a gift badge that could not be redeemed.

    The other states need a credential that only the service can issue.
    """
    item.giftBadge.state = GiftBadge.FAILED
    context.chat.recent.append(QuotableMessage(context.sent, context.author.id, "", Quote.GIFT_BADGE))


def story_reply(item: ChatItem, context: ItemContext) -> None:
    """Add a text reply to a story."""
    item.directStoryReplyMessage.textReply.text.body = context.next_text()
    react(item.directStoryReplyMessage.reactions, context, 1)


def long_story_reply(item: ChatItem, context: ItemContext) -> None:
    """Add a reply to a story with a long text."""
    answer = item.directStoryReplyMessage.textReply
    media = context.rng.pick(context.sample.library["long_text"])
    answer.text.body = beginning_of(media.content)
    fill_pointer(answer.longText, media, context.rng, context.sent, on_device)


def story_emoji_reply(item: ChatItem, context: ItemContext) -> None:
    """Add an emoji reply to a story."""
    item.directStoryReplyMessage.emoji = context.rng.pick(("🔥", "😍", "👏🏽"))


def contact_card(item: ChatItem, context: ItemContext) -> None:
    """Add a contact card with all fields."""
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
    fill_pointer(
        contact.avatar, context.rng.pick(context.sample.library["drawing"]), context.rng, context.sent, on_device
    )
    react(item.contactMessage.reactions, context, 2)
