"""Emoji by short name, such as `:tada:`, from the table of rich, with some names added."""

import re
from typing import Final

from rich.emoji import Emoji, NoEmoji

__all__ = ["with_emoji"]

CODE: Final = re.compile(r"(?<![\w:]):([a-z0-9_+-]{1,60}):(?![\w:])")
# GitHub's names, and the corresponding names of the table.
OTHER_NAMES: Final = {
    "camera_flash": "camera_with_flash",
    "hugs": "hugging_face",
    "roll_eyes": "face_with_rolling_eyes",
    "rofl": "rolling_on_the_floor_laughing",
    "thinking": "thinking_face",
    "unicorn": "unicorn_face",
    "upside_down_face": "upside-down_face",
}
# Below this code point many characters are drawn as text unless a variation selector follows.
FIRST_PICTURE: Final = 0x1F000
AS_PICTURE: Final = "\ufe0f"


def with_emoji(text: str) -> str:
    """Replace short names in a text by emoji; unknown names are left unchanged."""
    return CODE.sub(emoji_of, text) if ":" in text else text


def emoji_of(match: re.Match[str]) -> str:
    """Return the emoji of a short name."""
    try:
        emoji = str(Emoji(OTHER_NAMES.get(match[1], match[1])))
    except NoEmoji:
        return match[0]
    return emoji + AS_PICTURE if len(emoji) == 1 and ord(emoji) < FIRST_PICTURE else emoji
