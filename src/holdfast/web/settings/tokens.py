"""The access tokens of whoever is logged in: what there are, making one, shown once, and taking one back."""

from typing import Final

import msgspec
from msgspec.structs import replace

from holdfast.hosting.api import tokens
from holdfast.hosting.http.context import RequestContext
from holdfast.hosting.http.endpoints import RawResponse, endpoint
from holdfast.hosting.http.errors import ApiError
from holdfast.hosting.http.pagination import PageParams
from holdfast.redacted_repr import redacted
from holdfast.web.api_actions import act
from holdfast.web.pages import go
from holdfast.web.settings.account import check_own_password, oneself
from holdfast.web.settings.settings_layout import ACCOUNT, in_account

__all__ = ["create_token_page", "list_tokens_page", "remove_token_page"]

# The scopes that an endpoint asks for; the API takes the others of Gitea too, for which there is nothing here.
ABOUT: Final = {
    "repository": "Repositories: files, branches, commits, pushing and cloning",
    "issue": "Issues, comments, labels, milestones",
    "organization": "Organizations, their teams, members and webhooks",
    "user": "Your profile and your own webhooks",
    "admin": "Administration of the service, if you are an administrator",
}


@redacted
class TokenForm(msgspec.Struct, frozen=True):
    """What was typed; each category is empty, `read` or `write`."""

    name: str = ""
    password: str = ""
    expires: str = ""
    everything: str = ""
    public_only: str = ""
    repository: str = ""
    issue: str = ""
    organization: str = ""
    user: str = ""
    admin: str = ""


class RemoveForm(msgspec.Struct, frozen=True):
    """Which token."""

    id: str = ""


def with_password(request: RequestContext) -> RequestContext:
    """Ask the API as if the password had been given.

    To list tokens and to take one back it is enough to be logged in; before one is made, the password is asked for
    and checked.
    """
    return replace(request, actor=replace(request.actor, by_password=True))


def scopes_of(form: TokenForm) -> list[str]:
    """Return the scopes that were chosen."""
    chosen = ["all"] if form.everything else []
    if not form.everything:
        for category in ABOUT:
            level = getattr(form, category)
            if level in {"read", "write"}:
                chosen.append(f"{level}:{category}")
    if not chosen:
        raise ApiError(422, "Choose what the token may be used for")
    return [*chosen, "public-only"] if form.public_only else chosen


def show_tokens(
    request: RequestContext,
    page: PageParams,
    form: TokenForm,
    *,
    made: tokens.AccessToken | None = None,
    refusal: ApiError | None = None,
) -> RawResponse:
    """Show the tokens, and the one that was just made, with its value, this once."""
    listed = act(with_password(request), tokens.list_tokens, {"username": request.user.name}, page=page)
    shown = in_account(
        request,
        "settings/tokens.html",
        at="Tokens",
        title="Tokens",
        refusal=refusal,
        tokens=listed.items,
        total=listed.total,
        page=page,
        form=form,
        categories=list(ABOUT.items()),
        made=made,
    )
    if made is not None:
        shown.headers["Cache-Control"] = "no-store"
    return shown


@endpoint(f"GET {ACCOUNT}/tokens", scope="user", guards=(oneself,), slow=True)
def list_tokens_page(request: RequestContext, page: PageParams) -> RawResponse:
    """Show one's tokens, without their values."""
    return show_tokens(request, page, TokenForm(repository="write", issue="write"))


@endpoint(f"POST {ACCOUNT}/tokens", scope="user", guards=(oneself,), largest_body=64 * 1024)
def create_token_page(request: RequestContext, body: TokenForm) -> RawResponse:
    """Make a token, and show its value."""
    wanted = {"name": body.name.strip()}
    if body.expires.strip():
        # A day, to the end of which it is good.
        wanted["expires_at"] = f"{body.expires.strip()}T23:59:59Z"
    try:
        check_own_password(request, body.password)
        made = act(
            with_password(request),
            tokens.create_token,
            {"username": request.user.name},
            body={**wanted, "scopes": scopes_of(body)},
        )
    except ApiError as refusal:
        return show_tokens(request, PageParams(1, 30), body, refusal=refusal)
    return show_tokens(request, PageParams(1, 30), TokenForm(repository="write", issue="write"), made=made)


@endpoint(f"POST {ACCOUNT}/tokens/remove", scope="user", guards=(oneself,))
def remove_token_page(request: RequestContext, body: RemoveForm) -> RawResponse:
    """Take a token back."""
    place = {"username": request.user.name, "token": body.id}
    act(with_password(request), tokens.delete_token, place)
    return go(f"{ACCOUNT}/tokens", "removed")
