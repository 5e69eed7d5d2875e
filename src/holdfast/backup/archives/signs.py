"""Full-text tokens for scripts without word separators, and for emoji (bigrams).

The FTS5 tokenizer splits at word separators. A run of such characters is indexed as its bigrams and the last
character alone, each encoded as a word; a search for a run is a phrase of the same bigrams. Skin tones and
invisible parts of emoji are dropped, so that all variants of an emoji match.
"""

import re
from array import array
from functools import lru_cache
from itertools import pairwise
from typing import Final

import cython

__all__ = ["EMOJI", "LOOKS", "SCRIPTS", "index_tokens", "sign_query", "sign_words", "split_signs"]

# Han, kana, hangul, and the scripts of South-East Asia.
SCRIPTS: Final = (
    "\u0e00-\u0eff\u1000-\u109f\u1780-\u17ff\u3040-\u30ff\u3100-\u318f\u31f0-\u31ff\u3400-\u4dbf\u4e00-\u9fff"
    "\uac00-\ud7af\uf900-\ufaff\uff66-\uff9f\U00020000-\U0003ffff"
)
EMOJI: Final = (
    "\u2190-\u21ff\u2300-\u23ff\u2460-\u24ff\u25a0-\u27bf\u2900-\u297f\u2b00-\u2bff\u3030\u303d\u3297\u3299"
    "\U0001f000-\U0001faff"
)
# Joiners, variation selectors, the keycap and skin tones, which modify an emoji.
LOOKS: Final = "\u200d\ufe0e\ufe0f\u20e3\U0001f3fb-\U0001f3ff\U000e0020-\U000e007f"
RUN: Final = re.compile(f"[{SCRIPTS}{EMOJI}][{SCRIPTS}{EMOJI}{LOOKS}]*")
UNSEEN: Final = re.compile(f"[{LOOKS}]")


def bounds(ranges: str) -> list[int]:
    """Return the first and the last code point of each range of a character class, one after the other."""
    pairs = re.findall("([^-])(?:-([^-]))?", ranges)
    return [ord(end) for first, last in pairs for end in (first, last or first)]


_signs, _looks = bounds(SCRIPTS + EMOJI), bounds(LOOKS)
# First the ranges of characters that begin a run, then those of characters that only continue one.
BOUNDS = cython.declare(cython.const[cython.uint][::1], array("I", _signs + _looks))
SIGN_BOUNDS = cython.declare(cython.Py_ssize_t, len(_signs))
ALL_BOUNDS = cython.declare(cython.Py_ssize_t, len(_signs + _looks))
LOWEST = cython.declare(cython.uint, min(_signs + _looks))


def is_within(code: cython.uint, begin: cython.Py_ssize_t, end: cython.Py_ssize_t) -> cython.bint:
    """Return whether a code point is in one of the ranges between two indexes."""
    index: cython.Py_ssize_t
    for index in range(begin, end, 2):  # noqa: SIM110  # a loop in C
        if BOUNDS[index] <= code <= BOUNDS[index + 1]:
            return True
    return False


def index_tokens(text: str | None, extra: str | None) -> str | None:
    """Return the tokens of the text of a message and of what else is searchable; None if there are none."""
    words: str = "" if text is None else sign_words(text)
    more: str = "" if extra is None else sign_words(extra)
    return f"{words} {more}" if words and more else words or more or None


def sign_words(text: str) -> str:
    """Return the tokens of a text, separated by spaces; empty if it has none.

    The runs are those that `RUN` matches. Most texts have none, and most characters are ordinary ones.
    """
    index: cython.Py_ssize_t
    start: cython.Py_ssize_t = -1
    code: cython.uint
    words: list[str] = []
    for index in range(len(text)):
        code = ord(text[index])
        if code < LOWEST:
            if start >= 0:
                words.append(run_words(text[start:index]))
                start = -1
        elif is_within(code, 0, SIGN_BOUNDS):
            if start < 0:
                start = index
        elif start >= 0 and not is_within(code, SIGN_BOUNDS, ALL_BOUNDS):
            words.append(run_words(text[start:index]))
            start = -1
    if start >= 0:
        words.append(run_words(text[start:]))
    return " ".join(filter(None, words))


@lru_cache(maxsize=4096)
def run_words(run: str) -> str:
    """Return the tokens of one run; cached, as few emoji make up most runs."""
    codes = [f"{ord(character):x}" for character in UNSEEN.sub("", run)]
    words = [f"x{first}y{second}" for first, second in pairwise(codes)]
    if codes:
        words.append(f"x{codes[len(codes) - 1]}y")
    return " ".join(words)


def sign_query(run: str) -> str:
    """Return the FTS5 query for a run: a prefix for one character, a phrase of bigrams for more."""
    codes = [f"{ord(character):x}" for character in UNSEEN.sub("", run)]
    if len(codes) == 1:
        return f"signs : x{codes[0]}y *"
    pairs = " ".join(f"x{first}y{second}" for first, second in pairwise(codes))
    return f'signs : "{pairs}"'


def split_signs(word: str) -> tuple[list[str], list[str]]:
    """Split a word of a query into its ordinary words and its runs."""
    if word.isascii():
        return [word], []
    return RUN.sub(" ", word).split(), [visible for run in RUN.findall(word) if (visible := UNSEEN.sub("", run))]
