"""Guards: preconditions of endpoints, run in the declared order; the first failure decides the error.

The result of a guard is passed to the handler parameter of the same type.
"""

from dataclasses import dataclass
from typing import Final
from urllib.parse import quote, unquote

from holdfast.hosting import access
from holdfast.hosting.access import (
    Mode,
    OrganizationAccess,
    Permissions,
    RepositoryAccess,
    TeamAccess,
    Unit,
    WebhookOwner,
)
from holdfast.hosting.errors import NoSuchAccount, NoSuchRepository, NoSuchTeam, NoSuchUser
from holdfast.hosting.http.endpoints import number
from holdfast.hosting.http.errors import ApiError
from holdfast.hosting.request_context import RequestContext
from holdfast.hosting.services import organizations, teams, transfers, users, webhooks
from holdfast.hosting.services.repositories import permissions_in
from holdfast.hosting.store import accounts, repositories
from holdfast.hosting.store.accounts import Account
from holdfast.hosting.store.repositories import Repository

__all__ = [
    "CHANGE_ISSUES",
    "LINK_ISSUES",
    "MANAGE_ISSUES",
    "ORGANIZATION_WEBHOOKS",
    "OWN_WEBHOOKS",
    "READ_ISSUES",
    "REPOSITORY_WEBHOOKS",
    "SERVICE_WEBHOOKS",
    "UserFromPath",
    "administers",
    "editable",
    "in_its_organization",
    "in_organization",
    "in_repository",
    "in_team",
    "in_transferred_repository",
    "knows_of",
    "not_archived",
    "of_user",
    "owns",
    "owns_organization",
    "owns_team",
    "person",
    "reads",
    "reads_issues",
    "sees_issues",
    "sees_pulls",
    "sees_team",
    "signed_in",
    "site_admin",
    "with_password",
    "writes",
    "writes_issues",
]

# The index of the first name in a path: after "", "api", "v1" and a collection.
FIRST_NAME: Final = 4


@dataclass(frozen=True, slots=True)
class UserFromPath:
    """The user named in the path."""

    account: Account


def signed_in(request: RequestContext) -> None:
    """Require a signed-in user."""
    access.require_login(request.actor)


def with_password(request: RequestContext) -> None:
    """Require a password: a token must not create tokens."""
    access.require_password(request.actor)


def site_admin(request: RequestContext) -> None:
    """Require an administrator of the service."""
    access.require_site_admin(request.actor)


def redirect(request: RequestContext, status: int, old: tuple[str, ...], new: tuple[str, ...]) -> ApiError:
    """Return the redirect from an old name to the current one."""
    sent: bytes = request.scope.get("raw_path") or quote(request.scope["path"]).encode()
    parts = sent.decode("ascii", "replace").split("/")
    names = [unquote(part) for part in parts]
    # Skip the first segments, the prefix and a collection: they may equal a name.
    first = FIRST_NAME if parts[1:3] == ["api", "v1"] else 1
    for start in range(first, len(parts) - len(old) + 1):
        if tuple(names[start : start + len(old)]) == old:
            parts[start : start + len(old)] = [quote(name) for name in new]
            break
    query: bytes = request.scope["query_string"]
    address = request.root + "/".join(parts) + ("?" + query.decode("ascii", "replace") if query else "")
    return ApiError(status, "moved", headers={"Location": address})


def knows_of(request: RequestContext, account: Account) -> bool:
    """Return whether an account is visible to the caller; memberships are loaded only if needed."""
    return users.is_visible(request.app, request.actor, account)


def in_repository(request: RequestContext) -> RepositoryAccess:
    """Find the repository; 404 if the caller may not see it."""
    owner, name = request.path["owner"], request.path["repo"]
    database = request.app.database
    try:
        repository = repositories.find_repository(database, owner, name)
    except NoSuchRepository:
        moved = repositories.redirected_repository(database, owner, name)
        if moved is not None and permissions_of_caller(request, moved).mode > Mode.NONE:
            raise redirect(request, 301, (owner, name), (moved.owner.name, moved.name)) from None
        renamed = accounts.renamed_to(database, owner)
        if renamed is not None and knows_of(request, renamed):
            raise redirect(request, 307, (owner,), (renamed.name,)) from None
        raise ApiError(404) from None
    permissions = permissions_of_caller(request, repository)
    if permissions.mode == Mode.NONE:
        raise ApiError(404)
    request.repository = repository.full_name
    return RepositoryAccess(repository, permissions)


def in_transferred_repository(request: RequestContext) -> RepositoryAccess:
    """Find the repository; also visible to users who can accept its transfer, even if private."""
    try:
        return in_repository(request)
    except ApiError as error:
        if error.status != 404:
            raise
        try:
            repository = repositories.find_repository(
                request.app.database, request.path["owner"], request.path["repo"]
            )
        except NoSuchRepository:
            raise error from None
        if not transfers.may_accept(request.app, request.actor, repository):
            raise
    return RepositoryAccess(repository, permissions_of_caller(request, repository))


def permissions_of_caller(request: RequestContext, repository: Repository) -> Permissions:
    """Return the caller's permissions in a repository."""
    return permissions_in(request.app, request.actor, repository)


@dataclass(frozen=True, slots=True)
class reads:  # noqa: N801  # reads as a sentence where it is used: guards=(in_repository, reads(Unit.CODE))
    """Requires read access to a unit."""

    unit: Unit

    def __call__(self, request: RequestContext) -> None:
        """Check it."""
        access.require_read(request.resolved(RepositoryAccess), self.unit)


@dataclass(frozen=True, slots=True)
class writes:  # noqa: N801  # as above
    """Requires write access to a unit."""

    unit: Unit

    def __call__(self, request: RequestContext) -> None:
        """Check it."""
        access.require_write(request.resolved(RepositoryAccess), self.unit)


def reads_issues(request: RequestContext) -> None:
    """Require read access to issues or pull requests; else 404."""
    may = request.resolved(RepositoryAccess).permissions
    if not (may.may_read(Unit.ISSUES) or may.may_read(Unit.PULLS)):
        raise ApiError(404)


def sees_issues(request: RequestContext) -> None:
    """Require read access to issues; else 404."""
    if not request.resolved(RepositoryAccess).permissions.may_read(Unit.ISSUES):
        raise ApiError(404)


def sees_pulls(request: RequestContext) -> None:
    """Require read access to pull requests; else 404."""
    if not request.resolved(RepositoryAccess).permissions.may_read(Unit.PULLS):
        raise ApiError(404)


def writes_issues(request: RequestContext) -> None:
    """Require write access to issues or pull requests."""
    access.require_write(request.resolved(RepositoryAccess), Unit.ISSUES, Unit.PULLS)


def administers(request: RequestContext) -> None:
    """Require admin access to the repository."""
    access.require_repository_admin(request.actor, request.resolved(RepositoryAccess))


def owns(request: RequestContext) -> None:
    """Require ownership of the repository."""
    access.require_repository_owner(request.actor, request.resolved(RepositoryAccess))


def not_archived(request: RequestContext) -> None:
    """Require a repository that is not archived."""
    access.require_unarchived(request.resolved(RepositoryAccess))


def editable(request: RequestContext) -> None:
    """Require a repository that is neither archived nor a mirror."""
    access.require_editable(request.resolved(RepositoryAccess))


def in_organization(request: RequestContext) -> OrganizationAccess:
    """Find the organization; 404 if the caller may not see it."""
    name = request.path["org"]
    database = request.app.database
    try:
        account = accounts.find_account(database, name)
    except NoSuchUser:
        renamed = accounts.renamed_to(database, name)
        if renamed is not None and renamed.is_organization and knows_of(request, renamed):
            raise redirect(request, 307, (name,), (renamed.name,)) from None
        raise ApiError(404) from None
    if not account.is_organization:
        raise ApiError(404)
    organization_access = organizations.access_in(request.app, request.actor, account)
    if organization_access.mode == Mode.NONE:
        raise ApiError(404)
    return organization_access


def in_its_organization(request: RequestContext) -> None:
    """Require membership in the organization."""
    access.require_organization_member(request.actor, request.resolved(OrganizationAccess))


def owns_organization(request: RequestContext) -> None:
    """Require ownership of the organization."""
    access.require_organization_owner(request.actor, request.resolved(OrganizationAccess))


def in_team(request: RequestContext) -> TeamAccess:
    """Find the team by the id in the path; 404 if the caller is not in its organization."""
    signed_in(request)
    try:
        return teams.find(request.app, request.actor, number(request.path["id"]))
    except NoSuchTeam:
        raise ApiError(404) from None


def sees_team(request: RequestContext) -> None:
    """Require a member of the team, or an owner of its organization."""
    teams.require_read(request.app, request.actor, request.resolved(TeamAccess))


def owns_team(request: RequestContext) -> None:
    """Require an owner of the team's organization."""
    access.require_organization_owner(request.actor, request.resolved(TeamAccess).organization)


def person(request: RequestContext) -> None:
    """Require that the account in the path is a user."""
    if request.resolved(UserFromPath).account.is_organization:
        raise NoSuchAccount(request.path["username"])


def of_user(request: RequestContext) -> UserFromPath:
    """Find the user in the path; 404 if the caller may not see them."""
    name = request.path["username"]
    database = request.app.database
    try:
        account = accounts.find_account(database, name)
    except NoSuchUser:
        renamed = accounts.renamed_to(database, name)
        if renamed is not None and knows_of(request, renamed):
            raise redirect(request, 307, (name,), (renamed.name,)) from None
        raise NoSuchAccount(name) from None
    if not knows_of(request, account):
        raise NoSuchAccount(name)
    return UserFromPath(account)


READ_ISSUES: Final = (in_repository, reads_issues)
CHANGE_ISSUES: Final = (*READ_ISSUES, signed_in, not_archived)
"""For changes of an issue; the service checks the permissions of the signed-in user."""
LINK_ISSUES: Final = (*READ_ISSUES, signed_in)
"""For dependencies: the other issue may be in a repository that is not archived."""
MANAGE_ISSUES: Final = (*READ_ISSUES, signed_in, writes_issues, not_archived)
"""For labels and milestones of a repository."""


def webhooks_enabled(request: RequestContext) -> None:
    """Require that webhooks are enabled."""
    webhooks.require_enabled(request.app)


def of_repository(request: RequestContext) -> WebhookOwner:
    """Return the repository in the path as the owner of webhooks."""
    return WebhookOwner(request.resolved(RepositoryAccess))


def of_organization(request: RequestContext) -> WebhookOwner:
    """Return the organization in the path as the owner of webhooks."""
    return WebhookOwner(request.resolved(OrganizationAccess))


def of_caller(request: RequestContext) -> WebhookOwner:
    """Return the acting user as the owner of webhooks."""
    return WebhookOwner(request.user)


def of_service(request: RequestContext) -> WebhookOwner:  # noqa: ARG001  # called like every guard
    """Return the service as the owner of webhooks."""
    return WebhookOwner(None)


# The guards of webhooks for each kind of owner.
REPOSITORY_WEBHOOKS: Final = (in_repository, administers, webhooks_enabled, of_repository)
ORGANIZATION_WEBHOOKS: Final = (in_organization, owns_organization, webhooks_enabled, of_organization)
OWN_WEBHOOKS: Final = (signed_in, webhooks_enabled, of_caller)
SERVICE_WEBHOOKS: Final = (site_admin, webhooks_enabled, of_service)
