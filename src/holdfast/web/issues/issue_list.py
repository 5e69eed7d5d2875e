"""The list of a repository's issues, with its filters."""

from dataclasses import dataclass
from typing import Final
from urllib.parse import urlencode

import msgspec

from holdfast.hosting import access
from holdfast.hosting.access import RepositoryAccess
from holdfast.hosting.guards import READ_ISSUES
from holdfast.hosting.http.endpoints import RawResponse, endpoint
from holdfast.hosting.http.pagination import PageParams
from holdfast.hosting.request_context import RequestContext
from holdfast.hosting.store import issue_lists
from holdfast.hosting.store.issue_lists import Filter
from holdfast.web.issues.choices import as_ids, choices
from holdfast.web.issues.label_colors import LabelBadge, is_dark
from holdfast.web.issues.rows import rows_of
from holdfast.web.pages import go
from holdfast.web.repository_frame import ISSUES, root_path, show_in

__all__ = ["SIZE", "SORTS", "IssueFilter", "page_issues", "page_pulls", "wished"]

SIZE: Final = 25
MOST_LABELS: Final = 20
SORTS: Final = {
    "newest": "Newest",
    "oldest": "Oldest",
    "recentupdate": "Recently updated",
    "leastupdate": "Least recently updated",
    "mostcomment": "Most commented",
    "nearduedate": "Nearest due date",
}
STATES: Final = {"open": False, "closed": True, "all": None}
TYPES: Final = ("issues", "pulls")
# Values for "no assignee or milestone" and "any".
SPECIAL: Final = ("none", "*")
# The color of a label that is not among the options: archived, of another repository, or beyond the limit.
GREY: Final = "8a8f8d"


class IssuesQuery(msgspec.Struct, frozen=True, kw_only=True):
    """The query string of the list."""

    state: str = "open"
    q: str = ""
    label: list[str] = []
    milestone: str = ""
    assignee: str = ""
    author: str = ""
    type: str = ""
    sort: str = "newest"
    ready: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class IssueFilter:
    """The filters of an issue list; invalid values are ignored."""

    state: str = "open"
    q: str = ""
    label: tuple[int, ...] = ()
    milestone: str = ""
    assignee: str = ""
    author: str = ""
    type: str = ""
    sort: str = "newest"
    ready: bool = False

    @property
    def is_narrow(self) -> bool:
        """Whether it filters by more than the state."""
        given = (self.q, self.label, self.milestone, self.assignee, self.author, self.type, self.ready)
        return any(given)

    def link(self, **changes: object) -> str:
        """Return the query string with some values replaced."""
        given = {name: getattr(self, name) for name in self.__dataclass_fields__} | changes
        pairs: list[tuple[str, str]] = []
        for name, field in self.__dataclass_fields__.items():
            value = given.pop(name)
            if name == "label":
                pairs += [("label", str(number)) for number in value]
            elif value and value != field.default:
                pairs.append((name, "true" if value is True else str(value)))
        pairs += [(name, str(value)) for name, value in given.items()]
        return f"?{urlencode(pairs)}"

    def with_label(self, number: int) -> str:
        """Return the query string with a label added."""
        return self.link(label=tuple(dict.fromkeys((*self.label, number))))

    def without_label(self, number: int) -> str:
        """Return the query string with a label removed."""
        return self.link(label=tuple(one for one in self.label if one != number))

    def filter(self, *, is_closed: bool | None) -> Filter:
        """Return the filter of the database query."""
        return Filter(
            is_closed=is_closed,
            text=self.q,
            label_ids=self.label,
            milestones=(self.milestone,) if self.milestone else (),
            author=self.author,
            assignee=self.assignee,
            is_ready=True if self.ready else None,
        )


def wished(query: IssuesQuery) -> IssueFilter:
    """Parse the query string of an issue list."""
    state = query.state if query.state in STATES else "open"
    milestone = query.milestone if query.milestone in SPECIAL or as_ids([query.milestone]) else ""
    ready = query.ready == "true"
    return IssueFilter(
        state="open" if ready else state,
        q=query.q.strip(),
        label=tuple(dict.fromkeys(as_ids(query.label[:MOST_LABELS]))),
        milestone=milestone,
        assignee=query.assignee.strip(),
        author=query.author.strip(),
        type=query.type if query.type in TYPES else "",
        sort=query.sort if query.sort in SORTS else "newest",
        ready=ready,
    )


@endpoint("GET /{owner}/{repo}/issues", scope="issue", guards=READ_ISSUES, slow=True)
def page_issues(
    request: RequestContext, target: RepositoryAccess, query: IssuesQuery, page: PageParams
) -> RawResponse:
    """List the issues of a repository."""
    database, repository = request.app.database, target.repository
    wish = wished(query)
    where = [issue_lists.in_repository(repository, access.issue_kinds(target.permissions, wish.type))]
    wanted = wish.filter(is_closed=STATES[wish.state])
    shown = PageParams(page.number, SIZE)
    found, total = issue_lists.list_issues(database, where, wanted, sort=wish.sort, skip=shown.skip, limit=SIZE)
    counts = {wish.state: total}
    if not wish.ready and wish.state != "all":
        other = "closed" if wish.state == "open" else "open"
        counts[other] = issue_lists.count_issues(database, where, wish.filter(is_closed=STATES[other]))
    chosen = choices(request, target, is_closed=None)
    known = {one.id: one for one in chosen.tags}
    return show_in(
        request,
        target,
        "issues/list.html",
        tab=ISSUES,
        title=f"Issues · {repository.full_name}",
        wish=wish,
        rows=rows_of(request, found, repository),
        total=total,
        counts=counts,
        number=shown.number,
        size=SIZE,
        choices=chosen,
        chosen=[
            known.get(number) or LabelBadge(number, f"label {number}", GREY, is_dark(GREY))
            for number in wish.label
        ],
        step=next((one.title for one in chosen.milestones if str(one.id) == wish.milestone), "No milestone"),
        sorts=SORTS,
        may_open=not repository.is_archived,
    )


@endpoint("GET /{owner}/{repo}/pulls", scope="issue", guards=READ_ISSUES)
def page_pulls(request: RequestContext, target: RepositoryAccess) -> RawResponse:  # noqa: ARG001  # every page has one
    """Redirect to the list of issues, limited to pull requests."""
    return go(f"{root_path(target)}/issues?type=pulls")
