"""The repository log: refs, their history, packs and idempotency keys."""

from sqlalchemy import BigInteger, Column, Index, LargeBinary, String, Table, text

from holdfast.hosting.store.tables.columns import flag, key, metadata, number, to, words

__all__ = ["commit_keys", "packs", "ref_log", "ref_updates", "refs"]

# Compared bytewise on both databases, so that the refs below a prefix are one range of an index.
RefName = String().with_variant(String(collation="C"), "postgresql")

# The targets of a repository's refs: the source of truth; the git folder on a machine is a copy.
refs = Table(
    "refs",
    metadata,
    to("repositories", "repository_id", primary=True),
    Column("name", RefName, primary_key=True),
    words("target"),
    sqlite_with_rowid=False,
)

# Who moved which ref from where to where, and when: append-only. The version counts the writes of a repository; a
# machine with an older copy applies the entries after its version.
ref_log = Table(
    "ref_log",
    metadata,
    to("repositories", "repository_id", primary=True),
    Column("version", BigInteger, primary_key=True),
    Column("ref", RefName, primary_key=True),
    words("old"),
    words("new"),
    to("users", "actor_id", optional=True),
    number("created_at"),
    Index(None, "repository_id", "ref"),
    sqlite_with_rowid=False,
)

# The objects of a repository, as packs: small ones in the row, others in the object store. `version` is the
# highest log version whose objects it contains; a superseded pack is kept for a grace period.
packs = Table(
    "packs",
    metadata,
    key(),
    to("repositories", "repository_id"),
    Column("version", BigInteger, nullable=False),
    words("name"),
    number("size"),
    number("object_count"),
    number("created_at"),
    number("superseded_at"),
    words("store_key", ""),
    Column("content", LargeBinary, nullable=True),
    Index(None, "repository_id", "version"),
    # A partial index: rows of small packs, which have no key, would cost every commit a page.
    Index(None, "store_key", sqlite_where=text("store_key <> ''"), postgresql_where=text("store_key <> ''")),
)

# Of versions before the repository log: ref updates that were pending when a process was killed. Adoption records
# those that happened, and empties the table; no rows are added any more.
ref_updates = Table(
    "ref_updates",
    metadata,
    key(),
    to("repositories", "repository_id"),
    to("users", "actor_id", optional=True),
    words("ref"),
    words("old"),
    words("new"),
    flag("is_done"),
    flag("under_lock"),
    number("created_at"),
    sqlite_autoincrement=True,
)

commit_keys = Table(
    "commit_keys",
    metadata,
    to("repositories", "repository_id", primary=True),
    to("users", "user_id", primary=True, index=True),
    Column("key", String, primary_key=True),
    words("fingerprint"),
    words("ref"),
    words("commit_id"),
    number("created_at", index=True),
)
