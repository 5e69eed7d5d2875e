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
from holdfast.hosting.git.repository import Repo
from holdfast.hosting.schemas.git import PayloadCommit, payload_commit, people_of, repository_page
from holdfast.hosting.schemas.repositories import RepositorySchema
from holdfast.hosting.schemas.users import UserSchema
from holdfast.hosting.store import repositories as store
from holdfast.hosting.store.ref_updates import RefUpdate
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
# The maximum number of commits counted for a new branch.
NEW_BRANCH_LIMIT: Final = 10
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
    """The options of `git push -o`; absent if there are none."""


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
    """The base of the comparison: an id, a branch, or empty."""
    changes: dict[str, TreeChanges] = field(default_factory=dict)


def short(ref: str) -> str:
    """Return the short name of a ref."""
    return next((ref.removeprefix(prefix) for prefix in PREFIXES if ref.startswith(prefix)), ref)


def create_event(context: EventContext) -> CreatePayload:
    """Return the payload of a created branch or tag."""
    details = context.details
    return CreatePayload(
        sha=details.after,
        ref=short(details.ref),
        ref_type=details.ref_type,
        repository=context.repository_schema,
        sender=context.sender,
    )


def delete_event(context: EventContext) -> DeletePayload:
    """Return the payload of a deleted branch or tag."""
    details = context.details
    return DeletePayload(
        ref=short(details.ref),
        ref_type=details.ref_type,
        pusher_type="user",
        repository=context.repository_schema,
        sender=context.sender,
    )


def push_event(context: EventContext) -> PushPayload:
    """Return the payload of a push; commits that git no longer has are represented by their ids."""
    details, repository = context.details, context.repository
    if isinstance(context.known, PushedCommits):
        pushed = context.known
    elif repository is not None:
        pushed = read_push(context.viewer.app, repository, RefUpdate(details.ref, details.before, details.after))
    else:
        pushed = PushedCommits()
    # Equal ids mean a test delivery, which shows one commit, with its signature.
    is_test = bool(details.after) and details.before == details.after
    schemas = {} if repository is None else commit_schemas(context, repository, pushed, verified=is_test)
    sender = context.sender
    return PushPayload(
        ref=details.ref,
        before=details.before,
        after=details.after,
        compare_url=compare_url(context, pushed.base),
        commits=[schemas[commit.id] for commit in pushed.commits],
        total_commits=pushed.total,
        head_commit=None if pushed.head is None else schemas.get(pushed.head.id),
        repository=context.repository_schema,
        pusher=sender,
        sender=sender,
        push_options=details.push_options or UNSET,
    )


def read_push(app: App, repository: store.Repository, move: RefUpdate, *, briefly: bool = False) -> PushedCommits:
    """Read the commits of a push with git, which should be done before the transaction.

    With `briefly`, read only the newest commit, without its files, as for a push of very many refs.
    """
    try:
        repo = app.copies.open(repository)
        if briefly:
            commit_id = None if move.deletes else refs.commit_of(repo, move.new)
            head = None if commit_id is None else find_commit(repo, commit_id)
            commits = [head] if head is not None and move.ref.startswith(BRANCHES) else []
            return PushedCommits(head, commits, len(commits), base_of(move))
        return find_pushed_commits(repo, move, repository.default_branch)
    except (GitError, OSError) as error:
        log.warning("push payload rendered without commits", repository=repository.full_name, reason=str(error))
        return PushedCommits()


def compare_url(context: EventContext, base: str) -> str:
    """Return the URL of the comparison, or the root URL if there is none."""
    if context.repository is None or not base:
        return context.viewer.root
    page = repository_page(context.viewer, context.repository)
    return f"{page}/compare/{quote(base)}...{context.details.after}"


def commit_schemas(
    context: EventContext, repository: store.Repository, pushed: PushedCommits, *, verified: bool
) -> dict[str, PayloadCommit]:
    """Return the schemas of the listed commits."""
    every = [*pushed.commits, *([] if pushed.head is None else [pushed.head])]
    people = people_of(context.viewer, every)
    schemas = {}
    for commit in every:
        changes = pushed.changes.get(commit.id, NOTHING)
        schema = payload_commit(context.viewer, repository, commit, people, changes)
        schemas[commit.id] = schema if verified else msgspec.structs.replace(schema, verification=None)
    return schemas


def find_pushed_commits(repo: Repo, move: RefUpdate, default_branch: str) -> PushedCommits:
    """Return the commits of a push."""
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
    commits = [commit for commit in (find_commit(repo, oid) for oid in ids[:LISTED]) if commit is not None]
    changes = {
        commit.id: changes_of(repo, commit)
        for commit in {listed_commit.id: listed_commit for listed_commit in [*commits, head]}.values()
    }
    return PushedCommits(head, commits, total, base, changes)


def base_of(move: RefUpdate) -> str:
    """Return the base of the comparison without reading the history."""
    return "" if move.deletes or (move.creates and move.ref.startswith(BRANCHES)) else move.old


def new_commits(repo: Repo, move: RefUpdate, head: Commit, default_branch: str) -> tuple[Sequence[str], int, str]:
    """Return the newest new commits of a branch, their number, and the base of the comparison."""
    branch = move.ref.removeprefix(BRANCHES)
    if not move.creates:
        line = history.linear_commits(repo, move.old, head.id)
        if line is not None:
            return line[:LISTED], len(line), move.old
        try:
            span = history.commit_range(repo, head.id, exclude=[move.old])
            return history.commit_ids(repo, span, limit=LISTED), history.count(repo, span), move.old
        except NoSuchObject:
            # The former commits of a force-pushed branch have been garbage collected.
            ids = history.only_on_branch(repo, branch, head.id, limit=NEW_BRANCH_LIMIT)
            return ids, len(ids), move.old
    ids = history.only_on_branch(repo, branch, head.id, limit=NEW_BRANCH_LIMIT)
    oldest = find_commit(repo, ids[-1]) if ids else None
    if oldest is not None and oldest.parents:
        return ids, len(ids), oldest.parents[0]
    return ids, len(ids), "" if branch == default_branch else default_branch


def changes_of(repo: Repo, commit: Commit) -> TreeChanges:
    """Return the files a commit changed; empty if they can no longer be read."""
    try:
        return changed_files(repo, commit)
    except GitError:
        return NOTHING
