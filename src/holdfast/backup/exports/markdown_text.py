"""Writes what people wrote as Markdown: it comes out of every renderer as it went in, and never as markup.

This is the one place where text becomes Markdown. What could be markup is escaped with a backslash; spaces that a
renderer would swallow become numeric references; a line break becomes a hard one.
"""

import re
from collections.abc import Callable, Iterable, Sequence
from functools import lru_cache
from itertools import groupby
from typing import Final

from holdfast.backup.bidi import isolated
from holdfast.backup.exports.schemas import ExportedTextRange
from holdfast.backup.exports.styles import Piece, merge_pieces, split_styles

__all__ = ["block", "heading", "inline", "item", "normalize", "prefix_lines"]

# Markup anywhere, in CommonMark or in what is often added to it: strikethrough, mathematics. An underscore inside
# a word is none, nor an angle or an ampersand that begins no tag and no reference: addresses stay readable.
MARKUP: Final = re.compile(r"[\\`*\[\]~$^{}]|(?<![^\W_])_|_(?![^\W_])|<(?=[A-Za-z/!?])|&(?=#?\w+;)")
# Markup only where a line begins: headings, lists, quotes, underlines of headings, definitions, tables.
BLOCK_START: Final = re.compile(r"[#+\-=:%>|]|\d+(?=[.)])")
CLOSING: Final = re.compile(r"#+\Z")
# What steers terminals or that no renderer passes on; line breaks and tabs stay.
CONTROLS: Final = re.compile(r"[\x00-\x08\x0b-\x1f\x7f-\x9f\ufffe\uffff\ud800-\udfff]")
BREAKS: Final = re.compile(r"\r\n?|[\u2028\u2029]")
TICKS: Final = re.compile("`+")
# Beside these a style begins and ends by the rules of every renderer; a tick would join those of a program.
SAFE_NEIGHBOURS: Final = frozenset("!\"#$%&'()*+,-./:;<=>?@[\\]^_{|}~ \t")
EMPHASIS: Final = frozenset({"BOLD", "ITALIC", "MONOSPACE"})


def normalize(text: str) -> str:
    """Write every line break the same way, and something to see for what cannot be seen."""
    return CONTROLS.sub("\ufffd", BREAKS.sub("\n", text))


@lru_cache(maxsize=4096)
def inline(text: str) -> str:
    """Write a name or another short text on one line, after something else."""
    return isolated(MARKUP.sub(r"\\\g<0>", " ".join(normalize(text).split())))


def item(text: str) -> str:
    """Write a short text as what a list item begins with."""
    return escape_line_start(inline(text))


def heading(text: str) -> str:
    """Write a short text as a heading, or the end of one."""
    return CLOSING.sub(lambda delimiters: "\\#" * len(delimiters[0]), inline(text))


def escape_line_start(line: str) -> str:
    """Escape what would begin a block where a line begins."""
    return BLOCK_START.sub(escape_block_start, line, count=1) if BLOCK_START.match(line) else line


def escape_block_start(match: re.Match[str]) -> str:
    """Escape what would begin a block; of a number, the sign after it."""
    return f"{match[0]}\\" if match[0][0].isdigit() else f"\\{match[0]}"


def prefix_lines(text: str, prefix: str) -> str:
    """Put something before every line, as quotes and lists want it."""
    return "\n".join(f"{prefix}{line}".rstrip(" ") for line in text.split("\n"))


def block(text: str, ranges: Sequence[ExportedTextRange] = ()) -> str:
    """Write a text of several lines with its styles as one paragraph; empty for no text."""
    if not ranges:
        return join_lines([[Piece(line)] for line in normalize(text).split("\n")])
    lines: list[list[Piece]] = [[]]
    for piece in split_styles(text, ranges):
        first, *others = normalize(piece.text).split("\n")
        lines[-1].append(Piece(first, piece.styles))
        lines += [[Piece(line, piece.styles)] for line in others]
    return join_lines(lines)


def join_lines(lines: list[list[Piece]]) -> str:
    """Join lines so that each stays one; breaks at the end of a paragraph need another way of writing."""
    texts = [format_line(line) for line in lines]
    after = 0
    while len(texts) > 1 and not texts[-1]:
        texts.pop()
        after += 1
    return "\\\n".join(texts) + "&#10;" * after


def format_line(line: Iterable[Piece]) -> str:
    """Write one line with its styles."""
    parts = merge_pieces(part for piece in line if piece.text for part in trim_piece(piece))
    text = (
        format_pieces(parts) if len(parts) > 1 or (parts and parts[0].styles) else "".join(map(plain_line, parts))
    )
    return escape_line_start(text)


def plain_line(piece: Piece) -> str:
    """Write a line that has no styles."""
    return escape_piece(piece.text, before=False, after=False)


def trim_piece(piece: Piece) -> list[Piece]:
    """Move spaces at the ends of a style out of it; with them no renderer would take it for one."""
    core = piece.text.strip()
    if not piece.styles or not core:
        return [Piece(piece.text)]
    start = piece.text.index(core)
    ends = Piece(piece.text[:start]), Piece(piece.text[start + len(core) :])
    return [part for part in (ends[0], Piece(core, piece.styles), ends[1]) if part.text]


def escape_piece(text: str, *, before: bool, after: bool) -> str:
    """Escape a piece; `before` and `after` tell whether other pieces stand beside it on its line.

    A space at the end of a line is written as a reference, and so is a letter beside a style: signs of a style
    between two letters, or between a letter and punctuation, mean different things to different renderers.
    """
    head = tail = ""
    if needs_reference(text[0], beside=before):
        head, text = f"&#{ord(text[0])};", text[1:]
    if text and needs_reference(text[-1], beside=after):
        tail, text = f"&#{ord(text[-1])};", text[:-1]
    return head + MARKUP.sub(r"\\\g<0>", text) + tail


def needs_reference(character: str, *, beside: bool) -> bool:
    """Return whether a sign at the end of a piece is written as a reference."""
    return character not in SAFE_NEIGHBOURS if beside else character.isspace() or character == "\ufeff"


def format_pieces(parts: Sequence[Piece]) -> str:
    """Write pieces in their styles; a spoiler stands between bars."""

    def write(items: Iterable[tuple[int, Piece]]) -> str:
        # Two styles side by side differ in their signs, else these would be one.
        return "".join(
            emphasis(part, "*_"[n % 2])
            if part.styles & EMPHASIS
            else escape_piece(part.text, before=n > 0, after=n + 1 < len(parts))
            for n, part in items
        )

    def strikethrough(items: Iterable[tuple[int, Piece]]) -> str:
        return wrap_styled(items, "STRIKETHROUGH", "~~", write)

    return wrap_styled(enumerate(parts), "SPOILER", "\\|\\|", strikethrough)


def wrap_styled(
    items: Iterable[tuple[int, Piece]],
    style: str,
    character: str,
    inside: Callable[[Iterable[tuple[int, Piece]]], str],
) -> str:
    """Put signs around every stretch that has a style."""
    markdown = ""
    for is_styled, group in groupby(items, key=lambda item: style in item[1].styles):
        text = inside(group)
        markdown += f"{character}{text}{character}" if is_styled else text
    return markdown


def emphasis(piece: Piece, character: str) -> str:
    """Write a piece that is bold, italic or set like a program."""
    if "MONOSPACE" in piece.styles:
        longest = max((len(ticks) for ticks in TICKS.findall(piece.text)), default=0)
        fence = "`" * (longest + 1)
        pad = " " if longest else ""
        text = f"{fence}{pad}{piece.text}{pad}{fence}"
    else:
        text = MARKUP.sub(r"\\\g<0>", piece.text)
    delimiters = character * (2 * ("BOLD" in piece.styles) + ("ITALIC" in piece.styles))
    return f"{delimiters}{text}{delimiters}"
