"""Issues that depend on others: what blocks an issue, and what it blocks.

Of a dependency, the dependent is the issue that waits and the blocker is what it waits for. Whoever changes one
must be able to write the dependent and to read the blocker; otherwise the answer is 404.
"""

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Annotated, ClassVar, Final

import msgspec
from msgspec import Meta
from sqlalchemy import and_

from holdfast.hosting.access import RepositoryAccess
from holdfast.hosting.api.issue_access import may_write, the_issue
from holdfast.hosting.api.issue_meta import IssueMeta, Located, locate, locate_all
from holdfast.hosting.errors import DependencyCycle
from holdfast.hosting.guards import READ_ISSUES, in_repository, reads_issues, signed_in
from holdfast.hosting.http.context import RequestContext
from holdfast.hosting.http.endpoints import endpoint
from holdfast.hosting.http.errors import ApiError, ErrorBody
from holdfast.hosting.http.pagination import PagedList, PageParams, unbounded_page
from holdfast.hosting.schemas.dependencies import full_name, reader, shown
from holdfast.hosting.schemas.issues import IssueSchema, one_issue
from holdfast.hosting.store import dependencies, issue_lists, issues, visible_issues
from holdfast.hosting.store.issue_lists import in_repository as is_in_repository

__all__ = [
    "add_block",
    "add_dependency",
    "list_blocks",
    "list_dependencies",
    "remove_block",
    "remove_dependency",
    "set_dependencies",
]

LINKING: Final = (in_repository, reads_issues, signed_in)
# Where dependencies on other repositories are switched off, that is told as a text and nothing around it.
# Of a longer circle the beginning and the end are shown.
MOST_SHOWN: Final = 20
ALSO: Final = {400: str | ErrorBody}


class DependenciesOption(msgspec.Struct, frozen=True):
    """Everything an issue is to depend on; the list may also come alone."""

    dependencies: Annotated[list[IssueMeta], Meta(max_length=1000)] = []
    bare_list: ClassVar[str] = "dependencies"


def ask_to_link(dependent: Located) -> None:
    """Refuse to change what an issue waits for where nobody may, or the caller may not."""
    repository = dependent.place.repository
    if repository.is_archived or not repository.allows_dependencies:
        raise ApiError(404)
    if not may_write(dependent.place, dependent.issue):
        raise ApiError(404)


@contextmanager
def showing_circle(request: RequestContext) -> Iterator[None]:
    """Answer a circle with the way around it; what the caller may not read on the way is not named."""
    try:
        yield
    except DependencyCycle as error:
        path: list[int | None] = list(error.path)
        if len(path) > MOST_SHOWN:
            # How many are left out is not told: some may be hidden.
            path[MOST_SHOWN - 1 : -1] = [None]
        with request.app.database.read() as connection:
            seen = visible_issues.seen_by_id(connection, {one for one in path if one is not None}, reader(request))
        names: list[str] = []
        for number in path:
            if number is None:
                names.append("...")
                continue
            name = full_name(seen.get(number))
            # How many of them follow each other is nobody's business either.
            if not names or names[-1] != name or seen[number].is_readable:
                names.append(name)
        raise ApiError(409, f"circular dependency: {' -> '.join(names)}") from error


def link(request: RequestContext, dependent: Located, blocker: Located) -> None:
    """Let one issue wait for another."""
    ask_to_link(dependent)
    with showing_circle(request):
        dependencies.add_dependency(
            request.app.database, dependent.place.repository, dependent.issue, blocker.issue, actor=request.user
        )


def unlink(request: RequestContext, dependent: Located, blocker: Located) -> None:
    """Let one issue wait for another no more."""
    ask_to_link(dependent)
    dependencies.remove_dependency(
        request.app.database, dependent.place.repository, dependent.issue, blocker.issue, actor=request.user
    )


def shown_again(request: RequestContext, target: RepositoryAccess, index: int) -> IssueSchema:
    """Show the issue of the path as it is now."""
    return one_issue(request, target.repository, issues.find_issue(request.app.database, target.repository, index))


@endpoint("GET /repos/{owner}/{repo}/issues/{index}/dependencies", scope="issue", guards=READ_ISSUES, slow=True)
def list_dependencies(
    request: RequestContext, target: RepositoryAccess, index: int, page: PageParams
) -> PagedList[IssueSchema]:
    """List what blocks an issue; of those the caller may not read, only that they are there."""
    if not target.repository.allows_dependencies:
        raise ApiError(404)
    issue = the_issue(request, target, index)
    found, total = visible_issues.blockers_of(
        request.app.database, issue, reader(request), skip=page.skip, limit=page.size
    )
    return PagedList(shown(request, found, writes=may_write(target, issue)), total)


@endpoint(
    "POST /repos/{owner}/{repo}/issues/{index}/dependencies",
    scope="issue",
    guards=LINKING,
    status=201,
    refuses=(409, 423),
    also=ALSO,
)
def add_dependency(request: RequestContext, target: RepositoryAccess, index: int, body: IssueMeta) -> IssueSchema:
    """Let the issue be blocked by another."""
    dependent = Located(the_issue(request, target, index), target)
    link(request, dependent, locate(request, target, body))
    return shown_again(request, target, index)


@endpoint(
    "PUT /repos/{owner}/{repo}/issues/{index}/dependencies",
    scope="issue",
    guards=LINKING,
    refuses=(409, 423),
    also=ALSO,
)
def set_dependencies(
    request: RequestContext, target: RepositoryAccess, index: int, body: DependenciesOption
) -> IssueSchema:
    """Let the issue be blocked by exactly these, all at once or not at all.

    What the caller could not remove one by one stays: issues they may not read and, where dependencies on other
    repositories are switched off, issues of others.
    """
    dependent = Located(the_issue(request, target, index), target)
    wanted = locate_all(request, target, body.dependencies)
    ask_to_link(dependent)
    caller = request.actor
    removable = issue_lists.visible_to(caller.user, public_only=caller.public_only)
    if not request.app.settings.allow_cross_repository_dependencies:
        removable = and_(removable, is_in_repository(target.repository, (False, True)))
    with showing_circle(request):
        dependencies.set_dependencies(
            request.app.database,
            target.repository,
            dependent.issue,
            [one.issue for one in wanted],
            actor=request.user,
            removable=removable,
        )
    return shown_again(request, target, index)


@endpoint(
    "DELETE /repos/{owner}/{repo}/issues/{index}/dependencies",
    scope="issue",
    guards=LINKING,
    status=201,
    refuses=(409, 423),
    also=ALSO,
)
def remove_dependency(
    request: RequestContext, target: RepositoryAccess, index: int, body: IssueMeta
) -> IssueSchema:
    """Let the issue be blocked by another no more."""
    dependent = Located(the_issue(request, target, index), target)
    unlink(request, dependent, locate(request, target, body))
    return shown_again(request, target, index)


@endpoint("GET /repos/{owner}/{repo}/issues/{index}/blocks", scope="issue", guards=READ_ISSUES, slow=True)
def list_blocks(
    request: RequestContext, target: RepositoryAccess, index: int, page: PageParams
) -> PagedList[IssueSchema]:
    """List what an issue blocks, as far as the caller may read it; nothing else is counted either."""
    issue = the_issue(request, target, index)
    page = unbounded_page(request)
    found, total = visible_issues.blocked_by(
        request.app.database, issue, reader(request), skip=page.skip, limit=page.size
    )
    return PagedList(shown(request, found), total, page)


@endpoint(
    "POST /repos/{owner}/{repo}/issues/{index}/blocks",
    scope="issue",
    guards=LINKING,
    status=201,
    refuses=(409,),
    also=ALSO,
)
def add_block(request: RequestContext, target: RepositoryAccess, index: int, body: IssueMeta) -> IssueSchema:
    """Let the issue block another."""
    blocker = Located(the_issue(request, target, index), target)
    link(request, locate(request, target, body), blocker)
    return shown_again(request, target, index)


@endpoint(
    "DELETE /repos/{owner}/{repo}/issues/{index}/blocks",
    scope="issue",
    guards=LINKING,
    status=201,
    refuses=(409,),
    also=ALSO,
)
def remove_block(request: RequestContext, target: RepositoryAccess, index: int, body: IssueMeta) -> IssueSchema:
    """Let the issue block another no more."""
    blocker = Located(the_issue(request, target, index), target)
    unlink(request, locate(request, target, body), blocker)
    return shown_again(request, target, index)
