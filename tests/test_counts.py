"""Counts with their nouns."""

from holdfast.counts import count_of


def test_a_count_agrees_with_its_noun() -> None:
    """Counts have the singular or plural of the noun, also an irregular plural."""
    assert [count_of(number, "file") for number in (0, 1, 2000)] == ["0 files", "1 file", "2,000 files"]
    assert count_of(1, "repository", "repositories") == "1 repository"
    assert count_of(2, "repository", "repositories") == "2 repositories"
