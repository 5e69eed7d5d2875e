"""Milestones of a repository: create, edit, close and delete them."""

from datetime import UTC, datetime
from typing import Final

import msgspec

from holdfast.hosting import access
from holdfast.hosting.access import Actor, RepositoryAccess
from holdfast.hosting.app import App
from holdfast.hosting.services.fields import check_length, due, required_text
from holdfast.hosting.store import milestones
from holdfast.hosting.store.milestones import Milestone

__all__ = ["DESCRIPTION_LENGTH", "NO_DUE_DATE", "MilestoneEdit", "NewMilestone", "create", "delete", "edit"]

TITLE_LENGTH: Final = 255
DESCRIPTION_LENGTH: Final = 65_536
"""Maximum length of a description, which every issue of a list in the milestone repeats."""
NO_DUE_DATE: Final = datetime(1, 1, 1, tzinfo=UTC)
"""The value that removes a due date, also in API requests."""


class NewMilestone(msgspec.Struct, frozen=True, kw_only=True):
    """A milestone to create."""

    title: str
    description: str = ""
    due_on: datetime | None = None
    is_closed: bool = False


class MilestoneEdit(msgspec.Struct, frozen=True, kw_only=True):
    """Changes to a milestone; None keeps a value, and `NO_DUE_DATE` removes the due date.

    A version requires that the milestone still has it.
    """

    title: str | None = None
    description: str | None = None
    due_on: datetime | None = None
    is_closed: bool | None = None
    version: str = ""


def create(app: App, actor: Actor, target: RepositoryAccess, new: NewMilestone) -> Milestone:
    """Create a milestone."""
    user = access.require_issue_management(actor, target)
    check_length(new.description, "Description", DESCRIPTION_LENGTH)
    return milestones.add_milestone(
        app.database,
        target.repository,
        user,
        required_text(new.title, "Title", TITLE_LENGTH),
        description=new.description,
        due_at=due(new.due_on, "DueOn") or 0,
        is_closed=new.is_closed,
    )


def edit(
    app: App, actor: Actor, target: RepositoryAccess, milestone: Milestone, changes: MilestoneEdit
) -> Milestone:
    """Change, close or reopen a milestone; raise `Outdated` if it is not of the given version any more."""
    user = access.require_issue_management(actor, target)
    columns: dict[str, str | bool | int] = {}
    if changes.title is not None:
        columns["title"] = required_text(changes.title, "Title", TITLE_LENGTH)
    if changes.description is not None:
        check_length(changes.description, "Description", DESCRIPTION_LENGTH)
        columns["description"] = changes.description
    if changes.is_closed is not None:
        columns["is_closed"] = changes.is_closed
    due_at = due(changes.due_on, "DueOn")
    if due_at is not None:
        columns["due_at"] = due_at
    return milestones.change_milestone(
        app.database, target.repository, user, milestone, version=changes.version, **columns
    )


def delete(app: App, actor: Actor, target: RepositoryAccess, milestone: Milestone) -> None:
    """Delete a milestone; its issues are kept without a milestone."""
    user = access.require_issue_management(actor, target)
    milestones.delete_milestone(app.database, target.repository, user, milestone)
