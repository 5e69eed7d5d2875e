"""Colours for source code: every line as HTML with classes, or plain where colours would take too long."""

import re
import time
from collections.abc import Iterable, Iterator
from functools import lru_cache
from typing import Final

from markupsafe import Markup, escape
from pygments.lexer import Lexer
from pygments.lexers import find_lexer_class_for_filename
from pygments.token import STANDARD_TYPES, Token
from pygments.util import ClassNotFound

__all__ = ["Text", "coloured", "language", "plain"]

# Beyond these the colours of one file would hold up a page; it is shown without them.
LARGEST: Final = 256 * 1024
LONGEST_LINE: Final = 4096
# A line is cut where nobody reads it any more.
CUT: Final = 10_000
KEPT: Final = 48
# Some languages can be written so that finding their words takes for ever.
SECONDS: Final = 2.0
# What stands for itself in a page, by the tokens' names; everything finer is coloured as what it is a kind of.
CLASSES: Final = {
    Token.Comment: "c",
    Token.Keyword: "k",
    Token.Name.Function: "f",
    Token.Name.Class: "f",
    Token.Name.Tag: "k",
    Token.Name.Attribute: "a",
    Token.Name.Decorator: "a",
    Token.Name.Builtin: "b",
    Token.Name.Constant: "b",
    Token.Name.Variable: "v",
    Token.Name.Namespace: "f",
    Token.Name.Property: "a",
    Token.Literal.Number: "n",
    Token.Literal.String: "s",
    Token.Literal.Date: "n",
    Token.Operator.Word: "k",
    Token.Generic.Heading: "h",
    Token.Generic.Subheading: "h",
    Token.Generic.Inserted: "gi",
    Token.Generic.Deleted: "gd",
    Token.Generic.Strong: "gs",
    Token.Generic.Emph: "ge",
}
BREAK: Final = re.compile("\r\n|\n|\r")

Text = list[Markup]


@lru_cache(maxsize=len(STANDARD_TYPES) * 2)
def class_of(kind: object) -> str:
    """Return the class of a token: its own, or that of the nearest kind above it that has one."""
    at = kind
    while at is not None:
        if at in CLASSES:
            return CLASSES[at]
        at = getattr(at, "parent", None)
    return ""


@lru_cache(maxsize=512)
def lexer_for(name: str) -> type[Lexer] | None:
    """Return what reads the language of a file of this name."""
    try:
        found: type[Lexer] | None = find_lexer_class_for_filename(name)
    except ClassNotFound:
        return None
    return found


def language(name: str) -> str:
    """Return what people call the language of a file of this name; empty when it is none we know."""
    found = lexer_for(name)
    return "" if found is None else str(found.name)


def lines_of(text: str) -> list[str]:
    """Split a text into its lines, however they end; a last one that is empty does not count."""
    lines = BREAK.split(text)
    return lines[:-1] if lines[-1] == "" else lines


def cut(line: str) -> Markup:
    """Return a line as HTML; one nobody can read whole is cut."""
    return escape(line) if len(line) <= CUT else escape(line[:CUT]) + Markup("<mark>… cut here</mark>")


def plain(text: str) -> Text:
    """Return a text's lines without colours."""
    return [cut(line) for line in lines_of(text)]


def coloured(blob: str, name: str, text: str) -> Text:
    """Return a text's lines with the colours of its language; `blob` is the id by which they are kept."""
    if len(text) > LARGEST or any(len(line) > LONGEST_LINE for line in lines_of(text)):
        return plain(text)
    kind = lexer_for(name)
    if kind is None:
        return plain(text)
    return kept(Source(blob, kind, text))


class Source:
    """A text to colour; the same blob in the same language is the same, whatever else."""

    __slots__ = ("blob", "kind", "text")

    def __init__(self, blob: str, kind: type[Lexer], text: str) -> None:
        self.blob, self.kind, self.text = blob, kind, text

    def __hash__(self) -> int:
        return hash((self.blob, self.kind))

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Source) and (self.blob, self.kind) == (other.blob, other.kind)


@lru_cache(maxsize=KEPT)
def kept(source: Source) -> Text:
    """Colour a text once."""
    lexer = source.kind(stripnl=False, ensurenl=False, stripall=False)
    text = BREAK.sub("\n", source.text)
    # The text must not be held with the answer.
    source.text = ""
    try:
        made = list(rows(in_time(lexer.get_tokens(text))))
    except TimeoutError:
        return plain(text)
    return made[:-1] if made and made[-1] == "" else made


def in_time(tokens: Iterable[tuple[object, str]]) -> Iterator[tuple[object, str]]:
    """Pass tokens on as long as they come quickly enough."""
    end = time.monotonic() + SECONDS
    for token in tokens:
        if time.monotonic() > end:
            raise TimeoutError
        yield token


def rows(tokens: Iterable[tuple[object, str]]) -> Iterator[Markup]:
    """Put tokens into lines; one that goes over several is closed and opened again at each end."""
    line: list[str] = []
    for kind, value in tokens:
        name = class_of(kind)
        first, *more = value.split("\n")
        line.append(coloured_part(name, first))
        for part in more:
            # Every part was escaped below.
            yield Markup("".join(line))  # noqa: S704
            line = [coloured_part(name, part)]
    yield Markup("".join(line))  # noqa: S704


def coloured_part(name: str, text: str) -> str:
    """Return a stretch of one line as HTML."""
    safe = str(escape(text))
    return f'<span class="{name}">{safe}</span>' if name and text.strip() else safe
