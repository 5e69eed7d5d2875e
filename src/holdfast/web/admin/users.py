"""User accounts, for site administrators: list, create, edit, rename and delete them."""

from typing import Final
from urllib.parse import quote, urlencode

import msgspec
import structlog
from msgspec import UNSET

from holdfast.hosting.errors import HostingError
from holdfast.hosting.guards import UserFromPath, of_user, person, site_admin
from holdfast.hosting.http.endpoints import RawResponse, endpoint
from holdfast.hosting.http.pagination import PageParams
from holdfast.hosting.request_context import RequestContext
from holdfast.hosting.services import two_factor, users
from holdfast.hosting.store import accounts
from holdfast.hosting.store.accounts import Account
from holdfast.redacted_repr import redacted
from holdfast.secret import Secret
from holdfast.web.pages import redirect_to
from holdfast.web.settings.danger_zone import check_typed
from holdfast.web.settings.settings_layout import ADMIN, in_admin

__all__ = [
    "change_user_page",
    "create_user_page",
    "delete_user_page",
    "list_users_page",
    "new_user_page",
    "remove_two_factor_page",
    "rename_user_page",
    "reset_password_page",
    "show_user_page",
]

log = structlog.get_logger(__name__)
AT: Final = "Users"
ROOT: Final = f"{ADMIN}/users"
GUARDS: Final = (site_admin, of_user, person)
TEXTS: Final = ("full_name", "email", "description", "website", "location", "visibility")


class UsersQuery(msgspec.Struct, frozen=True):
    """The query of the user list."""

    q: str = ""


@redacted
class NewUserForm(msgspec.Struct, frozen=True):
    """The form of a new user; an empty password is generated."""

    username: str = ""
    full_name: str = ""
    email: str = ""
    password: str = ""
    must_change_password: str = ""
    visibility: str = "public"
    restricted: str = ""


class UserForm(msgspec.Struct, frozen=True):
    """The fields of the form; an unchecked checkbox is empty."""

    full_name: str = ""
    email: str = ""
    description: str = ""
    website: str = ""
    location: str = ""
    visibility: str = ""
    admin: str = ""
    active: str = ""
    prohibit_login: str = ""
    restricted: str = ""
    allow_create_organization: str = ""


@redacted
class ResetForm(msgspec.Struct, frozen=True):
    """The form that resets a password; an empty one is generated."""

    password: str = ""
    must_change_password: str = ""


class AccountActionForm(msgspec.Struct, frozen=True):
    """The forms that rename and delete a user."""

    new_username: str = ""
    confirm: str = ""
    purge: str = ""


@endpoint(f"GET {ROOT}", scope="admin", guards=(site_admin,), slow=True)
def list_users_page(request: RequestContext, query: UsersQuery, page: PageParams) -> RawResponse:
    """List the users, optionally those whose name contains a text."""
    people, total = users.list_users(request.app, request.actor, query.q.strip(), skip=page.skip, limit=page.size)
    more = f"?{urlencode({'q': query.q})}&page=" if query.q else "?page="
    return in_admin(
        request,
        "admin/users.html",
        at=AT,
        title="Users",
        people=people,
        total=total,
        page=page,
        q=query.q,
        more=more,
    )


def show_new(request: RequestContext, form: NewUserForm, refusal: HostingError | None = None) -> RawResponse:
    """Render the form of a new user."""
    return in_admin(
        request,
        "admin/new_user.html",
        at=AT,
        title="New user",
        refusal=refusal,
        form=form,
    )


@endpoint(f"GET {ROOT}/new", scope="admin", guards=(site_admin,), slow=True)
def new_user_page(request: RequestContext) -> RawResponse:
    """Show the form of a new user."""
    return show_new(request, NewUserForm(must_change_password="on"))  # noqa: S106  # a checked checkbox


@endpoint(f"POST {ROOT}/new", scope="admin", guards=(site_admin,), largest_body=64 * 1024)
def create_user_page(request: RequestContext, body: NewUserForm) -> RawResponse:
    """Create a user, and show a generated password once."""
    invented = "" if body.password else accounts.new_password().reveal()
    new_user = users.NewUser(
        name=body.username.strip(),
        email=body.email.strip(),
        full_name=body.full_name.strip(),
        password=Secret(body.password or invented),
        must_change_password=bool(body.must_change_password),
        visibility=body.visibility,
        is_restricted=bool(body.restricted),
    )
    try:
        created = users.create(request.app, request.actor, new_user)
    except HostingError as error:
        return show_new(request, msgspec.structs.replace(body, password=""), error)
    if not invented:
        return redirect_to(f"{ROOT}/{quote(created.name)}", "user-created", created.name)
    return show_user(request, created, invented=invented)


def form_of(account: Account) -> UserForm:
    """Return the form for an existing user."""
    flags = {
        "admin": account.is_admin,
        "active": account.is_active,
        "prohibit_login": account.may_not_log_in,
        "restricted": account.is_restricted,
        "allow_create_organization": account.may_create_organizations,
    }
    texts = {name: getattr(account, name) for name in TEXTS}
    return UserForm(**texts, **{name: "on" if flag else "" for name, flag in flags.items()})


def show_user(
    request: RequestContext,
    account: Account,
    form: UserForm | None = None,
    *,
    refusal: HostingError | None = None,
    invented: str = "",
    deed: AccountActionForm | None = None,
) -> RawResponse:
    """Render the page of a user, with a generated password once."""
    response = in_admin(
        request,
        "admin/user.html",
        at=AT,
        title=account.name,
        refusal=refusal,
        account=account,
        form=form or form_of(account),
        path=f"{ROOT}/{quote(account.name)}",
        deed=deed or AccountActionForm(new_username=account.name),
        invented=invented,
        second_factor=two_factor.status_of(request.app, account),
    )
    if invented:
        response.headers["Cache-Control"] = "no-store"
    return response


@endpoint(f"GET {ROOT}/{{username}}", scope="admin", guards=GUARDS, slow=True)
def show_user_page(request: RequestContext, subject: UserFromPath) -> RawResponse:
    """Show a user."""
    return show_user(request, subject.account)


@endpoint(f"POST {ROOT}/{{username}}", scope="admin", guards=GUARDS)
def change_user_page(request: RequestContext, subject: UserFromPath, body: UserForm) -> RawResponse:
    """Edit a user."""
    email = body.email.strip()
    changes = users.UserEdit(
        full_name=body.full_name.strip(),
        email=email if email or subject.account.email else UNSET,
        description=body.description.strip(),
        website=body.website.strip(),
        location=body.location.strip(),
        visibility=body.visibility.strip(),
        is_admin=bool(body.admin),
        is_active=bool(body.active),
        may_not_log_in=bool(body.prohibit_login),
        is_restricted=bool(body.restricted),
        may_create_organizations=bool(body.allow_create_organization),
    )
    try:
        users.edit(request.app, request.actor, subject.account, changes)
    except HostingError as error:
        return show_user(request, subject.account, body, refusal=error)
    return redirect_to(f"{ROOT}/{quote(subject.account.name)}", "user-saved", subject.account.name)


@endpoint(f"POST {ROOT}/{{username}}/password", scope="admin", guards=GUARDS, largest_body=64 * 1024)
def reset_password_page(request: RequestContext, subject: UserFromPath, body: ResetForm) -> RawResponse:
    """Reset the password of a user, which ends their sessions."""
    invented = "" if body.password else accounts.new_password().reveal()
    changes = users.UserEdit(
        password=Secret(body.password or invented), must_change_password=bool(body.must_change_password)
    )
    try:
        users.edit(request.app, request.actor, subject.account, changes)
    except HostingError as error:
        return show_user(request, subject.account, refusal=error)
    if not invented:
        return redirect_to(f"{ROOT}/{quote(subject.account.name)}", "password-reset", subject.account.name)
    return show_user(request, subject.account, invented=invented)


@endpoint(f"POST {ROOT}/{{username}}/two-factor", scope="admin", guards=GUARDS)
def remove_two_factor_page(request: RequestContext, subject: UserFromPath) -> RawResponse:
    """Disable two-factor authentication of a user who has lost their device."""
    try:
        two_factor.remove_for(request.app, request.actor, subject.account)
    except HostingError as error:
        return show_user(request, subject.account, refusal=error)
    log.info("two-factor authentication disabled by an administrator", user=subject.account.id)
    return redirect_to(f"{ROOT}/{quote(subject.account.name)}", "two-factor-removed", subject.account.name)


@endpoint(f"POST {ROOT}/{{username}}/rename", scope="admin", guards=GUARDS)
def rename_user_page(request: RequestContext, subject: UserFromPath, body: AccountActionForm) -> RawResponse:
    """Rename a user."""
    name = body.new_username.strip()
    try:
        check_typed(body.confirm, subject.account.name)
        users.rename(request.app, request.actor, subject.account, name)
    except HostingError as error:
        return show_user(request, subject.account, refusal=error, deed=body)
    return redirect_to(f"{ROOT}/{quote(name)}", "user-renamed", name)


@endpoint(f"POST {ROOT}/{{username}}/delete", scope="admin", guards=GUARDS)
def delete_user_page(request: RequestContext, subject: UserFromPath, body: AccountActionForm) -> RawResponse:
    """Delete a user."""
    try:
        check_typed(body.confirm, subject.account.name)
        users.delete(request.app, request.actor, subject.account, purge=bool(body.purge))
    except HostingError as error:
        return show_user(request, subject.account, refusal=error, deed=AccountActionForm(subject.account.name))
    return redirect_to(ROOT, "user-deleted", subject.account.name)
