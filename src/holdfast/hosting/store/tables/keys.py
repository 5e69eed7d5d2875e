"""SSH keys: of users, of repositories (deploy keys), and the host keys of the service."""

from sqlalchemy import Column, ForeignKey, Index, String, Table

from holdfast.hosting.store.tables.columns import Id, flag, key, metadata, number, words

__all__ = ["ssh_host_keys", "ssh_keys"]

# A key belongs to a user or to a repository. One table for both, because a key identifies its owner on
# authentication: its fingerprint is unique among all keys.
ssh_keys = Table(
    "ssh_keys",
    metadata,
    key(),
    Column("user_id", Id, ForeignKey("users.id", ondelete="CASCADE"), nullable=True),
    Column("repository_id", Id, ForeignKey("repositories.id", ondelete="CASCADE"), nullable=True),
    words("title"),
    # The algorithm and the key in base64, without a comment.
    words("content"),
    Column("fingerprint", String, nullable=False, unique=True),
    flag("is_read_only"),
    number("created_at"),
    number("last_used_at"),
    Index(None, "user_id"),
    Index(None, "repository_id"),
    sqlite_autoincrement=True,
)

# One key for each algorithm, encrypted; all machines of an instance share them.
ssh_host_keys = Table(
    "ssh_host_keys",
    metadata,
    Column("algorithm", String, primary_key=True),
    words("private_key"),
    number("created_at"),
)
