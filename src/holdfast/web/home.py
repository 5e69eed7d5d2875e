"""The first page: what this is, and for whoever is logged in the repositories, organizations and chat backups."""

from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Final

from holdfast.hosting.api.call import Call
from holdfast.hosting.api.declare import Raw, endpoint
from holdfast.hosting.store import organizations, repositories
from holdfast.hosting.store.accounts import Account
from holdfast.hosting.store.database import Database
from holdfast.hosting.store.repositories import Repository
from holdfast.web.pages import page
from holdfast.web.shelf import look

__all__ = ["show_home"]

SHOWN: Final = 50


@dataclass(frozen=True, slots=True)
class Entry:
    """A repository as the list shows it."""

    name: str
    description: str
    remarks: str
    updated: datetime
    address: str


def entry(repository: Repository, root: str) -> Entry:
    """Describe a repository in a few words."""
    remarks = (
        ("private", repository.is_private),
        ("archived", repository.is_archived),
        ("empty", repository.is_empty),
    )
    return Entry(
        name=repository.full_name,
        description=repository.description,
        remarks=", ".join(word for word, holds in remarks if holds),
        updated=datetime.fromtimestamp(max(repository.updated_at, repository.pushed_at), UTC),
        address=f"{root}/{repository.full_name}.git",
    )


@dataclass(frozen=True, slots=True)
class Listed:
    """What somebody may see of the host, and how much more there is."""

    repositories: list[Entry]
    more_repositories: int
    organizations: list[Account]
    more_organizations: int


def hosted(database: Database, user: Account, root: str) -> Listed:
    """Gather what a user may see of the host, the latest first."""
    shown, total = repositories.list_repositories(
        database, [repositories.readable_by(user)], sort="updated", descending=True, skip=0, limit=SHOWN
    )
    groups, all_groups = organizations.list_organizations(
        database, organizations.visible_to(user), skip=0, limit=SHOWN
    )
    return Listed(
        repositories=[entry(repository, root) for repository in shown],
        more_repositories=total - len(shown),
        organizations=groups,
        more_organizations=all_groups - len(groups),
    )


@endpoint("GET /", slow=True)
def show_home(call: Call) -> Raw:
    """Show the first page; the shelf of backups is for the administrator, whose data folder it is."""
    user = call.caller.user
    if user is None:
        return page(call, "home.html", title="Holdfast")
    listed = hosted(call.host.database, user, call.root)
    shelf = look(call.host.settings.data / "backups") if user.is_admin else []
    return page(call, "home.html", title="Holdfast", shelf=shelf, hosted=listed)
