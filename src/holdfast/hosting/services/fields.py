"""Validation of field values, shared by the services; each function raises `InvalidField`."""

from collections.abc import Sized
from datetime import datetime
from typing import Final

from holdfast.hosting.errors import InvalidField, Violation
from holdfast.hosting.git.refs import is_ref_name
from holdfast.hosting.schemas.times import seconds

__all__ = ["check_body", "check_length", "check_ref_field", "check_required", "due", "required_text"]

# The end of the year 9999, as a Unix timestamp.
LAST_SECOND: Final = 253_402_300_800


def required_text(text: str, field: str, limit: int | None = None) -> str:
    """Return a text without surrounding white space; it must not be empty, nor longer than `limit`."""
    if limit is not None:
        check_length(text, field, limit)
    if not text.strip():
        raise InvalidField(field, Violation.REQUIRED)
    return text.strip()


def check_required(text: str, field: str) -> None:
    """Raise `InvalidField` for an empty text."""
    if not text:
        raise InvalidField(field, Violation.REQUIRED)


def check_length(value: Sized, field: str, limit: int) -> None:
    """Raise `InvalidField` for a text with more than `limit` characters, or a list with more entries."""
    if len(value) > limit:
        raise InvalidField(field, Violation.TOO_LONG, limit)


def check_body(body: str, limit: int, current: str = "", *, field: str = "Body") -> None:
    """Raise `InvalidField` for a body with more than `limit` characters.

    Imports have no limit: `current`, the stored body, may stay as it is, also with the line breaks of a form.
    """
    if len(body) > limit and body.replace("\r\n", "\n") != current.replace("\r\n", "\n"):
        raise InvalidField(field, Violation.TOO_LONG, limit)


def due(due_date: datetime | None, field: str) -> int | None:
    """Return a due date as a Unix timestamp; 0 for the year 1, which clients send to remove it."""
    when = seconds(due_date)
    if due_date is None or when is None:
        return None
    if due_date.year == 1:
        return 0
    if not 0 < when < LAST_SECOND:
        raise InvalidField(field, Violation.DATE_OUT_OF_RANGE)
    return when


def check_ref_field(name: str, field: str, limit: int = 100) -> None:
    """Raise `InvalidField` unless git accepts a name for a branch or tag; an empty name means none was given."""
    check_length(name, field, limit)
    if name and not is_ref_name(name):
        raise InvalidField(field, Violation.REF_NAME)
