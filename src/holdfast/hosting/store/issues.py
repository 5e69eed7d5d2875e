"""Issues and pull requests: opened, changed, closed and deleted, with timeline entries and events."""

from collections.abc import Callable, Collection, Sequence
from dataclasses import asdict, dataclass, field
from functools import cache
from typing import Final

from sqlalchemy import Connection, bindparam, delete, insert, select, tuple_, update

from holdfast.hosting.errors import (
    InvalidReference,
    MergedAlready,
    NoSuchBranch,
    NoSuchIssue,
    Outdated,
    PullTaken,
    RefMoved,
)
from holdfast.hosting.store import dependencies, issue_labels, pulls, repository_log
from holdfast.hosting.store.accounts import Account
from holdfast.hosting.store.assignees import record_assigned, set_assignees, write_assignees
from holdfast.hosting.store.cross_references import (
    NO_REFERENCES,
    CrossReferences,
    add_references,
    referenced_repositories,
    replace_references,
)
from holdfast.hosting.store.database import Database
from holdfast.hosting.store.issue_labels import labels_on, record_label_change, set_labels, write_labels
from holdfast.hosting.store.issue_transactions import ISSUE, Issue, IssueTransaction, issue_transaction
from holdfast.hosting.store.labels import Label, one_per_scope
from holdfast.hosting.store.prepared_statements import Statement
from holdfast.hosting.store.pulls import NewPull
from holdfast.hosting.store.ref_updates import RefUpdate
from holdfast.hosting.store.repositories import Repository
from holdfast.hosting.store.repository_log import NewPack
from holdfast.hosting.store.tables import issue_assignees, issues, repositories

__all__ = [
    "Branches",
    "Issue",
    "IssueChanges",
    "NewIssue",
    "Reason",
    "change_issue",
    "close",
    "delete_issue",
    "find_issue",
    "find_issues",
    "head_ref",
    "is_draft_title",
    "lock_issue",
    "no_issue",
    "open_issue",
    "refresh_issue",
    "reopen",
    "unlock_issue",
]

DRAFT_PREFIXES: Final = ("wip:", "[wip]", "draft:", "[draft]")
BY_NUMBER = Statement(
    select(*ISSUE).where(
        issues.c.repository_id == bindparam("repository_id"), issues.c.number == bindparam("number")
    )
)
BY_ID = Statement(select(*ISSUE).where(issues.c.id == bindparam("id")))
NEXT_NUMBER = Statement(
    update(repositories)
    .where(repositories.c.id == bindparam("repository_id"))
    .values(last_issue=repositories.c.last_issue + 1)
    .returning(repositories.c.last_issue)
)
WRITTEN = (
    *("repository_id", "number", "is_pull", "author_id", "title", "body", "ref", "due_at", "milestone_id"),
    *("created_at", "updated_at", "head_branch", "base_branch", "head_sha", "base_sha"),
    *("head_repository_id", "is_draft"),
)
ADD = Statement(insert(issues).values({name: bindparam(name) for name in WRITTEN}).returning(*ISSUE))
COUNT = {
    name: Statement(
        update(repositories)
        .where(repositories.c.id == bindparam("repository_id"))
        .values({name: repositories.c[name] + bindparam("by")})
    )
    for name in ("open_issues", "open_pulls", "closed_issues", "closed_pulls")
}


@dataclass(frozen=True, slots=True)
class Branches:
    """The head and base branches of a pull request."""

    head: str
    base: str
    head_sha: str = ""
    base_sha: str = ""
    head_repository_id: int | None = None
    """The repository of the head; None means that of the base."""
    packs: Sequence[NewPack] = ()
    """The objects of the head that the repository lacks, if the head is in a fork."""
    details: NewPull = field(default_factory=NewPull)


@dataclass(frozen=True, slots=True, kw_only=True)
class NewIssue:
    """An issue to open; with branches it is a pull request."""

    title: str
    body: str = ""
    ref: str = ""
    due_at: int = 0
    milestone_id: int = 0
    labels: Sequence[Label] = ()
    assignees: Sequence[Account] = ()
    is_closed: bool = False
    branches: Branches | None = None
    references: CrossReferences = NO_REFERENCES
    """The issues that its title and body mention."""


@dataclass(frozen=True, slots=True, kw_only=True)
class IssueChanges:
    """Changes to an issue; None leaves a field unchanged, 0 removes a date or a milestone."""

    title: str | None = None
    body: str | None = None
    ref: str | None = None
    due_at: int | None = None
    milestone_id: int | None = None
    labels: Sequence[Label] | None = None
    assignees: Sequence[Account] | None = None
    is_closed: bool | None = None
    base_branch: str | None = None
    content_version: int | None = None
    """The body's version the client has seen (optimistic locking); raises `Outdated` if it is not current."""
    previous_title: str | None = None
    """The title the client has seen; raises `Outdated` if it is another one now."""
    previous_milestone_id: int | None = None
    """The milestone the client has seen, 0 for none; raises `Outdated` if it is another one now."""
    references: CrossReferences | None = None
    """The issues that its title and body mention now."""
    previous_texts: tuple[str, str] | None = None
    """The title and the body that `references` are based on; raises `Outdated` if one is another now."""


@dataclass(frozen=True, slots=True)
class Reason:
    """The commit whose closing keyword closed or reopened an issue, and its repository."""

    commit_id: str
    commit_repository_id: int


def find_issue(database: Database, repository: Repository, number: int) -> Issue:
    """Return the issue or pull request with this number."""
    row = database.row(BY_NUMBER, repository_id=repository.id, number=number)
    if row is None:
        raise no_issue(repository, number)
    return Issue(*row)


def find_issues(database: Database, keys: Sequence[tuple[int, int]]) -> dict[tuple[int, int], Issue]:
    """Return issues by repository id and number; missing ones are left out."""
    statement = select(*ISSUE).where(
        tuple_(issues.c.repository_id, issues.c.number).in_(set(keys)),
        # SQLite does not use the index for a condition on pairs alone.
        issues.c.repository_id.in_({repository_id for repository_id, _ in keys}),
        issues.c.number.in_({number for _, number in keys}),
    )
    with database.read() as connection:
        matching_issues = [Issue(*row) for row in connection.execute(statement)]
    return {(issue.repository_id, issue.number): issue for issue in matching_issues}


def no_issue(repository: Repository, number: int) -> NoSuchIssue:
    """Return the error for an issue that does not exist."""
    return NoSuchIssue(f"issue does not exist [id: 0, repo_id: {repository.id}, index: {number}]")


def refresh_issue(connection: Connection, repository: Repository, issue: Issue) -> Issue:
    """Return the current state of an issue, in a transaction."""
    rows = BY_ID.read(connection, id=issue.id)
    if not rows:
        raise no_issue(repository, issue.number)
    return Issue(*rows[0])


def count(change: IssueTransaction, issue: Issue, by: int, *, closed: bool = False) -> None:
    """Add to the repository's count of open or closed issues or pull requests."""
    counter = f"{'closed' if closed else 'open'}_{'pulls' if issue.is_pull else 'issues'}"
    COUNT[counter].run(change.connection, repository_id=change.repository.id, by=by)


def open_issue(database: Database, repository: Repository, author: Account, new: NewIssue) -> Issue:
    """Open an issue or a pull request with the repository's next number."""
    others = set(new.references.repository_ids)
    if new.branches is not None and head_repository(repository, new.branches) != repository.id:
        # Its branch is not deleted until this transaction has ended.
        others.add(head_repository(repository, new.branches))
    with issue_transaction(database, repository, author, others=others) as change:
        if new.branches is not None:
            check_no_open_pull(change, new.branches)
        ((number,),) = NEXT_NUMBER.run(change.connection, repository_id=repository.id)
        branches = new.branches or Branches("", "")
        ((*row,),) = ADD.run(
            change.connection,
            repository_id=repository.id,
            number=number,
            is_pull=new.branches is not None,
            author_id=author.id,
            title=new.title,
            body=new.body,
            ref=new.ref,
            due_at=new.due_at,
            milestone_id=new.milestone_id or None,
            created_at=change.now,
            updated_at=change.now,
            head_branch=branches.head,
            base_branch=branches.base,
            head_sha=branches.head_sha,
            base_sha=branches.base_sha,
            head_repository_id=head_repository(repository, branches) if new.branches is not None else None,
            is_draft=new.branches is not None and is_draft_title(new.title),
        )
        issue = Issue(*row)
        if new.branches is not None:
            pulls.add_pull(change.connection, issue, branches.details)
            create_head_ref(change, issue, branches)
        count(change, issue, +1)
        add_references(change, issue, new.references)
        # The event comes after labels and assignees, which are part of its payload.
        labelled = write_labels(change, issue, (), one_per_scope(new.labels))
        assigned = list(dict.fromkeys(person.id for person in new.assignees))
        if assigned:
            write_assignees(change, issue, assigned)
        change.record_event(issue, "", "opened")
        record_label_change(change, issue, labelled)
        if assigned:
            record_assigned(change, issue, assigned)
        if new.milestone_id:
            record_milestone_change(change, issue, None, new.milestone_id)
        if new.is_closed:
            close(change, issue)
        return refresh_issue(change.connection, repository, issue)


def head_repository(repository: Repository, branches: Branches) -> int:
    """Return the repository of the head branch."""
    return repository.id if branches.head_repository_id is None else branches.head_repository_id


def head_ref(number: int) -> str:
    """Return the ref of a pull request's head, which is kept when its branch is deleted."""
    return f"refs/pull/{number}/head"


def create_head_ref(change: IssueTransaction, issue: Issue, branches: Branches) -> None:
    """Create the ref of a new pull request, with the objects that come from a fork.

    Raises `RefMoved` if the head branch has moved since it was read, or one of the branches was deleted: that push
    found no pull request to update or close. Later ones wait for this transaction, which has locked both
    repositories.
    """
    if not branches.head_sha:
        return
    link, repository_id = change.connection, issue.repository_id
    ref_update = RefUpdate(head_ref(issue.number), "0" * len(branches.head_sha), branches.head_sha)
    repository_log.append(link, repository_id, [(change.actor.id, ref_update)], branches.packs)
    head_repository_id = head_repository(change.repository, branches)
    if repository_log.target_of(link, head_repository_id, f"refs/heads/{branches.head}") != branches.head_sha:
        raise RefMoved("the head branch was updated by another request")
    if repository_log.target_of(link, repository_id, f"refs/heads/{branches.base}") is None:
        raise RefMoved("the base branch was deleted by another request")


def is_draft_title(title: str) -> bool:
    """Return whether a title marks a pull request as work in progress."""
    return title.lstrip().casefold().startswith(DRAFT_PREFIXES)


def branches_of(issue: Issue, base: str = "") -> Branches:
    """Return the branches of a pull request, with another base if one is given."""
    return Branches(issue.head_branch, base or issue.base_branch, head_repository_id=issue.head_repository_id)


def check_no_open_pull(change: IssueTransaction, branches: Branches) -> None:
    """Raise `PullTaken` if a pull request for the same branches is open."""
    same = select(issues.c.number).where(
        issues.c.repository_id == change.repository.id,
        issues.c.is_pull,
        ~issues.c.is_closed,
        issues.c.head_repository_id == head_repository(change.repository, branches),
        issues.c.head_branch == branches.head,
        issues.c.base_branch == branches.base,
    )
    number = change.connection.execute(same.limit(1)).scalar_one_or_none()
    if number is not None:
        raise PullTaken(f"pull request #{number} for these branches already exists and is open")


def change_issue(
    database: Database, repository: Repository, issue: Issue, actor: Account, changes: IssueChanges
) -> Issue:
    """Change an issue in one transaction."""
    others: Collection[int] = ()
    if changes.references is not None:
        others = changes.references.repository_ids | referenced_repositories(database, issue)
    is_closing = changes.is_closed is True
    with issue_transaction(database, repository, actor, graph=is_closing, others=others) as change:
        issue = refresh_issue(change.connection, repository, issue)
        if changes.content_version not in {None, issue.content_version}:
            raise Outdated(
                f"the issue is at content_version {issue.content_version}, not {changes.content_version}: "
                "it was changed in the meantime"
            )
        if changes.previous_title not in {None, issue.title}:
            raise Outdated("the title of the issue was changed in the meantime")
        if changes.previous_milestone_id not in {None, issue.milestone_id or 0}:
            raise Outdated("the milestone of the issue was changed in the meantime")
        if changes.previous_texts not in {None, (issue.title, issue.body)}:
            raise Outdated("the title or the body of the issue was changed in the meantime")
        edit_words(change, issue, changes)
        if changes.references is not None:
            replace_references(change, issue, changes.references)
        if changes.due_at is not None and changes.due_at != issue.due_at:
            change_due_date(change, issue, changes.due_at)
        if changes.milestone_id is not None and (changes.milestone_id or None) != issue.milestone_id:
            milestone_id = changes.milestone_id or None
            set_columns(change, issue, milestone_id=milestone_id)
            record_milestone_change(change, issue, issue.milestone_id, milestone_id)
        if changes.labels is not None:
            set_labels(change, issue, changes.labels)
        if changes.assignees is not None:
            set_assignees(change, issue, changes.assignees)
        if changes.is_closed is not None:
            (close if changes.is_closed else reopen)(change, issue)
        return refresh_issue(change.connection, repository, issue)


def set_columns(change: IssueTransaction, issue: Issue, **columns: str | int | bool | None) -> None:
    """Update columns of an issue."""
    change_of(tuple(columns)).run(change.connection, issue_id=issue.id, updated_at=change.now, **columns)


@cache
def change_of(names: tuple[str, ...]) -> Statement:
    """Prepare the statement that sets these columns of an issue."""
    return Statement(
        update(issues)
        .where(issues.c.id == bindparam("issue_id"))
        .values({name: bindparam(name) for name in ("updated_at", *names)})
    )


def edit_words(change: IssueTransaction, issue: Issue, changes: IssueChanges) -> None:
    """Update title, body, ref and target branch if they differ."""
    old: dict[str, str] = {}
    if changes.title is not None and changes.title != issue.title:
        old["old_title"] = issue.title
        is_draft = issue.is_pull and is_draft_title(changes.title)
        set_columns(change, issue, title=changes.title, is_draft=is_draft)
        change.add_entries(issue, "change_title", [("", {"old_title": issue.title, "new_title": changes.title})])
    if changes.body is not None and changes.body != issue.body:
        old["old_body"] = issue.body
        set_columns(change, issue, body=changes.body, content_version=issue.content_version + 1)
    if changes.ref is not None and changes.ref != issue.ref:
        old["old_ref"] = issue.ref
        set_columns(change, issue, ref=changes.ref)
        change.add_entries(issue, "change_issue_ref", [("", {"old_ref": issue.ref, "new_ref": changes.ref})])
    if changes.base_branch is not None and changes.base_branch != issue.base_branch:
        old["old_base_branch"] = issue.base_branch
        if issue.merged_at:
            raise MergedAlready(f"pull request #{issue.number} is merged, so its base branch cannot be changed")
        if (issue.head_repository_id, issue.head_branch) == (issue.repository_id, changes.base_branch):
            raise InvalidReference("Base", "must be another branch than head")
        if (
            repository_log.target_of(change.connection, issue.repository_id, f"refs/heads/{changes.base_branch}")
            is None
        ):
            raise NoSuchBranch(issue.repository_id, changes.base_branch)
        if not issue.is_closed:
            check_no_open_pull(change, branches_of(issue, changes.base_branch))
        set_columns(change, issue, base_branch=changes.base_branch)
        # It would be merged with the permissions of a user who chose the former branch.
        pulls.cancel_scheduled_merge(change.connection, issue)
        entry = {"old_ref": issue.base_branch, "new_ref": changes.base_branch}
        change.add_entries(issue, "change_target_branch", [("", entry)])
    if old:
        change.record_event(issue, "", "edited", **old)


def change_due_date(change: IssueTransaction, issue: Issue, due_at: int) -> None:
    """Set, change or remove the due date."""
    kind = "removed_deadline" if not due_at else "modified_deadline" if issue.due_at else "added_deadline"
    set_columns(change, issue, due_at=due_at)
    change.add_entries(issue, kind, [("", {"old_due_at": issue.due_at, "due_at": due_at})])


def record_milestone_change(change: IssueTransaction, issue: Issue, old: int | None, new: int | None) -> None:
    """Add the timeline entry that the milestone changed."""
    facts = {"old_milestone_id": old, "milestone_id": new}
    change.add_entries(issue, "milestone", [("", facts)])
    change.record_event(issue, "milestone", "milestoned" if new else "demilestoned", **facts)


def close(change: IssueTransaction, issue: Issue, reason: Reason | None = None, *, kind: str = "close") -> None:
    """Close an issue; every close uses this function. `kind` is that of the timeline entry.

    The transaction must hold the graph's lock, unless the issue was created in it.
    """
    if issue.is_closed:
        return
    dependencies.refuse_while_blocked(change, issue)
    unblocked = dependencies.unblocked_without(change.connection, issue)
    set_columns(change, issue, is_closed=True, closed_at=change.now)
    issue_labels.set_state(change.connection, issue, is_closed=True)
    count(change, issue, -1)
    count(change, issue, +1, closed=True)
    record_state_change(change, issue, kind, "closed", reason)
    dependencies.record_unblocked(change.connection, unblocked, change.actor, change.now)


def reopen(change: IssueTransaction, issue: Issue, reason: Reason | None = None) -> None:
    """Reopen a closed issue."""
    if not issue.is_closed:
        return
    if issue.merged_at:
        raise MergedAlready(f"pull request #{issue.number} is merged and cannot be opened again")
    if issue.is_pull:
        check_no_open_pull(change, branches_of(refresh_issue(change.connection, change.repository, issue)))
    set_columns(change, issue, is_closed=False, closed_at=0)
    issue_labels.set_state(change.connection, issue, is_closed=False)
    count(change, issue, +1)
    count(change, issue, -1, closed=True)
    record_state_change(change, issue, "reopen", "reopened", reason)


def record_state_change(
    change: IssueTransaction, issue: Issue, kind: str, action: str, reason: Reason | None
) -> None:
    """Add the timeline entry and record the event that an issue was closed or reopened."""
    change.add_entries(issue, kind, [("", {} if reason is None else asdict(reason))])
    change.record_event(issue, "", action, **({} if reason is None else {"commit_id": reason.commit_id}))


def delete_issue(
    database: Database,
    repository: Repository,
    issue: Issue,
    actor: Account,
    *,
    first: Callable[[Connection], None] | None = None,
) -> None:
    """Delete an issue with its comments; its number is not reused.

    `first` runs in the same transaction, before the deletion.
    """
    others = referenced_repositories(database, issue)
    with issue_transaction(database, repository, actor, graph=True, others=others) as change:
        issue = refresh_issue(change.connection, repository, issue)
        assigned = select(issue_assignees.c.user_id).where(issue_assignees.c.issue_id == issue.id)
        # The event contains these, which cannot be looked up after the deletion.
        was = {
            "was": asdict(issue),
            "labels": [asdict(label) for label in labels_on(change.connection, issue)],
            "assignee_ids": list(change.connection.execute(assigned).scalars()),
        }
        if first is not None:
            first(change.connection)
        unblocked = dependencies.unblocked_without(change.connection, issue)
        dependencies.delete_dependencies(change.connection, issue)
        count(change, issue, -1, closed=issue.is_closed)
        # Recorded while the blocker can still be rendered.
        dependencies.record_unblocked(change.connection, unblocked, actor, change.now)
        delete_head_ref(change, issue)
        change.connection.execute(delete(issues).where(issues.c.id == issue.id))
        change.record_event(issue, "", "deleted", **was)


def delete_head_ref(change: IssueTransaction, issue: Issue) -> None:
    """Delete the ref of a pull request's head."""
    if issue.is_pull and issue.head_sha:
        gone = RefUpdate(head_ref(issue.number), issue.head_sha, "0" * len(issue.head_sha))
        # Rejected if there is none: pull requests of earlier versions have it only once their head has moved.
        repository_log.append(change.connection, issue.repository_id, [(change.actor.id, gone)])


def lock_issue(database: Database, repository: Repository, issue: Issue, actor: Account, reason: str) -> None:
    """Restrict commenting to users with write access."""
    with issue_transaction(database, repository, actor) as change:
        issue = refresh_issue(change.connection, repository, issue)
        if not issue.is_locked:
            set_columns(change, issue, is_locked=True, lock_reason=reason)
            change.add_entries(issue, "lock", [(reason, {})])


def unlock_issue(database: Database, repository: Repository, issue: Issue, actor: Account) -> None:
    """Allow everyone to comment again."""
    with issue_transaction(database, repository, actor) as change:
        issue = refresh_issue(change.connection, repository, issue)
        if issue.is_locked:
            set_columns(change, issue, is_locked=False, lock_reason="")
            change.add_entries(issue, "unlock")
