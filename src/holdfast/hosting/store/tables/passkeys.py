"""Passkeys of users, and the challenges to be signed with them."""

from sqlalchemy import Column, ForeignKey, String, Table, UniqueConstraint

from holdfast.hosting.store.tables.columns import Id, key, metadata, number, to, words

__all__ = ["passkey_challenges", "passkeys"]

passkeys = Table(
    "passkeys",
    metadata,
    key(),
    to("users", "user_id", index=True),
    # Binary values are base64url, as browsers send them.
    words("credential_id"),
    words("public_key"),
    # Random; the same for all passkeys of a user, so that an authenticator lists them as one account.
    words("user_handle"),
    # The signature counter of the last response; authenticators without a counter send 0.
    number("sign_count"),
    words("name"),
    number("created_at"),
    number("last_used_at"),
    UniqueConstraint("credential_id"),
)

# A challenge is deleted when it is answered.
passkey_challenges = Table(
    "passkey_challenges",
    metadata,
    Column("challenge", String, primary_key=True),
    words("purpose"),
    # NULL if the user is not known yet: the user who answers is logged in.
    Column("user_id", Id, ForeignKey("users.id", ondelete="CASCADE"), nullable=True, index=True),
    words("user_handle", ""),
    number("expires_at", index=True),
)
