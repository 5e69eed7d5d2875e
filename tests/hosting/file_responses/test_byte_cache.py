"""The LRU cache of bytes."""

from holdfast.hosting.file_responses.byte_cache import LARGEST, KeptBytes


def test_recently_used_entries_are_kept() -> None:
    """The least recently used entry is evicted when the cache is full, and an entry can be replaced."""
    content = KeptBytes(10)
    for key in "abc":
        content.put(key, b"xxxx")
        content.get("a")
    assert [content.get(key) for key in "abc"] == [b"xxxx", None, b"xxxx"]
    for _ in range(5):
        content.put("c", b"yyyyy")
    assert [content.get(key) for key in "abc"] == [b"xxxx", None, b"yyyyy"]


def test_large_entries_are_not_cached() -> None:
    """An entry above the size limit is not stored, since it would evict all others."""
    content = KeptBytes(10 * LARGEST)
    content.put("a", b"x" * (LARGEST + 1))
    assert content.get("a") is None
