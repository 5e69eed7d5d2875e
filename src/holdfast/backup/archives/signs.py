"""Makes what has no words findable: scripts written without spaces, and emoji.

A full-text index knows words. Of a run of such signs it is given every pair of neighbours, and the last sign
alone, each spelled as a word; a search for signs looks for the same pairs in a row. Skin tones and the invisible
parts of emoji are left out, so that an emoji is found in all its variants.
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
# Joiners, variation selectors, the keycap and skin tones say how an emoji looks.
LOOKS: Final = "\u200d\ufe0e\ufe0f\u20e3\U0001f3fb-\U0001f3ff\U000e0020-\U000e007f"
RUN: Final = re.compile(f"[{SCRIPTS}{EMOJI}][{SCRIPTS}{EMOJI}{LOOKS}]*")
UNSEEN: Final = re.compile(f"[{LOOKS}]")


def sign_words(text: str) -> str:
    """Spell the signs of a text for the index; nothing where it has none."""
    if text.isascii():
        return ""
    return " ".join(filter(None, map(run_words, RUN.findall(text))))


@lru_cache(maxsize=4096)
def run_words(run: str) -> str:
    """Spell one run; the same few emoji come again and again."""
    codes = [f"{ord(character):x}" for character in UNSEEN.sub("", run)]
    pairs = [f"x{first}y{second}" for first, second in pairwise(codes)]
    return " ".join([*pairs, *(f"x{code}y" for code in codes[-1:])])


def sign_query(run: str) -> str:
    """Spell a run of signs as a query: one sign is the beginning of a pair, more are pairs in a row."""
    codes = [f"{ord(character):x}" for character in UNSEEN.sub("", run)]
    if len(codes) == 1:
        return f"signs : x{codes[0]}y *"
    pairs = " ".join(f"x{first}y{second}" for first, second in pairwise(codes))
    return f'signs : "{pairs}"'


def split_signs(word: str) -> tuple[list[str], list[str]]:
    """Take a word of a query apart: what words it has, and what runs of signs."""
    if word.isascii():
        return [word], []
    return RUN.sub(" ", word).split(), [seen for run in RUN.findall(word) if (seen := UNSEEN.sub("", run))]
