"""Additional e-mail addresses of users; the main one is a column of the user."""

from sqlalchemy import Column, String, Table

from holdfast.hosting.store.tables.columns import key, metadata, number, to, words

__all__ = ["email_addresses"]

email_addresses = Table(
    "email_addresses",
    metadata,
    key(),
    to("users", "user_id", index=True),
    words("email"),
    # In lower case: an address belongs to one user, case-insensitively.
    Column("folded_email", String, nullable=False, unique=True),
    number("created_at"),
    sqlite_autoincrement=True,
)
