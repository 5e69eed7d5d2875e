"""Marks the public API, which is imported from `holdfast.backup`."""

from typing import TypeVar

__all__ = ["public"]

Definition = TypeVar("Definition")


def public(definition: Definition) -> Definition:
    """Show a class or function under `holdfast.backup` in tracebacks, reprs, pickles and documentation.

    The module that defines it is not part of the public API, and may be renamed.
    """
    definition.__module__ = "holdfast.backup"
    return definition
