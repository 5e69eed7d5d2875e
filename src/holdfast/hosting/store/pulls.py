"""Pull requests: the stored comparison of their branches, how they were merged, and scheduled merges."""

import time
from collections.abc import Collection, Sequence
from dataclasses import dataclass, field
from typing import Any, Final

import msgspec
from sqlalchemy import (
    Connection,
    Select,
    and_,
    bindparam,
    delete,
    insert,
    literal,
    or_,
    select,
    text,
    update,
)

from holdfast.hosting.errors import NoSuchIssue
from holdfast.hosting.store.accounts import Account, account_by_id, accounts_by_id
from holdfast.hosting.store.database import Database, TransactionDatabase, upsert
from holdfast.hosting.store.issue_transactions import ISSUE, Issue
from holdfast.hosting.store.prepared_statements import Link, Statement
from holdfast.hosting.store.repositories import Repository, find_by_id, repositories_by_id
from holdfast.hosting.store.tables import issues, pull_requests, refs, repositories, scheduled_merges, users

__all__ = [
    "CLEAN",
    "CONFLICT",
    "FAILED",
    "EditableHead",
    "NewPull",
    "Pull",
    "PullComparison",
    "PullParts",
    "ScheduledMerge",
    "add_pull",
    "behind_their_branch",
    "cancel_scheduled_merge",
    "editable_heads",
    "find_head_repository",
    "find_pull",
    "find_scheduled_merge",
    "is_open_head",
    "merged_with",
    "open_with_head",
    "open_without_branch",
    "outdated_pulls",
    "pull_between",
    "pull_parts",
    "repositories_with_outdated_pulls",
    "retarget",
    "save_comparison",
    "schedule_merge",
    "scheduled_merges_of",
    "set_head",
    "set_maintainer_edit",
    "set_merged",
]

CLEAN: Final = "clean"
CONFLICT: Final = "conflict"
FAILED: Final = "failed"
"""The comparison failed or exceeded its limits."""

# The maximum number of ids in one statement.
IDS_AT_ONCE: Final = 500
# Written as in the partial indexes; otherwise SQLite does not use them.
IS_OPEN: Final = text("issues.is_pull AND NOT issues.is_closed")


@dataclass(frozen=True, slots=True)
class Pull:
    """The row of a pull request in addition to its issue, and the current tips of its branches."""

    issue_id: int
    merge_base: str
    checked_head: str
    checked_base: str
    mergeability: str
    """`CLEAN`, `CONFLICT`, `FAILED`, or empty before the first comparison."""
    conflicting_files: str
    """The conflicting paths, as JSON."""
    additions: int
    deletions: int
    changed_files: int
    merged_by_id: int | None
    merge_commit_sha: str
    merge_style: str
    allow_maintainer_edit: bool
    head_label: str
    base_tip: str | None = None
    """The commit of the base branch; None if it was deleted."""
    head_tip: str | None = None
    """The commit of the head branch; None if it or its repository was deleted."""

    @property
    def conflicts(self) -> list[str]:
        """The conflicting paths."""
        return msgspec.json.decode(self.conflicting_files, type=list[str])


@dataclass(frozen=True, slots=True)
class EditableHead:
    """The head branch, in a fork, of a pull request that allows edits by maintainers."""

    repository_id: int
    """The repository of the base."""
    branch: str
    author_id: int | None


@dataclass(frozen=True, slots=True, kw_only=True)
class NewPull:
    """The columns of a new pull request besides its branches."""

    merge_base: str = ""
    allow_maintainer_edit: bool = False
    head_label: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class PullComparison:
    """The result of comparing a head with a base."""

    head: str
    base: str
    merge_base: str
    mergeability: str
    conflicts: Sequence[str] = ()
    additions: int = 0
    deletions: int = 0
    changed_files: int = 0


@dataclass(frozen=True, slots=True)
class ScheduledMerge:
    """A merge to be done as soon as the required statuses succeed; the fields are the table's columns."""

    issue_id: int
    user_id: int
    style: str
    title: str
    message: str
    delete_branch: bool
    head_sha: str
    created_at: int


@dataclass(frozen=True, slots=True)
class PullParts:
    """The related rows of a page of pull requests."""

    pulls: dict[int, Pull] = field(default_factory=dict)
    """By issue id."""
    mergers: dict[int, Account] = field(default_factory=dict)
    """The users who merged them, by id."""
    heads: dict[int, Repository] = field(default_factory=dict)
    """The repositories of their heads, by id."""


STORED: Final = tuple(pull_requests.c[name] for name in Pull.__dataclass_fields__ if not name.endswith("_tip"))
bases, heads = refs.alias("bases"), refs.alias("heads")
JOINED: Final = (
    pull_requests.join(issues, issues.c.id == pull_requests.c.issue_id)
    .outerjoin(
        bases,
        and_(
            bases.c.repository_id == issues.c.repository_id,
            bases.c.name == literal("refs/heads/") + issues.c.base_branch,
        ),
    )
    .outerjoin(
        heads,
        and_(
            heads.c.repository_id == issues.c.head_repository_id,
            heads.c.name == literal("refs/heads/") + issues.c.head_branch,
        ),
    )
)
PULL: Final[Select[*tuple[Any, ...]]] = select(*STORED, bases.c.target, heads.c.target).select_from(JOINED)
BY_ID = Statement(PULL.where(pull_requests.c.issue_id == bindparam("id")))
NEW_COLUMNS: Final = ("issue_id", "merge_base", "allow_maintainer_edit", "head_label")
ADD = Statement(insert(pull_requests).values({name: bindparam(name) for name in NEW_COLUMNS}))
OPEN_WITH_HEAD = Statement(
    select(*ISSUE)
    .where(
        IS_OPEN,
        issues.c.head_repository_id == bindparam("repository_id"),
        issues.c.head_branch == bindparam("branch"),
    )
    .order_by(issues.c.id)
)
OPEN_IN_HEAD = Statement(
    select(*ISSUE).where(IS_OPEN, issues.c.head_repository_id == bindparam("repository_id")).order_by(issues.c.id)
)
SET_HEAD = Statement(
    update(issues)
    .where(issues.c.id == bindparam("issue_id"))
    .values(head_sha=bindparam("sha"), updated_at=bindparam("now"))
)
RETARGET_BASE = Statement(
    update(issues)
    .where(IS_OPEN, issues.c.repository_id == bindparam("number"), issues.c.base_branch == bindparam("old"))
    .values(base_branch=bindparam("new"))
)
RETARGET_HEAD = Statement(
    update(issues)
    .where(IS_OPEN, issues.c.head_repository_id == bindparam("number"), issues.c.head_branch == bindparam("old"))
    .values(head_branch=bindparam("new"))
)
COMPARED: Final = (
    *("merge_base", "checked_head", "checked_base", "mergeability", "conflicting_files"),
    *("additions", "deletions", "changed_files"),
)
SAVE = Statement(
    update(pull_requests)
    .where(pull_requests.c.issue_id == bindparam("number"))
    .values({name: bindparam(f"new_{name}") for name in COMPARED})
)
SAVE_BASE = Statement(
    update(issues)
    .where(issues.c.id == bindparam("number"), ~issues.c.is_closed)
    .values(base_sha=bindparam("base"))
)
SET_MERGED_AT = Statement(
    update(issues).where(issues.c.id == bindparam("number")).values(merged_at=bindparam("now"))
)
SET_MERGE = Statement(
    update(pull_requests)
    .where(pull_requests.c.issue_id == bindparam("number"))
    .values(merged_by_id=bindparam("merger"), merge_commit_sha=bindparam("sha"), merge_style=bindparam("style"))
)
CANCEL_SCHEDULED = Statement(
    delete(scheduled_merges)
    .where(scheduled_merges.c.issue_id == bindparam("number"))
    .returning(scheduled_merges.c.issue_id)
)


def find_pull(database: Database, issue: Issue) -> Pull:
    """Return the row of a pull request; raise `NoSuchIssue` if it was deleted."""
    row = database.row(BY_ID, id=issue.id)
    if row is None:
        raise NoSuchIssue(f"pull request does not exist [index: {issue.number}]")
    return Pull(*row)


def pull_parts(database: Database, page: Sequence[Issue], *loaded_repositories: Repository) -> PullParts:
    """Load the related rows of pull requests in a constant number of queries.

    A single one, and those inside a transaction, are loaded by prepared statements. Repositories in
    `loaded_repositories` are not loaded again.
    """
    parts = PullParts(heads={repository.id: repository for repository in loaded_repositories})
    others = {
        issue.head_repository_id for issue in page if issue.head_repository_id is not None
    } - parts.heads.keys()
    if isinstance(database, TransactionDatabase) or len(page) == 1:
        for issue in page:
            parts.pulls.update((row[0], Pull(*row)) for row in database.rows(BY_ID, id=issue.id))
        for number in {pull.merged_by_id for pull in parts.pulls.values()} - {None}:
            merger = account_by_id(database, number or 0)
            parts.mergers.update({} if merger is None else {merger.id: merger})
        for number in others:
            head = find_by_id(database, number)
            parts.heads.update({} if head is None else {head.id: head})
        return parts
    ids = [issue.id for issue in page]
    with database.read() as connection:
        for start in range(0, len(ids), IDS_AT_ONCE):
            some = PULL.where(pull_requests.c.issue_id.in_(ids[start : start + IDS_AT_ONCE]))
            parts.pulls.update((row[0], Pull(*row)) for row in map(tuple, connection.execute(some)))
        mergers = {pull.merged_by_id for pull in parts.pulls.values() if pull.merged_by_id is not None}
        parts.mergers.update(accounts_by_id(connection, mergers))
        parts.heads.update(repositories_by_id(connection, others))
    return parts


def add_pull(link: Link, issue: Issue, new: NewPull) -> None:
    """Insert the row of a new pull request."""
    ADD.run(
        link,
        issue_id=issue.id,
        merge_base=new.merge_base,
        allow_maintainer_edit=new.allow_maintainer_edit,
        head_label=new.head_label,
    )


def open_with_head(link: Link, repository_id: int, branch: str | None = None) -> list[Issue]:
    """Return the open pull requests, in any repository, whose head is a given or any branch of a repository."""
    if branch is None:
        return [Issue(*row) for row in OPEN_IN_HEAD.run(link, repository_id=repository_id)]
    return [Issue(*row) for row in OPEN_WITH_HEAD.run(link, repository_id=repository_id, branch=branch)]


def is_open_head(database: Database, repository_id: int, branch: str) -> bool:
    """Return whether a branch is the head of an open pull request."""
    return bool(database.rows(OPEN_WITH_HEAD, repository_id=repository_id, branch=branch))


def editable_heads(connection: Connection, head_repository_id: int, limit: int) -> list[EditableHead]:
    """Return the head branches in a fork of open pull requests that maintainers may edit, newest first."""
    statement = (
        select(issues.c.repository_id, issues.c.head_branch, issues.c.author_id)
        .join(pull_requests, pull_requests.c.issue_id == issues.c.id)
        .where(
            IS_OPEN,
            issues.c.head_repository_id == head_repository_id,
            issues.c.repository_id != head_repository_id,
            pull_requests.c.allow_maintainer_edit,
        )
        .order_by(issues.c.id.desc())
        .limit(limit)
    )
    return [EditableHead(*row) for row in connection.execute(statement)]


def behind_their_branch(database: Database, head_repository_id: int, limit: int = 1000) -> list[Issue]:
    """Return the open pull requests from a repository whose stored head differs from the tip of its branch.

    One in the same repository is behind if the branch was pushed to while it was closed.
    """
    statement = (
        select(*ISSUE)
        .select_from(JOINED)
        .where(
            IS_OPEN,
            issues.c.head_repository_id == head_repository_id,
            heads.c.target != issues.c.head_sha,
        )
        .order_by(issues.c.id)
    )
    with database.read() as connection:
        return [Issue(*row) for row in connection.execute(statement.limit(limit))]


def open_without_branch(connection: Connection, repository_id: int, branches: Sequence[str]) -> list[Issue]:
    """Return the open pull requests from or into these branches of a repository that were deleted."""
    from_them = and_(
        issues.c.head_repository_id == repository_id,
        issues.c.head_branch.in_(branches),
        heads.c.target.is_(None),
    )
    into_them = and_(
        issues.c.repository_id == repository_id, issues.c.base_branch.in_(branches), bases.c.target.is_(None)
    )
    issues_by_id: dict[int, Issue] = {}
    # Two statements, so that each uses its index.
    for condition in (from_them, into_them):
        statement = select(*ISSUE).select_from(JOINED).where(IS_OPEN, condition).order_by(issues.c.id)
        issues_by_id.update((row[0], Issue(*row)) for row in map(tuple, connection.execute(statement)))
    return list(issues_by_id.values())


def find_head_repository(database: Database, base: Repository, owner: str, name: str = "") -> Repository | None:
    """Return an owner's repository that is a fork, the parent or a sibling fork of another; by name if given."""
    related = [repositories.c.fork_of == base.id]
    if base.fork_of is not None:
        related += [repositories.c.id == base.fork_of, repositories.c.fork_of == base.fork_of]
    statement = (
        select(repositories.c.id)
        .join(users, users.c.id == repositories.c.owner_id)
        .where(users.c.folded_name == owner.casefold(), or_(*related), repositories.c.id != base.id)
        .order_by(repositories.c.id)
    )
    if name:
        statement = statement.where(repositories.c.folded_name == name.casefold())
    with database.read() as connection:
        number = connection.execute(statement.limit(1)).scalar()
    return None if number is None else find_by_id(database, number)


def set_head(link: Link, issue: Issue, sha: str, now: int) -> None:
    """Record that the head of a pull request moved."""
    SET_HEAD.run(link, issue_id=issue.id, sha=sha, now=now)


def save_comparison(link: Link, issue_id: int, pull_comparison: PullComparison) -> None:
    """Store the result of a comparison, including the commits that were compared."""
    SAVE.run(
        link,
        number=issue_id,
        new_merge_base=pull_comparison.merge_base,
        new_checked_head=pull_comparison.head,
        new_checked_base=pull_comparison.base,
        new_mergeability=pull_comparison.mergeability,
        new_conflicting_files=msgspec.json.encode(list(pull_comparison.conflicts)).decode(),
        new_additions=pull_comparison.additions,
        new_deletions=pull_comparison.deletions,
        new_changed_files=pull_comparison.changed_files,
    )
    SAVE_BASE.run(link, number=issue_id, base=pull_comparison.base)


def outdated_pulls(database: Database, repository_id: int, limit: int) -> list[tuple[Issue, Pull]]:
    """Return open pull requests of a repository whose branches moved since they were compared, newest first."""
    statement = (
        select(*ISSUE, *PULL.selected_columns)
        .select_from(JOINED)
        .where(
            IS_OPEN,
            issues.c.repository_id == repository_id,
            or_(
                pull_requests.c.checked_head != issues.c.head_sha,
                pull_requests.c.checked_base != bases.c.target,
            ),
            bases.c.target.is_not(None),
        )
        .order_by(issues.c.updated_at.desc(), issues.c.id.desc())
        .limit(limit)
    )
    width = len(ISSUE)
    with database.read() as connection:
        rows = [tuple(row) for row in connection.execute(statement)]
    return [(Issue(*row[:width]), Pull(*row[width:])) for row in rows]


def repositories_with_outdated_pulls(database: Database, limit: int) -> tuple[list[int], list[int]]:
    """Return repositories with open pull requests to compare, and those whose branches (heads) moved."""
    outdated = or_(
        pull_requests.c.checked_head != issues.c.head_sha, pull_requests.c.checked_base != bases.c.target
    )
    compared = (
        select(issues.c.repository_id).select_from(JOINED).where(IS_OPEN, outdated, bases.c.target.is_not(None))
    )
    moved = (
        select(issues.c.head_repository_id).select_from(JOINED).where(IS_OPEN, heads.c.target != issues.c.head_sha)
    )
    with database.read() as connection:
        return (
            list(connection.execute(compared.distinct().limit(limit)).scalars()),
            list(connection.execute(moved.distinct().limit(limit)).scalars()),
        )


def merged_with(database: Database, repository: Repository, sha: str) -> Issue | None:
    """Return the pull request of a repository whose merge created a commit."""
    statement = (
        select(*ISSUE)
        .join_from(issues, pull_requests, pull_requests.c.issue_id == issues.c.id)
        .where(
            issues.c.repository_id == repository.id,
            # The condition of the partial index.
            text("pull_requests.merge_commit_sha <> ''"),
            pull_requests.c.merge_commit_sha == sha,
        )
        .order_by(issues.c.id.desc())
        .limit(1)
    )
    with database.read() as connection:
        row = connection.execute(statement).first()
    return None if row is None else Issue(*row)


def pull_between(
    database: Database, repository: Repository, base: str, head: str, owner: str = ""
) -> Issue | None:
    """Return the newest pull request between two branches, open ones first, optionally of one head owner."""
    from_own = issues.c.head_repository_id == repository.id
    if owner and owner.casefold() != repository.owner.name.casefold():
        owned = select(repositories.c.id).join(users, users.c.id == repositories.c.owner_id)
        from_own = issues.c.head_repository_id.in_(owned.where(users.c.folded_name == owner.casefold()))
    statement = (
        select(*ISSUE)
        .where(
            issues.c.repository_id == repository.id,
            issues.c.is_pull,
            issues.c.base_branch == base,
            issues.c.head_branch == head,
            from_own,
        )
        .order_by(issues.c.is_closed, issues.c.id.desc())
        .limit(1)
    )
    with database.read() as connection:
        row = connection.execute(statement).first()
    return None if row is None else Issue(*row)


def retarget(link: Link, repository_id: int, old: str, new: str) -> None:
    """Update open pull requests into and from a branch that was renamed."""
    for statement in (RETARGET_BASE, RETARGET_HEAD):
        statement.run(link, number=repository_id, old=old, new=new)


def set_maintainer_edit(connection: Connection, issue: Issue, *, is_allowed: bool) -> None:
    """Set whether writers of the base repository may push to the head branch."""
    connection.execute(
        update(pull_requests).where(pull_requests.c.issue_id == issue.id).values(allow_maintainer_edit=is_allowed)
    )


def set_merged(connection: Connection, issue: Issue, merger: Account, *, sha: str, style: str, now: int) -> None:
    """Record that a pull request was merged; closing it is up to the caller."""
    SET_MERGED_AT.run(connection, number=issue.id, now=now)
    SET_MERGE.run(connection, number=issue.id, merger=merger.id, sha=sha, style=style)
    cancel_scheduled_merge(connection, issue)


def schedule_merge(connection: Connection, new: ScheduledMerge) -> None:
    """Schedule the merge of a pull request for when its statuses succeed, replacing a former schedule."""
    values = {name: getattr(new, name) for name in ScheduledMerge.__dataclass_fields__}
    values["created_at"] = new.created_at or int(time.time())
    rest = {name: value for name, value in values.items() if name != "issue_id"}
    connection.execute(
        upsert(connection, scheduled_merges)
        .values(**values)
        .on_conflict_do_update(index_elements=["issue_id"], set_=rest)
    )


def find_scheduled_merge(database: Database, issue: Issue) -> ScheduledMerge | None:
    """Return the scheduled merge of a pull request."""
    with database.read() as connection:
        merges_by_issue = scheduled_merges_of(connection, [issue.id])
    return merges_by_issue.get(issue.id)


def scheduled_merges_of(connection: Connection, ids: Collection[int]) -> dict[int, ScheduledMerge]:
    """Return the scheduled merges of pull requests, by issue id."""
    columns = [scheduled_merges.c[name] for name in ScheduledMerge.__dataclass_fields__]
    rows = connection.execute(select(*columns).where(scheduled_merges.c.issue_id.in_(ids)))
    return {row[0]: ScheduledMerge(*row) for row in map(tuple, rows)}


def cancel_scheduled_merge(connection: Connection, issue: Issue) -> bool:
    """Delete the scheduled merge of a pull request; return whether there was one."""
    return bool(CANCEL_SCHEDULED.run(connection, number=issue.id))
