"""The frame around every page of a repository: its name and the tabs somebody may open."""

from dataclasses import dataclass
from typing import Final
from urllib.parse import quote

from holdfast.hosting.access import Unit
from holdfast.hosting.guards import Place
from holdfast.hosting.http.context import Call
from holdfast.hosting.http.endpoints import Raw
from holdfast.web.live_references import without_dead_references
from holdfast.web.pages import page

__all__ = ["root_path", "show_in"]

CODE, COMMITS, ISSUES, SETTINGS = "Code", "Commits", "Issues", "Settings"
NAMES: Final = (CODE, COMMITS, ISSUES, SETTINGS)


@dataclass(frozen=True, slots=True)
class Tab:
    """One part of a repository."""

    name: str
    path: str
    count: int | None = None


def root_path(place: Place) -> str:
    """Return where a repository lies on the website, from its root."""
    return f"/{quote(place.repository.owner.name)}/{quote(place.repository.name)}"


def tabs_of(place: Place) -> list[Tab]:
    """Return the tabs somebody may open."""
    may = place.access
    tabs: list[Tab] = []
    if may.may_read(Unit.CODE):
        tabs += [Tab(CODE, ""), Tab(COMMITS, f"/commits/branch/{quote(place.repository.default_branch)}")]
    if may.may_read(Unit.ISSUES):
        tabs.append(Tab(ISSUES, "/issues", place.repository.open_issues))
    if may.is_admin:
        tabs.append(Tab(SETTINGS, "/settings"))
    return tabs


def show_in(
    call: Call, place: Place, template: str, *, tab: str, title: str, status: int = 200, **values: object
) -> Raw:
    """Make a page of a repository; its template extends `repository.html` and fills the block `inside`."""
    return page(
        call,
        template,
        lambda html: without_dead_references(call, place, html),
        title=title,
        status=status,
        repository=place.repository,
        access=place.access,
        root=root_path(place),
        tabs=tabs_of(place),
        current=tab,
        **values,
    )
