"""The lists of a repository's issues and of its pull requests, with their filters."""

from dataclasses import dataclass, replace
from typing import Final
from urllib.parse import urlencode

import msgspec

from holdfast.hosting import access
from holdfast.hosting.access import RepositoryAccess, Unit
from holdfast.hosting.guards import READ_ISSUES, in_repository, sees_pulls
from holdfast.hosting.http.endpoints import RawResponse, endpoint
from holdfast.hosting.http.pagination import PageParams
from holdfast.hosting.request_context import RequestContext
from holdfast.hosting.store import issue_lists
from holdfast.hosting.store.accounts import Account
from holdfast.hosting.store.issue_lists import Filter
from holdfast.web.issues.choices import NO_CHOICES, Choices, as_ids, choices
from holdfast.web.issues.label_colors import LabelBadge, is_dark
from holdfast.web.issues.rows import rows_of
from holdfast.web.issues.search_text import IssueSearchText, parse_search, write_search
from holdfast.web.pages import redirect_to
from holdfast.web.repository_frame import ISSUES, PULLS, root_path, show_in

__all__ = [
    "SIZE",
    "SORTS",
    "STATES",
    "IssueFilter",
    "IssuesQuery",
    "page_issues",
    "page_pulls",
    "parse_filter",
]

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
TYPES: Final = ("issues", "pulls", "all")
# Values for "no assignee or milestone" and "any".
SPECIAL: Final = ("none", "*")
# The color of a label that is not among the options: archived, of another repository, or beyond the limit.
GREY: Final = "8a8f8d"


class IssuesQuery(msgspec.Struct, frozen=True, kw_only=True):
    """The query string of the list."""

    state: str = ""
    q: str = ""
    label: list[str] = []
    milestone: str = ""
    assignee: str = ""
    author: str = ""
    review_requested: str = ""
    reviewed_by: str = ""
    type: str = ""
    sort: str = ""
    ready: str = ""
    blocked: str = ""
    without: list[str] = []


@dataclass(frozen=True, slots=True, kw_only=True)
class IssueFilter:
    """The filters of an issue list; invalid values are ignored."""

    state: str = "open"
    q: str = ""
    label: tuple[int, ...] = ()
    milestone: str = ""
    assignee: str = ""
    author: str = ""
    review_requested: str = ""
    reviewed_by: str = ""
    type: str = ""
    sort: str = "newest"
    ready: bool = False
    blocked: bool = False
    without: tuple[int, ...] = ()
    """Labels that an issue must not have; used by the links of a board."""

    @property
    def is_narrow(self) -> bool:
        """Whether it filters by more than the state."""
        values = (self.q, self.label, self.milestone, self.assignee, self.author, self.type, self.without)
        return any((*values, self.review_requested, self.reviewed_by, self.ready, self.blocked))

    def link(self, **changes: object) -> str:
        """Return the query string with some values replaced."""
        parameters = {name: getattr(self, name) for name in self.__dataclass_fields__} | changes
        pairs: list[tuple[str, str]] = []
        if parse_search(str(parameters["q"])).kind:
            # A text with a qualifier would override these values.
            pairs += [("state", str(parameters["state"])), ("type", str(parameters["type"] or "issues"))]
            parameters |= {"state": "", "type": ""}
        for name, field in self.__dataclass_fields__.items():
            value = parameters.pop(name)
            if name in {"label", "without"}:
                pairs += [(name, str(number)) for number in value]
            elif value and value != field.default:
                pairs.append((name, "true" if value is True else str(value)))
        pairs += [(name, str(value)) for name, value in parameters.items()]
        return f"?{urlencode(pairs)}"

    def with_label(self, number: int) -> str:
        """Return the query string with a label added."""
        return self.link(label=tuple(dict.fromkeys((*self.label, number))))

    def without_label(self, number: int) -> str:
        """Return the query string with a label removed."""
        return self.link(label=tuple(label for label in self.label if label != number))

    def filter(self, *, is_closed: bool | None) -> Filter:
        """Return the filter of the database query; unknown labels and milestones stay in `q`."""
        issue_search_text = parse_search(self.q)
        milestone = self.milestone or issue_search_text.milestone
        return Filter(
            is_closed=is_closed,
            text=issue_search_text.words,
            labels=issue_search_text.labels,
            label_ids=self.label,
            without_label_ids=self.without,
            milestones=(milestone,) if milestone else (),
            author=self.author,
            assignee=self.assignee,
            review_requested_from=self.review_requested,
            reviewed_by=self.reviewed_by,
            is_ready=True if self.ready else False if self.blocked else None,
        )

    def search_text(self, kind: str, choices: Choices) -> str:
        """Return the text of the search field, with all filters as qualifiers."""
        issue_search_text = parse_search(self.q)
        names = {label_badge.id: label_badge.name for label_badge in choices.tags}
        titles = {str(milestone.id): milestone.title for milestone in choices.milestones}
        return write_search(
            IssueSearchText(
                state=self.state,
                kind=kind,
                labels=(*(names.get(number, str(number)) for number in self.label), *issue_search_text.labels),
                milestone=titles.get(self.milestone, self.milestone) or issue_search_text.milestone,
                assignee=self.assignee,
                author=self.author,
                review_requested=self.review_requested,
                reviewed_by=self.reviewed_by,
                is_blocked=False if self.ready else True if self.blocked else None,
                sort=self.sort,
                words=issue_search_text.words,
            )
        )


def parse_filter(query: IssuesQuery, choices: Choices = NO_CHOICES, user: Account | None = None) -> IssueFilter:
    """Parse the query string of an issue list: the search field, then the menus."""
    search = parse_search(query.q)
    state = query.state if query.state in STATES else search.state or "open"
    label_ids = as_ids(query.label[:MOST_LABELS])
    ids_by_name = {label_badge.name.casefold(): label_badge.id for label_badge in choices.tags}
    unknown = []
    for name in search.labels[:MOST_LABELS]:
        number = ids_by_name.get(name.casefold())
        if number is None:
            unknown.append(name)
        else:
            label_ids.append(number)
    milestone = query.milestone if query.milestone in SPECIAL or as_ids([query.milestone]) else ""
    wanted = search.milestone.casefold()
    if not milestone and wanted:
        by_title = {choice.title.casefold(): str(choice.id) for choice in choices.milestones}
        milestone = wanted if wanted in SPECIAL else by_title.get(wanted, "")
    issue_search_text = IssueSearchText(
        labels=tuple(unknown), milestone="" if milestone else search.milestone, words=search.words
    )
    # Only open issues can be blocked or ready.
    ready = query.ready == "true" or search.is_blocked is False
    blocked = (query.blocked == "true" or bool(search.is_blocked)) and not ready
    kind = query.type if query.type in TYPES else search.kind
    return IssueFilter(
        state="open" if ready or blocked else state,
        q=write_search(issue_search_text),
        label=tuple(dict.fromkeys(label_ids)),
        milestone=milestone,
        assignee=person(query.assignee.strip() or search.assignee, user),
        author=person(query.author.strip() or search.author, user),
        review_requested=person(query.review_requested.strip() or search.review_requested, user),
        reviewed_by=person(query.reviewed_by.strip() or search.reviewed_by, user),
        type="" if kind == "issues" else kind,
        sort=query.sort if query.sort in SORTS else search.sort or "newest",
        ready=ready,
        blocked=blocked,
        without=tuple(dict.fromkeys(as_ids(query.without[:MOST_LABELS]))),
    )


def person(name: str, user: Account | None) -> str:
    """Return the name of a user; `@me` is the signed-in user."""
    return user.name if name == "@me" and user is not None else name


@endpoint("GET /{owner}/{repo}/issues", scope="issue", guards=READ_ISSUES, slow=True)
def page_issues(
    request: RequestContext, target: RepositoryAccess, query: IssuesQuery, page: PageParams
) -> RawResponse:
    """List the issues of a repository; with `type=all` its pull requests as well."""
    chosen = choices(request, target, is_closed=None)
    issue_filter = parse_filter(query, chosen, request.actor.user)
    if issue_filter.type == "pulls" or not target.permissions.may_read(Unit.ISSUES):
        return redirect_to(f"{root_path(target)}/pulls{replace(issue_filter, type='').link()}")
    return list_page(request, target, issue_filter, page, chosen, kind=issue_filter.type or "issues")


@endpoint("GET /{owner}/{repo}/pulls", scope="issue", guards=(in_repository, sees_pulls), slow=True)
def page_pulls(
    request: RequestContext, target: RepositoryAccess, query: IssuesQuery, page: PageParams
) -> RawResponse:
    """List the pull requests of a repository."""
    chosen = choices(request, target, is_closed=None)
    issue_filter = replace(parse_filter(query, chosen, request.actor.user), type="")
    asks_issues = parse_search(query.q).kind == "issues"
    if asks_issues and target.permissions.may_read(Unit.ISSUES):
        return redirect_to(f"{root_path(target)}/issues{issue_filter.link()}")
    return list_page(request, target, issue_filter, page, chosen, kind="pulls")


def list_page(
    request: RequestContext,
    target: RepositoryAccess,
    issue_filter: IssueFilter,
    page: PageParams,
    chosen: Choices,
    *,
    kind: str,
) -> RawResponse:
    """Render a page of the issues (`issues`), of the pull requests (`pulls`), or of both (`all`)."""
    database, repository = request.app.database, target.repository
    kinds = access.issue_kinds(target.permissions, kind)
    where, kept = [issue_lists.in_repository(repository, kinds)], issue_lists.kept_in(repository, kinds)
    wanted = issue_filter.filter(is_closed=STATES[issue_filter.state])
    page_params = PageParams(page.number, SIZE)
    issues, total = issue_lists.list_issues(
        database,
        where,
        wanted,
        sort=issue_filter.sort,
        kept=kept,
        repository_id=repository.id,
        skip=page_params.skip,
        limit=SIZE,
    )
    counts = {issue_filter.state: total}
    if not (issue_filter.ready or issue_filter.blocked) and issue_filter.state != "all":
        other_state = "closed" if issue_filter.state == "open" else "open"
        counts[other_state] = issue_lists.count_issues(
            database,
            where,
            issue_filter.filter(is_closed=STATES[other_state]),
            kept=kept,
            repository_id=repository.id,
        )
    badges_by_id = {label_badge.id: label_badge for label_badge in chosen.tags}
    return show_in(
        request,
        target,
        "issues/list.html",
        tab=PULLS if kind == "pulls" else ISSUES,
        title=f"{'Pull requests' if kind == 'pulls' else 'Issues'} · {repository.full_name}",
        kind=kind,
        here_path=f"{root_path(target)}/{'pulls' if kind == 'pulls' else 'issues'}",
        issue_filter=issue_filter,
        search_text=issue_filter.search_text(kind, chosen),
        rows=rows_of(request, issues, repository),
        total=total,
        counts=counts,
        number=page_params.number,
        size=SIZE,
        choices=chosen,
        chosen=[
            badges_by_id.get(number) or LabelBadge(number, f"label {number}", GREY, is_dark(GREY))
            for number in issue_filter.label
        ],
        step=next(
            (milestone.title for milestone in chosen.milestones if str(milestone.id) == issue_filter.milestone),
            "No milestone",
        ),
        sorts=SORTS,
        may_open=not repository.is_archived,
        may_compare=target.permissions.may_read(Unit.CODE),
    )
