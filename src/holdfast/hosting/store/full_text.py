"""Full-text search of issues and comments: FTS5 on SQLite, a GIN index of text search vectors on PostgreSQL.

The databases update the index in the transaction that writes the row: SQLite by triggers, PostgreSQL like any
index. A row matches if it contains every word of the query, in any order; a word of the query also matches words
that begin with it (prefix search).
"""

import re
from typing import Any, Final

from sqlalchemy import ColumnElement, CompoundSelect, Select, column, func, literal_column, select, table, union
from sqlalchemy.dialects.postgresql import REGCONFIG

from holdfast.hosting.store.substring_search import SUBSTRING_TABLES
from holdfast.hosting.store.tables import comments, issues

__all__ = ["SEARCH_TABLES", "issues_matching", "words_of"]

# Scripts that separate words. A text in another script is searched for as a substring: neither database can split
# it into words.
ALPHABETS: Final = re.compile("[\x00-\u02ff\u0370-\u058f\u1e00-\u206f]*")
WORD: Final = re.compile(r"[^\W_]+")
MOST_WORDS: Final = 16
# Tables filled by triggers: on SQLite virtual tables, which have shadow tables.
SEARCH_TABLES: Final = ("issue_search", "comment_search", *SUBSTRING_TABLES)
# As in the definition of the indexes: PostgreSQL uses an expression index only for exactly this expression.
ISSUE_VECTOR: Final[ColumnElement[Any]] = literal_column(
    "to_tsvector('simple', 'repository' || issues.repository_id::text || ' ' || "
    "regexp_replace(left(issues.title || ' ' || issues.body, 100000), '[^[:alnum:]]+', ' ', 'g'))"
)
COMMENT_VECTOR: Final[ColumnElement[Any]] = literal_column(
    "to_tsvector('simple', regexp_replace(left(comments.body, 100000), '[^[:alnum:]]+', ' ', 'g'))"
)

OF_KIND: Final = comments.c.kind == "comment"


def words_of(text: str) -> list[str]:
    """Return the words of a query; none if it must be searched for as a substring."""
    if not ALPHABETS.fullmatch(text):
        return []
    return list(dict.fromkeys(WORD.findall(text)))[:MOST_WORDS]


def issues_matching(words: list[str], *, sqlite: bool, repository_id: int | None = None) -> CompoundSelect[Any]:
    """Return the query for the ids of issues that have all words in title and body, or all in one comment.

    With a repository, the index excludes other repositories' titles and bodies; comments must be filtered by the
    caller.
    """
    if sqlite:
        return sqlite_matching(words, repository_id)
    return postgres_matching(words, repository_id)


def sqlite_matching(words: list[str], repository_id: int | None) -> CompoundSelect[Any]:
    """Return the query with FTS5; words are alphanumeric, so none contains a quote."""
    wanted = " AND ".join(f'"{word}" *' if len(word) > 1 else f'"{word}"' for word in words)
    within = "" if repository_id is None else f' AND repository_id : "{repository_id}"'
    in_issues = rows_matching("issue_search", f"({{title body}} : ({wanted})){within}")
    in_comments = comments.c.id.in_(rows_matching("comment_search", wanted))
    return union(in_issues, select(comments.c.issue_id).where(in_comments, OF_KIND))


def rows_matching(name: str, query: str) -> Select[Any]:
    """Return the query for the matching rows of an FTS5 table."""
    return select(column("rowid")).select_from(table(name)).where(literal_column(name).op("MATCH")(query))


def postgres_matching(words: list[str], repository_id: int | None) -> CompoundSelect[Any]:
    """Return the query with text search vectors."""
    wanted = " & ".join(f"'{word}':*" if len(word) > 1 else f"'{word}'" for word in words)
    within = "" if repository_id is None else f" & 'repository{repository_id}'"
    simple = literal_column("'simple'", REGCONFIG)
    in_issues = ISSUE_VECTOR.op("@@")(func.to_tsquery(simple, wanted + within))
    in_comments = COMMENT_VECTOR.op("@@")(func.to_tsquery(simple, wanted))
    return union(select(issues.c.id).where(in_issues), select(comments.c.issue_id).where(in_comments, OF_KIND))
