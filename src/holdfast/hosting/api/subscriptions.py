"""Stars and watches of repositories."""

from typing import Final

import msgspec

from holdfast.hosting.access import RepositoryAccess
from holdfast.hosting.guards import UserFromPath, in_repository, of_user, person, signed_in
from holdfast.hosting.http.endpoints import endpoint
from holdfast.hosting.http.errors import ApiError
from holdfast.hosting.http.pagination import PagedList, PageParams
from holdfast.hosting.request_context import RequestContext
from holdfast.hosting.schemas.git import repository_api
from holdfast.hosting.schemas.repositories import RepositorySchema, repository_list
from holdfast.hosting.schemas.times import Time, moment
from holdfast.hosting.schemas.users import UserSchema, user
from holdfast.hosting.services import subscriptions
from holdfast.hosting.store.accounts import Account
from holdfast.hosting.store.subscriptions import Kind

__all__ = [
    "WatchInfo",
    "check_star",
    "list_own_stars",
    "list_own_watches",
    "list_stargazers",
    "list_stars",
    "list_subscribers",
    "list_watches",
    "show_watch",
    "star",
    "unstar",
    "unwatch",
    "watch",
]

MINE: Final = (in_repository, signed_in)
# The lists of a user have repositories, also private ones.
OF_USER: Final = ("user", "repository")


class WatchInfo(msgspec.Struct, frozen=True):
    """Whether the authenticated user watches a repository, and since when."""

    subscribed: bool
    ignored: bool
    reason: None
    created_at: Time
    url: str
    repository_url: str


def watch_info(request: RequestContext, target: RepositoryAccess, since: int) -> WatchInfo:
    """Encode a watch."""
    api = repository_api(request, target.repository)
    return WatchInfo(
        subscribed=True,
        ignored=False,
        reason=None,
        created_at=moment(since),
        url=f"{api}/subscription",
        repository_url=api,
    )


def repositories_of(
    request: RequestContext, account: Account, kind: Kind, page: PageParams
) -> PagedList[RepositorySchema]:
    """List the repositories that a user starred or watches."""
    repository_page = subscriptions.list_repositories(
        request.app, request.actor, account, kind, skip=page.skip, limit=page.size
    )
    return PagedList(repository_list(request, repository_page.items), repository_page.total)


def users_of(
    request: RequestContext, target: RepositoryAccess, kind: Kind, page: PageParams
) -> PagedList[UserSchema]:
    """List the users who starred or watch a repository."""
    accounts, total = subscriptions.list_users(
        request.app, request.actor, target, kind, skip=page.skip, limit=page.size
    )
    return PagedList([user(request, account) for account in accounts], total)


@endpoint("GET /user/starred", scope=OF_USER, guards=(signed_in,), refuses=(401, 403))
def list_own_stars(request: RequestContext, page: PageParams) -> PagedList[RepositorySchema]:
    """List the repositories that the authenticated user has starred."""
    return repositories_of(request, request.user, "star", page)


@endpoint("GET /users/{username}/starred", scope=OF_USER, guards=(of_user, person), refuses=(403, 404))
def list_stars(request: RequestContext, subject: UserFromPath, page: PageParams) -> PagedList[RepositorySchema]:
    """List the repositories that a user has starred and the caller may see."""
    return repositories_of(request, subject.account, "star", page)


@endpoint("GET /user/starred/{owner}/{repo}", scope=OF_USER, guards=MINE, refuses=(401, 403, 404))
def check_star(request: RequestContext, target: RepositoryAccess) -> None:
    """Respond with 204 if the authenticated user has starred a repository, else 404."""
    if subscriptions.since(request.app, request.actor, target, "star") is None:
        raise ApiError(404)


@endpoint("PUT /user/starred/{owner}/{repo}", scope=OF_USER, guards=MINE, refuses=(401, 403, 404))
def star(request: RequestContext, target: RepositoryAccess) -> None:
    """Star a repository."""
    subscriptions.add(request.app, request.actor, target, "star")


@endpoint("DELETE /user/starred/{owner}/{repo}", scope=OF_USER, guards=MINE, refuses=(401, 403, 404))
def unstar(request: RequestContext, target: RepositoryAccess) -> None:
    """Unstar a repository."""
    subscriptions.remove(request.app, request.actor, target, "star")


@endpoint("GET /repos/{owner}/{repo}/stargazers", scope="repository", guards=(in_repository,), refuses=(403, 404))
def list_stargazers(request: RequestContext, target: RepositoryAccess, page: PageParams) -> PagedList[UserSchema]:
    """List the users who starred a repository."""
    return users_of(request, target, "star", page)


@endpoint("GET /user/subscriptions", scope=OF_USER, guards=(signed_in,), refuses=(401, 403))
def list_own_watches(request: RequestContext, page: PageParams) -> PagedList[RepositorySchema]:
    """List the repositories that the authenticated user watches."""
    return repositories_of(request, request.user, "watch", page)


@endpoint("GET /users/{username}/subscriptions", scope=OF_USER, guards=(of_user, person), refuses=(403, 404))
def list_watches(request: RequestContext, subject: UserFromPath, page: PageParams) -> PagedList[RepositorySchema]:
    """List the repositories that a user watches and the caller may see."""
    return repositories_of(request, subject.account, "watch", page)


@endpoint("GET /repos/{owner}/{repo}/subscribers", scope="repository", guards=(in_repository,), refuses=(404,))
def list_subscribers(request: RequestContext, target: RepositoryAccess, page: PageParams) -> PagedList[UserSchema]:
    """List the users who watch a repository."""
    return users_of(request, target, "watch", page)


@endpoint("GET /repos/{owner}/{repo}/subscription", scope="repository", guards=MINE, refuses=(401, 403, 404))
def show_watch(request: RequestContext, target: RepositoryAccess) -> WatchInfo:
    """Show whether the authenticated user watches a repository; 404 if not."""
    since = subscriptions.since(request.app, request.actor, target, "watch")
    if since is None:
        raise ApiError(404)
    return watch_info(request, target, since)


@endpoint("PUT /repos/{owner}/{repo}/subscription", scope="repository", guards=MINE, refuses=(401, 403, 404))
def watch(request: RequestContext, target: RepositoryAccess) -> WatchInfo:
    """Watch a repository."""
    return watch_info(request, target, subscriptions.add(request.app, request.actor, target, "watch"))


@endpoint("DELETE /repos/{owner}/{repo}/subscription", scope="repository", guards=MINE, refuses=(401, 403, 404))
def unwatch(request: RequestContext, target: RepositoryAccess) -> None:
    """Stop watching a repository."""
    subscriptions.remove(request.app, request.actor, target, "watch")
