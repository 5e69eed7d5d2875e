"""Payloads of push, create and delete events."""

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Final
from urllib.parse import quote

import msgspec
import structlog
from msgspec import UNSET, UnsetType

from holdfast.hosting.app import App
from holdfast.hosting.errors import GitError, NoSuchObject
from holdfast.hosting.git import history, refs
from holdfast.hosting.git.changes import TreeChanges, changed_files
from holdfast.hosting.git.commits import Commit, find_commit
from holdfast.hosting.git.repository import Repo, open_repository
from holdfast.hosting.schemas.git import PayloadCommit, payload_commit, people_of, repository_page
from holdfast.hosting.schemas.repositories import RepositorySchema
from holdfast.hosting.schemas.users import UserSchema
from holdfast.hosting.store import repositories as store
from holdfast.hosting.store.pending_ref_updates import Move
from holdfast.hosting.webhooks.payloads.event_details import EventContext

__all__ = [
    "CreatePayload",
    "DeletePayload",
    "PushPayload",
    "PushedCommits",
    "create_event",
    "delete_event",
    "push_event",
    "read_push",
]

log = structlog.get_logger(__name__)
LISTED: Final = 5
# How many commits of a new branch count as having come with it.
OF_A_NEW_BRANCH: Final = 10
BRANCHES: Final = "refs/heads/"
PREFIXES: Final = (BRANCHES, "refs/tags/")
NOTHING: Final = TreeChanges(())


class PushPayload(msgspec.Struct, frozen=True, kw_only=True):
    """The payload of a push; `commits` are the newest ones, newest first."""

    ref: str
    before: str
    after: str
    compare_url: str
    commits: list[PayloadCommit]
    total_commits: int
    head_commit: PayloadCommit | None
    repository: RepositorySchema | None
    pusher: UserSchema
    sender: UserSchema
    push_options: list[str] | UnsetType = UNSET
    """What was given with `git push -o`; absent when nothing was."""


class CreatePayload(msgspec.Struct, frozen=True, kw_only=True):
    """The payload of a created branch or tag."""

    sha: str
    ref: str
    ref_type: str
    repository: RepositorySchema | None
    sender: UserSchema


class DeletePayload(msgspec.Struct, frozen=True, kw_only=True):
    """The payload of a deleted branch or tag."""

    ref: str
    ref_type: str
    pusher_type: str
    repository: RepositorySchema | None
    sender: UserSchema


@dataclass(frozen=True, slots=True)
class PushedCommits:
    """The commits of a push: the newest ones, their total number, and the base of the comparison."""

    head: Commit | None = None
    commits: Sequence[Commit] = ()
    total: int = 0
    base: str = ""
    """What to compare with: an id, a branch, or nothing."""
    changes: dict[str, TreeChanges] = field(default_factory=dict)


def short(ref: str) -> str:
    """Return the name people know a ref by."""
    return next((ref.removeprefix(prefix) for prefix in PREFIXES if ref.startswith(prefix)), ref)


def create_event(happened: EventContext) -> CreatePayload:
    """Tell of a new branch or tag."""
    facts = happened.facts
    return CreatePayload(
        sha=facts.after,
        ref=short(facts.ref),
        ref_type=facts.ref_type,
        repository=happened.place,
        sender=happened.sender,
    )


def delete_event(happened: EventContext) -> DeletePayload:
    """Tell that a branch or tag is gone."""
    facts = happened.facts
    return DeletePayload(
        ref=short(facts.ref),
        ref_type=facts.ref_type,
        pusher_type="user",
        repository=happened.place,
        sender=happened.sender,
    )


def push_event(happened: EventContext) -> PushPayload:
    """Tell what a push brought; of what git no longer has, only the ids."""
    facts, kept = happened.facts, happened.repository
    if isinstance(happened.known, PushedCommits):
        brought = happened.known
    elif kept is not None:
        brought = read_push(happened.viewer.app, kept, Move(facts.ref, facts.before, facts.after))
    else:
        brought = PushedCommits()
    # The same commit twice is a test: it shows one commit as a push would, and what its signature says.
    is_test = bool(facts.after) and facts.before == facts.after
    shapes = {} if kept is None else commit_schemas(happened, kept, brought, verified=is_test)
    sender = happened.sender
    return PushPayload(
        ref=facts.ref,
        before=facts.before,
        after=facts.after,
        compare_url=compare_url(happened, brought.base),
        commits=[shapes[commit.id] for commit in brought.commits],
        total_commits=brought.total,
        head_commit=None if brought.head is None else shapes.get(brought.head.id),
        repository=happened.place,
        pusher=sender,
        sender=sender,
        push_options=facts.push_options or UNSET,
    )


def read_push(app: App, repository: store.Repository, move: Move, *, briefly: bool = False) -> PushedCommits:
    """Read what a push brought, which takes git and so is done before a transaction where that is possible.

    With `briefly` that is the newest commit without its files, as for the last of thousands of refs.
    """
    try:
        repo = open_repository(app.folders.existing(repository.id))
        if briefly:
            found = None if move.deletes else refs.commit_of(repo, move.new)
            head = None if found is None else find_commit(repo, found)
            listed = [head] if head is not None and move.ref.startswith(BRANCHES) else []
            return PushedCommits(head, listed, len(listed), base_of(move))
        return find_pushed_commits(repo, move, repository.default_branch)
    except (GitError, OSError) as error:
        log.warning("a push is told without its commits", repository=repository.full_name, why=str(error))
        return PushedCommits()


def compare_url(happened: EventContext, base: str) -> str:
    """Return the page that shows what came, or the service's own address when there is nothing to compare."""
    if happened.repository is None or not base:
        return happened.viewer.root
    page = repository_page(happened.viewer, happened.repository)
    return f"{page}/compare/{quote(base)}...{happened.facts.after}"


def commit_schemas(
    happened: EventContext, kept: store.Repository, brought: PushedCommits, *, verified: bool
) -> dict[str, PayloadCommit]:
    """Make the shapes of the commits to be told, by their ids."""
    every = [*brought.commits, *([] if brought.head is None else [brought.head])]
    people = people_of(happened.viewer, every)
    shapes = {}
    for commit in every:
        changes = brought.changes.get(commit.id, NOTHING)
        shape = payload_commit(happened.viewer, kept, commit, people, changes)
        shapes[commit.id] = shape if verified else msgspec.structs.replace(shape, verification=None)
    return shapes


def find_pushed_commits(repo: Repo, move: Move, default_branch: str) -> PushedCommits:
    """Work out what a push brought."""
    if move.deletes:
        return PushedCommits()
    head_id = refs.commit_of(repo, move.new)
    head = None if head_id is None else find_commit(repo, head_id)
    if head is None:
        return PushedCommits(base=base_of(move))
    ids: Sequence[str] = ()
    total, base = 0, base_of(move)
    if move.old == move.new:
        ids, total = [head.id], 1
    elif move.ref.startswith(BRANCHES):
        ids, total, base = new_commits(repo, move, head, default_branch)
    commits = [found for found in (find_commit(repo, one) for one in ids[:LISTED]) if found is not None]
    changes = {
        commit.id: changes_of(repo, commit) for commit in {one.id: one for one in [*commits, head]}.values()
    }
    return PushedCommits(head, commits, total, base, changes)


def base_of(move: Move) -> str:
    """Return what to compare a ref with that was not followed through history: a new branch with nothing."""
    return "" if move.deletes or (move.creates and move.ref.startswith(BRANCHES)) else move.old


def new_commits(repo: Repo, move: Move, head: Commit, default_branch: str) -> tuple[Sequence[str], int, str]:
    """Return the newest commits that came to a branch, how many there are, and what to compare them with."""
    branch = move.ref.removeprefix(BRANCHES)
    if not move.creates:
        line = history.linear_commits(repo, move.old, head.id)
        if line is not None:
            return line[:LISTED], len(line), move.old
        try:
            span = history.commit_range(repo, head.id, exclude=[move.old])
            return history.commit_ids(repo, span, limit=LISTED), history.count(repo, span), move.old
        except NoSuchObject:
            # What the branch was before it was pushed over is collected by now.
            ids = history.only_on_branch(repo, branch, head.id, limit=OF_A_NEW_BRANCH)
            return ids, len(ids), move.old
    ids = history.only_on_branch(repo, branch, head.id, limit=OF_A_NEW_BRANCH)
    oldest = find_commit(repo, ids[-1]) if ids else None
    if oldest is not None and oldest.parents:
        return ids, len(ids), oldest.parents[0]
    return ids, len(ids), "" if branch == default_branch else default_branch


def changes_of(repo: Repo, commit: Commit) -> TreeChanges:
    """Return which files a commit changed; none when what it changed cannot be read any more."""
    try:
        return changed_files(repo, commit)
    except GitError:
        return NOTHING
