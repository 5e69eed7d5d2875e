"""Checks a password, for the website and the API alike; guesses are rate limited, and few are hashed at once."""

from typing import Final

from msgspec.structs import replace

from holdfast.hosting.access import Actor, require_session
from holdfast.hosting.app import App
from holdfast.hosting.errors import HashingBusy, TooManyGuesses, WrongPassword
from holdfast.hosting.store import accounts, login_rate_limit
from holdfast.hosting.store.accounts import Account
from holdfast.hosting.store.database import Database
from holdfast.secret import Secret
from holdfast.settings import Settings

__all__ = ["LONGEST", "account_name", "check", "check_limit", "confirm", "is_too_long"]

# Longer input is no name or password of anybody's; it is not worth hashing.
LONGEST: Final = 1024


def is_too_long(name: str, password: Secret) -> bool:
    """Return whether this can be nobody's name and password."""
    return len(name) > LONGEST or len(password.reveal()) > LONGEST


def account_name(database: Database, typed: str) -> str:
    """Return the name of the user who has an e-mail address; anything else as it was typed.

    An address that several users have leads to none of them. Guesses are counted for the name in either case.
    """
    if "@" not in typed or "\0" in typed or len(typed) > LONGEST:
        return typed
    names = accounts.names_with_email(database, typed)
    return names[0] if len(names) == 1 else typed


def check_limit(database: Database, settings: Settings, name: str, address: str) -> None:
    """Raise `TooManyGuesses` when an attempt would be refused now; reads only, and counts nothing."""
    window = settings.login_failure_minutes * 60
    wait = login_rate_limit.seconds_to_wait(database, name, address, limit=settings.login_failures, window=window)
    if wait > 0:
        raise TooManyGuesses(wait)


def check(database: Database, settings: Settings, name: str, password: Secret, address: str) -> Account | None:
    """Return the user if the password is theirs.

    The attempt is counted before the password is hashed, so that guesses made at once are limited as well;
    a right password gives its own back, and so does an attempt that finds the hashing too busy.
    """
    if is_too_long(name, password):
        return None
    limit, window = settings.login_failures, settings.login_failure_minutes * 60
    wait = login_rate_limit.reserve_attempt(database, name, address, limit=limit, window=window)
    if wait > 0:
        raise TooManyGuesses(wait)
    try:
        user = accounts.check_password(database, name, password)
    except HashingBusy:
        login_rate_limit.cancel_attempt(database, name, address)
        raise
    if user is not None:
        login_rate_limit.succeed(database, name, address)
    return user


def confirm(app: App, actor: Actor, password: Secret, address: str) -> Actor:
    """Return the user who acts as somebody who gave their password; raise `WrongPassword` for another one."""
    user = require_session(actor)
    account = check(app.database, app.settings, user.name, password, address)
    if account is None or account.id != user.id:
        raise WrongPassword
    return replace(actor, by_password=True)
