"""Authorization: all permission checks of the host.

Three pure functions decide on data loaded before: the caller's permissions in a repository (`repository_access`),
in an organization (`organization_access`), and the scopes of their token (`allows`). Access modes are ordered:
none, read, write, admin, owner. A repository has units, each with its own mode.
"""

from collections.abc import Mapping
from enum import IntEnum, StrEnum
from functools import lru_cache
from typing import Final

import msgspec

from holdfast.hosting.errors import (
    AccessDenied,
    Forbidden,
    IssueLocked,
    LoginRequired,
    NoSuchOrganization,
    PasswordRequired,
    Permission,
    RepositoryArchived,
    RepositoryReadOnly,
    SessionRequired,
)
from holdfast.hosting.store.accounts import Account
from holdfast.hosting.store.hooks import HookOwner
from holdfast.hosting.store.issue_transactions import Issue
from holdfast.hosting.store.repositories import Grant, Repository
from holdfast.hosting.store.teams import Team
from holdfast.hosting.store.tokens import Token

__all__ = [
    "ANONYMOUS",
    "CATEGORIES",
    "OPERATOR",
    "SCOPES",
    "Actor",
    "Mode",
    "OrganizationAccess",
    "Permissions",
    "RepositoryAccess",
    "TeamAccess",
    "Unit",
    "WebhookOwner",
    "account_visible",
    "allows",
    "deploy_key_access",
    "enabled_units",
    "is_member_mode",
    "issue_kinds",
    "issue_unit",
    "level_in_teams",
    "may_comment",
    "may_create_organizations",
    "may_edit",
    "may_manage_issues",
    "may_manage_team_repositories",
    "may_write_issue",
    "organization_access",
    "repository_access",
    "require_branch_write",
    "require_comment",
    "require_editable",
    "require_issue_edit",
    "require_issue_management",
    "require_issue_write",
    "require_login",
    "require_organization_creator",
    "require_organization_member",
    "require_organization_owner",
    "require_organization_read",
    "require_own_membership",
    "require_password",
    "require_read",
    "require_repository_admin",
    "require_repository_owner",
    "require_self",
    "require_session",
    "require_site_admin",
    "require_token_access",
    "require_unarchived",
    "require_webhook_admin",
    "require_write",
    "sees_team",
]


class Mode(IntEnum):
    """The access level; each mode includes those before it."""

    NONE = 0
    READ = 1
    WRITE = 2
    ADMIN = 3
    OWNER = 4

    @property
    def word(self) -> str:
        """The name in the API."""
        return self.name.lower()


class Unit(StrEnum):
    """A part of a repository that is enabled, and granted to teams, separately."""

    CODE = "repo.code"
    ISSUES = "repo.issues"
    PULLS = "repo.pulls"
    RELEASES = "repo.releases"
    WIKI = "repo.wiki"
    PROJECTS = "repo.projects"
    PACKAGES = "repo.packages"
    ACTIONS = "repo.actions"
    # External trackers and wikis can be granted to teams, but no repository has one.
    EXTERNAL_ISSUES = "repo.ext_issues"
    EXTERNAL_WIKI = "repo.ext_wiki"


CATEGORIES: Final = (
    *("activitypub", "admin", "misc", "notification", "organization", "package", "issue", "repository", "user"),
)
SCOPES: Final = frozenset(
    ["all", "public-only", *(f"{level}:{category}" for level in ("read", "write") for category in CATEGORIES)]
)


class Actor(msgspec.Struct, frozen=True):
    """The sender of a request: anonymous, a user with a password, or a user's token with its scopes."""

    user: Account | None = None
    token: Token | None = None
    by_password: bool = False
    """Whether the request has a password; some actions, such as creating tokens, require one."""
    impersonated_by: Account | None = None
    """The administrator who acts as the user (`sudo`)."""
    is_operator: bool = False
    """Whether the actor is a command on the server, which may do everything; changes are recorded for `user`."""

    @property
    def is_admin(self) -> bool:
        """Whether the actor is an administrator of the service, or a command on the server."""
        return self.is_operator or (self.user is not None and self.user.is_admin)

    @property
    def public_only(self) -> bool:
        """Whether the token is limited to public resources."""
        return self.token is not None and "public-only" in self.token.scopes


ANONYMOUS: Final = Actor()
OPERATOR: Final = Actor(is_operator=True)


class Permissions(msgspec.Struct, frozen=True):
    """A caller's permissions in one repository."""

    mode: Mode
    """The highest mode over all units; with none, the repository is invisible to the caller."""
    units: Mapping[Unit, Mode]

    def may_read(self, unit: Unit) -> bool:
        """Return whether a unit can be read."""
        return self.units[unit] >= Mode.READ

    def may_write(self, unit: Unit) -> bool:
        """Return whether the caller can write to a unit."""
        return self.units[unit] >= Mode.WRITE

    @property
    def is_admin(self) -> bool:
        """Whether the caller may change the repository's settings."""
        return self.mode >= Mode.ADMIN

    @property
    def is_owner(self) -> bool:
        """Whether the caller may transfer or delete the repository."""
        return self.mode >= Mode.OWNER


NOTHING: Final = Permissions(Mode.NONE, dict.fromkeys(Unit, Mode.NONE))


class RepositoryAccess(msgspec.Struct, frozen=True):
    """The repository of a request, and the caller's permissions."""

    repository: Repository
    permissions: Permissions


class OrganizationAccess(msgspec.Struct, frozen=True):
    """The organization of a request, and the caller's permissions."""

    account: Account
    mode: Mode


class TeamAccess(msgspec.Struct, frozen=True):
    """The team of a request, and the caller's permissions in its organization."""

    team: Team
    organization: OrganizationAccess


class WebhookOwner(msgspec.Struct, frozen=True):
    """The owner of a request's webhooks: a repository, an organization, a user, or the service (None)."""

    target: RepositoryAccess | OrganizationAccess | Account | None

    @property
    def stored(self) -> HookOwner:
        """The owner as stored with webhooks."""
        match self.target:
            case RepositoryAccess(repository=repository):
                return HookOwner("repository", repository.id)
            case OrganizationAccess(account=account) | (Account() as account):
                return HookOwner("owner", account.id)
            case None:
                return HookOwner("service")


def require_login(actor: Actor) -> Account:
    """Return the acting user; raise `LoginRequired` for anonymous requests."""
    if actor.user is None:
        raise LoginRequired
    return actor.user


def require_site_admin(actor: Actor) -> None:
    """Raise an error unless the actor is a site administrator, or a command on the server."""
    if not actor.is_admin:
        require_login(actor)
        raise Forbidden(Permission.SITE_ADMIN)


def require_read(target: RepositoryAccess, unit: Unit) -> None:
    """Raise `Forbidden` unless the actor can read a unit of the repository."""
    if not target.permissions.may_read(unit):
        raise Forbidden(Permission.READ)


def require_write(target: RepositoryAccess, *units: Unit) -> None:
    """Raise `Forbidden` unless the actor can write to one of these units of the repository."""
    if not any(target.permissions.may_write(unit) for unit in units):
        raise Forbidden(Permission.WRITE)


def require_repository_admin(actor: Actor, target: RepositoryAccess) -> Account:
    """Return the acting user; raise `Forbidden` unless they may change the repository's settings."""
    user = require_login(actor)
    if not target.permissions.is_admin:
        raise Forbidden(Permission.ADMIN)
    return user


def require_repository_owner(actor: Actor, target: RepositoryAccess) -> Account:
    """Return the acting user; raise `Forbidden` unless they own the repository."""
    user = require_login(actor)
    if not target.permissions.is_owner:
        raise Forbidden(Permission.OWNER)
    return user


def require_unarchived(target: RepositoryAccess) -> None:
    """Raise `RepositoryArchived` for an archived repository."""
    if target.repository.is_archived:
        raise RepositoryArchived


def require_issue_management(actor: Actor, target: RepositoryAccess) -> Account:
    """Return the acting user; raise an error unless they may change a repository's labels and milestones."""
    user = require_login(actor)
    require_write(target, Unit.ISSUES, Unit.PULLS)
    require_unarchived(target)
    return user


def require_issue_write(actor: Actor, target: RepositoryAccess, issue: Issue) -> Account:
    """Return the acting user; raise an error unless they may change all properties of an issue."""
    user = require_login(actor)
    require_unarchived(target)
    require_write(target, issue_unit(is_pull=issue.is_pull))
    return user


def require_issue_edit(actor: Actor, target: RepositoryAccess, issue: Issue, author_id: int | None) -> Account:
    """Return the acting user; raise an error unless they are the author or have write access."""
    user = require_login(actor)
    require_unarchived(target)
    if not may_edit(actor, target.permissions, is_pull=issue.is_pull, author_id=author_id):
        raise Forbidden(Permission.AUTHOR)
    return user


def require_comment(actor: Actor, target: RepositoryAccess, issue: Issue) -> Account:
    """Return the acting user; raise an error unless they may comment on an issue."""
    user = require_login(actor)
    require_unarchived(target)
    require_read(target, issue_unit(is_pull=issue.is_pull))
    if not may_comment(target.permissions, is_pull=issue.is_pull, is_locked=issue.is_locked):
        raise IssueLocked
    return user


def require_branch_write(target: RepositoryAccess) -> None:
    """Raise `Forbidden` unless the actor may commit to the repository's branches."""
    if not target.permissions.may_write(Unit.CODE):
        raise Forbidden(Permission.WRITE_BRANCH)


def require_editable(target: RepositoryAccess) -> None:
    """Raise `RepositoryReadOnly` for an archived repository or a mirror."""
    if target.repository.is_archived or target.repository.is_mirror:
        raise RepositoryReadOnly


def require_organization_member(actor: Actor, organization: OrganizationAccess) -> Account:
    """Return the acting user; raise `Forbidden` unless they are a member of the organization."""
    user = require_login(actor)
    if not is_member_mode(organization.mode):
        raise Forbidden(Permission.ORGANIZATION_MEMBER)
    return user


def require_organization_owner(actor: Actor, organization: OrganizationAccess) -> Account:
    """Return the acting user; raise `Forbidden` unless they own the organization."""
    user = require_login(actor)
    if organization.mode < Mode.OWNER:
        raise Forbidden(Permission.ORGANIZATION_OWNER)
    return user


def require_organization_read(actor: Actor, organization: OrganizationAccess) -> None:
    """Raise `NoSuchOrganization` for an organization that the actor may not see."""
    if organization.mode < Mode.READ and not actor.is_admin:
        raise NoSuchOrganization


def require_organization_creator(actor: Actor, owner: Account) -> None:
    """Raise an error unless the actor may create organizations; for others only as a site administrator."""
    if actor.is_admin:
        return
    if require_login(actor).id != owner.id:
        raise Forbidden(Permission.SITE_ADMIN)
    if not may_create_organizations(actor):
        raise Forbidden(Permission.CREATE_ORGANIZATIONS)


def require_own_membership(actor: Actor, user: Account) -> None:
    """Raise `Forbidden` unless the membership is the actor's own."""
    if require_login(actor).id != user.id:
        raise Forbidden(Permission.OWN_MEMBERSHIP)


def require_webhook_admin(actor: Actor, owner: WebhookOwner) -> Account:
    """Return the acting user; raise `Forbidden` unless they may manage the webhooks of this owner."""
    match owner.target:
        case RepositoryAccess() as repository:
            return require_repository_admin(actor, repository)
        case OrganizationAccess() as organization:
            return require_organization_owner(actor, organization)
        case None:
            require_site_admin(actor)
            return require_login(actor)
        case account:
            return require_self(actor, account)


def require_self(actor: Actor, account: Account) -> Account:
    """Return the acting user; raise `Forbidden` unless the account is their own."""
    user = require_login(actor)
    if user.id != account.id:
        raise Forbidden(Permission.SELF)
    return user


def require_password(actor: Actor) -> None:
    """Raise `PasswordRequired` unless the request has a password: a token must not create tokens."""
    if not actor.by_password:
        raise PasswordRequired


def require_session(actor: Actor) -> Account:
    """Return the acting user; raise `SessionRequired` for a token and for an impersonating administrator."""
    user = require_login(actor)
    if actor.token is not None or actor.impersonated_by is not None:
        raise SessionRequired
    return user


def require_token_access(actor: Actor, user: Account) -> None:
    """Raise an error unless the actor may see and revoke a user's tokens; a token never may."""
    acting = require_login(actor)
    if actor.token is not None:
        raise PasswordRequired
    if not actor.is_admin and acting.id != user.id:
        raise Forbidden(Permission.TOKENS)


# In the order of `enabled_flags`.
SWITCHED: Final = (
    Unit.CODE,
    Unit.ISSUES,
    Unit.PULLS,
    Unit.RELEASES,
    Unit.WIKI,
    Unit.PROJECTS,
    Unit.PACKAGES,
    Unit.ACTIONS,
)


def enabled_flags(repository: Repository) -> tuple[bool, ...]:
    """Return which units are enabled; a disabled one is inaccessible even to its owner."""
    return (
        repository.has_code,
        repository.has_issues,
        repository.has_pulls,
        repository.has_releases,
        repository.has_wiki,
        repository.has_projects,
        repository.has_packages,
        repository.has_actions,
    )


def enabled_units(repository: Repository) -> frozenset[Unit]:
    """Return the enabled units."""
    return frozenset(unit for unit, is_on in zip(SWITCHED, enabled_flags(repository), strict=True) if is_on)


def account_visible(actor: Actor, account: Account, *, is_member: bool = False) -> bool:
    """Return whether a user or an organization is visible to an actor."""
    if actor.public_only:
        return account.visibility == "public"
    user = actor.user
    if user is not None and (user.is_admin or user.id == account.id or is_member):
        return True
    if account.visibility == "public":
        return user is None or not user.is_restricted or not account.is_organization
    return account.visibility == "limited" and user is not None and not user.is_restricted


def repository_access(actor: Actor, repository: Repository, grants: tuple[Grant, ...]) -> Permissions:
    """Return an actor's permissions in a repository, given their grants."""
    owner, user = repository.owner, actor.user
    is_public = not repository.is_private and owner.visibility == "public"
    if actor.public_only and not is_public:
        return NOTHING
    if user is None:
        return unit_permissions(repository, Mode.READ if is_public else Mode.NONE)
    if actor.is_admin or owner.id == user.id:
        return unit_permissions(repository, Mode.OWNER)

    is_member = any(grant.team_id is not None for grant in grants)
    everywhere, by_unit = Mode.NONE, dict.fromkeys(Unit, Mode.NONE)
    if not repository.is_private and not user.is_restricted and account_visible(actor, owner, is_member=is_member):
        everywhere = Mode.READ
    for grant in grants:
        if not grant.covers:
            continue
        mode = Mode(grant.mode)
        if grant.unit is None:
            everywhere = max(everywhere, mode)
        elif grant.unit in by_unit:
            by_unit[Unit(grant.unit)] = max(by_unit[Unit(grant.unit)], mode)
    return unit_permissions(repository, everywhere, by_unit)


def deploy_key_access(repository: Repository, *, writes: bool) -> Permissions:
    """Return the permissions of a deploy key in its repository: read or write access to the code only."""
    mode = Mode.WRITE if writes else Mode.READ
    return Permissions(mode, {**NOTHING.units, Unit.CODE: mode if repository.has_code else Mode.NONE})


def unit_permissions(
    repository: Repository, everywhere: Mode, by_unit: Mapping[Unit, Mode] | None = None
) -> Permissions:
    """Return permissions with a mode for each enabled unit; the overall mode counts disabled units as well."""
    if by_unit is None:
        return uniform_permissions(enabled_flags(repository), everywhere)
    enabled = enabled_units(repository)
    modes = {unit: max(everywhere, by_unit.get(unit, Mode.NONE)) for unit in Unit}
    units = {unit: mode if unit in enabled else Mode.NONE for unit, mode in modes.items()}
    # Admin of one unit is not admin of the repository.
    in_a_unit = min(max(by_unit.values()), Mode.WRITE)
    return Permissions(max(everywhere, in_a_unit), units)


@lru_cache(maxsize=1024)
def uniform_permissions(is_on: tuple[bool, ...], everywhere: Mode) -> Permissions:
    """Return permissions with the same mode in every enabled unit; cached, as there are few."""
    units = dict(zip(SWITCHED, is_on, strict=True))
    return Permissions(everywhere, {unit: everywhere if units.get(unit) else Mode.NONE for unit in Unit})


def issue_unit(*, is_pull: bool) -> Unit:
    """Return the unit of an issue or pull request."""
    return Unit.PULLS if is_pull else Unit.ISSUES


def issue_kinds(access: Permissions, kind: str = "all") -> tuple[bool, ...]:
    """Return which values of `is_pull` are readable; `kind` restricts them to `issues` or `pulls`."""
    kinds = {"issues": (False,), "pulls": (True,)}.get(kind, (False, True))
    return tuple(is_pull for is_pull in kinds if access.may_read(issue_unit(is_pull=is_pull)))


def may_manage_issues(actor: Actor, target: RepositoryAccess) -> bool:
    """Return whether an actor may change a repository's labels and milestones."""
    try:
        require_issue_management(actor, target)
    except AccessDenied:
        return False
    return True


def may_write_issue(access: Permissions, issue: Issue) -> bool:
    """Return whether all properties of an issue may be changed."""
    return access.may_write(issue_unit(is_pull=issue.is_pull))


def may_edit(actor: Actor, access: Permissions, *, is_pull: bool, author_id: int | None) -> bool:
    """Return whether the text of an issue or comment may be changed: by its author, and with write access."""
    if access.may_write(issue_unit(is_pull=is_pull)):
        return True
    return actor.user is not None and actor.user.id == author_id


def may_comment(access: Permissions, *, is_pull: bool, is_locked: bool) -> bool:
    """Return whether a user may comment; a locked issue requires write access."""
    unit = issue_unit(is_pull=is_pull)
    return access.may_write(unit) if is_locked else access.may_read(unit)


def organization_access(actor: Actor, organization: Account, modes: tuple[int, ...]) -> Mode:
    """Return an actor's mode in an organization, given the modes of their teams."""
    if actor.public_only and organization.visibility != "public":
        return Mode.NONE
    if actor.is_admin:
        return Mode.OWNER
    if Mode.OWNER in modes:
        return Mode.OWNER
    if modes:
        return Mode.WRITE
    return Mode.READ if account_visible(actor, organization) else Mode.NONE


def is_member_mode(mode: Mode) -> bool:
    """Return whether a mode is that of a member."""
    return mode >= Mode.WRITE


def level_in_teams(mode: Mode, modes: tuple[int, ...]) -> Mode:
    """Return the highest mode that teams grant."""
    return Mode.OWNER if mode >= Mode.OWNER else Mode(max((Mode.READ, *modes)))


def may_create_organizations(actor: Actor) -> bool:
    """Return whether an actor may create organizations."""
    return actor.is_admin or (actor.user is not None and actor.user.may_create_organizations)


def sees_team(mode: Mode, *, in_team: bool) -> bool:
    """Return whether a team is visible: to its members, and to the organization's owners."""
    return in_team or mode >= Mode.OWNER


def may_manage_team_repositories(organization: Account, mode: Mode, may: Permissions) -> bool:
    """Return whether an actor may add a repository to a team, or remove it.

    The organization's owners may, and administrators of the repository if the organization allows it.
    """
    return mode >= Mode.OWNER or (organization.repository_admins_change_teams and may.is_admin)


def allows(actor: Actor, categories: tuple[str, ...], *, write: bool) -> bool:
    """Return whether the actor's token has all of these scopes; a password has all."""
    if actor.token is None:
        return True
    scopes = actor.token.scopes
    if "all" in scopes:
        return True
    return all(
        f"write:{category}" in scopes or (not write and f"read:{category}" in scopes) for category in categories
    )
