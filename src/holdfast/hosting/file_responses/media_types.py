"""Media type detection (sniffing) by the first bytes; never returns a type that browsers run as a page."""

import codecs
import re
from typing import Final

__all__ = ["LOOKED_AT", "TEXT", "media_type"]

LOOKED_AT: Final = 1024
TEXT: Final = "text/plain; charset="
OTHER: Final = "application/octet-stream"
BEGINNINGS: Final = (
    (re.compile(rb"\x89PNG\r\n\x1a\n"), "image/png"),
    (re.compile(rb"GIF8[79]a"), "image/gif"),
    (re.compile(rb"\xff\xd8\xff"), "image/jpeg"),
    (re.compile(rb"(?s)RIFF.{4}WEBPVP"), "image/webp"),
    (re.compile(rb"\x00\x00[\x01\x02]\x00"), "image/x-icon"),
    (re.compile(rb"(?s)BM.{12}[\x0c\x28\x34\x38\x40\x6c\x7c]\x00\x00\x00"), "image/bmp"),
    (re.compile(rb"II\x2a\x00|MM\x00\x2a"), "image/tiff"),
    (re.compile(rb"(?s)....ftypavi[fs]"), "image/avif"),
    (re.compile(rb"%PDF-"), "application/pdf"),
    (re.compile(rb"(?s)FORM.{4}AIFF"), "audio/aiff"),
    (re.compile(rb"\.snd"), "audio/basic"),
    (re.compile(rb"ID3|\xff[\xf2\xf3\xfb]"), "audio/mpeg"),
    (re.compile(rb"fLaC"), "audio/flac"),
    (re.compile(rb"MThd\x00\x00\x00\x06"), "audio/midi"),
    (re.compile(rb"(?s)RIFF.{4}WAVE"), "audio/wave"),
    (re.compile(rb"(?s)OggS\x00.{23}.{0,8}(?:theora|fishead)"), "video/ogg"),
    (re.compile(rb"OggS\x00"), "audio/ogg"),
    (re.compile(rb"(?s)RIFF.{4}AVI "), "video/avi"),
    (re.compile(rb"\x1a\x45\xdf\xa3"), "video/webm"),
    (re.compile(rb"(?s)....ftypqt  "), "video/quicktime"),
    (re.compile(rb"(?s)....ftyp(?:mp4|M4[AV]|iso|avc1|dash|MSNV)"), "video/mp4"),
)
MARKS: Final = ((codecs.BOM_UTF8, "utf-8"), (codecs.BOM_UTF16_BE, "utf-16be"), (codecs.BOM_UTF16_LE, "utf-16le"))
# Control characters that no text contains; tab, line feed, form feed, carriage return and escape are allowed.
BINARY: Final = re.compile(rb"[\x00-\x08\x0b\x0e-\x1a\x1c-\x1f]")
SVG: Final = re.compile(
    rb"(?s)\s*(?:<\?xml[^>]*\?>\s*)?(?:<!--.*?-->\s*)*(?:<!doctype\s+svg[^>]*>\s*)?(?:<!--.*?-->\s*)*<svg[\s>/]",
    re.IGNORECASE,
)


def media_type(beginning: bytes) -> str:
    """Return the media type: images, audio, video and PDF; all text is `text/plain`."""
    beginning = beginning[:LOOKED_AT]
    for mark, charset in MARKS:
        if beginning.startswith(mark):
            return f"{TEXT}{charset}"
    for shape, kind in BEGINNINGS:
        if shape.match(beginning):
            return kind
    if BINARY.search(beginning):
        return OTHER
    if SVG.match(beginning):
        return "image/svg+xml"
    return f"{TEXT}{charset_of(beginning)}"


def charset_of(beginning: bytes) -> str:
    """Return the character encoding; a character may be cut off at the end."""
    try:
        codecs.getincrementaldecoder("utf-8")().decode(beginning, final=len(beginning) < LOOKED_AT)
    except UnicodeDecodeError:
        # Bytes from 0x80 to 0x9f are letters only in Windows-1252.
        return "windows-1252" if re.search(rb"[\x80-\x9f]", beginning) else "iso-8859-1"
    return "utf-8"
