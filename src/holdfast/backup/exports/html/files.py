"""HTML of attachments: displayed if that is safe, else linked; a missing file is named."""

from collections.abc import Sequence
from typing import Final, Protocol

from holdfast.backup.archives.model import ArchivedAttachment
from holdfast.backup.bidi import isolated
from holdfast.backup.exports.html.markup import escape
from holdfast.backup.exports.media import display_kind, extension_of, normalize_type
from holdfast.backup.exports.names import file_name

__all__ = [
    "Addresses",
    "album",
    "download_attribute",
    "file_block",
    "is_embedded",
    "label",
    "picture",
    "size_label",
]

# Larger dimensions are invalid.
MAX_DIMENSION: Final = 1 << 16
# Maximum display size of images, which link to their files.
SHOWN_WIDTH: Final = 420
SHOWN_HEIGHT: Final = 384
ICON_ABSENT: Final = '<span class="ico" aria-hidden="true">∅</span>'
UNITS: Final = ("kB", "MB", "GB", "TB")


class Addresses(Protocol):
    """URLs of files and messages, relative to the page of a bubble."""

    def media(self, attachment: ArchivedAttachment) -> str | None:
        """Return the URL of a file; None if it is missing."""

    def thumbnail(self, attachment: ArchivedAttachment, address: str) -> str:
        """Return the URL of a thumbnail; that of the image if there is none."""

    def placeholder(self, attachment: ArchivedAttachment) -> str:
        """Return the URL of a blurred placeholder to show until the file is loaded, empty for none."""

    def message(self, number: int) -> str | None:
        """Return the URL of a message; None if it has none."""


def size_label(size: int) -> str:
    """Format a file size."""
    if size < 1000:
        return f"{size} bytes"
    power = min(len(UNITS), (len(str(size)) - 1) // 3)
    value = size / 1000**power
    return f"{value:.0f} {UNITS[power - 1]}" if value >= 10 else f"{value:.1f} {UNITS[power - 1]}"


def label(attachment: ArchivedAttachment) -> str:
    """Return the label of a file's kind."""
    if attachment.flag == "VOICE_MESSAGE":
        return "Voice message"
    if attachment.flag == "GIF":
        return "GIF"
    if attachment.role == "sticker":
        return "Sticker"
    family = normalize_type(attachment.content_type).partition("/")[0]
    return {"image": "Photo", "video": "Video", "audio": "Audio"}.get(family, "File")


def size_attributes(attachment: ArchivedAttachment) -> str:
    """Return `width` and `height` attributes, which prevent layout shifts while an image loads."""
    width, height = attachment.width or 0, attachment.height or 0
    if not (0 < width < MAX_DIMENSION and 0 < height < MAX_DIMENSION):
        return ""
    scale = min(1, SHOWN_WIDTH / width, SHOWN_HEIGHT / height)
    return f' width="{max(1, round(width * scale))}" height="{max(1, round(height * scale))}"'


def picture(attachment: ArchivedAttachment, address: str, kind: str = "") -> str:
    """Return an image element."""
    alt = attachment.caption or attachment.file_name or label(attachment)
    return f'<img{kind} src="{escape(address)}" alt="{escape(alt)}"{size_attributes(attachment)} loading="lazy">'


def placeholder_image(attachment: ArchivedAttachment, addresses: Addresses, kind: str = "ph") -> str:
    """Return the blurred placeholder of an image."""
    url = addresses.placeholder(attachment)
    return f'<img class="{kind}" src="{escape(url)}" alt="">' if url else ""


def album(attachments: Sequence[ArchivedAttachment], addresses: Addresses) -> str:
    """Return several images and videos of a message as a grid."""
    cells = "".join(f'<div class="cell">{file_block(attachment, addresses)}</div>' for attachment in attachments)
    return f'<div class="album a{min(len(attachments), 5)}">{cells}</div>'


def is_embedded(address: str) -> bool:
    """Return whether a URL is a `data:` URL, which browsers save but do not open as a page."""
    return address.startswith("data:")


def download_attribute(attachment: ArchivedAttachment) -> str:
    """Return the `download` attribute with the name of an embedded file."""
    name = file_name(attachment.file_name, extension_of(attachment.content_type))
    return f' download="{escape(name)}"'


def file_block(attachment: ArchivedAttachment, addresses: Addresses) -> str:
    """Return a file of a message."""
    address = addresses.media(attachment)
    caption = f'<p class="t" dir="auto">{escape(attachment.caption)}</p>' if attachment.caption else ""
    if address is None:
        return f"{missing_file(attachment, addresses)}{caption}"
    media_kind = display_kind(attachment)
    name = escape(isolated(attachment.file_name or label(attachment)))
    url = escape(address)
    if media_kind == "image":
        thumbnail = picture(attachment, addresses.thumbnail(attachment, address))
        image = f"{placeholder_image(attachment, addresses)}{thumbnail}"
        if is_embedded(address):
            return f'<span class="pic">{image}</span>{caption}'
        return f'<a class="pic" href="{url}">{image}</a>{caption}'
    if media_kind == "video":
        loop = " loop" if attachment.flag == "GIF" else ""
        return (
            f'<video class="pic" controls preload="metadata" src="{url}" aria-label="{name}"'
            f"{size_attributes(attachment)}{loop}></video>{caption}"
        )
    if media_kind == "audio":
        return (
            f'<div class="snd"><span class="what">{label(attachment)}</span>'
            f'<audio controls preload="none" src="{url}" aria-label="{name}"></audio></div>{caption}'
        )
    download = download_attribute(attachment) if is_embedded(address) else " download"
    return (
        f'<a class="file" href="{url}"{download}><span class="ico" aria-hidden="true">↓</span>'
        f'<span class="what" dir="auto">{name}</span>'
        f'<span class="sz">{size_label(attachment.size)}</span></a>{caption}'
    )


def missing_file(attachment: ArchivedAttachment, addresses: Addresses) -> str:
    """Return the name of a missing file."""
    name = escape(isolated(attachment.file_name)) if attachment.file_name else label(attachment)
    size = f"{size_label(attachment.size)}, " if attachment.size else ""
    return (
        f'<div class="file gone">'
        f"{placeholder_image(attachment, addresses, 'ico') or ICON_ABSENT}"
        f'<span class="what" dir="auto">{name}</span><span class="sz">{size}not available</span></div>'
    )
