"""Access tokens: list them, create one, revoke one."""

from dataclasses import dataclass

from holdfast.hosting.access import SCOPES, Actor, require_login, require_password, require_token_access
from holdfast.hosting.app import App
from holdfast.hosting.errors import InvalidField, InvalidScope, NoSuchToken, Violation
from holdfast.hosting.store import tokens
from holdfast.hosting.store.accounts import Account
from holdfast.hosting.store.tokens import Token
from holdfast.secret import Secret

__all__ = ["MAX_NAME", "NewToken", "create", "current", "delete", "delete_current", "list_tokens"]

MAX_NAME = 255


@dataclass(frozen=True, slots=True, kw_only=True)
class NewToken:
    """A token to create; with `expires_at` 0 it never expires."""

    name: str
    scopes: tuple[str, ...]
    expires_at: int = 0


def list_tokens(app: App, actor: Actor, user: Account, *, skip: int, limit: int) -> tuple[list[Token], int]:
    """Return one page of a user's tokens without their values, oldest first, and the total."""
    require_token_access(actor, user)
    return tokens.tokens_of(app.database, user, skip=skip, limit=limit)


def create(app: App, actor: Actor, user: Account, new_token: NewToken) -> tuple[Token, Secret]:
    """Create a token; return it with its value, which is not stored and cannot be shown again."""
    require_password(actor)
    require_token_access(actor, user)
    if not new_token.name:
        raise InvalidField("Name", Violation.REQUIRED)
    if len(new_token.name) > MAX_NAME:
        raise InvalidField("Name", Violation.TOO_LONG, MAX_NAME)
    scopes = checked_scopes(new_token.scopes)
    return tokens.create_token(app.database, user, new_token.name, scopes, expires_at=new_token.expires_at)


def checked_scopes(scopes: tuple[str, ...]) -> tuple[str, ...]:
    """Return the scopes in order without duplicates; raise `InvalidScope` for an unknown scope or none."""
    if not scopes:
        raise InvalidScope(None)
    for scope in scopes:
        if scope not in SCOPES:
            raise InvalidScope(scope)
    return tuple(sorted(set(scopes)))


def delete(app: App, actor: Actor, user: Account, key: str) -> Token:
    """Revoke a user's token, by its id or its name, and return it."""
    require_token_access(actor, user)
    token = tokens.find_token(app.database, user, key)
    tokens.delete_token(app.database, token)
    return token


def current(actor: Actor) -> Token:
    """Return the token that authenticated the request."""
    require_login(actor)
    if actor.token is None:
        raise NoSuchToken("this request did not come with a token")
    return actor.token


def delete_current(app: App, actor: Actor) -> None:
    """Revoke the token that authenticated the request."""
    tokens.delete_token(app.database, current(actor))
