"""User accounts: create, edit, rename and delete them as a site administrator, and edit one's own profile."""

import re
from collections.abc import Mapping
from typing import Any, Final

import msgspec
from msgspec import UNSET, UnsetType

from holdfast.hosting.access import Actor, account_visible, require_login, require_session, require_site_admin
from holdfast.hosting.app import App
from holdfast.hosting.errors import (
    InvalidField,
    InvalidValue,
    NoSuchAccount,
    NoSuchUser,
    OwnAccount,
    SignUpDisabled,
    Violation,
)
from holdfast.hosting.services.fields import check_length, check_required
from holdfast.hosting.services.passwords import LONGEST as LONGEST_PASSWORD
from holdfast.hosting.store import account_administration, accounts, members
from holdfast.hosting.store.accounts import Account
from holdfast.hosting.webhooks.payloads import DeletedEntity, before_deleting
from holdfast.redacted_repr import redacted
from holdfast.secret import Secret

__all__ = [
    "LIMITS",
    "VISIBILITIES",
    "WEBSITE",
    "NewUser",
    "ProfileEdit",
    "UserEdit",
    "check_profile",
    "create",
    "delete",
    "edit",
    "edit_profile",
    "find_visible",
    "is_visible",
    "list_users",
    "rename",
    "search",
    "set_own_password",
    "sign_up",
]

VISIBILITIES: Final[tuple[str, ...]] = ("public", "limited", "private")
WEBSITE: Final = r"^(https?://[^\s]+)?$"
# Maximum lengths of the profile texts by column, with the field names in the API.
LIMITS: Final[Mapping[str, tuple[str, int]]] = {
    "email": ("Email", 254),
    "full_name": ("FullName", 100),
    "website": ("Website", 255),
    "location": ("Location", 50),
    "description": ("Description", 255),
    "language": ("Language", 50),
}


@redacted
class NewUser(msgspec.Struct, frozen=True, kw_only=True):
    """A user to create."""

    name: str
    email: str
    password: Secret
    full_name: str = ""
    visibility: str = "public"
    is_restricted: bool = False
    must_change_password: bool = True
    is_admin: bool = False


class ProfileEdit(msgspec.Struct, frozen=True, kw_only=True):
    """Changes to a profile; UNSET fields keep their value."""

    email: str | UnsetType = UNSET
    full_name: str | UnsetType = UNSET
    website: str | UnsetType = UNSET
    location: str | UnsetType = UNSET
    description: str | UnsetType = UNSET
    language: str | UnsetType = UNSET
    visibility: str | UnsetType = UNSET
    hides_email: bool | UnsetType = UNSET


@redacted
class UserEdit(ProfileEdit, frozen=True, kw_only=True):
    """Changes to an account by a site administrator."""

    password: Secret | UnsetType = UNSET
    must_change_password: bool | UnsetType = UNSET
    is_active: bool | UnsetType = UNSET
    is_admin: bool | UnsetType = UNSET
    may_not_log_in: bool | UnsetType = UNSET
    may_create_organizations: bool | UnsetType = UNSET
    is_restricted: bool | UnsetType = UNSET


def is_visible(app: App, actor: Actor, account: Account) -> bool:
    """Return whether the actor may see an account; memberships are read only if needed."""
    if account_visible(actor, account):
        return True
    if actor.user is None or not account_visible(actor, account, is_member=True):
        return False
    return members.belong_together(app.database, actor.user, account)


def find_visible(app: App, actor: Actor, name: str) -> Account:
    """Return a user by name; raise `NoSuchAccount` if the actor may not see it, and for an organization."""
    try:
        account = accounts.find_user(app.database, name)
    except NoSuchUser:
        raise NoSuchAccount(name) from None
    if not is_visible(app, actor, account):
        raise NoSuchAccount(name)
    return account


def list_users(app: App, actor: Actor, text: str, *, skip: int, limit: int) -> tuple[list[Account], int]:
    """Return one page of the users whose name contains a text, and the total."""
    require_site_admin(actor)
    return search(app, actor, text, skip=skip, limit=limit)


def search(app: App, actor: Actor, text: str, *, skip: int, limit: int) -> tuple[list[Account], int]:
    """Return one page of the users whose name contains a text and whom the actor may see, and the total."""
    visibilities: tuple[str, ...] = ("public",)
    if actor.user is not None and not actor.public_only and not actor.user.is_restricted:
        visibilities = ("public", "limited")
    if actor.is_admin and not actor.public_only:
        visibilities = VISIBILITIES
    return accounts.search_accounts(
        app.database, text, organizations=False, visibilities=visibilities, skip=skip, limit=limit
    )


def create(app: App, actor: Actor, new_user: NewUser) -> Account:
    """Create a user; the e-mail address may be omitted only by a command on the server."""
    require_site_admin(actor)
    check_required(new_user.name, "Username")
    if not actor.is_operator:
        check_required(new_user.email, "Email")
    visibility = new_user.visibility or "public"
    check_profile({"email": new_user.email, "full_name": new_user.full_name, "visibility": visibility})
    accounts.check_name(new_user.name)
    return account_administration.register(
        app.database,
        new_user.name,
        new_user.password,
        email=new_user.email,
        full_name=new_user.full_name,
        visibility=visibility,
        is_restricted=new_user.is_restricted,
        must_change_password=new_user.must_change_password,
        is_admin=new_user.is_admin,
    )


def sign_up(app: App, name: str, email: str, password: Secret) -> Account:
    """Create an account by self-registration; raise `SignUpDisabled` if the settings do not allow it."""
    if not app.settings.sign_up:
        raise SignUpDisabled
    check_required(email, "Email")
    check_profile({"email": email})
    check_length(password.reveal(), "Password", LONGEST_PASSWORD)
    return account_administration.register(app.database, name, password, email=email)


def edit(app: App, actor: Actor, user: Account, changes: UserEdit) -> Account:
    """Edit a user's account; raise `LastAdmin` if no administrator would be left."""
    require_site_admin(actor)
    columns = changed_columns(changes)
    password = columns.pop("password", None)
    if columns.get("email") == "":
        raise InvalidField("Email", Violation.REQUIRED)
    return account_administration.change_user(app.database, user, password=password, **columns)


def edit_profile(app: App, actor: Actor, changes: ProfileEdit) -> Account:
    """Edit the profile of the acting user; an e-mail address cannot be removed."""
    user = require_login(actor)
    columns = changed_columns(changes)
    if user.email and columns.get("email") == "":
        raise InvalidField("Email", Violation.REQUIRED)
    return account_administration.change_user(app.database, user, **columns)


def rename(app: App, actor: Actor, user: Account, name: str) -> Account:
    """Rename a user; the old name redirects to the new one until it is taken."""
    require_site_admin(actor)
    check_required(name, "NewName")
    return accounts.rename_account(app.database, user, name)


def delete(app: App, actor: Actor, user: Account, *, purge: bool = False) -> int:
    """Delete a user; with `purge` also all their repositories. Return the number of deleted repositories.

    Issues and comments they wrote are kept without an author.
    """
    require_site_admin(actor)
    if actor.user is not None and user.id == actor.user.id:
        raise OwnAccount
    first = before_deleting(app, DeletedEntity(owner_id=user.id))
    deleted = account_administration.delete_user(
        app.database, user, actor=actor.user or user, purge=purge, first=first
    )
    for repository_id in deleted:
        app.copies.discard(repository_id)
        app.archives.discard(repository_id)
        app.fetches.discard(repository_id)
    return len(deleted)


def set_own_password(app: App, actor: Actor, password: Secret, *, kept_session: str = "") -> None:
    """Set the password of the acting user, and end all their sessions except `kept_session`."""
    user = require_session(actor)
    check_length(password.reveal(), "Password", LONGEST_PASSWORD)
    accounts.set_password(app.database, user.name, password, kept_session=kept_session)


def changed_columns(changes: ProfileEdit) -> dict[str, Any]:
    """Validate changes, and return the columns to update; an empty visibility changes nothing."""
    columns = {name: value for name in changes.__struct_fields__ if (value := getattr(changes, name)) is not UNSET}
    if not columns.get("visibility"):
        columns.pop("visibility", None)
    check_profile(columns)
    return columns


def check_profile(columns: Mapping[str, object]) -> None:
    """Validate the profile fields of a user or organization."""
    for column, (field, limit) in LIMITS.items():
        check_length(str(columns.get(column, "")), field, limit)
    if not re.fullmatch(WEBSITE, str(columns.get("website", ""))):
        raise InvalidValue("Website", "must begin with https:// or http://")
    if columns.get("visibility", "public") not in VISIBILITIES:
        raise InvalidValue("Visibility", "must be public, limited or private")
