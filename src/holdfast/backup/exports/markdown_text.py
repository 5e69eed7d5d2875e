"""Escapes text as Markdown, so that every renderer shows it literally.

All text of messages and names goes through this module. Markup characters are escaped with a backslash; spaces
that a renderer would drop become numeric references; a line break becomes a hard line break.
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

# Markup anywhere, in CommonMark or in common extensions: strikethrough, mathematics. An underscore inside a word
# is not, nor an angle bracket or ampersand that begins no tag or reference: URLs stay readable.
MARKUP: Final = re.compile(r"[\\`*\[\]~$^{}]|(?<![^\W_])_|_(?![^\W_])|<(?=[A-Za-z/!?])|&(?=#?\w+;)")
# Markup only at the start of a line: headings, lists, quotes, heading underlines, definitions, tables.
BLOCK_START: Final = re.compile(r"[#+\-=:%>|]|\d+(?=[.)])")
CLOSING: Final = re.compile(r"#+\Z")
# Control characters that affect terminals or that renderers drop; line breaks and tabs are kept.
CONTROLS: Final = re.compile(r"[\x00-\x08\x0b-\x1f\x7f-\x9f\ufffe\uffff\ud800-\udfff]")
BREAKS: Final = re.compile(r"\r\n?|[\u2028\u2029]")
TICKS: Final = re.compile("`+")
# Next to these characters emphasis opens and closes in every renderer; a backtick would join a code span.
SAFE_NEIGHBOURS: Final = frozenset("!\"#$%&'()*+,-./:;<=>?@[\\]^_{|}~ \t")
EMPHASIS: Final = frozenset({"BOLD", "ITALIC", "MONOSPACE"})


def normalize(text: str) -> str:
    """Normalize line breaks, and replace control characters with U+FFFD."""
    return CONTROLS.sub("\ufffd", BREAKS.sub("\n", text))


@lru_cache(maxsize=4096)
def inline(text: str) -> str:
    """Escape a name or another short text on one line, not at the start of it."""
    return isolated(MARKUP.sub(r"\\\g<0>", " ".join(normalize(text).split())))


def item(text: str) -> str:
    """Escape a short text at the start of a list item."""
    return escape_line_start(inline(text))


def heading(text: str) -> str:
    """Escape a short text as a heading, or the end of one."""
    return CLOSING.sub(lambda delimiters: "\\#" * len(delimiters[0]), inline(text))


def escape_line_start(line: str) -> str:
    """Escape what would start a block at the start of a line."""
    return BLOCK_START.sub(escape_block_start, line, count=1) if BLOCK_START.match(line) else line


def escape_block_start(match: re.Match[str]) -> str:
    """Escape the match of a block start; after a number, the character that follows."""
    return f"{match[0]}\\" if match[0][0].isdigit() else f"\\{match[0]}"


def prefix_lines(text: str, prefix: str) -> str:
    """Prefix every line, as in quotes and lists."""
    return "\n".join(f"{prefix}{line}".rstrip(" ") for line in text.split("\n"))


def block(text: str, ranges: Sequence[ExportedTextRange] = ()) -> str:
    """Return a text with its styles as one paragraph; empty for no text."""
    if not ranges:
        return join_lines([[Piece(line)] for line in normalize(text).split("\n")])
    lines: list[list[Piece]] = [[]]
    for piece in split_styles(text, ranges):
        first, *others = normalize(piece.text).split("\n")
        lines[-1].append(Piece(first, piece.styles))
        lines += [[Piece(line, piece.styles)] for line in others]
    return join_lines(lines)


def join_lines(lines: list[list[Piece]]) -> str:
    """Join lines with hard line breaks; those at the end of a paragraph are numeric references."""
    texts = [format_line(line) for line in lines]
    after = 0
    while len(texts) > 1 and not texts[-1]:
        texts.pop()
        after += 1
    return "\\\n".join(texts) + "&#10;" * after


def format_line(line: Iterable[Piece]) -> str:
    """Return one line with its styles."""
    parts = merge_pieces(part for piece in line if piece.text for part in trim_piece(piece))
    text = (
        format_pieces(parts) if len(parts) > 1 or (parts and parts[0].styles) else "".join(map(plain_line, parts))
    )
    return escape_line_start(text)


def plain_line(piece: Piece) -> str:
    """Return a line without styles."""
    return escape_piece(piece.text, before=False, after=False)


def trim_piece(piece: Piece) -> list[Piece]:
    """Move whitespace at the ends of a styled piece out of it; with it renderers do not recognise emphasis."""
    core = piece.text.strip()
    if not piece.styles or not core:
        return [Piece(piece.text)]
    start = piece.text.index(core)
    ends = Piece(piece.text[:start]), Piece(piece.text[start + len(core) :])
    return [part for part in (ends[0], Piece(core, piece.styles), ends[1]) if part.text]


def escape_piece(text: str, *, before: bool, after: bool) -> str:
    """Escape a piece; `before` and `after` say whether there are adjacent pieces on its line.

    Whitespace at the end of a line is written as a numeric reference, and so is a letter next to a style:
    renderers differ on delimiters between two letters, or between a letter and punctuation.
    """
    head = tail = ""
    if needs_reference(text[0], beside=before):
        head, text = f"&#{ord(text[0])};", text[1:]
    if text and needs_reference(text[-1], beside=after):
        tail, text = f"&#{ord(text[-1])};", text[:-1]
    return head + MARKUP.sub(r"\\\g<0>", text) + tail


def needs_reference(character: str, *, beside: bool) -> bool:
    """Return whether a character at the end of a piece is written as a numeric reference."""
    return character not in SAFE_NEIGHBOURS if beside else character.isspace() or character == "\ufeff"


def format_pieces(parts: Sequence[Piece]) -> str:
    """Return pieces in their styles; a spoiler is between double bars."""

    def write(items: Iterable[tuple[int, Piece]]) -> str:
        # Adjacent styles use different delimiters, or they would merge.
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
    """Wrap every run of pieces with a style in delimiters."""
    markdown = ""
    for is_styled, group in groupby(items, key=lambda item: style in item[1].styles):
        text = inside(group)
        markdown += f"{character}{text}{character}" if is_styled else text
    return markdown


def emphasis(piece: Piece, character: str) -> str:
    """Return a piece in bold, italic or monospace."""
    if "MONOSPACE" in piece.styles:
        longest = max((len(ticks) for ticks in TICKS.findall(piece.text)), default=0)
        fence = "`" * (longest + 1)
        pad = " " if longest else ""
        text = f"{fence}{pad}{piece.text}{pad}{fence}"
    else:
        text = MARKUP.sub(r"\\\g<0>", piece.text)
    delimiters = character * (2 * ("BOLD" in piece.styles) + ("ITALIC" in piece.styles))
    return f"{delimiters}{text}{delimiters}"
