"""Commit statuses: the newest of each context counts; together they are the combined state of a commit."""

import time
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import Final

from sqlalchemy import Select, bindparam, func, insert, select

from holdfast.hosting.errors import PatternRefused
from holdfast.hosting.store.accounts import Account
from holdfast.hosting.store.database import Database
from holdfast.hosting.store.globs import compile_glob
from holdfast.hosting.store.prepared_statements import Link, Statement
from holdfast.hosting.store.repositories import Repository
from holdfast.hosting.store.tables import commit_statuses

__all__ = [
    "MOST_PER_COMMIT",
    "STATES",
    "CommitStatus",
    "ContextStates",
    "RequiredContexts",
    "add_status",
    "check_required_contexts",
    "combined_state",
    "context_states",
    "count_of_commit",
    "latest_statuses",
    "statuses_of",
]

STATES: Final = ("pending", "success", "error", "failure", "warning", "skipped")
FAILED: Final = frozenset({"error", "failure", "warning"})
PASSED: Final = frozenset({"success", "skipped"})
# A script that reports in a loop must not slow down every reader of the commit.
MOST_PER_COMMIT: Final = 10_000


@dataclass(frozen=True, slots=True)
class CommitStatus:
    """The status of a commit in a context; the fields are columns of the table, in this order."""

    id: int
    sha: str
    context: str
    state: str
    description: str
    target_url: str
    creator_id: int | None
    created_at: int


ContextStates = dict[str, str]
"""The newest state of each context of a commit."""

COLUMNS: Final = tuple(commit_statuses.c[name] for name in CommitStatus.__dataclass_fields__)
OF_COMMIT: Final = (
    commit_statuses.c.repository_id == bindparam("repository"),
    commit_statuses.c.sha == bindparam("sha"),
)
NEWEST: Final = select(func.max(commit_statuses.c.id)).where(*OF_COMMIT).group_by(commit_statuses.c.context)
ADDED: Final = ("sha", "context", "state", "description", "target_url", "creator_id", "created_at")
ADD = Statement(
    insert(commit_statuses)
    .values(repository_id=bindparam("repository"), **{name: bindparam(name) for name in ADDED})
    .returning(*COLUMNS)
)
COUNT = Statement(
    select(func.count()).select_from(
        select(commit_statuses.c.id).where(*OF_COMMIT).limit(bindparam("most")).subquery()
    )
)
LATEST = Statement(
    select(*COLUMNS)
    .where(commit_statuses.c.id.in_(NEWEST))
    .order_by(commit_statuses.c.id.desc())
    .offset(bindparam("skip"))
    .limit(bindparam("limit"))
)
CONTEXT_STATES = Statement(
    select(commit_statuses.c.context, commit_statuses.c.state)
    .where(commit_statuses.c.id.in_(NEWEST))
    .order_by(commit_statuses.c.context)
)


def add_status(
    link: Link,
    repository: Repository,
    creator: Account,
    sha: str,
    *,
    context: str,
    state: str,
    description: str = "",
    target_url: str = "",
    now: int | None = None,
) -> CommitStatus:
    """Add a status to a commit in a transaction."""
    (row,) = ADD.run(
        link,
        repository=repository.id,
        sha=sha,
        context=context,
        state=state,
        description=description,
        target_url=target_url,
        creator_id=creator.id,
        created_at=int(time.time()) if now is None else now,
    )
    return CommitStatus(*row)


def count_of_commit(link: Link, repository: Repository, sha: str) -> int:
    """Return how many statuses a commit has, counted up to `MOST_PER_COMMIT`."""
    ((counted,),) = COUNT.run(link, repository=repository.id, sha=sha, most=MOST_PER_COMMIT)
    return int(counted)


@lru_cache(maxsize=4)
def list_statements(*, by_state: bool, oldest_first: bool) -> tuple[Statement, Statement]:
    """Return the statements for a page of a commit's statuses and for their number."""
    conditions = (*OF_COMMIT, *((commit_statuses.c.state == bindparam("state"),) if by_state else ()))
    order = commit_statuses.c.id if oldest_first else commit_statuses.c.id.desc()
    page: Select[*tuple[object, ...]] = select(*COLUMNS).where(*conditions).order_by(order)
    counted = select(func.count()).select_from(commit_statuses).where(*conditions)
    return Statement(page.offset(bindparam("skip")).limit(bindparam("limit"))), Statement(counted)


def statuses_of(
    database: Database,
    repository: Repository,
    sha: str,
    *,
    state: str = "",
    oldest_first: bool = False,
    skip: int,
    limit: int,
) -> tuple[list[CommitStatus], int]:
    """Return one page of all statuses of a commit, newest first unless `oldest_first`, and the total."""
    page, counted = list_statements(by_state=bool(state), oldest_first=oldest_first)
    about: dict[str, str | int] = {"repository": repository.id, "sha": sha, **({"state": state} if state else {})}
    rows = database.rows(page, skip=skip, limit=limit, **about)
    ((total,),) = database.rows(counted, **about)
    return [CommitStatus(*row) for row in rows], total


def latest_statuses(
    database: Database, repository: Repository, sha: str, *, skip: int, limit: int
) -> list[CommitStatus]:
    """Return one page of the newest status of each context of a commit, newest first."""
    rows = database.rows(LATEST, repository=repository.id, sha=sha, skip=skip, limit=limit)
    return [CommitStatus(*row) for row in rows]


def context_states(database: Database, repository: Repository, sha: str) -> ContextStates:
    """Return the newest state of each context of a commit, in one query."""
    return dict(database.rows(CONTEXT_STATES, repository=repository.id, sha=sha))


def combined_state(states: Iterable[str]) -> str:
    """Return the combined state of the newest states of all contexts; empty if there are none."""
    distinct = set(states)
    if not distinct:
        return ""
    if distinct & FAILED:
        return "failure"
    return "success" if distinct <= PASSED else "pending"


@dataclass(frozen=True, slots=True)
class RequiredContexts:
    """The required contexts of a commit that block its merge."""

    missing: tuple[str, ...] = ()
    """Patterns that no context matches."""
    pending: tuple[str, ...] = ()
    """Contexts that have not finished."""
    failing: tuple[str, ...] = ()
    """Contexts that have failed."""

    @property
    def passed(self) -> bool:
        """Whether every required context exists and is successful or skipped."""
        return not (self.missing or self.pending or self.failing)


def check_required_contexts(states: ContextStates, patterns: Sequence[str]) -> RequiredContexts:
    """Return which required contexts (glob patterns) are missing, pending or failing.

    Every pattern must match a context, and every context it matches must have passed. Without patterns all
    contexts of the commit are required, and there may be none.
    """
    missing = [pattern for pattern in patterns if not any(matches(pattern, context) for context in states)]
    required = [
        context for context in states if not patterns or any(matches(pattern, context) for pattern in patterns)
    ]
    return RequiredContexts(
        tuple(missing),
        tuple(context for context in required if states[context] not in FAILED | PASSED),
        tuple(context for context in required if states[context] in FAILED),
    )


def matches(pattern: str, context: str) -> bool:
    """Return whether a pattern matches a context; a pattern that is not a glob matches itself."""
    if pattern == context:
        return True
    try:
        return compile_glob(pattern).matches(context)
    except PatternRefused:
        return False
