"""Labels of repositories and organizations: create, edit and delete them."""

import time
from typing import Final

import msgspec

from holdfast.hosting import access
from holdfast.hosting.access import Actor, OrganizationAccess, RepositoryAccess
from holdfast.hosting.app import App
from holdfast.hosting.services.fields import check_length, required_text
from holdfast.hosting.store import labels
from holdfast.hosting.store.accounts import Account
from holdfast.hosting.store.labels import Label
from holdfast.hosting.store.repositories import Repository

__all__ = ["DESCRIPTION_LENGTH", "LabelEdit", "LabelOwner", "NewLabel", "create", "delete", "edit"]

LabelOwner = RepositoryAccess | OrganizationAccess
"""The owner of labels: a repository, or an organization whose repositories share them."""
NAME_LENGTH: Final = 255
DESCRIPTION_LENGTH: Final = 2048
"""Maximum length of a description, which every issue of a list with the label repeats."""


class NewLabel(msgspec.Struct, frozen=True, kw_only=True):
    """A label to create; the color is 3 or 6 hexadecimal digits."""

    name: str
    color: str
    description: str = ""
    is_exclusive: bool = False
    is_archived: bool = False


class LabelEdit(msgspec.Struct, frozen=True, kw_only=True):
    """Changes to a label; None keeps a value, and a version requires that the label still has it."""

    name: str | None = None
    color: str | None = None
    description: str | None = None
    is_exclusive: bool | None = None
    is_archived: bool | None = None
    version: str = ""


def create(app: App, actor: Actor, owner: LabelOwner, new: NewLabel) -> Label:
    """Create a label."""
    keeper = require_management(actor, owner)
    check_length(new.description, "Description", DESCRIPTION_LENGTH)
    return labels.add_label(
        app.database,
        keeper,
        required_text(new.name, "Name", NAME_LENGTH),
        required_text(new.color, "Color"),
        description=new.description,
        is_exclusive=new.is_exclusive,
        archived_at=archived_at(is_archived=new.is_archived),
    )


def edit(app: App, actor: Actor, owner: LabelOwner, label_id: int, changes: LabelEdit) -> Label:
    """Edit a label; raise `NoSuchLabel` if the owner has no label with that id, and `Outdated` if it changed."""
    keeper = require_management(actor, owner)
    columns: dict[str, str | bool | int] = {}
    if changes.name is not None:
        columns["name"] = required_text(changes.name, "Name", NAME_LENGTH)
    if changes.color is not None:
        columns["color"] = changes.color
    if changes.description is not None:
        check_length(changes.description, "Description", DESCRIPTION_LENGTH)
        columns["description"] = changes.description
    if changes.is_exclusive is not None:
        columns["is_exclusive"] = changes.is_exclusive
    if changes.is_archived is not None:
        columns["archived_at"] = archived_at(is_archived=changes.is_archived)
    return labels.change_label(app.database, keeper, label_id, version=changes.version, **columns)


def delete(app: App, actor: Actor, owner: LabelOwner, label_id: int) -> None:
    """Delete a label, and remove it from its issues."""
    labels.delete_label(app.database, require_management(actor, owner), label_id)


def require_management(actor: Actor, owner: LabelOwner) -> Repository | Account:
    """Return the owner of the labels; raise an error unless the actor may change them."""
    if isinstance(owner, RepositoryAccess):
        access.require_issue_management(actor, owner)
        return owner.repository
    access.require_organization_owner(actor, owner)
    return owner.account


def archived_at(*, is_archived: bool) -> int:
    """Return the archive timestamp to store: now, or 0 for a label that is not archived."""
    return int(time.time()) if is_archived else 0
