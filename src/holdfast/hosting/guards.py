"""What must hold before an endpoint runs. Guards run in the order an endpoint names them, which decides the error.

A guard that looks something up gives it to the handler, by its type.
"""

from dataclasses import dataclass
from typing import Final
from urllib.parse import quote, unquote

import msgspec

from holdfast.hosting import access
from holdfast.hosting.access import Access, Mode, Unit
from holdfast.hosting.errors import NoSuchRepository, NoSuchUser
from holdfast.hosting.http.context import Call
from holdfast.hosting.http.errors import Refusal
from holdfast.hosting.store import accounts, members, organizations, repositories
from holdfast.hosting.store.accounts import Account
from holdfast.hosting.store.repositories import Repository

__all__ = [
    "Organization",
    "Place",
    "Subject",
    "administers",
    "editable",
    "entered",
    "in_its_organization",
    "in_organization",
    "in_repository",
    "knows_of",
    "not_archived",
    "of_user",
    "owns",
    "owns_organization",
    "person",
    "reads",
    "reads_issues",
    "signed_in",
    "site_admin",
    "with_password",
    "writes",
    "writes_issues",
]

NO_READ: Final = "user should have specific read permission or be a repo admin or a site admin"
NO_WRITE: Final = "user should have a permission to write to a repo"
NO_ADMIN: Final = "user should be an owner or a collaborator with admin write of a repository"
# Where the first name can stand in a path: after "", "api", "v1" and a collection.
FIRST_NAME: Final = 4
NO_OWNER: Final = "user should be the owner of the repo"


class Place(msgspec.Struct, frozen=True):
    """The repository a request is about, and what the caller may do there."""

    repository: Repository
    access: Access


@dataclass(frozen=True, slots=True)
class Organization:
    """The organization a request is about, and what the caller may do there."""

    account: Account
    mode: Mode


@dataclass(frozen=True, slots=True)
class Subject:
    """The user a request is about."""

    account: Account


def signed_in(call: Call) -> None:
    """Ask that somebody is known."""
    if call.caller.user is None:
        raise Refusal(401, "token is required")


def with_password(call: Call) -> None:
    """Ask for a password: a token must not make more tokens."""
    if not call.caller.by_password:
        raise Refusal(401, "auth required")


def site_admin(call: Call) -> None:
    """Let only administrators of the whole service through."""
    signed_in(call)
    if not call.caller.is_admin:
        raise Refusal(403, "user should be the site admin")


def redirect(call: Call, status: int, old: tuple[str, ...], new: tuple[str, ...]) -> Refusal:
    """Answer that something has another name now, and where the request should go instead."""
    sent: bytes = call.scope.get("raw_path") or quote(call.scope["path"]).encode()
    parts = sent.decode("ascii", "replace").split("/")
    names = [unquote(part) for part in parts]
    # The first parts may be the prefix and the name of a collection, which may spell like somebody's name.
    first = FIRST_NAME if parts[1:3] == ["api", "v1"] else 1
    for start in range(first, len(parts) - len(old) + 1):
        if tuple(names[start : start + len(old)]) == old:
            parts[start : start + len(old)] = [quote(name) for name in new]
            break
    query: bytes = call.scope["query_string"]
    address = call.root + "/".join(parts) + ("?" + query.decode("ascii", "replace") if query else "")
    return Refusal(status, "moved", headers={"Location": address})


def knows_of(call: Call, account: Account) -> bool:
    """Tell whether the caller may know of an account; asks who belongs where only when that decides."""
    if access.account_visible(call.caller, account):
        return True
    user = call.caller.user
    if user is None or not access.account_visible(call.caller, account, is_member=True):
        return False
    return members.belong_together(call.host.database, user, account)


def in_repository(call: Call) -> Place:
    """Find the repository; one the caller may not see is not there."""
    owner, name = call.path["owner"], call.path["repo"]
    database = call.host.database
    try:
        repository = repositories.find_repository(database, owner, name)
    except NoSuchRepository:
        moved = repositories.moved_to(database, owner, name)
        if moved is not None and seen(call, moved).mode > Mode.NONE:
            raise redirect(call, 301, (owner, name), (moved.owner.name, moved.name)) from None
        renamed = accounts.renamed_to(database, owner)
        if renamed is not None and knows_of(call, renamed):
            raise redirect(call, 307, (owner,), (renamed.name,)) from None
        raise Refusal(404) from None
    found = seen(call, repository)
    if found.mode == Mode.NONE:
        raise Refusal(404)
    return Place(repository, found)


def seen(call: Call, repository: Repository) -> Access:
    """Return what the caller may do in a repository."""
    user = call.caller.user
    if user is None or user.is_admin or user.id == repository.owner.id:
        # No grant makes it more or less.
        return access.repository_access(call.caller, repository, ())
    grants = repositories.grants_of(call.host.database, user, repository)
    return access.repository_access(call.caller, repository, grants)


@dataclass(frozen=True, slots=True)
class reads:  # noqa: N801  # reads as a sentence where it is used: guards=(in_repository, reads(Unit.CODE))
    """Asks that the caller can read a unit."""

    unit: Unit

    def __call__(self, call: Call) -> None:
        """Check it."""
        if not call.give(Place).access.may_read(self.unit):
            raise Refusal(403, NO_READ)


@dataclass(frozen=True, slots=True)
class writes:  # noqa: N801
    """Asks that the caller can write to a unit."""

    unit: Unit

    def __call__(self, call: Call) -> None:
        """Check it."""
        if not call.give(Place).access.may_write(self.unit):
            raise Refusal(403, NO_WRITE)


def reads_issues(call: Call) -> None:
    """Ask that issues or pull requests can be read; otherwise they are not there."""
    may = call.give(Place).access
    if not (may.may_read(Unit.ISSUES) or may.may_read(Unit.PULLS)):
        raise Refusal(404)


def writes_issues(call: Call) -> None:
    """Ask that issues or pull requests can be written to."""
    may = call.give(Place).access
    if not (may.may_write(Unit.ISSUES) or may.may_write(Unit.PULLS)):
        raise Refusal(403, NO_WRITE)


def administers(call: Call) -> None:
    """Ask that the caller may change the repository's settings."""
    signed_in(call)
    if not call.give(Place).access.is_admin:
        raise Refusal(403, NO_ADMIN)


def owns(call: Call) -> None:
    """Ask that the caller owns the repository."""
    signed_in(call)
    if not call.give(Place).access.is_owner:
        raise Refusal(403, NO_OWNER)


def not_archived(call: Call) -> None:
    """Refuse to write to an archived repository."""
    if call.give(Place).repository.is_archived:
        raise Refusal(423, "repo is archived")


def editable(call: Call) -> None:
    """Refuse to write files to an archived repository or a mirror."""
    repository = call.give(Place).repository
    if repository.is_archived or repository.is_mirror:
        raise Refusal(423, "repo is not allowed to edit")


def in_organization(call: Call) -> Organization:
    """Find the organization; one the caller may not see is not there."""
    name = call.path["org"]
    database = call.host.database
    try:
        account = accounts.find_account(database, name)
    except NoSuchUser:
        renamed = accounts.renamed_to(database, name)
        if renamed is not None and renamed.is_organization and knows_of(call, renamed):
            raise redirect(call, 307, (name,), (renamed.name,)) from None
        raise Refusal(404) from None
    if not account.is_organization:
        raise Refusal(404)
    found = entered(call, account)
    if found.mode == Mode.NONE:
        raise Refusal(404)
    return found


def entered(call: Call, account: Account) -> Organization:
    """Find out what the caller may do in an organization."""
    user = call.caller.user
    modes = () if user is None else organizations.team_modes(call.host.database, account, user)
    return Organization(account, access.organization_access(call.caller, account, modes))


def in_its_organization(call: Call) -> None:
    """Ask that the caller belongs to the organization."""
    signed_in(call)
    if not access.belongs(call.give(Organization).mode):
        raise Refusal(403, "Must be an organization member")


def owns_organization(call: Call) -> None:
    """Ask that the caller owns the organization."""
    signed_in(call)
    if call.give(Organization).mode < Mode.OWNER:
        raise Refusal(403, "Must be an organization owner")


def person(call: Call) -> None:
    """Ask that the account a path names is a person's."""
    if call.give(Subject).account.is_organization:
        raise Refusal(404, f"user does not exist [uid: 0, name: {call.path['username']}]")


def of_user(call: Call) -> Subject:
    """Find the user a path names; one the caller may not see is not there."""
    name = call.path["username"]
    database = call.host.database
    try:
        account = accounts.find_account(database, name)
    except NoSuchUser:
        renamed = accounts.renamed_to(database, name)
        if renamed is not None and knows_of(call, renamed):
            raise redirect(call, 307, (name,), (renamed.name,)) from None
        raise Refusal(404, f"user does not exist [uid: 0, name: {name}]") from None
    if not knows_of(call, account):
        raise Refusal(404, f"user does not exist [uid: 0, name: {name}]")
    return Subject(account)
