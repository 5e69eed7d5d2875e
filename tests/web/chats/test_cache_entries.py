"""Entries of the conversation cache: their records and limits."""

from pathlib import Path

import msgspec

from holdfast.settings import Settings
from holdfast.web.chats.cache_entries import CacheEntry, CacheLimits, FileOrigin, UploadOrigin


def test_no_import_may_become_larger_than_its_owner_may_keep(tmp_path: Path) -> None:
    """The output limit of an import is at most the cache limit of its owner, as it would be evicted at once."""
    limits = CacheLimits.of(Settings(data=tmp_path, chat_cache_mb=30, chat_cache_owner_mb=20))
    assert (limits.total, limits.per_owner, limits.imports.output) == (30 << 20, 20 << 20, 20 << 20)
    assert CacheLimits.of(Settings(data=tmp_path, chat_import_output_mb=7)).imports.output == 7 << 20


def test_an_encrypted_backup_has_a_quarter_of_the_memory(tmp_path: Path) -> None:
    """The import of an encrypted backup holds it in memory several times."""
    limits = CacheLimits.of(Settings(data=tmp_path, chat_import_memory_mb=400))
    assert limits.imports.sealed == 100 << 20


def test_the_size_counts_against_the_owner_of_the_repository_or_upload() -> None:
    """An entry of the data folder, which has no origin, counts for owner 0."""
    assert CacheEntry("x", UploadOrigin(3, 9)).owner == 9
    assert CacheEntry("x", FileOrigin(3, 8, True, "branch", "main", b"a", "0")).owner == 8
    assert CacheEntry("x").owner == 0


def test_a_record_is_read_as_it_was_written() -> None:
    """A record of any origin round-trips; a file and an upload with the same id are different places."""
    file, upload = FileOrigin(3, 8, True, "branch", "main", b"a", "0"), UploadOrigin(3, 8)
    for origin in (file, upload, None):
        record = CacheEntry("x", origin)
        assert msgspec.json.decode(msgspec.json.encode(record), type=CacheEntry) == record
    assert file.place != upload.place
