"""An inverted index for the search page, in script files that a page can load without a server.

It maps words to pages of the export. Sorted words are split into shards of bounded size; an index file has the
first word of each. The texts of a page are in a script of their own, in which the search page finds the messages.
Words are folded the same way here and in `search.js`.
"""

import heapq
import io
import re
import tempfile
import unicodedata
from collections import defaultdict
from collections.abc import Collection, Iterator, Sequence
from contextlib import ExitStack
from functools import lru_cache
from typing import IO, Final

import msgspec

from holdfast.backup.archives.signs import EMOJI, LOOKS, SCRIPTS

__all__ = ["SearchableMessage", "WordIndex", "fold", "page_script", "page_texts", "words_of"]

# Words are indexed by this many characters; longer ones are compared in the texts.
MAX_WORD: Final = 32
# Maximum number of postings in one run; more are written to sorted temporary files.
MAX_POSTINGS: Final = 1_000_000
# Maximum size of a shard in characters.
SHARD_SIZE: Final = 64 << 10
# Start and end of a script with the texts of a page.
CALL: Final = b"holdfast.page("
END: Final = b");\n"
WORD: Final = re.compile(r"[^\W_]+")
UNSPACED: Final = re.compile(f"[{SCRIPTS}{EMOJI}{LOOKS}]+")
INVISIBLE: Final = re.compile(f"[{LOOKS}]+")

# A searchable message: its id, the number of its author, the time, and its text.
SearchableMessage = tuple[int, int, int, str]
Texts = tuple[list[str], list[SearchableMessage]]


def fold(text: str) -> str:
    """Fold case, accents and compatibility characters."""
    if text.isascii():
        return text.lower()
    # Without nonspacing marks.
    unaccented = [
        character
        for character in unicodedata.normalize("NFKD", text).lower()
        if unicodedata.category(character) != "Mn"
    ]
    return unicodedata.normalize("NFC", "".join(unaccented))


def token_words(token: str) -> tuple[str, ...]:
    """Return the words of a token between spaces."""
    folded = fold(token)
    if folded.isascii():
        return tuple({word[:MAX_WORD] for word in WORD.findall(folded)})
    words = {word[:MAX_WORD] for word in WORD.findall(UNSPACED.sub(" ", folded))}
    for run in UNSPACED.findall(folded):
        characters = INVISIBLE.sub("", run)
        words.update(characters)
        words.update(map(str.__add__, characters, characters[1:]))
    return tuple(words)


# Short tokens repeat often and are cached.
cached_words = lru_cache(maxsize=1 << 15)(token_words)


def words_of(*texts: str) -> set[str]:
    """Return the words of texts; for scripts without spaces and emoji, each character and each bigram."""
    tokens = set(" ".join(texts).split())
    return set().union(
        *[cached_words(token) if len(token) <= MAX_WORD else token_words(token) for token in tokens]
    )


def page_script(key: str, authors: Sequence[str], rows: Sequence[SearchableMessage]) -> bytes:
    """Return the script with the texts of a page."""
    return b"%s%s,%s%s" % (CALL, msgspec.json.encode(key), msgspec.json.encode([authors, rows]), END)


def page_texts(script: bytes) -> list[str]:
    """Parse the texts from the script of a page."""
    arguments = msgspec.json.decode(b"[%s]" % script[len(CALL) : -len(END)], type=tuple[str, Texts])
    return [row[3] for row in arguments[1][1]]


def utf16_key(word: str) -> bytes:
    """Return the sort key of a word in JavaScript's order, by UTF-16 code units."""
    return word.encode("utf-16-be")


class WordIndex:
    """Builds the inverted index in bounded memory, with an external merge sort.

    With `in_memory` no temporary files are written: the sorted runs stay in memory, encoded as they would be in a
    file, which takes about as much memory as the texts.
    """

    def __init__(self, *, in_memory: bool = False) -> None:
        self.in_memory = in_memory
        self.pages: defaultdict[str, list[int]] = defaultdict(list)
        self.count = 0
        self.runs: list[IO[str]] = []
        self.stack = ExitStack()

    def add(self, page: int, texts: Sequence[str]) -> None:
        """Add the texts of a page."""
        self.add_words(page, words_of(*texts))

    def add_words(self, page: int, words: Collection[str]) -> None:
        """Add the words of a page."""
        pages = self.pages
        for word in words:
            pages[word].append(page)
        self.count += len(words)
        if self.count >= MAX_POSTINGS:
            self.spill()

    def spill(self) -> None:
        """Write the postings in memory to a sorted run, a temporary file unless `in_memory`."""
        run: IO[str] = self.stack.enter_context(
            io.TextIOWrapper(io.BytesIO(), encoding="utf-8")
            if self.in_memory
            else tempfile.TemporaryFile("w+", encoding="utf-8")  # noqa: SIM115  # closed with the index
        )
        run.writelines(
            f"{word} {' '.join(map(str, self.pages[word]))}\n" for word in sorted(self.pages, key=utf16_key)
        )
        run.seek(0)
        self.runs.append(run)
        self.pages.clear()
        self.count = 0

    def entries(self) -> Iterator[tuple[str, list[int]]]:
        """Yield the words in order, each with its pages."""
        if not self.runs:
            for word in sorted(self.pages, key=utf16_key):
                yield word, sorted(self.pages[word])
            return
        self.spill()
        last, pages = "", list[int]()
        for line in heapq.merge(*self.runs, key=lambda line: utf16_key(line.partition(" ")[0])):
            word, *numbers = line.split()
            if word != last and pages:
                yield last, sorted(pages)
                pages = []
            last = word
            pages += map(int, numbers)
        if pages:
            yield last, sorted(pages)

    def shards(self) -> Iterator[tuple[str, str]]:
        """Yield the shards: the first word, and the words with their pages, delta-encoded."""
        first, rows, size = "", list[str](), 0
        for word, pages in self.entries():
            steps = ",".join(
                [str(page_number - previous) for previous, page_number in zip([0, *pages], pages, strict=False)]
            )
            row = f'"{word}":[{steps}]'
            if rows and size + len(row) > SHARD_SIZE:
                yield first, ",\n".join(rows)
                rows, size = [], 0
            if not rows:
                first = word
            rows.append(row)
            size += len(row)
        if rows:
            yield first, ",\n".join(rows)

    def close(self) -> None:
        """Delete the temporary files."""
        self.stack.close()
