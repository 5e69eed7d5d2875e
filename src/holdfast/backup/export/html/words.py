"""An index of words for the search page, in files that a page can load without a server.

It tells which pages of the export a word stands on. Words are sorted and cut into files of bounded size, and a
list tells the first word of each. What stands on a page lies in a file of its own, so that the search page can
look for the messages and show them. Words are folded the same way here and in `search.js`.
"""

import heapq
import re
import tempfile
import unicodedata
from collections.abc import Iterator
from contextlib import ExitStack
from functools import cache, lru_cache
from typing import IO, Final

from holdfast.backup.archive.signs import EMOJI, LOOKS, SCRIPTS

__all__ = ["WordIndex", "fold", "words_of"]

# Beyond these signs two words are the same to the index; the texts tell them apart.
LONGEST: Final = 32
# Postings that are kept in memory; more are written to temporary files, each sorted.
MOST: Final = 1_000_000
# Of one file, in signs.
SHARD: Final = 64 << 10
WORD: Final = re.compile(r"[^\W_]+")
RUN: Final = re.compile(f"[{SCRIPTS}{EMOJI}{LOOKS}]+")
UNSEEN: Final = re.compile(f"[{LOOKS}]+")


@cache
def marks() -> frozenset[str]:
    """List all marks that stand above or below a letter."""
    places = (*range(0x300, 0x1F000), *range(0xE0100, 0xE01F0))
    return frozenset(sign for sign in map(chr, places) if unicodedata.category(sign) == "Mn")


def fold(text: str) -> str:
    """Write a text without capitals, accents and other ways to write the same."""
    if text.isascii():
        return text.lower()
    away = marks()
    bare = [sign for sign in unicodedata.normalize("NFKD", text).lower() if sign not in away]
    return unicodedata.normalize("NFC", "".join(bare))


def token_words(token: str) -> tuple[str, ...]:
    """List the words of what stands between two spaces."""
    folded = fold(token)
    if folded.isascii():
        return tuple({word[:LONGEST] for word in WORD.findall(folded)})
    found = {word[:LONGEST] for word in WORD.findall(RUN.sub(" ", folded))}
    for run in RUN.findall(folded):
        signs = UNSEEN.sub("", run)
        found.update(signs)
        found.update(map(str.__add__, signs, signs[1:]))
    return tuple(found)


# The same words come again and again, and only they are worth remembering.
known_words = lru_cache(maxsize=1 << 15)(token_words)


def words_of(text: str) -> set[str]:
    """List the words of a text; of scripts without spaces and of emoji, each sign and each pair of neighbours."""
    found: set[str] = set()
    for token in set(text.split()):
        found.update(known_words(token) if len(token) <= LONGEST else token_words(token))
    return found


def order_of(word: str) -> bytes:
    """Sort as a browser does, by UTF-16 units."""
    return word.encode("utf-16-be")


class WordIndex:
    """Collects which words stand on which pages; the memory it takes does not grow with them."""

    def __init__(self) -> None:
        self.pages: dict[str, list[int]] = {}
        self.count = 0
        self.runs: list[IO[str]] = []
        self.stack = ExitStack()

    def add(self, page: int, text: str) -> None:
        """Take in what stands on a page; pages come in the order of their numbers."""
        found = words_of(text)
        pages = self.pages
        for word in found:
            if word in pages:
                pages[word].append(page)
            else:
                pages[word] = [page]
        self.count += len(found)
        if self.count >= MOST:
            self.spill()

    def spill(self) -> None:
        """Write what is in memory to a temporary file."""
        run = self.stack.enter_context(
            tempfile.TemporaryFile("w+", encoding="utf-8")  # noqa: SIM115  # closed with the index
        )
        run.writelines(
            f"{word} {' '.join(map(str, self.pages[word]))}\n" for word in sorted(self.pages, key=order_of)
        )
        run.seek(0)
        self.runs.append(run)
        self.pages = {}
        self.count = 0

    def entries(self) -> Iterator[tuple[str, list[int]]]:
        """Yield every word in order with the pages it stands on."""
        if not self.runs:
            for word in sorted(self.pages, key=order_of):
                yield word, self.pages[word]
            return
        self.spill()
        last, pages = "", list[int]()
        for line in heapq.merge(*self.runs, key=lambda line: order_of(line.partition(" ")[0])):
            word, *numbers = line.split()
            if word != last and pages:
                yield last, pages
                pages = []
            last = word
            pages += map(int, numbers)
        if pages:
            yield last, pages

    def shards(self) -> Iterator[tuple[str, str]]:
        """Yield the files: the first word of each, and its words with the steps from page to page."""
        first, rows, size = "", list[str](), 0
        for word, pages in self.entries():
            steps = ",".join([str(now - before) for before, now in zip([0, *pages], pages, strict=False)])
            row = f'"{word}":[{steps}]'
            if rows and size + len(row) > SHARD:
                yield first, ",\n".join(rows)
                rows, size = [], 0
            if not rows:
                first = word
            rows.append(row)
            size += len(row)
        if rows:
            yield first, ",\n".join(rows)

    def close(self) -> None:
        """Remove the temporary files."""
        self.stack.close()
