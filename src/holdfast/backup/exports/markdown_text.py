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
from holdfast.backup.exports.styles import Piece, merged, pieces

__all__ = ["block", "heading", "inline", "item", "prefixed", "readable"]

# Markup anywhere, in CommonMark or in what is often added to it: strikethrough, mathematics. An underscore inside
# a word is none, nor an angle or an ampersand that begins no tag and no reference: addresses stay readable.
ANYWHERE: Final = re.compile(r"[\\`*\[\]~$^{}]|(?<![^\W_])_|_(?![^\W_])|<(?=[A-Za-z/!?])|&(?=#?\w+;)")
# Markup only where a line begins: headings, lists, quotes, underlines of headings, definitions, tables.
START: Final = re.compile(r"[#+\-=:%>|]|\d+(?=[.)])")
CLOSING: Final = re.compile(r"#+\Z")
# What steers terminals or that no renderer passes on; line breaks and tabs stay.
CONTROLS: Final = re.compile(r"[\x00-\x08\x0b-\x1f\x7f-\x9f\ufffe\uffff\ud800-\udfff]")
BREAKS: Final = re.compile(r"\r\n?|[\u2028\u2029]")
TICKS: Final = re.compile("`+")
# Beside these a style begins and ends by the rules of every renderer; a tick would join those of a program.
HARMLESS: Final = frozenset("!\"#$%&'()*+,-./:;<=>?@[\\]^_{|}~ \t")
EMPHASIS: Final = frozenset({"BOLD", "ITALIC", "MONOSPACE"})


def readable(text: str) -> str:
    """Write every line break the same way, and something to see for what cannot be seen."""
    return CONTROLS.sub("\ufffd", BREAKS.sub("\n", text))


@lru_cache(maxsize=4096)
def inline(text: str) -> str:
    """Write a name or another short text on one line, after something else."""
    return isolated(ANYWHERE.sub(r"\\\g<0>", " ".join(readable(text).split())))


def item(text: str) -> str:
    """Write a short text as what a list item begins with."""
    return begun(inline(text))


def heading(text: str) -> str:
    """Write a short text as a heading, or the end of one."""
    return CLOSING.sub(lambda signs: "\\#" * len(signs[0]), inline(text))


def begun(line: str) -> str:
    """Escape what would begin a block where a line begins."""
    return START.sub(started, line, count=1) if START.match(line) else line


def started(match: re.Match[str]) -> str:
    """Escape what would begin a block; of a number, the sign after it."""
    return f"{match[0]}\\" if match[0][0].isdigit() else f"\\{match[0]}"


def prefixed(text: str, prefix: str) -> str:
    """Put something before every line, as quotes and lists want it."""
    return "\n".join(f"{prefix}{line}".rstrip(" ") for line in text.split("\n"))


def block(text: str, ranges: Sequence[ExportedTextRange] = ()) -> str:
    """Write a text of several lines with its styles as one paragraph; empty for no text."""
    if not ranges:
        return hard_broken([[Piece(line)] for line in readable(text).split("\n")])
    lines: list[list[Piece]] = [[]]
    for piece in pieces(text, ranges):
        first, *others = readable(piece.text).split("\n")
        lines[-1].append(Piece(first, piece.styles))
        lines += [[Piece(line, piece.styles)] for line in others]
    return hard_broken(lines)


def hard_broken(lines: list[list[Piece]]) -> str:
    """Join lines so that each stays one; breaks at the end of a paragraph need another way of writing."""
    texts = [one_line(line) for line in lines]
    after = 0
    while len(texts) > 1 and not texts[-1]:
        texts.pop()
        after += 1
    return "\\\n".join(texts) + "&#10;" * after


def one_line(line: Iterable[Piece]) -> str:
    """Write one line with its styles."""
    parts = merged(part for piece in line if piece.text for part in trimmed(piece))
    text = styled(parts) if len(parts) > 1 or (parts and parts[0].styles) else "".join(map(lone, parts))
    return begun(text)


def lone(piece: Piece) -> str:
    """Write a line that has no styles."""
    return edged(piece.text, before=False, after=False)


def trimmed(piece: Piece) -> list[Piece]:
    """Move spaces at the ends of a style out of it; with them no renderer would take it for one."""
    core = piece.text.strip()
    if not piece.styles or not core:
        return [Piece(piece.text)]
    start = piece.text.index(core)
    ends = Piece(piece.text[:start]), Piece(piece.text[start + len(core) :])
    return [part for part in (ends[0], Piece(core, piece.styles), ends[1]) if part.text]


def edged(text: str, *, before: bool, after: bool) -> str:
    """Escape a piece; `before` and `after` tell whether other pieces stand beside it on its line.

    A space at the end of a line is written as a reference, and so is a letter beside a style: signs of a style
    between two letters, or between a letter and punctuation, mean different things to different renderers.
    """
    head = tail = ""
    if careful(text[0], beside=before):
        head, text = f"&#{ord(text[0])};", text[1:]
    if text and careful(text[-1], beside=after):
        tail, text = f"&#{ord(text[-1])};", text[:-1]
    return head + ANYWHERE.sub(r"\\\g<0>", text) + tail


def careful(sign: str, *, beside: bool) -> bool:
    """Return whether a sign at the end of a piece is written as a reference."""
    return sign not in HARMLESS if beside else sign.isspace() or sign == "\ufeff"


def styled(parts: Sequence[Piece]) -> str:
    """Write pieces in their styles; a spoiler stands between bars."""

    def write(items: Iterable[tuple[int, Piece]]) -> str:
        # Two styles side by side differ in their signs, else these would be one.
        return "".join(
            emphasis(part, "*_"[n % 2])
            if part.styles & EMPHASIS
            else edged(part.text, before=n > 0, after=n + 1 < len(parts))
            for n, part in items
        )

    def struck(items: Iterable[tuple[int, Piece]]) -> str:
        return layered(items, "STRIKETHROUGH", "~~", write)

    return layered(enumerate(parts), "SPOILER", "\\|\\|", struck)


def layered(
    items: Iterable[tuple[int, Piece]],
    style: str,
    sign: str,
    inside: Callable[[Iterable[tuple[int, Piece]]], str],
) -> str:
    """Put signs around every stretch that has a style."""
    markdown = ""
    for has, group in groupby(items, key=lambda item: style in item[1].styles):
        text = inside(group)
        markdown += f"{sign}{text}{sign}" if has else text
    return markdown


def emphasis(piece: Piece, sign: str) -> str:
    """Write a piece that is bold, italic or set like a program."""
    if "MONOSPACE" in piece.styles:
        longest = max((len(ticks) for ticks in TICKS.findall(piece.text)), default=0)
        fence = "`" * (longest + 1)
        pad = " " if longest else ""
        text = f"{fence}{pad}{piece.text}{pad}{fence}"
    else:
        text = ANYWHERE.sub(r"\\\g<0>", piece.text)
    signs = sign * (2 * ("BOLD" in piece.styles) + ("ITALIC" in piece.styles))
    return f"{signs}{text}{signs}"
