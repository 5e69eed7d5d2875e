"""A string wrapper that is masked in reprs and logs."""

from typing import Final, final

__all__ = ["MASK", "Secret"]

MASK: Final = "********"


@final
class Secret:
    """Holds a password, key or token so that logs, errors and reprs show only a mask.

    >>> Secret("hunter2")
    Secret('********')
    """

    __slots__ = ("_value",)

    def __init__(self, value: str) -> None:
        self._value = value

    def reveal(self) -> str:
        """Return the real value; call it only where the value is used."""
        return self._value

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Secret) and other._value == self._value

    def __hash__(self) -> int:
        return hash((Secret, self._value))

    def __repr__(self) -> str:
        return f"Secret({MASK!r})"

    def __str__(self) -> str:
        return MASK

    def __reduce__(self) -> str:
        raise TypeError("a Secret cannot be serialised")
