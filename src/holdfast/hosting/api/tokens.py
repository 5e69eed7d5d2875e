"""Access tokens: made with a password, shown once."""

from datetime import datetime
from typing import Annotated

import msgspec
from msgspec import Meta

from holdfast.hosting import access
from holdfast.hosting.errors import TokenNameTaken
from holdfast.hosting.guards import UserFromPath, of_user, signed_in, with_password
from holdfast.hosting.http.context import RequestContext
from holdfast.hosting.http.decoders import Required
from holdfast.hosting.http.endpoints import endpoint
from holdfast.hosting.http.errors import ApiError
from holdfast.hosting.http.pagination import PagedList, PageParams
from holdfast.hosting.schemas.times import Time, moment, moment_or_none
from holdfast.hosting.services.fields import due
from holdfast.hosting.store import tokens
from holdfast.redacted_repr import redacted

__all__ = ["create_token", "delete_current_token", "delete_token", "list_tokens", "show_current_token"]


@redacted
class AccessToken(msgspec.Struct, frozen=True):
    """A token; its value is there only in the answer that made it."""

    id: int
    name: str
    sha1: str
    token_last_eight: str
    scopes: list[str]
    created_at: Time
    last_used_at: Time
    expires_at: Time | None
    """When it stops being good; null is never."""


class TokenOwner(msgspec.Struct, frozen=True):
    """Whose token it is."""

    id: int
    login: str


class CurrentAccessToken(msgspec.Struct, frozen=True):
    """The token a request came with."""

    id: int
    name: str
    scopes: list[str]
    created_at: Time
    last_used_at: Time
    user: TokenOwner
    expires_at: Time | None


class CreateAccessTokenOption(msgspec.Struct, frozen=True):
    """A new token; without a time it is good until it is deleted."""

    name: Annotated[str, Meta(max_length=255), Required] = ""
    scopes: list[str] = []
    expires_at: datetime | None = None


def shape(token: tokens.Token, value: str = "") -> AccessToken:
    """Make the shape."""
    return AccessToken(
        id=token.id,
        name=token.name,
        sha1=value,
        token_last_eight=token.last_eight,
        scopes=list(token.scopes),
        created_at=moment(token.created_at),
        last_used_at=moment(token.last_used_at or token.created_at),
        expires_at=moment_or_none(token.expires_at),
    )


def own_or_admin(request: RequestContext) -> None:
    """Let a user look after their own tokens, and an administrator after everybody's."""
    if not request.actor.is_admin and request.resolved(UserFromPath).account.id != request.user.id:
        raise ApiError(403, "only the user or an administrator may see these tokens")


GUARDS = (of_user, with_password, own_or_admin)


@endpoint("GET /users/{username}/tokens", scope="user", guards=GUARDS, refuses=(401, 403, 404))
def list_tokens(request: RequestContext, subject: UserFromPath, page: PageParams) -> PagedList[AccessToken]:
    """List a user's tokens, without their values."""
    found, total = tokens.tokens_of(request.app.database, subject.account, skip=page.skip, limit=page.size)
    return PagedList([shape(token) for token in found], total)


@endpoint(
    "POST /users/{username}/tokens", scope="user", guards=GUARDS, status=201, refuses=(400, 401, 403, 404, 422)
)
def create_token(request: RequestContext, subject: UserFromPath, body: CreateAccessTokenOption) -> AccessToken:
    """Make a token; its value is shown only this once."""
    if not body.scopes:
        raise ApiError(400, "access token must have a scope")
    expires_at = due(body.expires_at, "ExpiresAt") or 0
    try:
        scopes = access.check_scopes(body.scopes)
        made, value = tokens.create_token(
            request.app.database, subject.account, body.name, scopes, expires_at=expires_at
        )
    except (ValueError, TokenNameTaken) as error:
        raise ApiError(400, str(error)) from None
    return shape(made, value.reveal())


@endpoint("DELETE /users/{username}/tokens/{token}", scope="user", guards=GUARDS, refuses=(401, 403, 404))
def delete_token(request: RequestContext, subject: UserFromPath, token: str) -> None:
    """Remove a token by its id or its name."""
    tokens.delete_token(request.app.database, tokens.find_token(request.app.database, subject.account, token))


def current(request: RequestContext) -> tokens.Token:
    """Return the token a request came with."""
    token = request.actor.token
    if token is None:
        raise ApiError(404, "this request did not come with a token")
    return token


@endpoint("GET /token", guards=(signed_in,), refuses=(401, 404))
def show_current_token(request: RequestContext) -> CurrentAccessToken:
    """Show the token the request came with."""
    token = current(request)
    whole = shape(token)
    owner = TokenOwner(request.user.id, request.user.name)
    return CurrentAccessToken(
        whole.id, whole.name, whole.scopes, whole.created_at, whole.last_used_at, owner, whole.expires_at
    )


@endpoint("DELETE /token", guards=(signed_in,), refuses=(401, 404))
def delete_current_token(request: RequestContext) -> None:
    """Remove the token the request came with."""
    tokens.delete_token(request.app.database, current(request))
