"""E-mail addresses of users: the main one, which is a column of the user, and additional ones."""

import time
from collections.abc import Sequence

from sqlalchemy import delete, func, insert, select
from sqlalchemy.exc import IntegrityError

from holdfast.hosting.errors import EmailTaken, InvalidValue, NoSuchEmail
from holdfast.hosting.store import account_administration, accounts
from holdfast.hosting.store.accounts import Account
from holdfast.hosting.store.database import Database
from holdfast.hosting.store.tables import email_addresses, users

__all__ = ["MOST_ADDRESSES", "add_addresses", "addresses_of", "remove_addresses"]

MOST_ADDRESSES = 20
"""The maximum number of additional addresses of a user."""


def addresses_of(database: Database, user: Account) -> list[str]:
    """Return the additional addresses of a user, oldest first."""
    statement = select(email_addresses.c.email).where(email_addresses.c.user_id == user.id)
    with database.read() as connection:
        return list(connection.execute(statement.order_by(email_addresses.c.id)).scalars())


def add_addresses(database: Database, user: Account, emails: Sequence[str]) -> None:
    """Add addresses to a user, all or none. Raise `EmailTaken` for an address that another account has."""
    for email in emails:
        accounts.check_email(email)
    now = int(time.time())
    try:
        with database.write() as connection:
            # Serializes concurrent requests, which could exceed the limit together.
            connection.execute(select(users.c.id).where(users.c.id == user.id).with_for_update())
            its = select(func.count()).where(email_addresses.c.user_id == user.id)
            if connection.execute(its).scalar_one() + len(emails) > MOST_ADDRESSES:
                raise InvalidValue("Emails", f"a user has at most {MOST_ADDRESSES} addresses beside the main one")
            for email in emails:
                account_administration.check_free(connection, email)
                row = {"user_id": user.id, "email": email, "folded_email": email.lower(), "created_at": now}
                connection.execute(insert(email_addresses), row)
    except IntegrityError:
        raise EmailTaken("e-mail already exists") from None


def remove_addresses(database: Database, user: Account, emails: Sequence[str]) -> None:
    """Remove additional addresses of a user, all or none. Raise `NoSuchEmail` for any other address."""
    folded = {email.lower() for email in emails}
    its = (email_addresses.c.user_id == user.id, email_addresses.c.folded_email.in_(folded))
    with database.write() as connection:
        if connection.execute(delete(email_addresses).where(*its)).rowcount != len(folded):
            raise NoSuchEmail("an address does not exist, or is the main one, which cannot be removed")
