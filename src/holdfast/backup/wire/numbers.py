"""Rules have numbers inside the core, and names everywhere else.

A rule gets its number when it is first named, by the core or by whoever describes it. Number 0 is no rule.
"""

from typing import Final

__all__ = ["name_of_rule", "number_of_rule"]

NAMES: Final[list[str]] = [""]
NUMBERS: Final[dict[str, int]] = {}


def number_of_rule(name: str) -> int:
    """Return the number of a rule."""
    if name not in NUMBERS:
        NUMBERS[name] = len(NAMES)
        NAMES.append(name)
    return NUMBERS[name]


def name_of_rule(number: int) -> str:
    """Return the name of a rule."""
    return NAMES[number]
