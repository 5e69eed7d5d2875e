"""The instance: its identity, and the leases of its processes."""

from sqlalchemy import Column, String, Table

from holdfast.hosting.store.tables.columns import metadata, number, words

__all__ = ["instance", "leases"]

# Leases with their holders and expiry times.
leases = Table(
    "leases",
    metadata,
    Column("name", String, primary_key=True),
    words("holder"),
    number("until"),
)

# The identity of the instance, in one row; the data folder has the same in a file.
instance = Table(
    "instance",
    metadata,
    Column("instance_id", String, primary_key=True),
    # Fingerprint of the encryption key; empty while unknown.
    words("key_fingerprint", ""),
)
