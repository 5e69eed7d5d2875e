"""Subscriptions to single issues and pull requests."""

from holdfast.hosting.access import RepositoryAccess
from holdfast.hosting.api.subscriptions import WatchInfo
from holdfast.hosting.errors import NoSuchUser
from holdfast.hosting.guards import LINK_ISSUES, READ_ISSUES, knows_of
from holdfast.hosting.http.endpoints import RawResponse, endpoint
from holdfast.hosting.http.errors import ApiError
from holdfast.hosting.http.pagination import PagedList, PageParams
from holdfast.hosting.request_context import RequestContext
from holdfast.hosting.schemas.git import repository_api
from holdfast.hosting.schemas.times import moment
from holdfast.hosting.schemas.users import UserSchema
from holdfast.hosting.schemas.users import user as encoded
from holdfast.hosting.services import issue_subscriptions as service
from holdfast.hosting.services import issues
from holdfast.hosting.store.accounts import find_user

__all__ = ["list_issue_subscribers", "show_issue_subscription", "subscribe_to_issue", "unsubscribe_from_issue"]


@endpoint("GET /repos/{owner}/{repo}/issues/{index}/subscriptions", scope="issue", guards=READ_ISSUES)
def list_issue_subscribers(
    request: RequestContext, target: RepositoryAccess, index: int, page: PageParams
) -> PagedList[UserSchema]:
    """List the users who subscribed to an issue."""
    issue = issues.find(request.app, target, index)
    accounts, total = service.list_subscribers(request.app, request.actor, issue, skip=page.skip, limit=page.size)
    return PagedList([encoded(request, account) for account in accounts], total)


@endpoint("GET /repos/{owner}/{repo}/issues/{index}/subscriptions/check", scope="issue", guards=LINK_ISSUES)
def show_issue_subscription(request: RequestContext, target: RepositoryAccess, index: int) -> WatchInfo:
    """Show whether the caller is subscribed to an issue: explicitly, or by participating or watching."""
    issue = issues.find(request.app, target, index)
    subscribed = service.is_subscribed(request.app, request.actor, issue)
    api = repository_api(request, target.repository)
    return WatchInfo(
        subscribed=subscribed,
        ignored=not subscribed,
        reason=None,
        created_at=moment(issue.created_at),
        url=f"{api}/issues/{issue.number}/subscriptions",
        repository_url=api,
    )


def choose(
    request: RequestContext, target: RepositoryAccess, index: int, name: str, *, is_subscribed: bool
) -> RawResponse:
    """Subscribe or unsubscribe the user in the path."""
    issue = issues.find(request.app, target, index)
    try:
        account = find_user(request.app.database, name)
    except NoSuchUser:
        raise ApiError(404) from None
    if not knows_of(request, account):
        raise ApiError(404)
    changed = service.choose(request.app, request.actor, issue, account, is_subscribed=is_subscribed)
    return RawResponse((), status=201 if changed else 200)


@endpoint(
    "PUT /repos/{owner}/{repo}/issues/{index}/subscriptions/{user}",
    scope="issue",
    guards=LINK_ISSUES,
    also={201: RawResponse},
    refuses=(403, 404),
)
def subscribe_to_issue(request: RequestContext, target: RepositoryAccess, index: int, user: str) -> RawResponse:
    """Subscribe a user to an issue; 200 if already subscribed. Site administrators can subscribe others."""
    return choose(request, target, index, user, is_subscribed=True)


@endpoint(
    "DELETE /repos/{owner}/{repo}/issues/{index}/subscriptions/{user}",
    scope="issue",
    guards=LINK_ISSUES,
    also={201: RawResponse},
    refuses=(403, 404),
)
def unsubscribe_from_issue(
    request: RequestContext, target: RepositoryAccess, index: int, user: str
) -> RawResponse:
    """Unsubscribe a user from an issue; 200 if not subscribed."""
    return choose(request, target, index, user, is_subscribed=False)
