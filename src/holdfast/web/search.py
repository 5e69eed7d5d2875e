"""Search for repositories, issues and file names in everything the viewer may read."""

import time
from dataclasses import dataclass
from typing import Final
from urllib.parse import quote, urlencode

import msgspec

from holdfast.hosting.access import Unit
from holdfast.hosting.errors import GitError
from holdfast.hosting.git import refs
from holdfast.hosting.git.encoding import display_name
from holdfast.hosting.git.file_names import file_names
from holdfast.hosting.http.endpoints import RawResponse, endpoint
from holdfast.hosting.http.pagination import PageParams, page_of
from holdfast.hosting.request_context import RequestContext
from holdfast.hosting.schemas.issues import IssueSchema, issue_list
from holdfast.hosting.services import repository_search
from holdfast.hosting.store import issue_lists
from holdfast.hosting.store.issue_lists import Filter
from holdfast.hosting.store.repositories import Repository
from holdfast.hosting.store.tables import repositories as table
from holdfast.web.pages import page
from holdfast.web.repository_list import RepositoryLine, list_lines

__all__ = ["FileFound", "show_search"]

LONGEST: Final = 200
PER_PAGE: Final = 30
# File search: the most recently pushed repositories to search, the time limit, and the number of files shown.
REPOSITORIES_LOOKED_IN: Final = 50
SECONDS: Final = 1.5
FILES_SHOWN: Final = 50
TABS: Final = ("repositories", "issues", "files")


class WantedQuery(msgspec.Struct, frozen=True):
    """The search text, and the tab."""

    q: str = ""
    tab: str = ""


@dataclass(frozen=True, slots=True)
class FileFound:
    """A file whose path contains the search words."""

    repository: str
    path: str
    address: str


@dataclass(frozen=True, slots=True)
class FilesFound:
    """Found files, and whether the search was incomplete."""

    files: list[FileFound]
    is_partial: bool


@dataclass(frozen=True, slots=True)
class Tab:
    """A tab: one kind of search result."""

    name: str
    address: str
    count: str
    is_current: bool


def search_files(request: RequestContext, text: str) -> FilesFound:
    """Search file names of the most recently pushed repositories, up to a time limit."""
    words = text.casefold().split()
    code = repository_search.visible(request.actor, Unit.CODE.value)
    repository_page = repository_search.list_visible(
        request.app,
        request.actor,
        [code, table.c.has_code, ~table.c.is_empty],
        sort="pushed",
        descending=True,
        limit=REPOSITORIES_LOOKED_IN,
    )
    files: list[FileFound] = []
    end = time.monotonic() + SECONDS
    is_partial = repository_page.total > len(repository_page.items)
    for repository in repository_page.items:
        if time.monotonic() > end or len(files) >= FILES_SHOWN:
            return FilesFound(files[:FILES_SHOWN], True)
        more, cut = files_in(request, repository, words)
        files += more
        is_partial = is_partial or cut
    return FilesFound(files[:FILES_SHOWN], is_partial or len(files) > FILES_SHOWN)


def files_in(request: RequestContext, repository: Repository, words: list[str]) -> tuple[list[FileFound], bool]:
    """Search the default branch of a repository; one that cannot be read counts as incomplete."""
    try:
        repo = request.app.copies.open(repository)
        head = refs.branch(repo, repository.default_branch)
        if head is None:
            return [], False
        names = file_names(repo, head.id)
    except GitError:
        return [], True
    root = f"/{quote(repository.full_name)}/src/branch/{quote(repository.default_branch)}"
    paths = names.holding(words)
    results = [
        FileFound(repository.full_name, display_name(path), f"{root}/{quote(path)}")
        for path in paths[:FILES_SHOWN]
    ]
    return results, names.is_cut or len(paths) > FILES_SHOWN


def search_issues(request: RequestContext, text: str, params: PageParams) -> tuple[list[IssueSchema], int]:
    """Search the issues and pull requests the viewer may read, open and closed, the newest first."""
    where = [issue_lists.visible_to(request.actor.user, public_only=request.actor.public_only)]
    issues, total = issue_lists.list_issues(
        request.app.database, where, Filter(text=text), sort="newest", skip=params.skip, limit=params.size
    )
    return issue_list(request, issues), total


@endpoint("GET /-/search", scope=("repository", "issue"), slow=True)
def show_search(request: RequestContext, query: WantedQuery) -> RawResponse:
    """Show the search results of a tab."""
    text = " ".join(query.q.split())[:LONGEST]
    params = PageParams(page_of(request).number, PER_PAGE)
    first = PageParams(1, PER_PAGE)
    current = query.tab if query.tab in TABS else ""
    if not text:
        return page(request, "search.html", title="Search", q="", tabs=[], current="repositories", total=0)
    repository_lines: list[RepositoryLine]
    at = params if current in {"", "repositories"} else first
    repository_lines, repository_total = list_lines(
        request, [], matches=[repository_search.named_like(request.app, text)], skip=at.skip, limit=PER_PAGE
    )
    issues, issue_total = search_issues(request, text, params if current == "issues" else first)
    files = search_files(request, text)
    counts = {
        "repositories": f"{repository_total:,}",
        "issues": f"{issue_total:,}",
        "files": f"{len(files.files):,}{'+' if files.is_partial and files.files else ''}",
    }
    if not current:
        totals = {"repositories": repository_total, "issues": issue_total, "files": len(files.files)}
        current = next((name for name in TABS if totals[name]), "repositories")
    tabs = [
        Tab(name, f"/-/search?{urlencode({'q': text, 'tab': name})}", counts[name], name == current)
        for name in TABS
    ]
    return page(
        request,
        "search.html",
        title=f"{text} · Search",
        q=text,
        tabs=tabs,
        current=current,
        found=repository_lines,
        issues=issues,
        files=files,
        number=params.number,
        size=PER_PAGE,
        total={"repositories": repository_total, "issues": issue_total}.get(current, 0),
        list_at=f"/-/search?{urlencode({'q': text, 'tab': current, 'page': ''})}",
    )
