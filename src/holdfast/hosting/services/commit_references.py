"""Issue references and closing keywords in commit messages, applied when the default branch has the commit.

Referenced issues are closed, reopened, or get the commit on their timeline. Commit messages are parsed before the
transaction that records the ref update; that transaction then applies the references with the permissions of the
user who moved the branch, so that both are atomic and nothing is applied twice.
"""

import time
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass
from typing import Final

import structlog
from sqlalchemy import Connection

from holdfast.hosting import access
from holdfast.hosting.access import Actor, Permissions, Unit
from holdfast.hosting.app import App
from holdfast.hosting.errors import GitError, StillBlocked
from holdfast.hosting.git import history
from holdfast.hosting.git.commits import Commit, read_commit
from holdfast.hosting.services.closing_keywords import MessageReference, parse_message
from holdfast.hosting.store import issues, repositories
from holdfast.hosting.store.accounts import Account, accounts_by_id
from holdfast.hosting.store.comments import commits_on
from holdfast.hosting.store.database import Database, TransactionDatabase
from holdfast.hosting.store.issue_transactions import IssueTransaction, lock_graph, lock_repository_rows
from holdfast.hosting.store.issues import Issue, Reason
from holdfast.hosting.store.ref_updates import RefUpdate
from holdfast.hosting.store.repositories import Repository

__all__ = ["CommitReference", "apply", "find_references", "lock_repositories", "may_note", "newest"]

log = structlog.get_logger(__name__)
# Beyond these limits the oldest are ignored. Maximum commits of one ref update whose messages are parsed:
MOST_COMMITS: Final = 1000
# Maximum references per transaction, with and without a keyword each.
MOST_REFERENCES: Final = 1000
# Maximum issues changed, and issues whose timeline gets commits, per transaction, which holds SQLite's write lock.
MOST_ISSUES: Final = 300
# Maximum commits per transaction on the timeline of one issue.
MOST_COMMITS_ON_ISSUE: Final = 30
# Maximum rounds of closing, for issues whose blockers are closed by the same push.
ROUNDS: Final = 10

Repositories = Mapping[tuple[str, str], Repository]
"""Referenced repositories by case-folded owner and name; the commits' own is at two empty strings."""


@dataclass(frozen=True, slots=True)
class CommitReference:
    """A reference in the message of a commit, and the user who moved the default branch to that commit."""

    actor_id: int
    commit_id: str
    reference: MessageReference

    @property
    def repository(self) -> tuple[str, str]:
        """The key of the referenced repository in `Repositories`."""
        return self.reference.owner.casefold(), self.reference.name.casefold()


@dataclass(frozen=True, slots=True)
class StateChange:
    """An issue to close or reopen because of a reference, if the user may."""

    reference: CommitReference
    transaction: IssueTransaction
    issue: Issue


def find_references(
    app: App, repository: Repository, actor_id: int, move: RefUpdate, pushed_commits: Sequence[Commit] | None
) -> list[CommitReference]:
    """Return the references in the commits of a ref update, oldest first; `pushed_commits` are these if loaded.

    A new branch has none: its history may come from another repository, where the numbers are other issues.
    """
    if move.ref != f"refs/heads/{repository.default_branch}" or not move.keeps_ref:
        return []
    try:
        commits = read_added(app, repository, move) if pushed_commits is None else pushed_commits
        references = [
            CommitReference(actor_id, commit.id, reference)
            for commit in commits
            for reference in parse_message(commit.message)
        ]
        return newest(references) if references else references
    except GitError as error:
        # Not an error: the ref update is recorded anyway.
        problem = type(error).__name__
        log.warning("commit message parsing failed", repository_id=repository.id, commit=move.new, error=problem)
        return []


def read_added(app: App, repository: Repository, move: RefUpdate) -> Iterable[Commit]:
    """Read the newest commits that a ref update adds, oldest first."""
    repo = app.copies.open(repository)
    added = history.new_commits(repo, move.old, move.new, limit=MOST_COMMITS)
    return (read_commit(repo, oid) for oid in reversed(added))


def newest(references: Sequence[CommitReference]) -> list[CommitReference]:
    """Return the newest references; those with a keyword take precedence."""
    with_keyword = [
        commit_reference for commit_reference in references if commit_reference.reference.closes is not None
    ]
    without = [commit_reference for commit_reference in references if commit_reference.reference.closes is None]
    return with_keyword[-MOST_REFERENCES:] + without[-MOST_REFERENCES:]


def lock_repositories(
    database: Database, connection: Connection, repository: Repository, references: Sequence[CommitReference]
) -> Repositories:
    """Lock the rows of referenced repositories, first in the transaction, and return them."""
    names = {commit_reference.repository for commit_reference in references} - {("", "")}
    if names or any(commit_reference.reference.closes is not None for commit_reference in references):
        lock_graph(connection)
    ids = {("", ""): repository.id}
    if names:
        repositories_by_name = repositories.find_repositories(TransactionDatabase(database, connection), names)
        ids |= {name: named_repository.id for name, named_repository in repositories_by_name.items()}
    lock_repository_rows(connection, set(ids.values()))
    now = repositories.repositories_by_id(connection, set(ids.values()))
    return {name: now[number] for name, number in ids.items() if number in now}


def apply(
    database: Database,
    connection: Connection,
    repository: Repository,
    locked: Repositories,
    references: Sequence[CommitReference],
) -> None:
    """Apply references with the permissions of their users; skips those not permitted or not possible."""
    with_keyword = [
        commit_reference for commit_reference in references if commit_reference.reference.closes is not None
    ]
    if with_keyword:
        change_states(database, connection, repository, locked, with_keyword)
    note_commits(
        database,
        connection,
        repository,
        locked,
        [commit_reference for commit_reference in references if commit_reference.reference.closes is None],
    )


def change_states(
    database: Database,
    connection: Connection,
    repository: Repository,
    locked: Repositories,
    references: Sequence[CommitReference],
) -> None:
    """Close and reopen the issues named by closing keywords."""
    waiting = state_changes(TransactionDatabase(database, connection), connection, locked, references)
    for _ in range(ROUNDS):
        before = len(waiting)
        # Reversed each round: issues that block each other are often named in that order.
        waiting = [state_change for state_change in waiting if not change_state(state_change, repository)][::-1]
        if not waiting or len(waiting) == before:
            break
    for state_change in waiting:
        log.info(
            "issue not closed: open dependencies",
            repository_id=state_change.issue.repository_id,
            issue=state_change.issue.number,
            commit=state_change.reference.commit_id,
        )


def change_state(change: StateChange, repository: Repository) -> bool:
    """Close or reopen an issue; return False if it has open blockers."""
    reason = Reason(change.reference.commit_id, repository.id)
    if not change.reference.reference.closes:
        issues.reopen(change.transaction, change.issue, reason)
        return True
    try:
        issues.close(change.transaction, change.issue, reason)
    except StillBlocked:
        return False
    return True


def state_changes(
    database: Database, connection: Connection, locked: Repositories, references: Sequence[CommitReference]
) -> list[StateChange]:
    """Return the permitted state changes, one per issue: the last state, by the first user who requested it."""
    users = accounts_by_id(connection, {commit_reference.actor_id for commit_reference in references})
    writable = {number: writable_by(database, user, locked) for number, user in users.items()}
    allowed = [
        (reference, locked[reference.repository])
        for reference in references
        if reference.repository in locked
        and locked[reference.repository].id in writable.get(reference.actor_id, ())
    ]
    if not allowed:
        return []
    now = int(time.time())
    issues_by_number = issues.find_issues(
        database, [(place.id, commit_reference.reference.number) for commit_reference, place in allowed]
    )
    changes: dict[int, StateChange] = {}
    for commit_reference, place in allowed:
        issue = issues_by_number.get((place.id, commit_reference.reference.number))
        if issue is None or issue.is_pull:
            continue
        before = changes.get(issue.id)
        if before is None or before.reference.reference.closes != commit_reference.reference.closes:
            transaction = IssueTransaction(connection, place, users[commit_reference.actor_id], now)
            changes[issue.id] = StateChange(commit_reference, transaction, issue)
    return list(changes.values())[-MOST_ISSUES:]


def writable_by(database: Database, user: Account, locked: Repositories) -> set[int]:
    """Return the ids of the repositories whose issues a user may change."""
    unarchived = {repository.id: repository for repository in locked.values() if not repository.archived_at}
    grants = repositories.grants_in(database, user, list(unarchived.values()))
    return {
        number
        for number, repository in unarchived.items()
        if access.repository_access(Actor(user), repository, grants[number]).may_write(Unit.ISSUES)
    }


def note_commits(
    database: Database,
    connection: Connection,
    repository: Repository,
    locked: Repositories,
    references: Sequence[CommitReference],
) -> None:
    """Add commits to the timelines of the issues they refer to, once each, as the user who pushed them.

    A commit that closed or reopened the issue is already on it. No event is recorded, as the issue is unchanged.
    """
    if not references:
        return
    within = TransactionDatabase(database, connection)
    located_references = [
        (commit_reference, locked[commit_reference.repository])
        for commit_reference in references
        if commit_reference.repository in locked
    ]
    issues_by_number = (
        issues.find_issues(
            within, [(place.id, reference.reference.number) for reference, place in located_references]
        )
        if located_references
        else {}
    )
    if not issues_by_number:
        return
    users = accounts_by_id(connection, {commit_reference.actor_id for commit_reference in references})
    permissions = {number: permissions_of(within, user, locked) for number, user in users.items()}
    named: dict[int, dict[str, tuple[CommitReference, Repository]]] = {}
    for commit_reference, place in located_references:
        issue = issues_by_number.get((place.id, commit_reference.reference.number))
        if issue is None or commit_reference.actor_id not in users:
            continue
        if may_note(permissions[commit_reference.actor_id][place.id], issue, place, repository):
            named.setdefault(issue.id, {}).setdefault(commit_reference.commit_id, (commit_reference, place))
    newest_issues = list(named.items())[-MOST_ISSUES:]
    noted = {issue_id: list(commits.items())[-MOST_COMMITS_ON_ISSUE:] for issue_id, commits in newest_issues}
    before = commits_on(connection, noted, {commit for commits in noted.values() for commit, _ in commits})
    entries: dict[tuple[int, int], list[tuple[int, str, dict[str, object]]]] = {}
    for issue_id, commits in noted.items():
        for commit, (commit_reference, place) in commits:
            if (issue_id, commit) not in before:
                reason = asdict(Reason(commit, repository.id))
                entries.setdefault((commit_reference.actor_id, place.id), []).append((issue_id, "", reason))
    now, by_id = int(time.time()), {place.id: place for place in locked.values()}
    for (actor_id, place_id), notes in entries.items():
        IssueTransaction(connection, by_id[place_id], users[actor_id], now).add_entries_to("commit_ref", notes)


def permissions_of(database: Database, user: Account, locked: Repositories) -> dict[int, Permissions]:
    """Return the permissions of a user in each repository, by its id."""
    by_id = {repository.id: repository for repository in locked.values()}
    # Fast path: administrators and owners, who push most commits, need no grants.
    others = (
        [] if user.is_admin else [repository for repository in by_id.values() if repository.owner.id != user.id]
    )
    grants = repositories.grants_in(database, user, others) if others else {}
    return {
        number: access.repository_access(Actor(user), repository, grants.get(number, ()))
        for number, repository in by_id.items()
    }


def may_note(permissions: Permissions, issue: Issue, place: Repository, repository: Repository) -> bool:
    """Return whether a commit or a text of `repository` may appear on the timeline of an issue of `place`.

    In the same repository read access suffices; elsewhere it takes write access, to prevent spam.
    """
    unit = access.issue_unit(is_pull=issue.is_pull)
    if place.id == repository.id:
        return permissions.may_read(unit)
    return not place.archived_at and permissions.may_write(unit)
