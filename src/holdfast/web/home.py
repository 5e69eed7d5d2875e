"""The first page: what this is, and for whoever is logged in the repositories, organizations and chat backups."""

from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Final

from anyio import to_thread
from starlette.requests import Request
from starlette.responses import Response

from holdfast.hosting.store import organizations, repositories
from holdfast.hosting.store.accounts import Account
from holdfast.hosting.store.database import Database
from holdfast.hosting.store.repositories import Repository
from holdfast.web.pages import Pages, current_user
from holdfast.web.shelf import Book, look

__all__ = ["show"]

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


async def show(request: Request) -> Response:
    """Show the home page; the shelf of backups is for the administrator, whose data folder it is."""
    user = current_user(request)
    state = request.app.state
    pages: Pages = state.pages
    if user is None:
        return pages.render("home.html", user=None, title="Holdfast")
    root = state.settings.root_url or str(request.base_url).rstrip("/")
    listed = await to_thread.run_sync(hosted, state.database, user, root)
    shelf: list[Book] = []
    if user.is_admin:
        shelf = await to_thread.run_sync(look, state.settings.data / "backups")
    return pages.render("home.html", user=user, title="Holdfast", shelf=shelf, hosted=listed)
