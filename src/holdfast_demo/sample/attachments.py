"""File pointers: the description of a file, and its locations."""

from collections.abc import Callable

from holdfast.backup.schema.backup_pb2 import FilePointer, MessageAttachment
from holdfast_demo.sample.media import Media
from holdfast_demo.sample.seeded_random import SeededRandom

__all__ = [
    "LOCATIONS",
    "FillLocator",
    "all_tiers",
    "fill_attachment",
    "fill_pointer",
    "lost",
    "not_downloaded",
    "on_device",
    "random_location",
    "uploaded",
]

FillLocator = Callable[[FilePointer.LocatorInfo, Media, SeededRandom, int], None]


def on_device(locator: FilePointer.LocatorInfo, media: Media, rng: SeededRandom, _sent: int) -> None:
    """Fill in the locator of a file on the device only."""
    locator.key = rng.randbytes(64)
    locator.size = len(media.content)
    locator.localKey = rng.randbytes(64)
    locator.plaintextHash = media.sha256


def uploaded(locator: FilePointer.LocatorInfo, media: Media, rng: SeededRandom, _sent: int) -> None:
    """Fill in the locator of a file in the media tier only."""
    locator.key = rng.randbytes(64)
    locator.size = len(media.content)
    locator.mediaTierCdnNumber = 3
    locator.plaintextHash = media.sha256


def all_tiers(locator: FilePointer.LocatorInfo, media: Media, rng: SeededRandom, sent: int) -> None:
    """Fill in the locator of a file on the device, in the media tier and in the transit tier."""
    on_device(locator, media, rng, sent)
    locator.mediaTierCdnNumber = 3
    in_transit(locator, rng, sent)


def not_downloaded(locator: FilePointer.LocatorInfo, media: Media, rng: SeededRandom, sent: int) -> None:
    """Fill in the locator of a file that was not downloaded: only the digest of the encrypted file is known."""
    locator.key = rng.randbytes(64)
    locator.size = len(media.content)
    in_transit(locator, rng, sent)
    locator.encryptedDigest = rng.randbytes(32)


def in_transit(locator: FilePointer.LocatorInfo, rng: SeededRandom, sent: int) -> None:
    """Fill in the location in the transit tier."""
    locator.transitCdnKey = rng.randbytes(10).hex()
    locator.transitCdnNumber = rng.between(2, 3)
    locator.transitTierUploadTimestamp = sent - 400


def lost(_locator: FilePointer.LocatorInfo, _media: Media, _rng: SeededRandom, _sent: int) -> None:
    """Fill in nothing: the file is lost."""


LOCATIONS: tuple[FillLocator, ...] = (on_device, uploaded, all_tiers, not_downloaded, lost)
# The frequency of each location.
COMMON: tuple[FillLocator, ...] = (
    (on_device,) * 5 + (all_tiers,) * 8 + (uploaded,) * 3 + (not_downloaded,) * 3 + (lost,)
)


def random_location(rng: SeededRandom) -> FillLocator:
    """Return a random location."""
    return rng.pick(COMMON)


def fill_pointer(pointer: FilePointer, media: Media, rng: SeededRandom, sent: int, where: FillLocator) -> None:
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
    # The locator of a lost file is present and empty.
    locator.SetInParent()
    where(locator, media, rng, sent)


def fill_attachment(
    attachment: MessageAttachment,
    media: Media,
    rng: SeededRandom,
    sent: int,
    *,
    where: FillLocator,
    flag: MessageAttachment.Flag.ValueType = MessageAttachment.NONE,
) -> None:
    """Fill in an attachment of a message."""
    fill_pointer(attachment.pointer, media, rng, sent, where)
    attachment.flag = flag
    attachment.wasDownloaded = where not in {not_downloaded, lost}
    attachment.clientUuid = rng.uuid()
