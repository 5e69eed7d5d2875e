"""Password checks for the website and the API, with rate limits and a limit of concurrent hashing."""

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

# Longer input cannot be a name or password, and is not hashed.
LONGEST: Final = 1024


def is_too_long(name: str, password: Secret) -> bool:
    """Return whether a name or password is longer than any that can exist."""
    return len(name) > LONGEST or len(password.reveal()) > LONGEST


def account_name(database: Database, typed: str) -> str:
    """Return the name of the user with an e-mail address; anything else unchanged.

    An address shared by several users identifies none of them. The rate limit counts by name in either case.
    """
    if "@" not in typed or "\0" in typed or len(typed) > LONGEST:
        return typed
    names = accounts.names_with_email(database, typed)
    return names[0] if len(names) == 1 else typed


def check_limit(database: Database, settings: Settings, name: str, address: str) -> None:
    """Raise `TooManyGuesses` if the rate limit would refuse an attempt now; does not count one."""
    window = settings.login_failure_minutes * 60
    wait = login_rate_limit.seconds_to_wait(database, name, address, limit=settings.login_failures, window=window)
    if wait > 0:
        raise TooManyGuesses(wait)


def check(database: Database, settings: Settings, name: str, password: Secret, address: str) -> Account | None:
    """Return the user if the password is correct, else None.

    The attempt is counted as pending before the password is hashed, so that concurrent guesses are limited too. It
    is not counted in the end if the password is correct, or if hashing is too busy.
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
    if user is None:
        login_rate_limit.fail(database, name, address)
    else:
        login_rate_limit.succeed(database, name, address)
    return user


def confirm(app: App, actor: Actor, password: Secret, address: str) -> Actor:
    """Return the actor marked as having confirmed their password; raise `WrongPassword` otherwise."""
    user = require_session(actor)
    account = check(app.database, app.settings, user.name, password, address)
    if account is None or account.id != user.id:
        raise WrongPassword
    return replace(actor, by_password=True)
