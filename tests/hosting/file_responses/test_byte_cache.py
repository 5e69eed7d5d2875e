"""Answers that are kept."""

from holdfast.hosting.file_responses.byte_cache import LARGEST, KeptBytes


def test_recently_used_entries_are_kept() -> None:
    """Within its bytes, whatever comes twice."""
    content = KeptBytes(10)
    for key in "abc":
        content.put(key, b"xxxx")
        content.get("a")
    assert [content.get(key) for key in "abc"] == [b"xxxx", None, b"xxxx"]
    for _ in range(5):
        content.put("c", b"yyyyy")
    assert [content.get(key) for key in "abc"] == [b"xxxx", None, b"yyyyy"]


def test_large_entries_are_not_cached() -> None:
    """It would drive out everything else."""
    content = KeptBytes(10 * LARGEST)
    content.put("a", b"x" * (LARGEST + 1))
    assert content.get("a") is None
