"""A repr without field values, so that no message, name or key reaches a log or a traceback."""

from dataclasses import fields, is_dataclass
from enum import Enum
from typing import TypeVar

__all__ = ["redacted"]

Made = TypeVar("Made", bound=type)


def redacted(cls: Made) -> Made:
    """Give a dataclass, struct or named tuple a repr that tells sizes instead of content.

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
    """Write the names of the fields, and of each what it is."""
    inside = ", ".join(f"{name}={value_repr(getattr(self, name, None))}" for name in field_names(self))
    return f"{type(self).__name__}({inside})"


def field_names(made: object) -> tuple[str, ...]:
    """List the fields that may be told of."""
    if is_dataclass(made):
        return tuple(one.name for one in fields(made) if one.repr)
    # Of a struct and of a named tuple; asked for by name, so that msgspec is loaded where structs are made.
    found: tuple[str, ...] = getattr(made, "__struct_fields__", ()) or getattr(made, "_fields", ())
    return found


def value_repr(value: object) -> str:
    """Write numbers and choices as they are, and of everything else how much there is."""
    if value is None or isinstance(value, int | float | Enum):
        return str(value)
    if isinstance(value, str):
        return f"<{len(value)} characters>"
    if isinstance(value, bytes | bytearray | memoryview):
        return f"<{len(value)} bytes>"
    if isinstance(value, tuple | list | set | frozenset | dict) and not hasattr(value, "_fields"):
        return f"<{len(value)} items>"
    return f"<{type(value).__name__}>"
