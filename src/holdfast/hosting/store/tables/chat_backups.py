"""Chat backups uploaded by users: their files, the parts of these in the object store, and shares."""

from sqlalchemy import BigInteger, Column, Index, String, Table, UniqueConstraint

from holdfast.hosting.store.tables.columns import flag, key, metadata, number, to, words

__all__ = ["chat_backup_files", "chat_backup_parts", "chat_backup_shares", "chat_backups"]

# The size counts against the owner's limit from the beginning of the upload.
chat_backups = Table(
    "chat_backups",
    metadata,
    key(),
    Column("uuid", String, nullable=False, unique=True),
    to("users", "owner_id"),
    words("name"),
    words("state"),
    words("kind", ""),
    flag("is_folder"),
    Column("size", BigInteger, nullable=False),
    # A hash of the names, sizes and times of its files, by which an interrupted upload is found again.
    words("fingerprint"),
    number("created_at"),
    number("updated_at"),
    Index(None, "owner_id", "id"),
    Index(None, "state", "updated_at"),
    sqlite_autoincrement=True,
)

# `received` is the number of bytes so far; `path` is relative to the uploaded folder.
chat_backup_files = Table(
    "chat_backup_files",
    metadata,
    key(),
    to("chat_backups", "backup_id"),
    number("position"),
    words("path"),
    Column("size", BigInteger, nullable=False),
    number("received"),
    UniqueConstraint("backup_id", "position"),
    sqlite_autoincrement=True,
)

# A part is one object of the store, named by the uuid; `start` is its offset in the file.
chat_backup_parts = Table(
    "chat_backup_parts",
    metadata,
    to("chat_backup_files", "file_id", primary=True),
    Column("start", BigInteger, primary_key=True, autoincrement=False),
    Column("size", BigInteger, nullable=False),
    Column("uuid", String, nullable=False, unique=True),
)

chat_backup_shares = Table(
    "chat_backup_shares",
    metadata,
    to("chat_backups", "backup_id", primary=True),
    to("users", "user_id", primary=True, index=True),
    number("created_at"),
)
