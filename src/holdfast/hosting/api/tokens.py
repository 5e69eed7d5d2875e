"""Access tokens: created with a password, their value is shown once."""

from datetime import datetime
from typing import Annotated, Final

import msgspec
from msgspec import Meta

from holdfast.hosting import access
from holdfast.hosting.guards import UserFromPath, of_user, signed_in, with_password
from holdfast.hosting.http.decoders import Required
from holdfast.hosting.http.endpoints import endpoint
from holdfast.hosting.http.pagination import PagedList, PageParams
from holdfast.hosting.request_context import RequestContext
from holdfast.hosting.schemas.times import Time, moment, moment_or_none
from holdfast.hosting.services import access_tokens
from holdfast.hosting.services.fields import due
from holdfast.hosting.store.tokens import Token
from holdfast.redacted_repr import redacted

__all__ = ["create_token", "delete_current_token", "delete_token", "list_tokens", "show_current_token"]


@redacted
class AccessToken(msgspec.Struct, frozen=True):
    """A token; its value is only in the response that created it."""

    id: int
    name: str
    sha1: str
    token_last_eight: str
    scopes: list[str]
    created_at: Time
    last_used_at: Time
    expires_at: Time | None
    """The time of its expiry; null if it never expires."""


class TokenOwner(msgspec.Struct, frozen=True):
    """The owner of a token."""

    id: int
    login: str


class CurrentAccessToken(msgspec.Struct, frozen=True):
    """The token that authenticated the request."""

    id: int
    name: str
    scopes: list[str]
    created_at: Time
    last_used_at: Time
    user: TokenOwner
    expires_at: Time | None


class CreateAccessTokenOption(msgspec.Struct, frozen=True):
    """A new token; without an expiry time it is valid until it is deleted."""

    name: Annotated[str, Meta(max_length=access_tokens.MAX_NAME), Required] = ""
    scopes: list[str] = []
    expires_at: datetime | None = None


def schema(token: Token, value: str = "") -> AccessToken:
    """Encode a token."""
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


def token_access(request: RequestContext) -> None:
    """Require that the caller may manage the tokens of the user in the path."""
    access.require_token_access(request.actor, request.resolved(UserFromPath).account)


GUARDS: Final = (of_user, with_password, token_access)


@endpoint("GET /users/{username}/tokens", scope="user", guards=GUARDS, refuses=(401, 403, 404))
def list_tokens(request: RequestContext, subject: UserFromPath, page: PageParams) -> PagedList[AccessToken]:
    """List a user's tokens, without their values."""
    tokens, total = access_tokens.list_tokens(
        request.app, request.actor, subject.account, skip=page.skip, limit=page.size
    )
    return PagedList([schema(token) for token in tokens], total)


@endpoint(
    "POST /users/{username}/tokens", scope="user", guards=GUARDS, status=201, refuses=(400, 401, 403, 404, 422)
)
def create_token(request: RequestContext, subject: UserFromPath, body: CreateAccessTokenOption) -> AccessToken:
    """Create a token; its value is shown only once."""
    new_token = access_tokens.NewToken(
        name=body.name, scopes=tuple(body.scopes), expires_at=due(body.expires_at, "ExpiresAt") or 0
    )
    created, value = access_tokens.create(request.app, request.actor, subject.account, new_token)
    return schema(created, value.reveal())


@endpoint("DELETE /users/{username}/tokens/{token}", scope="user", guards=GUARDS, refuses=(401, 403, 404))
def delete_token(request: RequestContext, subject: UserFromPath, token: str) -> None:
    """Delete a token by id or name."""
    access_tokens.delete(request.app, request.actor, subject.account, token)


@endpoint("GET /token", guards=(signed_in,), refuses=(401, 404))
def show_current_token(request: RequestContext) -> CurrentAccessToken:
    """Show the token that authenticated the request."""
    token = schema(access_tokens.current(request.actor))
    owner = TokenOwner(request.user.id, request.user.name)
    return CurrentAccessToken(
        token.id, token.name, token.scopes, token.created_at, token.last_used_at, owner, token.expires_at
    )


@endpoint("DELETE /token", guards=(signed_in,), refuses=(401, 404))
def delete_current_token(request: RequestContext) -> None:
    """Delete the token that authenticated the request."""
    access_tokens.delete_current(request.app, request.actor)
