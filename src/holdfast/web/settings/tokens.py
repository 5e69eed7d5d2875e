"""The access tokens of the user who is signed in: list them, create one, revoke one."""

from datetime import datetime
from typing import Final

import msgspec

from holdfast.hosting.errors import HostingError, InvalidValue
from holdfast.hosting.http.endpoints import RawResponse, endpoint
from holdfast.hosting.http.pagination import PageParams
from holdfast.hosting.request_context import RequestContext
from holdfast.hosting.services import access_tokens, passwords
from holdfast.hosting.store.tokens import Token
from holdfast.redacted_repr import redacted
from holdfast.secret import Secret
from holdfast.web.pages import redirect_to
from holdfast.web.settings.account import require_session
from holdfast.web.settings.settings_layout import ACCOUNT, in_account

__all__ = ["create_token_page", "list_tokens_page", "remove_token_page"]

# The scopes that endpoints require. The API also accepts Gitea's other scopes, which no endpoint here requires.
ABOUT: Final = {
    "repository": "Repositories: files, branches, commits, pushing and cloning",
    "issue": "Issues, comments, labels, milestones",
    "organization": "Organizations, their teams, members and webhooks",
    "user": "Your profile and your own webhooks",
    "notification": "Your notifications",
    "misc": "Rendering of Markdown, and templates of labels, licenses and .gitignore files",
    "admin": "Administration of the service, if you are an administrator",
}


@redacted
class TokenForm(msgspec.Struct, frozen=True):
    """The fields of the form; each category is empty, `read` or `write`."""

    name: str = ""
    password: str = ""
    expires: str = ""
    everything: str = ""
    public_only: str = ""
    repository: str = ""
    issue: str = ""
    organization: str = ""
    user: str = ""
    notification: str = ""
    misc: str = ""
    admin: str = ""


class RemoveForm(msgspec.Struct, frozen=True):
    """The token to revoke."""

    id: str = ""


def chosen_scopes(form: TokenForm) -> tuple[str, ...]:
    """Return the chosen scopes; `public-only` is valid only together with another scope."""
    levels = ((getattr(form, category), category) for category in ABOUT)
    chosen = tuple(f"{level}:{category}" for level, category in levels if level in {"read", "write"})
    chosen = ("all",) if form.everything else chosen
    return (*chosen, "public-only") if chosen and form.public_only else chosen


def end_of_day(text: str) -> int:
    """Return the last second of the typed day, in UTC; 0 for an empty text."""
    if not text.strip():
        return 0
    try:
        day = datetime.fromisoformat(f"{text.strip()}T23:59:59+00:00")
    except ValueError:
        raise InvalidValue("Expires after", "must be a date such as 2026-08-22") from None
    return int(day.timestamp())


def show_tokens(
    request: RequestContext,
    page: PageParams,
    form: TokenForm,
    *,
    created: tuple[Token, Secret] | None = None,
    error: HostingError | None = None,
) -> RawResponse:
    """Render the tokens, and once the value of a token that was just created."""
    stored_tokens, total = access_tokens.list_tokens(
        request.app, request.actor, request.user, skip=page.skip, limit=page.size
    )
    response = in_account(
        request,
        "settings/tokens.html",
        at="Tokens",
        title="Tokens",
        refusal=error,
        tokens=stored_tokens,
        total=total,
        page=page,
        form=form,
        categories=list(ABOUT.items()),
        created=None if created is None else (created[0], created[1].reveal()),
    )
    if created is not None:
        response.headers["Cache-Control"] = "no-store"
    return response


@endpoint(f"GET {ACCOUNT}/tokens", scope="user", guards=(require_session,), slow=True)
def list_tokens_page(request: RequestContext, page: PageParams) -> RawResponse:
    """List the tokens of the user, without their values."""
    return show_tokens(request, page, TokenForm(repository="write", issue="write"))


@endpoint(f"POST {ACCOUNT}/tokens", scope="user", guards=(require_session,), largest_body=64 * 1024)
def create_token_page(request: RequestContext, body: TokenForm) -> RawResponse:
    """Create a token, and show its value."""
    try:
        actor = passwords.confirm(request.app, request.actor, Secret(body.password), request.address)
        new_token = access_tokens.NewToken(
            name=body.name.strip(), scopes=chosen_scopes(body), expires_at=end_of_day(body.expires)
        )
        created = access_tokens.create(request.app, actor, request.user, new_token)
    except HostingError as error:
        return show_tokens(request, PageParams(1, 30), body, error=error)
    return show_tokens(request, PageParams(1, 30), TokenForm(repository="write", issue="write"), created=created)


@endpoint(f"POST {ACCOUNT}/tokens/remove", scope="user", guards=(require_session,))
def remove_token_page(request: RequestContext, body: RemoveForm) -> RawResponse:
    """Revoke a token."""
    revoked = access_tokens.delete(request.app, request.actor, request.user, body.id)
    return redirect_to(f"{ACCOUNT}/tokens", "token-revoked", revoked.name)
