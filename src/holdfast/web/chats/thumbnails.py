"""Thumbnails of photos, generated on request.

They are cached in memory only: nothing of a conversation is written to disk.
"""

import io
import threading
from collections.abc import Callable
from typing import Final

from holdfast.backup.exports.media import normalize_type
from holdfast.hosting.file_responses.byte_cache import KeptBytes

__all__ = ["MEDIA_TYPE", "make_thumbnail", "may_have_thumbnail", "thumbnail"]

MEDIA_TYPE: Final = "image/webp"
# Twice the size at which a page shows a photo, for high-density screens.
LONGEST_SIDE: Final = 840
QUALITY: Final = 75
# Smaller files are sent unchanged.
SMALLEST_BYTES: Final = 96 * 1024
LARGEST_BYTES: Final = 32 * 2**20
MOST_PIXELS: Final = 64_000_000
FORMATS: Final = ("JPEG", "PNG", "WEBP")
MEDIA_TYPES: Final = frozenset({"image/jpeg", "image/png", "image/webp"})
KEPT_BYTES: Final = 32 * 2**20
LARGEST_KEPT: Final = 2**20
# The concurrency limit: each takes a CPU core, and some a few hundred megabytes.
AT_ONCE: Final = 2

kept = KeptBytes(KEPT_BYTES, LARGEST_KEPT)
limit = threading.BoundedSemaphore(AT_ONCE)


def may_have_thumbnail(content_type: str | None, size: int) -> bool:
    """Return whether files of a type and size get a thumbnail."""
    return normalize_type(content_type) in MEDIA_TYPES and SMALLEST_BYTES <= size <= LARGEST_BYTES


def thumbnail(name: str, read: Callable[[], bytes]) -> bytes | None:
    """Return the thumbnail of a photo; `name` identifies its content in the cache.

    None for animations and for files that cannot be decoded: the photo itself is sent then.
    """
    content = kept.get(name)
    if content is None:
        with limit:
            content = kept.get(name)
            if content is None:
                content = make_thumbnail(read()) or b""
                kept.put(name, content)
    return content or None


def make_thumbnail(content: bytes) -> bytes | None:
    """Decode a photo, apply its EXIF orientation, and encode a thumbnail without metadata."""
    from PIL import Image, ImageOps  # noqa: PLC0415  # loaded when it is needed, so that the server starts at once

    try:
        with Image.open(io.BytesIO(content), formats=FORMATS) as photo:
            if photo.width * photo.height > MOST_PIXELS or getattr(photo, "is_animated", False):
                return None
            # Decodes a JPEG at a fraction of its size.
            photo.draft("RGB", (LONGEST_SIDE, LONGEST_SIDE))
            turned = ImageOps.exif_transpose(photo)
            if turned.mode not in {"RGB", "RGBA"}:
                turned = turned.convert("RGBA" if turned.has_transparency_data else "RGB")
            turned.thumbnail((LONGEST_SIDE, LONGEST_SIDE))
            small = io.BytesIO()
            profile = photo.info.get("icc_profile")
            turned.save(small, "WEBP", quality=QUALITY, method=2, exif=b"", icc_profile=profile)
    except Exception:  # noqa: BLE001  # decoders raise any error on untrusted files
        return None
    return small.getvalue() if small.tell() < len(content) else None
