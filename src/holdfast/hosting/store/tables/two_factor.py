"""Two-factor authentication of users: the secret of their authenticator app, and their recovery codes."""

from sqlalchemy import Column, String, Table

from holdfast.hosting.store.tables.columns import metadata, number, to, words

__all__ = ["recovery_codes", "two_factor"]

two_factor = Table(
    "two_factor",
    metadata,
    to("users", "user_id", primary=True),
    # Encrypted with the key of the instance.
    words("secret"),
    number("created_at"),
    # When the user confirmed the secret with a code; until then log-ins do not require it.
    number("confirmed_at"),
    # The time step of the last accepted code; this step and earlier ones are refused.
    number("last_step"),
)

# The unused codes: a code is deleted when it is used.
recovery_codes = Table(
    "recovery_codes",
    metadata,
    to("users", "user_id", primary=True),
    Column("code_hash", String, primary_key=True),
)
