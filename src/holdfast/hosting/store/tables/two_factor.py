"""Two-factor authentication of users: the secret of their authenticator app, and their recovery codes."""

from sqlalchemy import Column, String, Table

from holdfast.hosting.store.tables.columns import metadata, number, to, words

__all__ = ["recovery_codes", "two_factor"]

two_factor = Table(
    "two_factor",
    metadata,
    to("users", "user_id", primary=True),
    # Encrypted with the key of the installation.
    words("secret"),
    number("created_at"),
    # When the user confirmed the secret with a code; until then it is not asked for.
    number("confirmed_at"),
    # The time step of the last code that was accepted; it and earlier ones are refused.
    number("last_step"),
)

# Those that are left: a code is deleted when it is used.
recovery_codes = Table(
    "recovery_codes",
    metadata,
    to("users", "user_id", primary=True),
    Column("code_hash", String, primary_key=True),
)
