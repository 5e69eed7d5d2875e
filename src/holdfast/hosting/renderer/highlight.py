"""Syntax highlighting: each line as HTML with classes, or plain if highlighting exceeds its limits."""

import re
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import cache, lru_cache
from typing import Final, overload

from markupsafe import Markup, escape
from pygments.lexer import Lexer
from pygments.lexers import find_lexer_class, find_lexer_class_for_filename, get_all_lexers
from pygments.token import STANDARD_TYPES, Token
from pygments.util import ClassNotFound

from holdfast.hosting.renderer.render_process import CACHE, RENDERER, RenderBusy, RenderFailed
from holdfast.hosting.renderer.symbols import Symbol, symbols_in

__all__ = [
    "HighlightedText",
    "Text",
    "colour",
    "colour_blocks",
    "colour_texts",
    "coloured",
    "coloured_blocks",
    "coloured_texts",
    "highlighted",
    "language",
    "plain",
]

# Files beyond these limits would delay the page; they are shown without highlighting.
LARGEST: Final = 256 * 1024
LONGEST_LINE: Final = 4096
# The length at which a line is truncated.
CUT: Final = 10_000
# CSS classes by token type; other types have the class of the nearest parent type.
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

Text = Sequence[Markup]


@dataclass(frozen=True, slots=True)
class HighlightedText:
    """The lines of a text as HTML, and the symbols it defines if it was highlighted."""

    lines: Text
    symbols: tuple[Symbol, ...] = ()


class PlainText(Sequence[Markup]):
    """The lines of a text without highlighting; each is escaped when read, since a page shows few of many."""

    def __init__(self, lines: list[str]) -> None:
        self._lines = lines

    def __len__(self) -> int:
        return len(self._lines)

    @overload
    def __getitem__(self, index: int) -> Markup: ...
    @overload
    def __getitem__(self, index: slice) -> "PlainText": ...
    def __getitem__(self, index: int | slice) -> "Markup | PlainText":
        if isinstance(index, slice):
            return PlainText(self._lines[index])
        return cut(self._lines[index])


@lru_cache(maxsize=len(STANDARD_TYPES) * 2)
def class_of(kind: object) -> str:
    """Return the class of a token type: its own, or that of the nearest parent type that has one."""
    at = kind
    while at is not None:
        if at in CLASSES:
            return CLASSES[at]
        at = getattr(at, "parent", None)
    return ""


@lru_cache(maxsize=512)
def lexer_for(name: str) -> type[Lexer] | None:
    """Return the lexer for a file name."""
    try:
        lexer: type[Lexer] | None = find_lexer_class_for_filename(name)
    except ClassNotFound:
        return None
    return lexer


@cache
def lexer_names() -> dict[str, str]:
    """Return the name of the lexer of each language identifier, such as `py`."""
    return {alias: name for name, aliases, _, _ in get_all_lexers(plugins=False) for alias in aliases}


def lexer_of_language(identifier: str) -> type[Lexer] | None:
    """Return the lexer for the language identifier of a fenced code block."""
    name = lexer_names().get(identifier.lower())
    lexer: type[Lexer] | None = None if name is None else find_lexer_class(name)
    return lexer


def language(name: str) -> str:
    """Return the language of a file by its name; empty if it is unknown."""
    lexer = lexer_for(name)
    return "" if lexer is None else str(lexer.name)


def lines_of(text: str) -> list[str]:
    """Split a text into lines, with any line ending; an empty last line is dropped."""
    lines = BREAK.split(text) if "\r" in text else text.split("\n")
    return lines[:-1] if lines[-1] == "" else lines


def cut(line: str) -> Markup:
    """Return a line as HTML; very long lines are truncated."""
    return escape(line) if len(line) <= CUT else escape(line[:CUT]) + Markup("<mark>… cut here</mark>")


def plain(text: str) -> Text:
    """Return the lines of a text without highlighting."""
    return PlainText(lines_of(text))


def coloured(blob: str, name: str, text: str) -> Text:
    """Return the highlighted lines of a text; `blob` is the id used as the cache key."""
    return highlighted(blob, name, text).lines


def highlighted(blob: str, name: str, text: str) -> HighlightedText:
    """Return the highlighted lines of a text, and its symbols; `blob` is the id used as the cache key.

    Lexers of some languages can take exponential time, even within one token, so they run in the render process
    with a budget; beyond it the text is plain.
    """
    if len(text) > LARGEST or any(len(line) > LONGEST_LINE for line in lines_of(text)):
        return HighlightedText(plain(text))
    kind = lexer_for(name)
    if kind is None:
        return HighlightedText(plain(text))
    key = ("highlight", blob, kind)
    result: HighlightedText | None = CACHE.get(key)
    if result is None:
        try:
            # Every token was escaped there.
            rendered, symbols = RENDERER.run("highlight", name, text.encode("utf-8", "replace").decode())
            lines = [Markup(line) for line in rendered]  # noqa: S704  # escaped by the formatter
            result = HighlightedText(lines, tuple(Symbol(*symbol) for symbol in symbols))
        except RenderBusy:
            return HighlightedText(plain(text))
        except RenderFailed:
            result = HighlightedText(plain(text))
        CACHE.put(key, result, sum(map(len, result.lines)) + 100 * (len(result.lines) + len(result.symbols)) + 500)
    return result


def coloured_texts(texts: Sequence[tuple[str, str]]) -> list[list[Markup] | None]:
    """Return the highlighted lines of several texts, each with its file name; None for one that stays plain.

    They are sent to the render process at once; `RenderBusy` is raised if too many wait for it.
    """
    return highlighted_at_once("highlight_texts", lexer_for, texts)


def coloured_blocks(blocks: Sequence[tuple[str, str]]) -> list[list[Markup] | None]:
    """Return the same as `coloured_texts`, for code blocks with their language identifiers."""
    return highlighted_at_once("highlight_blocks", lexer_of_language, blocks)


def highlighted_at_once(
    kind: str, find: Callable[[str], type[Lexer] | None], texts: Sequence[tuple[str, str]]
) -> list[list[Markup] | None]:
    """Return the highlighted lines of those texts that have a lexer and are within the limits."""
    results: list[list[Markup] | None] = [None] * len(texts)
    wanted = [at for at, (name, text) in enumerate(texts) if is_within_limits(text) and find(name) is not None]
    if not wanted:
        return results
    try:
        # Every token was escaped there.
        rendered = RENDERER.run(kind, [texts[at] for at in wanted])
    except RenderFailed:
        return results
    for at, lines in zip(wanted, rendered, strict=True):
        results[at] = None if lines is None else [Markup(line) for line in lines]  # noqa: S704  # escaped by the formatter
    return results


def is_within_limits(text: str) -> bool:
    """Return whether a text and its lines are short enough to be highlighted."""
    return len(text) <= LARGEST and all(len(line) <= LONGEST_LINE for line in text.split("\n"))


def colour(name: str, text: str) -> tuple[list[str], list[Symbol]]:
    """Return the lines of a text as highlighted HTML, and its symbols; the language is that of the file name."""
    kind = lexer_for(name)
    if kind is None:
        return [str(line) for line in plain(text)], []
    tokens = tokens_of(kind, BREAK.sub("\n", text))
    return html_of(tokens), symbols_in(str(kind.name), tokens)


def colour_texts(texts: Iterable[tuple[str, str]]) -> list[list[str] | None]:
    """Return the lines of several texts as highlighted HTML; None for one that its lexer changes."""
    return [colour_unchanged(lexer_for(name), text) for name, text in texts]


def colour_blocks(blocks: Iterable[tuple[str, str]]) -> list[list[str] | None]:
    """Return the same as `colour_texts`, for code blocks with their language identifiers."""
    return [colour_unchanged(lexer_of_language(identifier), text) for identifier, text in blocks]


def colour_unchanged(kind: type[Lexer] | None, text: str) -> list[str] | None:
    """Return the lines of a text as highlighted HTML; None if the lexer changes the text."""
    if kind is None:
        return None
    tokens = tokens_of(kind, text)
    return html_of(tokens) if "".join(value for _, value in tokens) == text else None


def tokens_of(kind: type[Lexer], text: str) -> list[tuple[object, str]]:
    """Return the tokens of a text."""
    return list(kind(stripnl=False, ensurenl=False, stripall=False).get_tokens(text))


def html_of(tokens: Iterable[tuple[object, str]]) -> list[str]:
    """Return the lines of a highlighted text; an empty last line is dropped."""
    lines = [str(line) for line in rows(tokens)]
    return lines[:-1] if lines and lines[-1] == "" else lines


def rows(tokens: Iterable[tuple[object, str]]) -> Iterator[Markup]:
    """Split tokens into lines; the element of a token that spans lines is closed and reopened at each line end."""
    line: list[str] = []
    for kind, value in tokens:
        name = class_of(kind)
        first, *more = value.split("\n")
        line.append(coloured_part(name, first))
        for part in more:
            # Every token was escaped below.
            yield Markup("".join(line))  # noqa: S704  # escaped by the formatter
            line = [coloured_part(name, part)]
    yield Markup("".join(line))  # noqa: S704  # escaped by the formatter


def coloured_part(name: str, text: str) -> str:
    """Return a part of one line as HTML."""
    safe = str(escape(text))
    return f'<span class="{name}">{safe}</span>' if name and text.strip() else safe
