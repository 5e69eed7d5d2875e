"""Users: the authenticated user, and others."""

import msgspec
from msgspec import UNSET, UnsetType

from holdfast.hosting.guards import UserFromPath, of_user, signed_in
from holdfast.hosting.http.endpoints import endpoint
from holdfast.hosting.http.pagination import PageParams, paging_headers
from holdfast.hosting.request_context import RequestContext
from holdfast.hosting.schemas.users import UserSchema, user
from holdfast.hosting.services import email_addresses, subscriptions, users
from holdfast.hosting.services.email_addresses import EmailAddress
from holdfast.hosting.store.accounts import Account

__all__ = ["search_users", "show_me", "show_user"]


class UserSearchQuery(msgspec.Struct, frozen=True):
    """The search text."""

    q: str = ""
    uid: int = 0


class UserSearchResults(msgspec.Struct, frozen=True):
    """The users found."""

    ok: bool
    data: list[UserSchema]


class Email(msgspec.Struct, frozen=True):
    """An e-mail address of a user."""

    email: str
    verified: bool
    primary: bool
    user_id: int
    username: str


class CreateEmailOption(msgspec.Struct, frozen=True):
    """E-mail addresses to add."""

    emails: list[str] = msgspec.field(default_factory=list)


class DeleteEmailOption(msgspec.Struct, frozen=True):
    """E-mail addresses to remove."""

    emails: list[str] = msgspec.field(default_factory=list)


class UserSettings(msgspec.Struct, frozen=True):
    """The settings of a user's own profile."""

    full_name: str
    website: str
    description: str
    location: str
    language: str
    theme: str
    diff_view_style: str
    hide_email: bool
    hide_activity: bool


class UserSettingsOptions(msgspec.Struct, frozen=True):
    """Changes; an absent key keeps the value."""

    full_name: str | UnsetType = UNSET
    website: str | UnsetType = UNSET
    description: str | UnsetType = UNSET
    location: str | UnsetType = UNSET
    language: str | UnsetType = UNSET
    hide_email: bool | UnsetType = UNSET


def encode_email(address: EmailAddress) -> Email:
    """Encode an e-mail address; all count as verified, as the service sends no mail."""
    user = address.user
    return Email(address.email, verified=True, primary=address.is_primary, user_id=user.id, username=user.name)


@endpoint("GET /user", scope="user", guards=(signed_in,), refuses=(401, 403))
def show_me(request: RequestContext) -> UserSchema:
    """Show the authenticated user."""
    return with_stars(request, request.user)


@endpoint("GET /user/emails", scope="user", guards=(signed_in,), refuses=(401,))
def list_emails(request: RequestContext) -> list[Email]:
    """List the e-mail addresses of the authenticated user, the primary one first."""
    return [encode_email(email_address) for email_address in email_addresses.list_own(request.app, request.actor)]


@endpoint("POST /user/emails", scope="user", guards=(signed_in,), status=201, refuses=(401, 422))
def add_emails(request: RequestContext, body: CreateEmailOption) -> list[Email]:
    """Add e-mail addresses to the authenticated user, to whom commits with them are attributed."""
    return [
        encode_email(email_address)
        for email_address in email_addresses.add(request.app, request.actor, body.emails)
    ]


@endpoint("DELETE /user/emails", scope="user", guards=(signed_in,), refuses=(401, 404, 422))
def delete_emails(request: RequestContext, body: DeleteEmailOption) -> None:
    """Delete e-mail addresses of the authenticated user, except the primary one."""
    email_addresses.remove(request.app, request.actor, body.emails)


@endpoint("GET /users/search", scope="user")
def search_users(request: RequestContext, query: UserSearchQuery, page: PageParams) -> UserSearchResults:
    """Search users by part of their name."""
    accounts, total = users.search(request.app, request.actor, query.q, skip=page.skip, limit=page.size)
    if query.uid:
        accounts = [account for account in accounts if account.id == query.uid]
    request.response_headers |= paging_headers(request, page, total)
    return UserSearchResults(True, [user(request, account) for account in accounts])


@endpoint("GET /users/{username}", scope="user", guards=(of_user,), refuses=(404,))
def show_user(request: RequestContext, subject: UserFromPath) -> UserSchema:
    """Show a user."""
    return with_stars(request, subject.account)


def with_stars(request: RequestContext, account: Account) -> UserSchema:
    """Encode a single user with the number of starred repositories, which lists omit."""
    count = subscriptions.count_stars(request.app, account)
    return msgspec.structs.replace(user(request, account), starred_repos_count=count)


def settings_shape(account: Account) -> UserSettings:
    """Encode the settings of a user."""
    return UserSettings(
        full_name=account.full_name,
        website=account.website,
        description=account.description,
        location=account.location,
        language=account.language,
        theme="",
        diff_view_style="",
        hide_email=account.hides_email,
        hide_activity=False,
    )


@endpoint("GET /user/settings", scope="user", guards=(signed_in,), refuses=(401,))
def show_settings(request: RequestContext) -> UserSettings:
    """Show the settings of the authenticated user."""
    return settings_shape(request.user)


@endpoint("PATCH /user/settings", scope="user", guards=(signed_in,), refuses=(401, 422))
def change_settings(request: RequestContext, body: UserSettingsOptions) -> UserSettings:
    """Update the settings of the authenticated user."""
    changes = users.ProfileEdit(
        full_name=body.full_name,
        website=body.website,
        description=body.description,
        location=body.location,
        language=body.language,
        hides_email=body.hide_email,
    )
    return settings_shape(users.edit_profile(request.app, request.actor, changes))
