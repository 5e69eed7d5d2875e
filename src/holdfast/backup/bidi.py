"""Bidirectional isolation of names and other short texts, so that right-to-left text reorders nothing else."""

import re
from typing import Final

__all__ = ["isolated"]

FIRST_STRONG_ISOLATE: Final = "\u2068"
POP_DIRECTIONAL_ISOLATE: Final = "\u2069"
# Invisible direction controls: marks, embeddings, overrides and isolates.
CONTROLS: Final = re.compile("[\u061c\u200e\u200f\u202a-\u202e\u2066-\u2069]")
# The blocks of scripts that are written from right to left.
RIGHT_TO_LEFT: Final = re.compile(
    "[\u0590-\u08ff\ufb1d-\ufdff\ufe70-\ufefe\U00010800-\U00010fff\U0001e800-\U0001efff]"
)


def isolated(text: str) -> str:
    """Return a text for use inside a sentence: a right-to-left text is enclosed in isolates.

    Direction controls in it, which could reorder what follows, are removed. Other text is unchanged.
    """
    if text.isascii() or not (CONTROLS.search(text) or RIGHT_TO_LEFT.search(text)):
        return text
    return f"{FIRST_STRONG_ISOLATE}{CONTROLS.sub('', text)}{POP_DIRECTIONAL_ISOLATE}"
