"""Counts with their nouns."""

__all__ = ["count_of"]


def count_of(number: int, noun: str, plural: str | None = None) -> str:
    """Format a count with its noun: `1 file`, `2,000 files`, `2 repositories`."""
    return f"{number:,} {noun if number == 1 else plural or noun + 's'}"
