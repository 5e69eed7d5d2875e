"""A repr without field values, so that no message, name or key reaches a log or a traceback."""

from dataclasses import fields, is_dataclass
from enum import Enum
from typing import TypeVar

__all__ = ["redacted"]

Made = TypeVar("Made", bound=type)


def redacted(cls: Made) -> Made:
    """Replace the repr of a dataclass, struct or named tuple by one that shows sizes instead of content.

    >>> import msgspec
    >>> @redacted
    ... class Note(msgspec.Struct):
    ...     sent: int
    ...     text: str
    >>> Note(5, "hello")
    Note(sent=5, text=<5 characters>)
    """
    cls.__repr__ = describe  # type: ignore[method-assign,assignment]  # Made is bound to type, not to its instances
    return cls


def describe(self: object) -> str:
    """Return the names of the fields with redacted values."""
    inside = ", ".join(f"{name}={value_repr(getattr(self, name, None))}" for name in field_names(self))
    return f"{type(self).__name__}({inside})"


def field_names(made: object) -> tuple[str, ...]:
    """Return the fields that are part of the repr."""
    if is_dataclass(made):
        return tuple(one.name for one in fields(made) if one.repr)
    # Of a struct or a named tuple; read by name, so that msgspec is not imported here.
    found: tuple[str, ...] = getattr(made, "__struct_fields__", ()) or getattr(made, "_fields", ())
    return found


def value_repr(value: object) -> str:
    """Return numbers and enum members as they are, and only the size of other values."""
    if value is None or isinstance(value, int | float | Enum):
        return str(value)
    if isinstance(value, str):
        return f"<{len(value)} characters>"
    if isinstance(value, bytes | bytearray | memoryview):
        return f"<{len(value)} bytes>"
    if isinstance(value, tuple | list | set | frozenset | dict) and not hasattr(value, "_fields"):
        return f"<{len(value)} items>"
    return f"<{type(value).__name__}>"
