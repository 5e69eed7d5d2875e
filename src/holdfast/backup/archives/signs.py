"""Full-text tokens for scripts without word separators, and for emoji (bigrams).

The FTS5 tokenizer splits at word separators. A run of such characters is indexed as its bigrams and the last
character alone, each encoded as a word; a search for a run is a phrase of the same bigrams. Skin tones and
invisible parts of emoji are dropped, so that all variants of an emoji match.
"""

import re
from functools import lru_cache
from itertools import pairwise
from typing import Final

__all__ = ["EMOJI", "LOOKS", "SCRIPTS", "sign_query", "sign_words", "split_signs"]

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


def sign_words(text: str) -> str:
    """Return the tokens of a text, separated by spaces; empty if it has none."""
    if text.isascii():
        return ""
    return " ".join(filter(None, map(run_words, RUN.findall(text))))


@lru_cache(maxsize=4096)
def run_words(run: str) -> str:
    """Return the tokens of one run; cached, as few emoji make up most runs."""
    codes = [f"{ord(character):x}" for character in UNSEEN.sub("", run)]
    pairs = [f"x{first}y{second}" for first, second in pairwise(codes)]
    return " ".join([*pairs, *(f"x{code}y" for code in codes[-1:])])


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
