"""The numbers of rules in the compiled modules; all other code uses their ids.

The build numbers the rules and compiles the ids into this module. When interpreted, a rule gets its number when
its id is first used: by its declaration, or by the code that checks it. Number 0 is no rule.
"""

from typing import Final

import cython

__all__ = ["add_rule", "number_of_rule", "require_checks"]

if not cython.compiled:
    # The id of each rule by its number, empty for unused numbers, and their count.
    RULE_IDS: list[bytes] = []
    RULE_COUNT = 0


def compiled_numbers() -> dict[str, int]:
    """Return the numbers that were compiled in, by rule id."""
    numbers: dict[str, int] = {}
    for number in range(RULE_COUNT):
        name: bytes = RULE_IDS[number]
        if name:
            numbers[name.decode()] = number
    return numbers


NUMBERS: Final = compiled_numbers()
DESCRIBED: Final[set[str]] = set()
CHECKED: Final[set[str]] = set()


def number_of(name: str) -> int:
    """Return the number of a rule, a new number for a new id."""
    return NUMBERS.setdefault(name, 1 + max(NUMBERS.values(), default=0))


def add_rule(name: str, *, by_fields: bool) -> int:
    """Return the number of a rule that is being declared; `by_fields` if it has checks of single fields.

    Raises `ValueError` for a duplicate id.
    """
    if name in DESCRIBED:
        raise ValueError(f"two rules have the id {name}")
    DESCRIBED.add(name)
    if by_fields:
        CHECKED.add(name)
    return number_of(name)


def number_of_rule(name: str) -> int:
    """Return the number of a rule for the code that checks it; to be called at import time."""
    CHECKED.add(name)
    return number_of(name)


def require_checks(described: set[str], checked: set[str]) -> None:
    """Raise `ValueError` for a rule that no code checks, and for a check of a rule that does not exist."""
    if unchecked := described - checked:
        raise ValueError(f"no code checks the rules: {', '.join(sorted(unchecked))}")
    if unknown := checked - described:
        raise ValueError(f"code checks rules that do not exist: {', '.join(sorted(unknown))}")
