"""The layout of every repository page: its name, and the tabs the viewer has permission for."""

from dataclasses import dataclass
from typing import Final
from urllib.parse import quote

from holdfast.hosting.access import RepositoryAccess, Unit
from holdfast.hosting.http.endpoints import RawResponse
from holdfast.hosting.request_context import RequestContext
from holdfast.hosting.services import subscriptions
from holdfast.hosting.services.repositories import permissions_in
from holdfast.hosting.store.repositories import Repository, find_by_id
from holdfast.web.live_references import without_dead_references
from holdfast.web.pages import page

__all__ = ["root_path", "show_in"]

CODE, COMMITS, ISSUES, PULLS, RELEASES, SETTINGS = (
    "Code",
    "Commits",
    "Issues",
    "Pull requests",
    "Releases",
    "Settings",
)
NAMES: Final = (CODE, COMMITS, ISSUES, PULLS, RELEASES, SETTINGS)


@dataclass(frozen=True, slots=True)
class RepositoryTab:
    """A tab of a repository page."""

    name: str
    path: str
    count: int | None = None


def root_path(target: RepositoryAccess) -> str:
    """Return the path of a repository page."""
    return f"/{quote(target.repository.owner.name)}/{quote(target.repository.name)}"


def tabs_of(target: RepositoryAccess) -> list[RepositoryTab]:
    """Return the tabs the viewer may open."""
    may = target.permissions
    tabs: list[RepositoryTab] = []
    if may.may_read(Unit.CODE):
        tabs.append(RepositoryTab(CODE, ""))
        if not target.repository.is_empty:
            tabs.append(RepositoryTab(COMMITS, f"/commits/branch/{quote(target.repository.default_branch)}"))
    if may.may_read(Unit.ISSUES):
        tabs.append(RepositoryTab(ISSUES, "/issues", target.repository.open_issues))
    if may.may_read(Unit.PULLS):
        tabs.append(RepositoryTab(PULLS, "/pulls", target.repository.open_pulls))
    # Viewers who may read the code find the releases in its side column.
    if may.may_read(Unit.RELEASES) and not may.may_read(Unit.CODE):
        tabs.append(RepositoryTab(RELEASES, "/releases", target.repository.release_count))
    if may.is_admin:
        tabs.append(RepositoryTab(SETTINGS, "/settings"))
    return tabs


def finder_path(target: RepositoryAccess) -> str:
    """Return the path of the file finder on the default branch; empty if there is none for the viewer."""
    repository = target.repository
    if repository.is_empty or not target.permissions.may_read(Unit.CODE):
        return ""
    return f"{root_path(target)}/find/branch/{quote(repository.default_branch)}"


def readable_parent(request: RequestContext, target: RepositoryAccess) -> Repository | None:
    """Return the repository that this one is a fork of; None if there is none or the viewer may not read it."""
    if target.repository.fork_of is None:
        return None
    parent = find_by_id(request.app.database, target.repository.fork_of)
    if parent is None or not permissions_in(request.app, request.actor, parent).may_read(Unit.CODE):
        return None
    return parent


def show_in(
    request: RequestContext,
    target: RepositoryAccess,
    template: str,
    *,
    tab: str,
    title: str,
    status: int = 200,
    **values: object,
) -> RawResponse:
    """Render a page of a repository; its template extends `repository.html` and fills the block `inside`."""
    return page(
        request,
        template,
        lambda html: without_dead_references(request, target, html),
        title=title,
        status=status,
        repository=target.repository,
        access=target.permissions,
        root=root_path(target),
        tabs=tabs_of(target),
        current=tab,
        finder=finder_path(target),
        forked_from=readable_parent(request, target),
        may_fork=request.actor.user is not None and target.permissions.may_read(Unit.CODE),
        subscribed_to=subscriptions.chosen(request.app, request.actor, target),
        **values,
    )
