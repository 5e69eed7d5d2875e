"""The session of a git client: authentication, repository and permissions."""

from collections.abc import AsyncIterator
from typing import Final

from starlette.types import Receive

from holdfast.hosting import access
from holdfast.hosting.access import Actor, Mode, Permissions, Unit
from holdfast.hosting.app import App
from holdfast.hosting.authentication import Authenticator
from holdfast.hosting.errors import BodyDamaged, NoSuchRepository
from holdfast.hosting.guards import permissions_of_caller
from holdfast.hosting.http.errors import ApiError
from holdfast.hosting.request_context import RequestContext
from holdfast.hosting.services import maintainer_edits
from holdfast.hosting.store import accounts, repositories
from holdfast.hosting.store.database import Database
from holdfast.hosting.store.repositories import Repository

__all__ = [
    "GitSession",
    "body_of",
    "challenge",
    "find_repository",
    "only_branches",
    "open_session",
    "require_code",
]

CHALLENGE: Final = {"WWW-Authenticate": 'Basic realm="Gitea"'}


class GitSession:
    """A request of a git client, with its repository and permissions."""

    def __init__(
        self,
        request: RequestContext,
        repository: Repository,
        may: Permissions,
        only_branches: frozenset[str] | None = None,
    ) -> None:
        self.call = request
        self.repository = repository
        self.may = may
        self.only_branches = only_branches
        """The branches that may be pushed to as a maintainer of a pull request's base; None for all refs."""


def challenge(refusal: ApiError) -> ApiError:
    """Return the 401 response to wrong credentials."""
    return ApiError(401, refusal.message, headers=CHALLENGE)


def open_session(authenticator: Authenticator, request: RequestContext, *, writing: bool) -> GitSession:
    """Authenticate a request and check its permissions; anonymous clients get a 401 challenge."""
    request.actor = authenticator.identify(request)
    anonymous = request.actor.user is None
    try:
        repository = find_repository(request.app.database, request.path["owner"], request.path["repo"])
    except NoSuchRepository:
        # Anonymous clients are always challenged, so as not to reveal which private repositories exist.
        raise not_found_error(anonymous=anonymous) from None
    may = permissions_of_caller(request, repository)
    if may.mode == Mode.NONE:
        raise not_found_error(anonymous=anonymous)
    if not access.allows(request.actor, ("repository",), write=writing):
        raise ApiError(403, "the token's scopes do not reach this repository")
    if writing and anonymous:
        raise not_found_error(anonymous=True)
    only = only_branches(request.app, request.actor, repository, may) if writing else None
    require_code(repository, may, writing=writing, only_branches=only)
    return GitSession(request, repository, may, only)


def only_branches(app: App, actor: Actor, repository: Repository, may: Permissions) -> frozenset[str] | None:
    """Return the branches that a user without write access may push to; None with write access."""
    if may.may_write(Unit.CODE):
        return None
    return maintainer_edits.editable_branches(app, actor, repository)


def require_code(
    repository: Repository, may: Permissions, *, writing: bool, only_branches: frozenset[str] | None = None
) -> None:
    """Raise a 403 error unless the code of a repository may be read, or written to, at least for some branches."""
    if not may.may_read(Unit.CODE):
        raise ApiError(403, "you may not read the code of this repository")
    if writing:
        if not may.may_write(Unit.CODE) and not only_branches:
            raise ApiError(403, "you may not write to this repository")
        if repository.is_archived:
            raise ApiError(403, "this repository is archived and cannot be written to")
        if repository.is_mirror:
            raise ApiError(403, "this repository is a mirror and cannot be written to")


def find_repository(database: Database, owner: str, name: str) -> Repository:
    """Find the repository by name, or by a former name of it or its owner.

    It is served under the old name, without a redirect: git sends credentials only to the original URL, and not
    every LFS client follows redirects.
    """
    repository = find_current_or_former(database, owner, name)
    if repository is None:
        renamed = accounts.renamed_to(database, owner)
        repository = None if renamed is None else find_current_or_former(database, renamed.name, name)
    if repository is None:
        raise NoSuchRepository(f"there is no repository {owner}/{name}")
    return repository


def find_current_or_former(database: Database, owner: str, name: str) -> Repository | None:
    """Return the repository with a current or former name of an owner."""
    try:
        return repositories.find_repository(database, owner, name)
    except NoSuchRepository:
        return repositories.redirected_repository(database, owner, name)


def not_found_error(*, anonymous: bool) -> ApiError:
    """Return the 404 error, or the 401 challenge for anonymous clients."""
    if anonymous:
        return ApiError(401, "credentials are needed", headers=CHALLENGE)
    return ApiError(404, "repository not found")


async def body_of(_call: RequestContext, receive_message: Receive) -> AsyncIterator[bytes]:
    """Yield a request's body; raise `BodyDamaged` if the client disconnects."""
    more = True
    while more:
        message = await receive_message()
        if message["type"] == "http.disconnect":
            raise BodyDamaged("the client disconnected")
        chunk = message.get("body", b"")
        more = message.get("more_body", False)
        if chunk:
            yield chunk
