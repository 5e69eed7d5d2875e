"""Replaces text by meaningless text of the same size.

A character is replaced by one of the same size in UTF-8, so that text keeps its length in bytes, code points and
UTF-16 code units, which body ranges count. Replacements are consonants and dominoes, which form no words: the
original cannot come back by chance.
"""

import random
import re
from typing import Final

from holdfast.backup.rules.graphemes import count_graphemes

__all__ = ["KNOWN_TYPES", "Texts"]

CONSONANTS: Final = b"bcdfghjklmnpqrstvwxz"
DIGITS: Final = b"0123456789"
# Translation tables with an entry for each value of a random byte.
LETTERS: Final = bytes(CONSONANTS[byte % len(CONSONANTS)] for byte in range(256))
WORDS: Final = bytes(32 if byte >= 216 else CONSONANTS[byte % len(CONSONANTS)] for byte in range(256))
TOKENS: Final = bytes((CONSONANTS + DIGITS)[byte % 30] for byte in range(256))
NUMERALS: Final = bytes(DIGITS[byte % 10] for byte in range(256))
# Shorter text is a name or a word, and gets no spaces.
MIN_SENTENCE: Final = 16

MULTIBYTE: Final = re.compile(rb"[\xc2-\xdf].|[\xe0-\xef]..|[\xf0-\xf4]...", re.DOTALL)
# Replacements by size in UTF-8.
REPLACEMENTS: Final = {
    2: [character.encode() for character in "ĉďđĝğĥħĵķĺļľłńņňŕŗřśŝşšţťŵźżž"],
    3: [character.encode() for character in "ḃḅḇḉḋḍḏḑḓḟḡḣḥḧḩḫḱḳḵḷḹḻḽḿṁṃ"],
    4: [chr(character).encode() for character in range(0x1F030, 0x1F094)],
}
# Combining characters by size in UTF-8.
ACCENTS: Final = {2: "\u0300".encode(), 3: "\u20d0".encode()}
DICE: Final = [character.encode() for character in "⚀⚁⚂⚃⚄⚅"]
# The placeholder of a mention.
PLACEHOLDER: Final = "\ufffc".encode()
# Zero-width joiner and variation selector 16, which join the parts of an emoji.
EMOJI_JOINERS: Final = ("\u200d".encode(), "\ufe0f".encode())

SCHEME: Final = re.compile(rb"https?://")
VERSION: Final = re.compile(rb"(?:[A-Za-z]{2,20}[ /-])?v?\d{1,4}(?:\.\d{1,6}){1,3}(?:-[a-z]{1,8}(?:\.\d{1,4})?)?")
MAJOR: Final = re.compile(rb"(?:application|audio|font|image|message|model|multipart|text|video)/")
# Common media types, which are kept. Any other could carry information chosen by a sender.
KNOWN_TYPES: Final = frozenset(
    [
        *(b"application/json", b"application/msword", b"application/octet-stream", b"application/pdf"),
        *(b"application/rtf", b"application/vnd.android.package-archive", b"application/vnd.ms-excel"),
        *(
            b"application/vnd.ms-powerpoint",
            b"application/x-7z-compressed",
            b"application/zip",
            b"application/gzip",
        ),
        *(b"application/vnd.openxmlformats-officedocument.presentationml.presentation",),
        *(b"application/vnd.openxmlformats-officedocument.spreadsheetml.sheet",),
        *(b"application/vnd.openxmlformats-officedocument.wordprocessingml.document",),
        *(b"audio/aac", b"audio/amr", b"audio/flac", b"audio/m4a", b"audio/mp4", b"audio/mpeg", b"audio/ogg"),
        *(b"audio/wav", b"audio/webm", b"audio/x-m4a", b"image/apng", b"image/avif", b"image/bmp", b"image/gif"),
        *(
            b"image/heic",
            b"image/heif",
            b"image/jpeg",
            b"image/jpg",
            b"image/png",
            b"image/svg+xml",
            b"image/tiff",
        ),
        *(b"image/webp", b"text/calendar", b"text/csv", b"text/html", b"text/plain", b"text/vcard"),
        *(b"text/x-signal-plain", b"text/x-vcard", b"video/3gpp", b"video/mp4", b"video/mpeg", b"video/quicktime"),
        *(b"video/webm", b"video/x-matroska"),
    ]
)


class Texts:
    """Generates replacement text; equal texts get different replacements."""

    def __init__(self, rng: random.Random) -> None:
        self._rng = rng

    def words(self, value: bytes) -> bytes:
        """Replace a name or a message; placeholders of mentions are kept."""
        table = WORDS if len(value) >= MIN_SENTENCE else LETTERS
        replacement = self._replace(value, table, kept=(PLACEHOLDER,))
        return replacement if replacement != value else self._replace_until_different(value, table)

    def counted(self, value: bytes) -> bytes:
        """Replace text, keeping its number of graphemes, for fields with a limit on those."""
        length = count_graphemes(value.decode())
        replacement = self.words(value)
        while value and (replacement == value or count_graphemes(replacement.decode()) != length):
            # One letter per grapheme, and combining characters on the last one for the remaining bytes.
            letters = self._rng.randbytes(length).translate(LETTERS)
            rest = len(value) - length
            if rest == 1:
                letters = letters[:-1] + self._rng.choice(REPLACEMENTS[2])
                rest = 0
            replacement = letters + ACCENTS[3] * (rest & 1) + ACCENTS[2] * ((rest - 3 * (rest & 1)) // 2)
        return replacement

    def token(self, value: bytes) -> bytes:
        """Replace text by letters and digits without spaces."""
        return self._replace_until_different(value, TOKENS)

    def emoji(self, value: bytes) -> bytes:
        """Replace each part of an emoji by a die or a domino."""
        replacement = self._replace(value, LETTERS, kept=EMOJI_JOINERS, threes=DICE)
        return replacement if replacement != value else self._replace_until_different(value, LETTERS)

    def numeral(self, value: bytes) -> bytes:
        """Replace the digits of an amount or a phone number; separators are kept."""
        if not any(48 <= byte < 58 for byte in value):
            return self.words(value)
        kept = b"+-.,/() "
        digits = self._rng.randbytes(len(value)).translate(NUMERALS)
        text = self.words(value)
        replacement = bytes(
            old if old in kept else digit if 48 <= old < 58 else new
            for old, digit, new in zip(value, digits, text, strict=True)
        )
        return replacement if replacement != value else self.numeral(value)

    def url(self, value: bytes) -> bytes:
        """Replace a URL, keeping its scheme."""
        scheme = SCHEME.match(value)
        return value[: scheme.end()] + self.token(value[scheme.end() :]) if scheme else self.token(value)

    def content_type(self, value: bytes) -> bytes:
        """Keep a common media type, and of any other only the top-level type."""
        if value in KNOWN_TYPES:
            return value
        major = MAJOR.match(value)
        return value[: major.end()] + self.token(value[major.end() :]) if major else self.token(value)

    def version(self, value: bytes) -> bytes:
        """Keep text that looks like the name and version of an app."""
        return value if VERSION.fullmatch(value) else self.words(value)

    def currency(self, value: bytes) -> bytes:
        """Replace a currency by XTS, the code reserved for testing."""
        return b"XTS" if len(value) == 3 and value.isascii() else self.token(value)

    def blur(self, value: bytes) -> bytes:
        """Replace a BlurHash, keeping the first character, which determines its length."""
        return value[:1] + self.token(value[1:]) if value.isascii() else self.token(value)

    def _replace_until_different(self, value: bytes, table: bytes) -> bytes:
        """Replace all characters until the result differs."""
        replacement = value
        while value and replacement == value:
            replacement = self._replace(value, table)
        return replacement

    def _replace(
        self, value: bytes, table: bytes, kept: tuple[bytes, ...] = (), threes: list[bytes] = REPLACEMENTS[3]
    ) -> bytes:
        """Replace all characters except `kept`: ASCII from a table, those of three bytes by one of `threes`."""
        noise = self._rng.randbytes(len(value))
        if value.isascii():
            return noise.translate(table)
        out = bytearray(noise.translate(table))
        for match in MULTIBYTE.finditer(value):
            begin, end = match.span()
            character = match[0]
            choices = threes if end - begin == 3 else REPLACEMENTS[end - begin]
            out[begin:end] = character if character in kept else choices[noise[begin] % len(choices)]
        return bytes(out)
