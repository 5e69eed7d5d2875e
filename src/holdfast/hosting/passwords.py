"""Checking a password, for the website and the API alike: whoever guesses waits."""

from typing import Final

from holdfast.hosting.errors import TooManyGuesses
from holdfast.hosting.store import accounts, failures
from holdfast.hosting.store.accounts import Account
from holdfast.hosting.store.database import Database
from holdfast.secret import Secret
from holdfast.settings import Settings

__all__ = ["LONGEST", "check"]

# Longer input is no name or password of anybody's; it is not worth hashing.
LONGEST: Final = 1024


def check(database: Database, settings: Settings, name: str, password: Secret, address: str) -> Account | None:
    """Return the user if the password is theirs; after too many wrong ones nobody is asked for a while."""
    if len(name) > LONGEST or len(password.reveal()) > LONGEST:
        return None
    limit, window = settings.login_failures, settings.login_failure_minutes * 60
    wait = failures.seconds_to_wait(database, name, address, limit=limit, window=window)
    if wait > 0:
        raise TooManyGuesses(wait)
    user = accounts.check_password(database, name, password)
    if user is None:
        failures.note_failure(database, name, address, window=window)
    else:
        failures.clear_failures(database, name, address)
    return user
