"""Bodies of requests that open or edit an issue or a pull request."""

from datetime import datetime
from typing import Annotated

import msgspec
from msgspec import UNSET, Meta, UnsetType

from holdfast.hosting.http.decoders import Required, given
from holdfast.hosting.services.issues import BODY_LENGTH, IssueDraft, IssueEdit

__all__ = ["EditIssueOption", "OpenOption"]

Title = Annotated[str, Meta(max_length=255)]
Names = Annotated[list[str], Meta(max_length=100)]
LabelKeys = Annotated[list[int | str], Meta(max_length=100)]


class OpenOption(msgspec.Struct, frozen=True, kw_only=True):
    """A new issue or pull request; labels by id or name."""

    title: Annotated[str, Meta(max_length=255), Required] = ""
    body: Annotated[str, Meta(max_length=BODY_LENGTH)] = ""
    assignee: str = ""
    assignees: Names = []
    due_date: datetime | None = None
    milestone: int = 0
    labels: LabelKeys = []

    def draft(self, *, ref: str = "", is_closed: bool = False) -> IssueDraft:
        """Return the draft for the service."""
        return IssueDraft(
            title=self.title,
            body=self.body,
            ref=ref,
            labels=self.labels,
            assignees=names(self.assignee, self.assignees),
            milestone_id=self.milestone,
            due_date=self.due_date,
            is_closed=is_closed,
        )


class EditIssueOption(msgspec.Struct, frozen=True, kw_only=True):
    """Changes; an absent key and an empty title keep the value."""

    title: Title = ""
    body: Annotated[str, Meta(description=f"At most {BODY_LENGTH} characters")] | UnsetType = UNSET
    ref: Title | UnsetType = UNSET
    assignee: str | UnsetType = UNSET
    assignees: Names | UnsetType = UNSET
    milestone: int | UnsetType = UNSET
    labels: LabelKeys | UnsetType = UNSET
    state: str = ""
    due_date: datetime | None = None
    unset_due_date: bool = False
    content_version: int | None = None

    def changes(self, base_branch: str | None = None) -> IssueEdit:
        """Return the changes for the service."""
        assigns = self.assignee is not UNSET or self.assignees is not UNSET
        return IssueEdit(
            title=self.title or None,
            body=given(self.body),
            ref=given(self.ref),
            labels=given(self.labels),
            assignees=names(given(self.assignee), given(self.assignees)) if assigns else None,
            milestone_id=given(self.milestone),
            due_date=self.due_date,
            remove_due_date=self.unset_due_date,
            state=self.state,
            base_branch=base_branch,
            content_version=self.content_version,
        )


def names(assignee: str | None, assignees: list[str] | None) -> list[str]:
    """Combine the two keys for assignees."""
    return [name for name in (*(assignees or ()), assignee) if name]
