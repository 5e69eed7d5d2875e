"""Merges of pull requests, at once or when their checks succeed, and updates of their head branches.

A merge is one transaction: the base branch, the deleted head branch and the objects, the state of the pull
request, the events, and the issues closed by closing keywords. Open blockers are checked in it, under the lock
that adding a dependency takes too.
"""

import re
import time
from collections.abc import Callable, Sequence
from contextlib import suppress
from dataclasses import dataclass
from typing import Final

import msgspec
import structlog
from sqlalchemy import Connection, bindparam, select

from holdfast.hosting import access
from holdfast.hosting.access import Actor, RepositoryAccess, Unit
from holdfast.hosting.app import App
from holdfast.hosting.errors import (
    DefaultBranchRefused,
    Forbidden,
    HostingError,
    InvalidField,
    InvalidReference,
    MergeRefused,
    MergeScheduled,
    NoSuchBranch,
    NoSuchScheduledMerge,
    NothingToMerge,
    NotReadyToMerge,
    OpenBlockers,
    Outdated,
    Permission,
    PushRefused,
    RefMoved,
    StillBlocked,
    Violation,
)
from holdfast.hosting.git import history, merges
from holdfast.hosting.git.commits import Commit, Signature, parse_commit, read_commit
from holdfast.hosting.git.encoding import is_id
from holdfast.hosting.git.identities import commit_email, commit_name, plain
from holdfast.hosting.git.merge_bases import merge_bases
from holdfast.hosting.git.repository import Repo
from holdfast.hosting.git.tree_writer import Draft
from holdfast.hosting.services import (
    forks,
    lfs_objects,
    maintainer_edits,
    merge_requirements,
    pull_heads,
    ref_updates,
)
from holdfast.hosting.services.closing_keywords import parse_pull_keywords
from holdfast.hosting.services.commit_references import CommitReference
from holdfast.hosting.services.contention import contention_lock, note_contention
from holdfast.hosting.services.fields import check_length
from holdfast.hosting.services.merge_requirements import MergeStyle
from holdfast.hosting.services.ref_updates import BRANCHES, ActorUpdates
from holdfast.hosting.services.repositories import permissions_in
from holdfast.hosting.services.retries import retry
from holdfast.hosting.storage.pack_files import pack_draft
from holdfast.hosting.store import dependencies, hook_subscriptions, issues, lfs, pulls, repository_log
from holdfast.hosting.store import repositories as repository_rows
from holdfast.hosting.store.accounts import Account, account_by_id
from holdfast.hosting.store.database import TransactionDatabase
from holdfast.hosting.store.issue_transactions import IssueTransaction, issue_transaction
from holdfast.hosting.store.issues import Issue, Reason
from holdfast.hosting.store.prepared_statements import Link, Statement
from holdfast.hosting.store.pulls import ScheduledMerge
from holdfast.hosting.store.ref_updates import RefUpdate
from holdfast.hosting.store.repositories import DeclaredSettings, Repository
from holdfast.hosting.store.tables import issues as issues_table
from holdfast.hosting.store.tables import scheduled_merges
from holdfast.hosting.store.visible_issues import Reader, visible_issues_by_id

__all__ = [
    "MergeOrder",
    "cancel_scheduled",
    "head_access",
    "is_merged",
    "merge",
    "retry_scheduled",
    "try_scheduled",
    "update_head",
]

log = structlog.get_logger(__name__)
TITLE_LENGTH: Final = 1000
MESSAGE_LENGTH: Final = 65_536
# Trailers of a squash commit: maximum commits read, and maximum co-authors named.
MOST_COMMITS: Final = 500
MOST_AUTHORS: Final = 100
MOST_BLOCKERS: Final = 50
MOST_SCHEDULED: Final = 100
# Maximum scheduled merges and seconds per run of the task.
MOST_RETRIED: Final = 1000
RETRY_SECONDS: Final = 30.0
TRAILER: Final = re.compile(r"(?:^|\n\n)(?:[A-Za-z][\w-]*: [^\n]+\n?)+\Z")

# A prepared statement: it runs for every new status.
SCHEDULED: Final = Statement(
    select(*[scheduled_merges.c[name] for name in ScheduledMerge.__dataclass_fields__])
    .join(issues_table, issues_table.c.id == scheduled_merges.c.issue_id)
    .where(
        issues_table.c.repository_id == bindparam("repository_id"),
        issues_table.c.head_sha == bindparam("head"),
        scheduled_merges.c.head_sha == bindparam("head"),
        ~issues_table.c.is_closed,
    )
    .limit(MOST_SCHEDULED)
)
EVERY_SCHEDULED: Final = (
    select(
        issues_table.c.repository_id, *[scheduled_merges.c[name] for name in ScheduledMerge.__dataclass_fields__]
    )
    .join(issues_table, issues_table.c.id == scheduled_merges.c.issue_id)
    .where(issues_table.c.head_sha == scheduled_merges.c.head_sha, ~issues_table.c.is_closed)
    .order_by(scheduled_merges.c.issue_id)
    .limit(MOST_RETRIED)
)


class MergeOrder(msgspec.Struct, frozen=True, kw_only=True):
    """The options of a merge; empty strings are the defaults."""

    style: str
    title: str = ""
    message: str = ""
    head_commit_id: str = ""
    base_branch: str = ""
    """The base branch that the user chose to merge into; the pull request must still have it."""
    merge_commit_id: str = ""
    """The commit of the base branch, for a pull request that was merged manually."""
    delete_branch: bool | None = None
    force: bool = False
    when_checks_succeed: bool = False


@dataclass(frozen=True, slots=True)
class MergeAttempt:
    """One attempt to merge on the current branches: the user, the options, and the commits."""

    app: App
    actor: Actor
    target: RepositoryAccess
    user: Account
    issue: Issue
    style: MergeStyle
    order: MergeOrder
    draft: Draft
    base: str

    @property
    def repository(self) -> Repository:
        """The repository of the base branch."""
        return self.target.repository


def is_merged(issue: Issue) -> bool:
    """Return whether a pull request is merged."""
    return issue.merged_at > 0


def merge(app: App, actor: Actor, target: RepositoryAccess, issue: Issue, order: MergeOrder) -> bool:
    """Merge a pull request, or schedule the merge; return whether it was merged.

    Raises `MergeRefused` if it cannot be merged, and `Outdated` or `RefMoved` if a branch has moved.
    """
    user = access.require_login(actor)
    access.require_unarchived(target)
    style = style_of(order.style)
    check_length(order.title, "MergeTitleField", TITLE_LENGTH)
    check_length(order.message, "MergeMessageField", MESSAGE_LENGTH)
    merged = keep_trying(
        app, target.repository, lambda: try_to_merge(app, actor, target, issue, (user, style, order))
    )
    if merged:
        app.pushed.add(target.repository.id)
        if wants_deletion(target.repository, order):
            delete_fork_branch(app, actor, issue)
    return merged


def keep_trying(app: App, repository: Repository, attempt: Callable[[], bool]) -> bool:
    """Retry on the new commit when another writer moved the base branch (compare-and-set failed)."""
    return retry(attempt, on=RefMoved, before_next=lambda: note_contention(app, repository.id))


def style_of(name: str) -> MergeStyle:
    """Return a merge style by its name."""
    if not name:
        raise InvalidField("Do", Violation.REQUIRED)
    try:
        return MergeStyle(name)
    except ValueError:
        raise InvalidReference("Do", f"must be one of {', '.join(MergeStyle)}") from None


def try_to_merge(
    app: App,
    actor: Actor,
    target: RepositoryAccess,
    issue: Issue,
    wanted: tuple[Account, MergeStyle, MergeOrder],
) -> bool:
    """Merge on the current branches; raise `RefMoved` if one of them moves meanwhile."""
    repository, (user, style, order) = target.repository, wanted
    repository_id = repository.id
    # The copy is updated after the lock is acquired, so that it includes the writes of earlier holders.
    with (
        app.copies.locked(repository_id),
        contention_lock(app, repository_id),
        app.copies.writing(repository_id) as repo,
    ):
        issue = issues.find_issue(app.database, repository, issue.number)
        base = branch_tip(app, repository, issue.base_branch)
        if order.head_commit_id and order.head_commit_id != issue.head_sha:
            raise Outdated(f"the head of the pull request is {issue.head_sha}, not {order.head_commit_id}")
        if order.base_branch not in {"", issue.base_branch}:
            raise Outdated(f"the base branch of the pull request is {issue.base_branch}, not {order.base_branch}")
        unmet = merge_requirements.unmet_requirements(app, target, user, issue, repo=repo, base=base, style=style)
        if unmet and order.when_checks_succeed and all(requirement.can_wait for requirement in unmet):
            schedule(app, user, issue, style, order, deletes_branch=wants_deletion(repository, order))
            return False
        forced = order.force and merge_requirements.may_override(app, target, user, issue)
        refusing = tuple(requirement.message for requirement in unmet if not (forced and requirement.can_wait))
        if refusing:
            raise NotReadyToMerge(refusing)
        attempt = MergeAttempt(app, actor, target, user, issue, style, order, Draft(repo), base)
        land(attempt, make_tip(attempt), forced=forced)
    return True


def branch_tip(app: App, repository: Repository, branch: str) -> str:
    """Return the commit of a branch; raise `NoSuchBranch` if it was deleted."""
    tip = repository_log.find_ref(app.database, repository.id, BRANCHES + branch)
    if tip is None:
        raise NoSuchBranch(repository.id, branch)
    return tip


def make_tip(attempt: MergeAttempt) -> str:
    """Create the objects of a merge, and return the new commit of the base branch."""
    app, issue, style, order = attempt.app, attempt.issue, attempt.style, attempt.order
    draft, base, user = attempt.draft, attempt.base, attempt.user
    repo = draft.repo
    head = issue.head_sha
    if style == MergeStyle.MANUALLY_MERGED:
        return manual_commit(repo, base, order.merge_commit_id)
    if style == MergeStyle.FAST_FORWARD_ONLY:
        bases = merge_bases(repo, base, head)
        if bases == (head,):
            raise NothingToMerge
        if bases != (base,):
            raise MergeRefused("the base branch cannot be fast-forwarded: it has commits the head branch has not")
        return head
    own = signature_of(user)
    if style == MergeStyle.REBASE:
        tip = merges.add_rebase(draft, base, head, committer=own)
        if tip == base:
            raise NothingToMerge
        return tip
    if style == MergeStyle.SQUASH:
        author = issue.author_id and account_by_id(app.database, issue.author_id)
        commits = commits_between(repo, base, head)
        by = signature_of(author) if author else commits[-1].author
        message = squash_message(issue, order, commits, by)
        return merges.add_squash(draft, base, head, author=by, committer=own, message=message)
    add = merges.add_rebase_merge if style == MergeStyle.REBASE_MERGE else merges.add_merge_commit
    title = order.title.strip() or default_title(app, issue)
    return add(draft, base, head, author=own, committer=own, message=commit_message(title, order.message))


def manual_commit(repo: Repo, base: str, commit: str) -> str:
    """Return the commit of a manual merge; it must be in the base branch."""
    if not is_id(commit) or (header := repo.header(commit)) is None or header[0] != "commit":
        raise MergeRefused("merge_commit_id must be a commit of the base branch")
    if not merges.is_ancestor(repo, commit, base):
        raise MergeRefused("merge_commit_id is not in the base branch")
    return commit


def signature_of(user: Account) -> Signature:
    """Return a user's git signature with the current time."""
    return Signature(commit_name(user), commit_email(user), int(time.time()))


def default_title(app: App, issue: Issue) -> str:
    """Return the first line of a merge commit."""
    head = issue.head_branch
    if issue.head_repository_id not in {None, issue.repository_id}:
        fork = repository_rows.find_by_id(app.database, issue.head_repository_id or 0)
        head = head if fork is None else f"{fork.full_name}:{head}"
    return f"Merge pull request '{issue.title}' (#{issue.number}) from {head} into {issue.base_branch}"


def commit_message(title: str, message: str) -> str:
    """Return a commit message from a title and a body."""
    text = message.replace("\r\n", "\n").strip()
    return f"{title}\n\n{text}\n" if text else f"{title}\n"


def commits_between(repo: Repo, base: str, head: str) -> list[Commit]:
    """Return the commits of a head branch, newest first."""
    bases = merge_bases(repo, base, head)
    line = history.linear_commits(repo, bases[0], head) if len(bases) == 1 else None
    if line is None:
        line = history.commit_ids(repo, history.commit_range(repo, head, exclude=[base]), limit=MOST_COMMITS)
    return [read_commit(repo, oid) for oid in line]


def squash_message(issue: Issue, order: MergeOrder, commits: Sequence[Commit], author: Signature) -> str:
    """Return the message of a squash commit, with a `Co-authored-by` trailer per further author."""
    message = commit_message(order.title.strip() or f"{issue.title} (#{issue.number})", order.message)
    others: dict[str, str] = {}
    for commit in reversed(commits):
        if commit.author.email.casefold() != author.email.casefold():
            others.setdefault(
                commit.author.email.casefold(), f"{plain(commit.author.name)} <{commit.author.email}>"
            )
    trailers = [f"Co-authored-by: {plain_line(identity)}\n" for identity in list(others.values())[:MOST_AUTHORS]]
    new = [line for line in trailers if line not in message]
    if not new:
        return message
    gap = "" if TRAILER.search(message.partition("\n")[2]) else "\n"
    return message + gap + "".join(new)


def plain_line(text: str) -> str:
    """Return a text without line breaks."""
    return " ".join(text.split())


def wants_deletion(repository: Repository, order: MergeOrder) -> bool:
    """Return whether to delete the head branch: as requested, or by the default of the repository."""
    if order.delete_branch is not None:
        return order.delete_branch
    return msgspec.json.decode(repository.declared, type=DeclaredSettings).default_delete_branch_after_merge


def deleted_branch(attempt: MergeAttempt) -> list[RefUpdate]:
    """Return the ref update that deletes the head branch, if requested and allowed."""
    app, repository, issue = attempt.app, attempt.repository, attempt.issue
    name = issue.head_branch
    default_branch = repository_log.current_default_branch(app.database, repository.id)
    if issue.head_repository_id != repository.id or name in {default_branch, issue.base_branch}:
        return []
    if not wants_deletion(repository, attempt.order):
        return []
    update = RefUpdate(BRANCHES + name, issue.head_sha, ref_updates.zero_id(repository))
    if repository_log.find_ref(app.database, repository.id, update.ref) != issue.head_sha:
        return []
    with app.database.read() as connection:
        others = [pull for pull in pulls.open_with_head(connection, repository.id, name) if pull.id != issue.id]
    described = ref_updates.branch_change_of(attempt.draft.repo, update, repository.default_branch)
    refused = ref_updates.check_rules(app, repository, attempt.user, [update], lambda _: described)
    return [] if others or refused else [update]


def delete_fork_branch(app: App, actor: Actor, issue: Issue) -> None:
    """Delete the head branch in a fork, if the actor may and no other open pull request needs it.

    A failure does not affect the merge.
    """
    if issue.head_repository_id in {None, issue.repository_id}:
        return
    fork = repository_rows.find_by_id(app.database, issue.head_repository_id or 0)
    if fork is None or actor.user is None or issue.head_branch == fork.default_branch:
        return
    with app.database.read() as connection:
        if pulls.open_with_head(connection, fork.id, issue.head_branch):
            return
    permissions = access.repository_access(actor, fork, repository_rows.grants_of(app.database, actor.user, fork))
    place = RepositoryAccess(fork, permissions)
    update = RefUpdate(BRANCHES + issue.head_branch, issue.head_sha, ref_updates.zero_id(fork))
    with suppress(HostingError):
        access.require_editable(place)
        access.require_branch_write(place)
        ref_updates.update_refs(app, fork, actor.user, [update])
        home = repository_rows.repository_by_id(app.database, issue.repository_id)
        with issue_transaction(app.database, home, actor.user) as change:
            change.add_entries(issue, "delete_branch", [("", {"old_ref": issue.head_branch})])


def brought_commits(draft: Draft, base: str, tip: str) -> list[Commit] | None:
    """Return the commits a merge adds, oldest first, if they are few and linear; else None."""
    top = parse_commit(tip, draft.read(tip, "commit"))
    line: list[Commit] = []
    at = top
    if len(top.parents) == 2:
        line.append(top)
        repo = draft.repo
        bases = merge_bases(repo, base, top.parents[1]) if repo.header(top.parents[1]) is not None else ()
        stop = bases[0] if len(bases) == 1 else base
        at = parse_commit(top.parents[1], draft.read(top.parents[1], "commit"))
    else:
        stop = base
    while at.id != stop and len(line) < history.STRAIGHT:
        line.append(at)
        if len(at.parents) != 1:
            return None
        at = parse_commit(at.parents[0], draft.read(at.parents[0], "commit"))
    return line[::-1] if at.id == stop else None


def land(attempt: MergeAttempt, tip: str, *, forced: bool) -> None:
    """Record a merge in one transaction; raise `OpenBlockers` if an open issue blocks the pull request."""
    app, target, user, issue = attempt.app, attempt.target, attempt.user, attempt.issue
    repository, draft, base, style = attempt.repository, attempt.draft, attempt.base, attempt.style
    is_recorded = style == MergeStyle.MANUALLY_MERGED
    updates = [] if is_recorded else [RefUpdate(BRANCHES + issue.base_branch, base, tip)]
    commits = brought_commits(draft, base, tip) if updates else None
    removed = deleted_branch(attempt)
    sizes = fork_objects(attempt) if updates else {}
    mentioned = [
        CommitReference(user.id, tip, reference) for reference in parse_pull_keywords(issue.title, issue.body)
    ]

    def close(connection: Connection) -> None:
        change = IssueTransaction(connection, repository, user, int(time.time()))
        now = issues.refresh_issue(connection, repository, issue)
        if now.is_closed or now.is_draft or now.base_branch != issue.base_branch:
            raise RefMoved("the pull request was changed by another request")
        if now.head_sha != issue.head_sha:
            raise RefMoved("the head branch was updated by another request")
        if not forced and not is_recorded:
            within = TransactionDatabase(app.database, connection)
            unmet = merge_requirements.changing_requirements(within, target, now)
            if unmet:
                raise NotReadyToMerge(tuple(requirement.message for requirement in unmet))
        pulls.set_merged(connection, now, user, sha=tip, style=style, now=change.now)
        lfs.add_links(connection, repository, sizes)
        if removed:
            pulls.RETARGET_BASE.run(connection, number=repository.id, old=issue.head_branch, new=issue.base_branch)
        issues.close(change, now, Reason(tip, repository.id), kind="merge_pull")
        if removed:
            change.add_entries(now, "delete_branch", [("", {"old_ref": issue.head_branch})])

    try:
        actor_updates = ActorUpdates(user.id, [*updates, *removed], commits)
        packs = pack_draft(app.store, draft, to_copy=commits is None or is_shown(app, repository, actor_updates))
        ref_updates.record(
            app, repository, [actor_updates], packs, locked=close, mentioned=mentioned, own_number=issue.number
        )
    except DefaultBranchRefused:
        raise RefMoved("the head branch became the default branch") from None
    except StillBlocked:
        raise OpenBlockers(visible_blockers(app, attempt.actor, repository, issue)) from None
    draft.keep_recent()


def fork_objects(attempt: MergeAttempt) -> dict[str, int]:
    """Return the LFS objects, with sizes, that a merge from a fork adds and the base must link too."""
    app, issue = attempt.app, attempt.issue
    if issue.head_repository_id in {None, issue.repository_id}:
        return {}
    fork = repository_rows.find_by_id(app.database, issue.head_repository_id or 0)
    if fork is None:
        return {}
    return lfs_objects.new_objects(app, attempt.draft.repo, fork, issue.head_sha, attempt.base)


def is_shown(app: App, repository: Repository, actor_updates: ActorUpdates) -> bool:
    """Return whether a webhook is subscribed to an update; its commits are then read from the local copy."""
    return hook_subscriptions.has_push_subscribers(
        app.database,
        owner_id=repository.owner.id,
        repository_id=repository.id,
        refs=[update.ref for update in actor_updates.updates],
    )


def visible_blockers(app: App, actor: Actor, repository: Repository, issue: Issue) -> tuple[str, ...]:
    """Return the names of the open blockers of a pull request that the actor may read."""
    with app.database.read() as connection:
        ids = dependencies.blockers_of(connection, issue)
        issues_by_id = visible_issues_by_id(connection, ids, Reader(actor.user, actor.public_only))
    visible_issues = [
        visible_issue
        for visible_issue in issues_by_id.values()
        if visible_issue.is_readable and not visible_issue.issue.is_closed
    ]
    return tuple(
        f"#{visible_issue.issue.number}"
        if visible_issue.repository.id == repository.id
        else f"{visible_issue.repository.full_name}#{visible_issue.issue.number}"
        for visible_issue in visible_issues[:MOST_BLOCKERS]
    )


def schedule(
    app: App, user: Account, issue: Issue, style: MergeStyle, order: MergeOrder, *, deletes_branch: bool
) -> None:
    """Schedule the merge of a pull request for when its checks succeed."""
    new = ScheduledMerge(
        issue.id,
        user.id,
        str(style),
        order.title,
        order.message,
        deletes_branch,
        issue.head_sha,
        int(time.time()),
    )
    with app.database.write() as connection:
        if issue.id in pulls.scheduled_merges_of(connection, [issue.id]):
            raise MergeScheduled("the pull request is scheduled to be merged already")
        pulls.schedule_merge(connection, new)


def cancel_scheduled(app: App, actor: Actor, target: RepositoryAccess, issue: Issue) -> None:
    """Cancel a scheduled merge; allowed for the user who scheduled it and repository administrators."""
    user = access.require_login(actor)
    access.require_unarchived(target)
    scheduled_merge = pulls.find_scheduled_merge(app.database, issue)
    if scheduled_merge is None:
        raise NoSuchScheduledMerge("the pull request is not scheduled to be merged")
    if scheduled_merge.user_id != user.id and not target.permissions.is_admin:
        raise Forbidden(Permission.ADMIN)
    with app.database.write() as connection:
        pulls.cancel_scheduled_merge(connection, issue)


def try_scheduled(app: App, repository_id: int, head: str) -> int:
    """Merge the scheduled pull requests of a repository with a head commit that are ready; return how many.

    Called after a status or a review is recorded. A pull request whose head has moved since it was scheduled is
    not merged: nobody has agreed to the new commits.
    """
    rows = app.database.rows(SCHEDULED, repository_id=repository_id, head=head)
    waiting = [ScheduledMerge(*row) for row in rows]
    return sum(merge_scheduled(app, repository_id, scheduled_merge) for scheduled_merge in waiting)


def retry_scheduled(app: App) -> int:
    """Merge all scheduled pull requests that are ready; return how many.

    Covers those whose last status or review was recorded by a process that ended before it tried to merge.
    """
    until = time.monotonic() + RETRY_SECONDS
    with app.database.read() as connection:
        rows = connection.execute(EVERY_SCHEDULED).all()
    merged = 0
    for repository_id, *scheduled in rows:
        if time.monotonic() > until:
            break
        # A failure must not stop the others.
        with suppress(OSError):
            merged += merge_scheduled(app, repository_id, ScheduledMerge(*scheduled))
    return merged


def merge_scheduled(app: App, repository_id: int, scheduled: ScheduledMerge) -> bool:
    """Merge as the user who scheduled it, with their current permissions."""
    repository = repository_rows.find_by_id(app.database, repository_id)
    user = account_by_id(app.database, scheduled.user_id)
    if repository is None or user is None or user.may_not_log_in or not user.is_active:
        return False
    actor = Actor(user)
    permissions = access.repository_access(
        actor, repository, repository_rows.grants_of(app.database, user, repository)
    )
    with app.database.read() as connection:
        row = connection.execute(select(issues_table.c.number).where(issues_table.c.id == scheduled.issue_id))
        number = row.scalar()
    if number is None:
        return False
    issue = issues.find_issue(app.database, repository, number)
    # A new base branch cancels the schedule, so this is the branch that it was made for.
    if pulls.find_scheduled_merge(app.database, issue) is None:
        return False
    order = MergeOrder(
        style=scheduled.style,
        title=scheduled.title,
        message=scheduled.message,
        head_commit_id=scheduled.head_sha,
        base_branch=issue.base_branch,
        delete_branch=scheduled.delete_branch,
    )
    try:
        return merge(app, actor, RepositoryAccess(repository, permissions), issue, order)
    except NotReadyToMerge:
        return False
    except HostingError as error:
        # It stays scheduled: the next status or review retries.
        log.info("scheduled merge not possible", repository_id=repository_id, error=type(error).__name__)
        return False


def update_head(app: App, actor: Actor, target: RepositoryAccess, issue: Issue, style: str) -> None:
    """Update the head branch of an open pull request with its base, by merge or rebase.

    Requires write access to the head branch, which may be in a fork, and read access to the code of the base,
    which is copied there.
    """
    user = access.require_login(actor)
    access.require_unarchived(target)
    access.require_read(target, Unit.CODE)
    place = head_access(app, actor, target, issue)
    maintainer_edits.require_branch_write(app, actor, place, issue.head_branch)
    access.require_editable(place)
    if style not in {"merge", "rebase"}:
        raise InvalidReference("Style", "must be merge or rebase")
    declared = msgspec.json.decode(target.repository.declared, type=DeclaredSettings)
    if not (declared.allow_rebase_update if style == "rebase" else declared.allow_merge_update):
        raise Forbidden(Permission.WRITE_BRANCH)
    repository, home = target.repository, place.repository
    is_fork = home.id != repository.id
    # Before the lock of the fork's copy is taken, so that only one lock is held at a time.
    source = app.copies.update(repository.id) if is_fork else None
    with app.copies.writing(home.id) as copy:
        issue = issues.find_issue(app.database, repository, issue.number)
        if issue.is_closed:
            raise Outdated("the pull request is closed")
        head = branch_tip(app, home, issue.head_branch)
        base = branch_tip(app, repository, issue.base_branch)
        repo = copy if source is None else forks.add_objects(copy, source, base)
        draft, own = Draft(repo), signature_of(user)
        try:
            if style == "rebase":
                tip = merges.add_rebase(draft, base, head, committer=own)
            else:
                message = f"Merge branch '{issue.base_branch}' into {issue.head_branch}\n"
                tip = merges.add_merge_commit(draft, head, base, author=own, committer=own, message=message)
        except NothingToMerge:
            if style == "rebase" and head != base:
                tip = base
            else:
                return
        update = RefUpdate(BRANCHES + issue.head_branch, head, tip)
        if not update.has_effect:
            return
        packs = pack_draft(app.store, draft, to_copy=True)
        if is_fork:
            packs += ref_updates.pack_targets(app, home, repo, [base])
        described = ref_updates.branch_change_of(repo, update, home.default_branch)
        refused = ref_updates.check_rules(app, home, user, [update], lambda _: described)
        if refused:
            raise PushRefused(refused[0][1])
        sizes = lfs_objects.new_objects(app, repo, repository, base, head) if is_fork else {}

        def link_objects(link: Link) -> None:
            lfs.add_links(link, home, sizes)

        ref_updates.record(app, home, [ActorUpdates(user.id, [update])], packs, within=link_objects)
    app.pushed.add(home.id)
    if is_fork:
        # The background task follows the fork too.
        with suppress(HostingError, OSError):
            pull_heads.follow(app, issue, user.id)


def head_access(app: App, actor: Actor, target: RepositoryAccess, issue: Issue) -> RepositoryAccess:
    """Return the repository of a pull request's head branch, with the actor's permissions there."""
    if issue.head_repository_id == target.repository.id:
        return target
    fork = repository_rows.find_by_id(app.database, issue.head_repository_id or 0)
    if fork is None:
        raise InvalidReference("Head", "the repository of the head branch was deleted")
    return RepositoryAccess(fork, permissions_in(app, actor, fork))
