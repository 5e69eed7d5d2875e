"""The account of the user who is signed in: profile and password."""

import msgspec

from holdfast.hosting import access
from holdfast.hosting.errors import HostingError, PasswordRefused
from holdfast.hosting.guards import signed_in
from holdfast.hosting.http.endpoints import RawResponse, endpoint
from holdfast.hosting.request_context import RequestContext
from holdfast.hosting.services import passwords, users
from holdfast.hosting.store import accounts, sessions
from holdfast.secret import Secret
from holdfast.web.pages import redirect_to
from holdfast.web.settings.settings_layout import ACCOUNT, in_account

__all__ = [
    "change_password",
    "change_profile",
    "require_session",
    "session_of",
    "show_password_form",
    "show_profile",
]


class AccountProfileForm(msgspec.Struct, frozen=True):
    """The fields of the form; an unchecked checkbox is empty."""

    full_name: str = ""
    email: str = ""
    description: str = ""
    website: str = ""
    location: str = ""
    visibility: str = ""
    hide_email: str = ""


class PasswordForm(msgspec.Struct, frozen=True):
    """The current password, and the new one twice."""

    old: str = ""
    new: str = ""
    again: str = ""


def require_session(request: RequestContext) -> None:
    """Require a session of the user; a token or an administrator acting as them is rejected."""
    access.require_session(request.actor)


def session_of(request: RequestContext) -> Secret | None:
    """Return the session token of the request."""
    cookie = request.cookies.get(sessions.COOKIE)
    return None if cookie is None else Secret(cookie)


def show_form(
    request: RequestContext, form: AccountProfileForm, refusal: HostingError | None = None
) -> RawResponse:
    """Render the form of the profile."""
    return in_account(
        request,
        "settings/profile.html",
        at="Profile",
        title="Profile",
        refusal=refusal,
        form=form,
    )


@endpoint(f"GET {ACCOUNT}", scope="user", guards=(signed_in,), slow=True)
def show_profile(request: RequestContext) -> RawResponse:
    """Show the profile of the user."""
    user = request.user
    return show_form(
        request,
        AccountProfileForm(
            full_name=user.full_name,
            email=user.email,
            description=user.description,
            website=user.website,
            location=user.location,
            visibility=user.visibility,
            hide_email="on" if user.hides_email else "",
        ),
    )


@endpoint(f"POST {ACCOUNT}", scope="user", guards=(signed_in,))
def change_profile(request: RequestContext, body: AccountProfileForm) -> RawResponse:
    """Edit the profile of the user who is signed in."""
    changes = users.ProfileEdit(
        full_name=body.full_name.strip(),
        email=body.email.strip(),
        description=body.description.strip(),
        website=body.website.strip(),
        location=body.location.strip(),
        visibility=body.visibility.strip(),
        hides_email=bool(body.hide_email),
    )
    try:
        users.edit_profile(request.app, request.actor, changes)
    except HostingError as error:
        return show_form(request, body, error)
    return redirect_to(ACCOUNT, "profile-saved")


def show_passwords(request: RequestContext, refusal: HostingError | None = None) -> RawResponse:
    """Render the form of the password."""
    return in_account(
        request,
        "settings/password.html",
        at="Password",
        title="Password",
        refusal=refusal,
        must=request.user.must_change_password,
        shortest=accounts.MIN_PASSWORD,
    )


@endpoint(f"GET {ACCOUNT}/password", scope="user", guards=(require_session,), slow=True)
def show_password_form(request: RequestContext) -> RawResponse:
    """Show the form that changes the password."""
    return show_passwords(request)


def check_new(form: PasswordForm) -> None:
    """Raise `PasswordRefused` for a new password that was mistyped, or is the old one."""
    if form.new != form.again:
        raise PasswordRefused("the new passwords do not match")
    if form.new == form.old:
        raise PasswordRefused("the new password must differ from the current one")


@endpoint(f"POST {ACCOUNT}/password", scope="user", guards=(require_session,), largest_body=64 * 1024)
def change_password(request: RequestContext, body: PasswordForm) -> RawResponse:
    """Change the password, and end all other sessions."""
    must = request.user.must_change_password
    try:
        passwords.confirm(request.app, request.actor, Secret(body.old), request.address)
        check_new(body)
        session = session_of(request)
        session_hash = "" if session is None else sessions.hashed(session)
        users.set_own_password(request.app, request.actor, Secret(body.new), kept_session=session_hash)
    except HostingError as error:
        return show_passwords(request, error)
    return redirect_to("/" if must else f"{ACCOUNT}/password", "password-changed")
