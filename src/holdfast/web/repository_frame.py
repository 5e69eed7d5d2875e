"""The layout of every repository page: its name, and the tabs the viewer has permission for."""

from dataclasses import dataclass
from typing import Final
from urllib.parse import quote

from holdfast.hosting.access import RepositoryAccess, Unit
from holdfast.hosting.http.endpoints import RawResponse
from holdfast.hosting.request_context import RequestContext
from holdfast.web.live_references import without_dead_references
from holdfast.web.pages import page

__all__ = ["root_path", "show_in"]

CODE, COMMITS, ISSUES, SETTINGS = "Code", "Commits", "Issues", "Settings"
NAMES: Final = (CODE, COMMITS, ISSUES, SETTINGS)


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
        tabs += [
            RepositoryTab(CODE, ""),
            RepositoryTab(COMMITS, f"/commits/branch/{quote(target.repository.default_branch)}"),
        ]
    if may.may_read(Unit.ISSUES):
        tabs.append(RepositoryTab(ISSUES, "/issues", target.repository.open_issues))
    if may.is_admin:
        tabs.append(RepositoryTab(SETTINGS, "/settings"))
    return tabs


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
        **values,
    )
