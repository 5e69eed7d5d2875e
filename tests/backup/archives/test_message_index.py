"""The full-text index: adding, removing and rebuilding, with tokens for emoji, and the facets."""

import sqlite3
from collections.abc import Iterator
from pathlib import Path

import pytest

from holdfast.backup.archives.item_rows import HAS_LINK as LINK
from holdfast.backup.archives.item_rows import HAS_MEDIA as MEDIA
from holdfast.backup.archives.message_index import (
    HASH_SIZE,
    QUICK_FACETS,
    index_all,
    index_messages,
    unindex_messages,
)

THUMB = "signs : x1f44dy *"


@pytest.fixture
def plain(filled: Path) -> Iterator[sqlite3.Connection]:
    """Open an archive with a message that has an emoji in its text, and one that has it in a file name."""
    connection = sqlite3.connect(filled, isolation_level=None)
    ids = connection.execute("SELECT id FROM stored_message ORDER BY id LIMIT 3").fetchall()
    for (number,), text, extra in zip(ids, ("ok 👍", None, "ok"), (None, "👍.jpg", None), strict=True):
        connection.execute("UPDATE stored_message SET text = ?, extra = ? WHERE id = ?", (text, extra, number))
    index_all(connection)
    yield connection
    connection.close()


def hits(connection: sqlite3.Connection, query: str) -> list[int]:
    """Find messages, the oldest first."""
    rows = connection.execute("SELECT rowid FROM message_index WHERE message_index MATCH ? ORDER BY 1", (query,))
    return [number for (number,) in rows]


def test_signs_are_found_wherever_they_stand(plain: sqlite3.Connection) -> None:
    """An emoji is found in the text of a message and in its file names."""
    first, second, third = hits(plain, "facets : c *")[:3]
    assert {first, second} <= set(hits(plain, THUMB))
    assert third not in hits(plain, THUMB)


def test_what_is_taken_out_leaves_nothing(plain: sqlite3.Connection) -> None:
    """A message that is taken out of the index leaves no words, signs or facets, and can be indexed again."""
    before = plain.execute("SELECT term, col, doc, cnt FROM message_term").fetchall()
    first, *_rest = hits(plain, THUMB)
    unindex_messages(plain, "?", (first,))
    assert first not in hits(plain, THUMB) + hits(plain, "facets : c *") + hits(plain, "ok")
    plain.execute("INSERT INTO message_index (message_index) VALUES ('integrity-check')")
    plain.execute("CREATE TEMP TABLE again AS SELECT ? AS id", (first,))
    index_messages(plain, "SELECT id FROM temp.again")
    assert first in hits(plain, THUMB)
    assert plain.execute("SELECT term, col, doc, cnt FROM message_term").fetchall() == before


def test_facets_are_those_of_the_view(plain: sqlite3.Connection) -> None:
    """Messages of each direction and kind, with and without media, are indexed with the facets of `searchable`."""
    (number,) = plain.execute("SELECT min(id) FROM stored_message").fetchone()
    looks = {look & ~(MEDIA | LINK) for (look,) in plain.execute("SELECT DISTINCT look FROM stored_message")}
    for look in {look | more for look in looks for more in (0, MEDIA, LINK, MEDIA | LINK)}:
        plain.execute("UPDATE stored_message SET look = ? WHERE id = ?", (look, number))
        (expected,) = plain.execute("SELECT facets FROM searchable WHERE id = ?", (number,)).fetchone()
        assert plain.execute(f"SELECT {QUICK_FACETS} FROM stored_message WHERE id = ?", (number,)).fetchone() == (
            expected,
        )


def test_indexing_again_changes_nothing(plain: sqlite3.Connection) -> None:
    """Rebuilding the index gives the same terms and counts, and leaves nothing of a deleted message."""
    before = plain.execute("SELECT term, col, doc, cnt FROM message_term").fetchall()
    index_all(plain)
    assert plain.execute("SELECT term, col, doc, cnt FROM message_term").fetchall() == before
    first, *_rest = hits(plain, THUMB)
    plain.execute("DELETE FROM stored_message WHERE id = ?", (first,))
    index_all(plain)
    assert first not in hits(plain, THUMB) + hits(plain, "facets : c *")


def test_everybody_is_counted(plain: sqlite3.Connection) -> None:
    """The facets of the index count as many messages of each author as the table of messages has."""
    rows = plain.execute("SELECT 'p' || author_id, count(*) FROM message GROUP BY 1").fetchall()
    terms = plain.execute(
        "SELECT term, doc FROM message_term WHERE col = 'facets' AND term GLOB 'p[0-9]*'"
    ).fetchall()
    assert sorted(terms) == sorted(rows)


def test_the_index_collects_no_more_in_memory_afterwards(plain: sqlite3.Connection) -> None:
    """The hash size of the index is smaller after an import than during it."""
    (size,) = plain.execute("SELECT v FROM message_index_config WHERE k = 'hashsize'").fetchone()
    assert 0 < size < HASH_SIZE
