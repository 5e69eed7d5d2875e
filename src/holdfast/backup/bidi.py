"""Isolates names and other short texts: right-to-left letters in them do not reorder what stands around them."""

import re
from typing import Final

__all__ = ["isolated"]

FIRST_STRONG_ISOLATE: Final = "\u2068"
POP_DIRECTIONAL_ISOLATE: Final = "\u2069"
# Marks, embeddings, overrides and isolates: what turns the direction of a text without being seen.
CONTROLS: Final = re.compile("[\u061c\u200e\u200f\u202a-\u202e\u2066-\u2069]")
# The blocks of scripts that are written from right to left.
RIGHT_TO_LEFT: Final = re.compile(
    "[\u0590-\u08ff\ufb1d-\ufdff\ufe70-\ufefe\U00010800-\U00010fff\U0001e800-\U0001efff]"
)


def isolated(text: str) -> str:
    """Return a text as it may stand inside a sentence: between isolates where it is written from right to left.

    Controls of direction in it, which could reorder what follows, are left out. Any other text stays as it is.
    """
    if text.isascii() or not (CONTROLS.search(text) or RIGHT_TO_LEFT.search(text)):
        return text
    return f"{FIRST_STRONG_ISOLATE}{CONTROLS.sub('', text)}{POP_DIRECTIONAL_ISOLATE}"
