"""File pointers: what a message says about a file, and where the file can be found."""

from collections.abc import Callable

from holdfast.backup.schema.backup_pb2 import FilePointer, MessageAttachment
from holdfast_demo.sample.media import Media
from holdfast_demo.sample.seeded_random import Dice

__all__ = [
    "LOCATIONS",
    "Locate",
    "anywhere",
    "attach",
    "everywhere",
    "lost",
    "on_device",
    "point",
    "uploaded",
    "waiting",
]

Locate = Callable[[FilePointer.LocatorInfo, Media, Dice, int], None]


def on_device(locator: FilePointer.LocatorInfo, media: Media, dice: Dice, _sent: int) -> None:
    """Say that the file is on the device, and only there."""
    locator.key = dice.randbytes(64)
    locator.size = len(media.content)
    locator.localKey = dice.randbytes(64)
    locator.plaintextHash = media.sha256


def uploaded(locator: FilePointer.LocatorInfo, media: Media, dice: Dice, _sent: int) -> None:
    """Say that the file is in the media tier and not on the device."""
    locator.key = dice.randbytes(64)
    locator.size = len(media.content)
    locator.mediaTierCdnNumber = 3
    locator.plaintextHash = media.sha256


def everywhere(locator: FilePointer.LocatorInfo, media: Media, dice: Dice, sent: int) -> None:
    """Say that the file is on the device, in the media tier, and still where the sender put it."""
    on_device(locator, media, dice, sent)
    locator.mediaTierCdnNumber = 3
    in_transit(locator, dice, sent)


def waiting(locator: FilePointer.LocatorInfo, media: Media, dice: Dice, sent: int) -> None:
    """Say that the file has not been downloaded: only the sender's digest of the encrypted file is known."""
    locator.key = dice.randbytes(64)
    locator.size = len(media.content)
    in_transit(locator, dice, sent)
    locator.encryptedDigest = dice.randbytes(32)


def in_transit(locator: FilePointer.LocatorInfo, dice: Dice, sent: int) -> None:
    """Say where the sender put the file."""
    locator.transitCdnKey = dice.randbytes(10).hex()
    locator.transitCdnNumber = dice.between(2, 3)
    locator.transitTierUploadTimestamp = sent - 400


def lost(_locator: FilePointer.LocatorInfo, _media: Media, _dice: Dice, _sent: int) -> None:
    """Say nothing: the file is gone for good."""


LOCATIONS: tuple[Locate, ...] = (on_device, uploaded, everywhere, waiting, lost)
# How often each is met in everyday messages.
COMMON: tuple[Locate, ...] = (on_device,) * 5 + (everywhere,) * 8 + (uploaded,) * 3 + (waiting,) * 3 + (lost,)


def anywhere(dice: Dice) -> Locate:
    """Draw a place for a file."""
    return dice.pick(COMMON)


def point(pointer: FilePointer, media: Media, dice: Dice, sent: int, where: Locate) -> None:
    """Fill in a file pointer."""
    pointer.contentType = media.content_type
    if media.file_name is not None:
        pointer.fileName = media.file_name
    if media.width:
        pointer.width = media.width
        pointer.height = media.height
    if media.blur_hash:
        pointer.blurHash = media.blur_hash
    locator = pointer.locatorInfo
    # A file that is gone still has a locator, an empty one.
    locator.SetInParent()
    where(locator, media, dice, sent)


def attach(
    attachment: MessageAttachment,
    media: Media,
    dice: Dice,
    sent: int,
    *,
    where: Locate,
    flag: MessageAttachment.Flag.ValueType = MessageAttachment.NONE,
) -> None:
    """Fill in an attachment of a message."""
    point(attachment.pointer, media, dice, sent, where)
    attachment.flag = flag
    attachment.wasDownloaded = where not in {waiting, lost}
    attachment.clientUuid = dice.uuid()
