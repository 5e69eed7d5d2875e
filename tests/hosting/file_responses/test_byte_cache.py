"""Answers that are kept."""

from holdfast.hosting.file_responses.byte_cache import LARGEST, KeptBytes


def test_what_was_asked_for_last_is_kept() -> None:
    """Within its bytes, whatever comes twice."""
    kept = KeptBytes(10)
    for key in "abc":
        kept.put(key, b"xxxx")
        kept.get("a")
    assert [kept.get(key) for key in "abc"] == [b"xxxx", None, b"xxxx"]
    for _ in range(5):
        kept.put("c", b"yyyyy")
    assert [kept.get(key) for key in "abc"] == [b"xxxx", None, b"yyyyy"]


def test_what_is_too_large_is_not_kept() -> None:
    """It would drive out everything else."""
    kept = KeptBytes(10 * LARGEST)
    kept.put("a", b"x" * (LARGEST + 1))
    assert kept.get("a") is None
