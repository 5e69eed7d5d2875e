"""The heads of pull requests: `refs/pull/N/head` is updated with the head branch in the same transaction.

The ref is in the log of the base repository. The head branch of a fork is in another log: its objects are copied
to the base repository as one pack, after the push to the fork is recorded (`follow_branches`).
"""

import time
from collections.abc import Mapping, Sequence
from contextlib import suppress
from typing import Final

import msgspec
from sqlalchemy import Connection

from holdfast.hosting.app import App
from holdfast.hosting.errors import GitDamaged, GitFailed, GitTimedOut, HostingError, NoSuchObject, StillBlocked
from holdfast.hosting.git import history
from holdfast.hosting.git.commits import Commit
from holdfast.hosting.git.encoding import well_formed
from holdfast.hosting.services import branch_protection
from holdfast.hosting.services.maintainer_edits import may_write
from holdfast.hosting.storage.pack_files import pack_new
from holdfast.hosting.store import (
    comments,
    events,
    issues,
    protections,
    pulls,
    repository_log,
    review_changes,
)
from holdfast.hosting.store.accounts import account_by_id
from holdfast.hosting.store.database import Database, TransactionDatabase
from holdfast.hosting.store.issue_transactions import IssueTransaction, lock_repository_rows
from holdfast.hosting.store.issues import Issue, head_ref
from holdfast.hosting.store.prepared_statements import Link
from holdfast.hosting.store.ref_updates import RefUpdate
from holdfast.hosting.store.repositories import Repository, find_by_id, repositories_by_id
from holdfast.hosting.store.repository_log import NewPack

__all__ = [
    "PushedRange",
    "close_orphans",
    "follow",
    "follow_branches",
    "is_hidden",
    "move_head",
    "objects_for",
    "pushed_range",
    "record_moves",
]

BRANCHES: Final = "refs/heads/"
# Maximum commits in a timeline entry.
MOST_COMMITS: Final = 100
# From this many branches on, one query for all heads is cheaper than one per branch.
MANY: Final = 8
# Maximum refs of the base that are excluded (`--not`) when a fork's objects are packed.
MOST_EXCLUDED: Final = 5000


class PushedRange(msgspec.Struct, frozen=True):
    """The commits that a push added to a head, oldest first; of a force push the old and the new head."""

    is_force_push: bool
    commit_ids: Sequence[str]


def pushed_range(
    app: App, repository: Repository, update: RefUpdate, commits: Sequence[Commit] | None
) -> PushedRange:
    """Read the commits of an update for the timeline, before the transaction begins."""
    if commits is not None and len(commits) <= MOST_COMMITS:
        return PushedRange(is_force_push=False, commit_ids=[commit.id for commit in commits])
    try:
        repo = app.copies.open_any(repository.id)
        if history.merge_base(repo, update.old, update.new) != update.old:
            return PushedRange(is_force_push=True, commit_ids=[update.old, update.new])
        commit_ids = history.new_commits(repo, update.old, update.new, limit=MOST_COMMITS)
    except (NoSuchObject, GitDamaged, GitFailed, GitTimedOut):
        # The objects may be in a pack that is recorded with this update, which no copy has yet.
        commit_ids = (update.new,)
    return PushedRange(is_force_push=False, commit_ids=commit_ids[::-1])


def record_moves(
    link: Link,
    repository: Repository,
    actor_id: int | None,
    updates: Sequence[RefUpdate],
    pushed_ranges: Mapping[RefUpdate, PushedRange],
) -> None:
    """Update the refs of open pull requests whose head is one of the updated branches, with events."""
    # A branch name that is not valid UTF-8 cannot be the head of a pull request.
    moved = {
        update.ref: update
        for update in updates
        if update.ref.startswith(BRANCHES) and update.has_effect and well_formed(update.ref) == update.ref
    }
    last = [update for update in moved.values() if not update.deletes]
    if len(last) > MANY:
        open_pulls = pulls.open_with_head(link, repository.id)
    else:
        open_pulls = [
            open_pull
            for update in last
            for open_pull in pulls.open_with_head(link, repository.id, update.ref.removeprefix(BRANCHES))
        ]
    for issue in open_pulls:
        update = moved.get(f"{BRANCHES}{issue.head_branch}")
        if update is not None and not update.deletes and issue.repository_id == repository.id:
            move_head(link, repository, issue, update.new, actor_id=actor_id, pushed=pushed_ranges.get(update))


def move_head(
    link: Link,
    repository: Repository,
    issue: Issue,
    sha: str,
    *,
    actor_id: int | None,
    pushed: PushedRange | None,
    packs: Sequence[NewPack] = (),
) -> None:
    """Update the head ref of a pull request, with its timeline entry and event."""
    if issue.head_sha == sha:
        return
    now, name = int(time.time()), head_ref(issue.number)
    old = repository_log.target_of(link, repository.id, name) or "0" * len(sha)
    repository_log.append(link, repository.id, [(actor_id, RefUpdate(name, old, sha))], packs)
    pulls.set_head(link, issue, sha, now)
    # After the head has moved, and before the event is built from the pull request.
    dismiss_stale_approvals(link, repository, issue, sha, actor_id=actor_id, now=now)
    pushed = pushed or PushedRange(is_force_push=False, commit_ids=[sha])
    comments.ADD.run(
        link,
        issue_id=issue.id,
        repository_id=0,
        kind="pull_push",
        author_id=actor_id,
        body=msgspec.json.encode(pushed).decode(),
        created_at=now,
        updated_at=now,
    )
    events.record(
        link,
        "pull_request_sync",
        owner_id=repository.owner.id,
        repository_id=repository.id,
        actor_id=actor_id,
        details={
            "action": "synchronized",
            "issue_id": issue.id,
            "number": issue.number,
            "is_pull": True,
            "before": issue.head_sha,
            "after": sha,
            "commit_id": sha,
        },
        now=now,
    )


def dismiss_stale_approvals(
    link: Link, repository: Repository, issue: Issue, sha: str, *, actor_id: int | None, now: int
) -> None:
    """Dismiss stale approvals, if the branch protection of the base requires it."""
    stale = review_changes.stale_approvals(link, issue, sha)
    if not stale:
        return
    protection = branch_protection.rule_for(protections.protections_in(link, repository), issue.base_branch)
    if protection is not None and protection.rule.dismiss_stale_approvals:
        review_changes.dismiss_approvals(link, issue, stale, actor_id=actor_id, now=now)


def objects_for(app: App, base: Repository, head: Repository, sha: str) -> list[NewPack]:
    """Pack the objects reachable from a fork's commit that the base repository lacks."""
    repo = app.copies.update(head.id)
    with app.database.read() as connection:
        targets = set(repository_log.read_refs(connection, base.id).values())
    existing_ids = [target for target in sorted(targets)[:MOST_EXCLUDED] if repo.header(target) is not None]
    new_pack = pack_new(app.store, repo, [sha], existing_ids)
    return [] if new_pack is None else [new_pack]


def is_hidden(repository: Repository) -> bool:
    """Return whether a repository, or its owner, is private."""
    return repository.is_private or repository.owner.visibility == "private"


def follow(app: App, issue: Issue, actor_id: int | None) -> bool:
    """Update the head of an open pull request to its branch; return whether it moved.

    All readers of the base can read the head. That of a private fork is updated only while the author of the pull
    request may push to the fork, as is required for opening one.
    """
    if issue.head_repository_id is None:
        return False
    tip = repository_log.find_ref(app.database, issue.head_repository_id, f"{BRANCHES}{issue.head_branch}")
    # Read after the branch: nothing is copied that was pushed after the fork was made private.
    base, head = find_by_id(app.database, issue.repository_id), find_by_id(app.database, issue.head_repository_id)
    if base is None or head is None or tip is None or tip == issue.head_sha:
        return False
    if base.id != head.id and is_hidden(head) and not may_write(app, issue.author_id or 0, head):
        return False
    packs = [] if base.id == head.id else objects_for(app, base, head, tip)
    old = RefUpdate(head_ref(issue.number), issue.head_sha, tip)
    pushed = pushed_range(app, head, old, None)
    with app.database.write() as link:
        # Another process may have updated it already.
        now = [pull for pull in pulls.open_with_head(link, head.id, issue.head_branch) if pull.id == issue.id]
        if not now or now[0].head_sha != issue.head_sha:
            return False
        move_head(link, base, issue, tip, actor_id=actor_id, pushed=pushed, packs=packs)
    app.moved.add(base.id)
    return True


def follow_branches(app: App, head_repository_id: int) -> None:
    """Update the heads of open pull requests from a repository, mostly a fork, to its branches.

    Those in the same repository were updated with the push, unless they were closed then.
    """
    for issue in pulls.behind_their_branch(app.database, head_repository_id):
        actor_id = repository_log.last_actor(app.database, head_repository_id, f"{BRANCHES}{issue.head_branch}")
        # A repository that was deleted meanwhile or cannot be read must not stop the others.
        with suppress(HostingError, OSError):
            follow(app, issue, actor_id)


def close_orphans(
    database: Database, connection: Connection, repository: Repository, actor_id: int, branches: Sequence[str]
) -> None:
    """Close open pull requests whose head or base branch was deleted, except those with an open blocker.

    Runs in the transaction that deleted the branches, which holds the lock of the dependency graph. The pull
    requests are closed as the user who deleted them.
    """
    actor = account_by_id(TransactionDatabase(database, connection), actor_id)
    orphans = pulls.open_without_branch(connection, repository.id, branches)
    if actor is None or not orphans:
        return
    homes = {issue.repository_id for issue in orphans}
    lock_repository_rows(connection, homes)
    homes_by_id = repositories_by_id(connection, homes)
    for issue in orphans:
        # A pull request of a repository that was deleted meanwhile was deleted with it.
        home = homes_by_id.get(issue.repository_id)
        if home is not None:
            change = IssueTransaction(connection, home, actor, int(time.time()))
            with suppress(StillBlocked):
                issues.close(change, issues.refresh_issue(connection, home, issue))
