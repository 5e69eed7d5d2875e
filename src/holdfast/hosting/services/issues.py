"""Issues and pull requests: open, edit, close, label, assign, lock and delete them."""

from collections.abc import Collection, Sequence
from contextlib import suppress
from datetime import datetime
from typing import Final

import msgspec

from holdfast.hosting import access
from holdfast.hosting.access import Actor, RepositoryAccess
from holdfast.hosting.app import App
from holdfast.hosting.errors import (
    Forbidden,
    HostingError,
    InvalidReference,
    NoSuchIssue,
    NoSuchLabel,
    Outdated,
    Permission,
    UnknownState,
)
from holdfast.hosting.services import pull_heads
from holdfast.hosting.services.cross_references import references_of_issue
from holdfast.hosting.services.fields import check_body, check_length, due, required_text
from holdfast.hosting.store import assignees, issue_labels, issues
from holdfast.hosting.store.assignees import assignable_users
from holdfast.hosting.store.cross_references import CrossReferences
from holdfast.hosting.store.issues import Branches, Issue, IssueChanges, NewIssue
from holdfast.hosting.store.labels import labels_named
from holdfast.hosting.store.milestones import check_milestone
from holdfast.hosting.webhooks.payloads import DeletedEntity, before_deleting

__all__ = [
    "BODY_LENGTH",
    "IssueDraft",
    "IssueEdit",
    "add_assignees",
    "add_labels",
    "change_assignees",
    "change_labels",
    "create",
    "delete",
    "edit",
    "find",
    "lock",
    "remove_assignees",
    "remove_label",
    "replace_labels",
    "set_due_date",
    "unlock",
]

TEXT_LENGTH: Final = 255
"""Maximum length of a title, a ref and the reason for a lock, in characters."""
BODY_LENGTH: Final = 2**20
"""Maximum length of a body, in characters; Renovate cuts the ones it writes at a million."""
LIST_LENGTH: Final = 100
"""Maximum labels, and maximum assignees, per request."""
# Maximum attempts when other requests change the texts of an issue during an edit.
ATTEMPTS: Final = 5
STATES: Final = {"": None, "open": False, "closed": True}

LabelKeys = Sequence[int | str]
"""Labels by id or by name."""


class IssueDraft(msgspec.Struct, frozen=True, kw_only=True):
    """An issue to open; assignees by name, and milestone 0 for none."""

    title: str
    body: str = ""
    ref: str = ""
    labels: LabelKeys = ()
    assignees: Sequence[str] = ()
    milestone_id: int = 0
    due_date: datetime | None = None
    is_closed: bool = False


class IssueEdit(msgspec.Struct, frozen=True, kw_only=True):
    """Changes to an issue; None and an empty state keep the value."""

    title: str | None = None
    body: str | None = None
    ref: str | None = None
    labels: LabelKeys | None = None
    assignees: Sequence[str] | None = None
    milestone_id: int | None = None
    due_date: datetime | None = None
    remove_due_date: bool = False
    state: str = ""
    base_branch: str | None = None
    """The base branch of a pull request."""
    content_version: int | None = None
    """The version of the body that the edit is based on; the issue must still have it."""
    previous_title: str | None = None
    """The title that the edit is based on; the issue must still have it."""

    @property
    def needs_write_access(self) -> bool:
        """Whether it changes fields that an author without write access may not."""
        values = (self.labels, self.assignees, self.milestone_id, self.due_date)
        return self.remove_due_date or any(value is not None for value in values)


def find(app: App, target: RepositoryAccess, number: int) -> Issue:
    """Return an issue or pull request by number; raise `NoSuchIssue` if the actor may not read it."""
    issue = issues.find_issue(app.database, target.repository, number)
    if not target.permissions.may_read(access.issue_unit(is_pull=issue.is_pull)):
        raise NoSuchIssue("not found")
    return issue


def create(
    app: App, actor: Actor, target: RepositoryAccess, draft: IssueDraft, branches: Branches | None = None
) -> Issue:
    """Open an issue, or with `branches` a pull request.

    Requires read access. Labels, assignees, milestone, due date and `is_closed` need write access: without it they
    are ignored, as in Gitea.
    """
    unit = access.issue_unit(is_pull=branches is not None)
    user = access.require_login(actor)
    access.require_unarchived(target)
    access.require_read(target, unit)
    title = required_text(draft.title, "Title", TEXT_LENGTH)
    check_body(draft.body, BODY_LENGTH)
    check_length(draft.ref, "Ref", TEXT_LENGTH)
    database, repository = app.database, target.repository
    references = references_of_issue(app, actor, target, title, draft.body, is_pull=branches is not None)
    new = NewIssue(title=title, body=draft.body, ref=draft.ref, branches=branches, references=references)
    if target.permissions.may_write(unit):
        check_lists(draft.labels, draft.assignees)
        check_milestone(database, repository, draft.milestone_id)
        new = NewIssue(
            title=title,
            body=draft.body,
            ref=draft.ref,
            due_at=due(draft.due_date, "DueDate") or 0,
            milestone_id=draft.milestone_id,
            labels=labels_named(database, repository, draft.labels),
            assignees=assignable_users(database, repository, draft.assignees),
            is_closed=draft.is_closed,
            branches=branches,
            references=references,
        )
    return issues.open_issue(database, repository, user, new)


def edit(app: App, actor: Actor, target: RepositoryAccess, issue: Issue, changes: IssueEdit) -> Issue:
    """Change an issue; its author may change title, body, ref and state, everything else needs write access.

    Raises `Outdated` if the body is not of the expected version or the title not the expected one, and
    `StillBlocked` if the issue is to be closed while a blocker is open. The text that an edit keeps is the one of
    the moment, and so are its cross-references.
    """
    for _ in range(ATTEMPTS - 1):
        try:
            return try_to_edit(app, actor, target, issue, changes)
        except Outdated:
            current = find(app, target, issue.number)
            if (current.title, current.body) == (issue.title, issue.body):
                raise
            issue = current
    return try_to_edit(app, actor, target, issue, changes)


def try_to_edit(app: App, actor: Actor, target: RepositoryAccess, issue: Issue, changes: IssueEdit) -> Issue:
    """Change an issue; raise `Outdated` if its title or body was changed since it was read."""
    user = access.require_issue_edit(actor, target, issue, issue.author_id)
    if changes.needs_write_access and not access.may_write_issue(target.permissions, issue):
        raise Forbidden(Permission.WRITE)
    if changes.state not in STATES:
        raise UnknownState(changes.state)
    database, repository = app.database, target.repository
    check_lists(changes.labels or (), changes.assignees or ())
    check_body(changes.body or "", BODY_LENGTH, issue.body)
    check_length(changes.ref or "", "Ref", TEXT_LENGTH)
    if changes.milestone_id is not None:
        check_milestone(database, repository, changes.milestone_id)
    title = None if changes.title is None else required_text(changes.title, "Title", TEXT_LENGTH)
    columns = IssueChanges(
        title=title,
        body=changes.body,
        ref=changes.ref,
        due_at=0 if changes.remove_due_date else due(changes.due_date, "DueDate"),
        milestone_id=changes.milestone_id,
        labels=None if changes.labels is None else labels_named(database, repository, changes.labels),
        assignees=None if changes.assignees is None else assignable_users(database, repository, changes.assignees),
        is_closed=STATES[changes.state],
        base_branch=changes.base_branch,
        content_version=changes.content_version,
        previous_title=changes.previous_title,
        references=new_references(app, actor, target, issue, title=title, body=changes.body),
        previous_texts=None if title is None and changes.body is None else (issue.title, issue.body),
    )
    changed = issues.change_issue(database, repository, issue, user, columns)
    if issue.is_pull and issue.is_closed and not changed.is_closed:
        # Its branch may have been pushed to while it was closed. The background task follows the branch too.
        with suppress(HostingError, OSError):
            if pull_heads.follow(app, changed, user.id):
                changed = issues.find_issue(database, repository, issue.number)
    return changed


def new_references(
    app: App, actor: Actor, target: RepositoryAccess, issue: Issue, *, title: str | None, body: str | None
) -> CrossReferences | None:
    """Return the issues that an edited issue mentions; None if its text does not change."""
    words = issue.title if title is None else title, issue.body if body is None else body
    if words == (issue.title, issue.body):
        return None
    return references_of_issue(app, actor, target, *words, is_pull=issue.is_pull)


def check_lists(labels: LabelKeys, people: Sequence[str]) -> None:
    """Raise `InvalidField` if a request names too many labels or assignees."""
    check_length(labels, "Labels", LIST_LENGTH)
    check_length(people, "Assignees", LIST_LENGTH)


def delete(app: App, actor: Actor, target: RepositoryAccess, issue: Issue) -> None:
    """Delete an issue with its comments; only administrators of the repository may."""
    user = access.require_repository_admin(actor, target)
    access.require_unarchived(target)
    first = before_deleting(app, DeletedEntity(issue_id=issue.id))
    issues.delete_issue(app.database, target.repository, issue, user, first=first)


def set_due_date(
    app: App, actor: Actor, target: RepositoryAccess, issue: Issue, due_date: datetime | None
) -> Issue:
    """Set the due date of an issue; None removes it."""
    user = access.require_issue_write(actor, target, issue)
    changes = IssueChanges(due_at=due(due_date, "DueDate") or 0)
    return issues.change_issue(app.database, target.repository, issue, user, changes)


def lock(app: App, actor: Actor, target: RepositoryAccess, issue: Issue, reason: str = "") -> None:
    """Lock an issue: only people with write access may comment."""
    user = access.require_issue_write(actor, target, issue)
    check_length(reason, "LockReason", TEXT_LENGTH)
    issues.lock_issue(app.database, target.repository, issue, user, reason)


def unlock(app: App, actor: Actor, target: RepositoryAccess, issue: Issue) -> None:
    """Unlock an issue: everybody who can read it may comment."""
    user = access.require_issue_write(actor, target, issue)
    issues.unlock_issue(app.database, target.repository, issue, user)


def add_labels(app: App, actor: Actor, target: RepositoryAccess, issue: Issue, keys: LabelKeys) -> None:
    """Add labels to an issue; an exclusive label replaces the one of its scope."""
    user = access.require_issue_write(actor, target, issue)
    check_length(keys, "Labels", LIST_LENGTH)
    more = labels_named(app.database, target.repository, keys)
    issue_labels.add_labels(app.database, target.repository, issue, user, more)


def replace_labels(app: App, actor: Actor, target: RepositoryAccess, issue: Issue, keys: LabelKeys) -> None:
    """Replace all labels of an issue."""
    user = access.require_issue_write(actor, target, issue)
    check_length(keys, "Labels", LIST_LENGTH)
    labels = labels_named(app.database, target.repository, keys)
    issue_labels.replace_labels(app.database, target.repository, issue, user, labels)


def change_labels(
    app: App,
    actor: Actor,
    target: RepositoryAccess,
    issue: Issue,
    *,
    more: LabelKeys,
    less: Collection[int],
) -> None:
    """Add labels to an issue and remove others; labels in neither list stay."""
    user = access.require_issue_write(actor, target, issue)
    check_length(more, "Labels", LIST_LENGTH)
    added = labels_named(app.database, target.repository, more)
    issue_labels.change_labels(app.database, target.repository, issue, user, more=added, less=less)


def remove_label(app: App, actor: Actor, target: RepositoryAccess, issue: Issue, key: int | str) -> None:
    """Remove a label from an issue; raise `NoSuchLabel` if the repository has none with that id or name."""
    user = access.require_issue_write(actor, target, issue)
    try:
        less = labels_named(app.database, target.repository, [key])
    except InvalidReference:
        raise NoSuchLabel(f"label does not exist [label_id: {key}]") from None
    issue_labels.remove_labels(app.database, target.repository, issue, user, less)


def add_assignees(app: App, actor: Actor, target: RepositoryAccess, issue: Issue, names: Sequence[str]) -> Issue:
    """Assign an issue to more users, who must have write access."""
    user = access.require_issue_write(actor, target, issue)
    check_length(names, "Assignees", LIST_LENGTH)
    people = assignable_users(app.database, target.repository, names)
    assignees.add_assignees(app.database, target.repository, issue, user, people)
    return issues.find_issue(app.database, target.repository, issue.number)


def change_assignees(
    app: App,
    actor: Actor,
    target: RepositoryAccess,
    issue: Issue,
    *,
    more: Sequence[str],
    less: Sequence[str],
) -> None:
    """Assign an issue to more users, and remove others; users in neither list stay."""
    user = access.require_issue_write(actor, target, issue)
    check_lists((), more)
    check_lists((), less)
    people = assignable_users(app.database, target.repository, more)
    assignees.change_assignees(app.database, target.repository, issue, user, more=people, less=less)


def remove_assignees(
    app: App, actor: Actor, target: RepositoryAccess, issue: Issue, names: Sequence[str]
) -> Issue:
    """Remove users from the assignees of an issue; names that are not among them are ignored."""
    user = access.require_issue_write(actor, target, issue)
    check_length(names, "Assignees", LIST_LENGTH)
    assignees.remove_assignees(app.database, target.repository, issue, user, names)
    return issues.find_issue(app.database, target.repository, issue.number)
