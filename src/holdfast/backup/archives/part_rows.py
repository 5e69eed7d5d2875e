"""Converts the parts of common messages to rows: quotes, body ranges, attachments, link previews, stickers.

The rows equal those that `Rows` creates from a protobuf message, in a tenth of the time. Whatever would have to be
defaulted or reported is left to `Rows`: an unknown enum value, a missing recipient, a repeated singular field.
"""

from hashlib import sha256
from typing import Final

import cython

from holdfast.backup.archives.item_rows import Part, Row
from holdfast.backup.wire.cursor import Cursor

__all__ = ["FLAGS", "QUOTES", "STYLES", "PartReader"]

# By enum number; for an empty name `Rows` has to report a default.
QUOTES: Final = ("", "NORMAL", "GIFT_BADGE", "VIEW_ONCE", "POLL")
STYLES: Final = ("", "BOLD", "ITALIC", "SPOILER", "STRIKETHROUGH", "MONOSPACE")
FLAGS: Final = ("NONE", "VOICE_MESSAGE", "BORDERLESS", "GIF")
_QUOTES = cython.declare(tuple, QUOTES)
_STYLES = cython.declare(tuple, STYLES)
_FLAGS = cython.declare(tuple, FLAGS)

LATEST = cython.declare(cython.ulonglong, (1 << 63) - 1)
WORD = cython.declare(cython.ulonglong, (1 << 32) - 1)
UUID_SIZE = cython.declare(cython.Py_ssize_t, 16)
HASH_SIZE = cython.declare(cython.Py_ssize_t, 32)
LOCAL_KEY_SIZE = cython.declare(cython.Py_ssize_t, 64)


class PartReader(Cursor):
    """A cursor that converts parts of messages to rows; `extra` is their additional searchable text."""

    def __init__(self, data: bytes, people: dict[int, int], by_aci: dict[str, int]) -> None:
        super().__init__(data, 0, len(data))
        self.raw = data
        self.people = people
        self.by_aci = by_aci
        self.odd = False
        self.quotes: list[Row] = []
        self.ranges: list[Row] = []
        self.attachments: list[Row] = []
        self.links: list[Row] = []
        self.stickers: list[Row] = []
        self.extra: list[str] = []
        self.files: cython.Py_ssize_t = 0
        self.pending_ranges: list[Row] = []

    def read(self, number: object, parts: list[Part]) -> bool:
        """Read the parts of one message; return False if protobuf has to read them."""
        kind: cython.uint
        start: cython.Py_ssize_t
        end: cython.Py_ssize_t
        once: cython.uint = 0
        twice: cython.bint = False
        self.odd = False
        self.fault = 0
        self.files = 0
        self.quotes = []
        self.ranges = []
        self.attachments = []
        self.links = []
        self.stickers = []
        self.extra = []
        self.pending_ranges = []
        names: list[str] = []
        try:
            for kind, start, end in parts:
                self.pos = start
                self.end = end
                if kind == 2:
                    self.range()
                elif kind == 3:
                    name, caption = self.attachment(number, "attachment", self.files, None, None)
                    self.files += 1
                    names += [part for part in (name, caption) if part]
                elif kind == 4:
                    self.link(number)
                else:
                    twice = once >> kind & 1 == 1
                    once |= 1 << kind
                    if kind == 1:
                        self.quote(number)
                    elif kind == 5:
                        self.file(number, "long_text", 0, self.pointer(), "")
                    else:
                        self.sticker(number)
                if self.odd or self.fault or twice:
                    return False
        except UnicodeDecodeError:
            return False
        # Texts of links are before those of files.
        self.extra += names
        self.write_ranges(number, "text")
        return True

    def file(self, number: object, role: str, n: object, pointer: Row, flag: str) -> cython.void:
        """Add the row of a file."""
        if not self.fault and not self.odd:
            self.attachments.append((number, 0, role, n, *pointer[:7], flag, *pointer[7:]))

    def text_of(self) -> str:
        """Read a text up to `end`."""
        text: str = self.raw[self.pos : self.end].decode("utf-8")
        self.pos = self.end
        return text

    def bytes_of(self) -> bytes:
        """Read bytes up to `end`."""
        raw: bytes = self.raw[self.pos : self.end]
        self.pos = self.end
        return raw

    def uuid(self) -> str:
        """Read a UUID as text; empty for no bytes."""
        if self.pos == self.end:
            return ""
        if self.end - self.pos != UUID_SIZE:
            self.odd = True
            return ""
        text: str = self.bytes_of().hex()
        return f"{text[:8]}-{text[8:12]}-{text[12:16]}-{text[16:20]}-{text[20:]}"

    def word(self) -> cython.ulonglong:
        """Read a 32-bit number."""
        return self.varint() & WORD

    def write_ranges(self, number: object, part: str) -> None:
        """Add the rows of the collected body ranges, in a canonical order."""
        if not self.pending_ranges:
            return
        self.pending_ranges.sort()
        for n, (start, length, style, aci) in enumerate(self.pending_ranges):
            person_id = self.by_aci.get(aci) if aci else None
            self.ranges.append((number, 0, part, n, start, length, style or None, aci or None, person_id))
        self.pending_ranges = []

    def range(self) -> cython.void:
        """Read a body range: a style or a mention."""
        outer: cython.Py_ssize_t = self.end
        start: cython.ulonglong = 0
        length: cython.ulonglong = 0
        style: cython.ulonglong = 0
        values: cython.int = 0
        aci: str = ""
        tag: cython.uint
        while self.pos < outer and not self.fault:
            tag = self.step()
            if self.fault:
                return
            if tag == (1 << 3):
                start = self.word()
            elif tag == (2 << 3):
                length = self.word()
            elif tag == (4 << 3):
                style = self.varint()
                values += 1
                if style == 0 or style > 5:
                    self.odd = True
                    return
            elif tag & 7 == 2:
                if tag >> 3 == 3:
                    aci = self.uuid()
                    values += 1
                self.pos = self.end
                self.end = outer
            else:
                self.skip(tag, 4)
        if values != 1 or not (style or aci):
            self.odd = True
            return
        name: object = _STYLES[cython.cast(cython.Py_ssize_t, style)]
        self.pending_ranges.append((start, length, name, aci))

    def quote(self, number: object) -> cython.void:  # noqa: PLR0915  # one branch for each field
        """Read a quote."""
        outer: cython.Py_ssize_t = self.end
        inner: cython.Py_ssize_t
        target: object = None
        author: cython.ulonglong = 0
        kind: cython.ulonglong = 0
        texts: cython.int = 0
        files: cython.int = 0
        text: object = None
        tag: cython.uint
        # The ranges of the message itself are kept until all of it was read.
        before: list[Row] = self.pending_ranges
        self.pending_ranges = []
        while self.pos < outer and not self.fault:
            tag = self.step()
            if self.fault:
                return
            if tag == (1 << 3):
                target = min(self.varint(), LATEST)
            elif tag == (2 << 3):
                author = self.varint()
            elif tag == (5 << 3):
                kind = self.varint()
            elif tag & 7 == 2:
                if tag >> 3 == 4:
                    self.quoted(number, files)
                    files += 1
                    if self.odd or self.fault:
                        return
                elif tag >> 3 == 3:
                    texts += 1
                    text = ""
                    inner = self.end
                    while self.pos < inner and not self.fault:
                        tag = self.step()
                        if self.fault:
                            return
                        if tag & 7 == 2:
                            if tag >> 3 == 1:
                                text = self.text_of()
                            elif tag >> 3 == 2:
                                self.range()
                            self.pos = self.end
                            self.end = inner
                        else:
                            self.skip(tag, 4)
                self.pos = self.end
                self.end = outer
            else:
                self.skip(tag, 3)
        author_id: object = self.people.get(author)
        if texts > 1 or kind == 0 or kind > 4 or author_id is None:
            self.odd = True
            return
        self.quotes.append((number, 0, target, author_id, _QUOTES[cython.cast(cython.Py_ssize_t, kind)], text))
        self.write_ranges(number, "quote")
        self.pending_ranges = before

    def quoted(self, number: object, n: object) -> cython.void:
        """Read a quoted attachment: its type, name and thumbnail."""
        outer: cython.Py_ssize_t = self.end
        start: cython.Py_ssize_t = -1
        end: cython.Py_ssize_t = 0
        thumbnails: cython.int = 0
        content: str | None = None
        name: str | None = None
        tag: cython.uint
        while self.pos < outer and not self.fault:
            tag = self.step()
            if self.fault:
                return
            if tag & 7 == 2:
                if tag >> 3 == 1:
                    content = self.text_of()
                elif tag >> 3 == 2:
                    name = self.text_of()
                elif tag >> 3 == 3:
                    thumbnails += 1
                    start = self.pos
                    end = self.end
                self.pos = self.end
                self.end = outer
            else:
                self.skip(tag, 4)
        if thumbnails > 1:
            self.odd = True
        elif start < 0:
            self.file(number, "quoted", n, (content or "", name or "", *EMPTY[2:]), "")
        else:
            self.pos = start
            self.end = end
            self.attachment(number, "quoted", n, content, name)
            self.end = outer
            self.pos = outer

    def attachment(
        self, number: object, role: str, n: object, content: str | None, name: str | None
    ) -> tuple[str, str]:
        """Read an attachment and return its name and caption; `content` and `name` override its own."""
        outer: cython.Py_ssize_t = self.end
        flag: cython.ulonglong = 0
        pointers: cython.int = 0
        tag: cython.uint
        pointer: Row = EMPTY
        while self.pos < outer and not self.fault:
            tag = self.step()
            if self.fault:
                return "", ""
            if tag == (2 << 3):
                flag = self.varint()
            elif tag & 7 == 2:
                if tag >> 3 == 1:
                    pointers += 1
                    pointer = self.pointer()
                if self.odd or self.fault:
                    return "", ""
                self.pos = self.end
                self.end = outer
            else:
                self.skip(tag, 3)
        if pointers > 1 or flag > 3:
            self.odd = True
            return "", ""
        if content is not None or name is not None:
            overridden = (pointer[0] if content is None else content, pointer[1] if name is None else name)
            pointer = overridden + pointer[2:]
        self.file(number, role, n, pointer, _FLAGS[cython.cast(cython.Py_ssize_t, flag)])
        return pointer[1], pointer[5]

    def link(self, number: object) -> cython.void:
        """Read a link preview."""
        outer: cython.Py_ssize_t = self.end
        url: str = ""
        title: str = ""
        description: str = ""
        date: object = None
        images: cython.int = 0
        tag: cython.uint
        n: object = len(self.links)
        while self.pos < outer and not self.fault:
            tag = self.step()
            if self.fault:
                return
            if tag == (5 << 3):
                date = min(self.varint(), LATEST)
            elif tag & 7 == 2:
                if tag >> 3 == 1:
                    url = self.text_of()
                elif tag >> 3 == 2:
                    title = self.text_of()
                elif tag >> 3 == 3:
                    images += 1
                    self.file(number, "link_image", n, self.pointer(), "")
                elif tag >> 3 == 4:
                    description = self.text_of()
                if self.odd or self.fault:
                    return
                self.pos = self.end
                self.end = outer
            else:
                self.skip(tag, 3)
        if images > 1:
            self.odd = True
            return
        self.links.append((number, 0, n, url, title or None, description or None, date))
        if title:
            self.extra.append(title)

    def sticker(self, number: object) -> cython.void:
        """Read a sticker."""
        outer: cython.Py_ssize_t = self.end
        pack: bytes = b""
        key: bytes = b""
        emoji: str = ""
        place: cython.ulonglong = 0
        pointers: cython.int = 0
        pointer: Row = EMPTY
        tag: cython.uint
        while self.pos < outer and not self.fault:
            tag = self.step()
            if self.fault:
                return
            if tag == (3 << 3):
                place = self.word()
            elif tag & 7 == 2:
                if tag >> 3 == 1:
                    pack = self.bytes_of()
                elif tag >> 3 == 2:
                    key = self.bytes_of()
                elif tag >> 3 == 4:
                    emoji = self.text_of()
                elif tag >> 3 == 5:
                    pointers += 1
                    pointer = self.pointer()
                if self.odd or self.fault:
                    return
                self.pos = self.end
                self.end = outer
            else:
                self.skip(tag, 3)
        if pointers > 1:
            self.odd = True
            return
        self.file(number, "sticker", 0, pointer, "")
        self.stickers.append((number, pack.hex(), bytearray(key), place, emoji or None))
        if emoji:
            self.extra.append(emoji)

    def pointer(self) -> Row:
        """Read a file pointer: the metadata and locator of a file."""
        outer: cython.Py_ssize_t = self.end
        content: str = ""
        name: str = ""
        caption: str = ""
        blur: str = ""
        width: cython.Py_ssize_t = -1
        height: cython.Py_ssize_t = -1
        locators: cython.int = 0
        size: object = 0
        rest: Row = NOWHERE
        tag: cython.uint
        while self.pos < outer and not self.fault:
            tag = self.step()
            if self.fault:
                return ()
            if tag == (8 << 3):
                width = cython.cast(cython.Py_ssize_t, self.word())
            elif tag == (9 << 3):
                height = cython.cast(cython.Py_ssize_t, self.word())
            elif tag & 7 == 2:
                if tag >> 3 == 4:
                    content = self.text_of()
                elif tag >> 3 == 7:
                    name = self.text_of()
                elif tag >> 3 == 10:
                    caption = self.text_of()
                elif tag >> 3 == 11:
                    blur = self.text_of()
                elif tag >> 3 == 13:
                    locators += 1
                    size, rest = self.locator()
                self.pos = self.end
                self.end = outer
            else:
                self.skip(tag, 4)
        if locators > 1:
            self.odd = True
        return (content, name, size, width, height, caption, blur, *rest)

    def locator(self) -> tuple[object, Row]:
        """Read a locator: the size, and the name and keys of the file in a local backup."""
        outer: cython.Py_ssize_t = self.end
        local: bytes = b""
        plain: bytes = b""
        size: cython.ulonglong = 0
        checks: cython.int = 0
        tag: cython.uint
        while self.pos < outer and not self.fault:
            tag = self.step()
            if self.fault:
                return 0, ()
            if tag == (3 << 3):
                size = self.word()
            elif tag & 7 == 2:
                if tag >> 3 == 9:
                    local = self.bytes_of()
                elif tag >> 3 == 10:
                    plain = self.bytes_of()
                    checks += 1
                elif tag >> 3 == 11:
                    checks += 1
                self.pos = self.end
                self.end = outer
            else:
                self.skip(tag, 5)
        if checks > 1:
            self.odd = True
        kept: str = ""
        if len(plain) == HASH_SIZE and len(local) == LOCAL_KEY_SIZE:
            kept = sha256(plain + local).hexdigest()
        return size, (plain.hex(), kept, bytearray(local))


# An unset locator, and an unset file pointer.
NOWHERE: Final = ("", "", bytearray())
EMPTY: Final = ("", "", 0, -1, -1, "", "", *NOWHERE)
