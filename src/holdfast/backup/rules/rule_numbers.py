"""The numbers by which the compiled core knows rules; everywhere else they have names.

A rule gets its number when it is first named: by its description, or by the code that checks it. `require_checks`
compares the two once everything is imported. Number 0 is no rule.
"""

from typing import Final

__all__ = ["add_rule", "number_of_rule", "require_checks"]

NUMBERS: Final[dict[str, int]] = {}
DESCRIBED: Final[set[str]] = set()
CHECKED: Final[set[str]] = set()


def number(name: str) -> int:
    """Return the number of a rule, a new one for a new name."""
    return NUMBERS.setdefault(name, len(NUMBERS) + 1)


def add_rule(name: str, *, by_fields: bool) -> int:
    """Return the number of a rule that is being described; `by_fields` where checks of single fields apply it.

    Raises `ValueError` for an id that is taken.
    """
    if name in DESCRIBED:
        raise ValueError(f"two rules have the id {name}")
    DESCRIBED.add(name)
    if by_fields:
        CHECKED.add(name)
    return number(name)


def number_of_rule(name: str) -> int:
    """Return the number of a rule for the code that checks it, which must ask for it when it is imported."""
    CHECKED.add(name)
    return number(name)


def require_checks() -> None:
    """Raise `ImportError` for a rule that no code checks, and for a check of a rule that does not exist."""
    if unchecked := DESCRIBED - CHECKED:
        raise ImportError(f"no code checks the rules: {', '.join(sorted(unchecked))}")
    if unknown := CHECKED - DESCRIBED:
        raise ImportError(f"code checks rules that do not exist: {', '.join(sorted(unknown))}")
