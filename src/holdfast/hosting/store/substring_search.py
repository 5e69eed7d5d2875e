"""Substring search of names, descriptions and topics by a trigram index.

SQLite has a contentless FTS5 table with the trigram tokenizer, PostgreSQL a table of text search vectors whose
words are trigrams, with a GIN index; triggers write them in the transaction that writes the row. The index returns
candidates: the rows that have all trigrams of a text, or one that begins with a shorter text. A `LIKE`, the same
as without an index, selects those of them that contain the text.

For a text with more than `MOST_CANDIDATES` the index is not used: reading the list in its order soon fills a page,
and each row has to be counted anyway.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from string import ascii_lowercase, ascii_uppercase
from typing import Any, Final, Literal

from sqlalchemy import (
    Column,
    ColumnElement,
    Connection,
    FromClause,
    Select,
    TableClause,
    column,
    func,
    literal_column,
    select,
    table,
)

from holdfast.hosting.store.list_pages import page_ids

__all__ = ["SUBSTRING_TABLES", "SubstringMatch", "page_matching", "rows_containing"]

SearchTable = Literal["repository_name_search", "repository_text_search", "account_search"]
NAMES: Final[tuple[SearchTable, ...]] = ("repository_name_search", "repository_text_search", "account_search")
# Tables filled by triggers, and the virtual tables of SQLite with the terms of the index.
SUBSTRING_TABLES: Final = (*(f"{name}_terms" for name in NAMES), *NAMES)
MOST_CANDIDATES: Final = 1000
TRIGRAM: Final = 3
# Only this many characters of a text are looked up in the index; `LIKE` compares the rest.
MOST_CHARACTERS: Final = 32
# Like SQLite's lower().
ASCII_LOWER: Final = str.maketrans(ascii_uppercase, ascii_lowercase)
LAST_CHARACTER: Final = "\U0010ffff"


@dataclass(frozen=True, slots=True)
class SubstringMatch:
    """A condition that columns of a row contain a text, and queries for the ids of candidate rows."""

    condition: ColumnElement[bool]
    candidates: tuple[Select[Any], ...]


def rows_containing(name: SearchTable, text: str, *, sqlite: bool) -> Select[Any]:
    """Return the query for the ids of rows that may contain a non-empty text, case-insensitively."""
    if not sqlite:
        vectors = table(name, column("id"), column("trigrams"))
        wanted = func.trigram_query(func.left(func.lower(text), MOST_CHARACTERS))
        return select(vectors.c.id).where(vectors.c.trigrams.op("@@")(wanted))
    lowered = text.translate(ASCII_LOWER)[:MOST_CHARACTERS]
    if len(lowered) < TRIGRAM:
        terms = table(f"{name}_terms", column("doc"), column("term"))
        last = lowered + LAST_CHARACTER * TRIGRAM
        return select(terms.c.doc.label("id")).where(terms.c.term >= lowered, terms.c.term <= last)
    trigrams = dict.fromkeys(lowered[at : at + TRIGRAM] for at in range(len(lowered) - TRIGRAM + 1))
    query = " AND ".join('"' + trigram.replace('"', '""') + '"' for trigram in trigrams)
    index: TableClause = table(name, column("rowid"))
    return select(index.c.rowid.label("id")).where(literal_column(name).op("MATCH")(query))


def find_candidates(connection: Connection, matches: Sequence[SubstringMatch]) -> set[int] | None:
    """Return the ids of rows for which all matches may hold; None if each of them has too many candidates."""
    candidate_ids: set[int] | None = None
    for match in matches:
        ids = candidates_of(connection, match)
        if ids is not None:
            candidate_ids = ids if candidate_ids is None else candidate_ids & ids
    return candidate_ids


def candidates_of(connection: Connection, match: SubstringMatch) -> set[int] | None:
    """Return the ids of rows for which a match may hold; None if there are too many."""
    candidate_ids: set[int] = set()
    for query in match.candidates:
        ids = connection.execute(query.limit(MOST_CANDIDATES + 1)).scalars().all()
        candidate_ids.update(ids)
        if len(ids) > MOST_CANDIDATES or len(candidate_ids) > MOST_CANDIDATES:
            return None
    return candidate_ids


def page_matching(
    connection: Connection,
    source: FromClause,
    row_id: Column[Any],
    *,
    conditions: Sequence[ColumnElement[bool]],
    matches: Sequence[SubstringMatch],
    key: ColumnElement[Any],
    descending: bool = False,
    skip: int,
    limit: int,
) -> tuple[list[int], int]:
    """Return the ids of one page of the rows for which all matches and conditions hold, and the total.

    The list is sorted by the key, and by the id in the same direction.
    """
    holds = [*(match.condition for match in matches), *conditions]
    candidates = find_candidates(connection, matches)
    if candidates is None:
        ids = select(row_id).select_from(source).where(*holds)
        counted = select(func.count()).select_from(source).where(*holds)
        total: int = connection.execute(counted).scalar_one()
        page = page_ids(connection, ids, key, row_id, descending=descending, skip=skip, limit=limit, total=total)
        return page, total
    if not candidates:
        return [], 0
    # Without a limit, with which the planner might read the list in its order. `likely()` tells SQLite's planner,
    # which expects few rows of a kind of account or of an owner, that the other conditions exclude few rows.
    if connection.dialect.name == "sqlite":
        holds = [func.likely(condition) for condition in holds]
    ids = select(row_id).select_from(source).where(row_id.in_(candidates), *holds)
    order = (key.desc(), row_id.desc()) if descending else (key, row_id)
    matching_ids = list(connection.execute(ids.order_by(*order)).scalars())
    return matching_ids[skip : skip + limit], len(matching_ids)
