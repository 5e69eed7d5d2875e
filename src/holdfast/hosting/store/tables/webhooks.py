"""Events, webhooks and the outbox of their deliveries."""

from sqlalchemy import Column, ForeignKey, Index, LargeBinary, Table, UniqueConstraint, text

from holdfast.hosting.store.tables.columns import Id, flag, key, metadata, number, to, words

__all__ = ["deliveries", "events", "hooks"]

# Events, inserted in the transaction they describe. There is no index on the actor: only the deletion of an
# account would use it, and it would cost every commit a page.
events = Table(
    "events",
    metadata,
    key(),
    words("kind"),
    to("users", "owner_id", optional=True),
    to("repositories", "repository_id", optional=True, index=True),
    to("users", "actor_id", optional=True),
    words("details", "{}"),
    number("created_at"),
    # The webhook payload, rendered in the same transaction; empty if no webhook was subscribed.
    words("payload", ""),
    sqlite_autoincrement=True,
)

# Webhooks of a repository, of an owner, or of everything (`system`). A `default` one is copied to each new
# repository and receives nothing itself.
hooks = Table(
    "hooks",
    metadata,
    key(),
    words("scope"),
    Column("repository_id", Id, ForeignKey("repositories.id", ondelete="CASCADE"), index=True),
    Column("owner_id", Id, ForeignKey("users.id", ondelete="CASCADE"), index=True),
    words("type"),
    words("name", ""),
    words("url"),
    words("content_type"),
    # Encrypted: see `encryption`.
    words("secret", ""),
    words("authorization", ""),
    # Whether the header is that of the default webhook this is a copy of, which only site administrators know.
    flag("inherits_header"),
    # JSON object of strings: settings of some types, such as a channel.
    words("meta", "{}"),
    # Event names, comma-separated, in order.
    words("events"),
    words("branch_filter", ""),
    flag("is_active"),
    # While paused, deliveries are queued but not sent.
    number("paused_at"),
    words("pause_reason", ""),
    # The lease: the process that sends, and until when (milliseconds since 1970).
    words("holder", ""),
    number("held_until"),
    number("created_at"),
    number("updated_at"),
    Index(None, "scope"),
    sqlite_autoincrement=True,
)

# The outbox: inserted together with the event, updated with the result.
deliveries = Table(
    "deliveries",
    metadata,
    key(),
    words("uuid"),
    to("hooks", "hook_id"),
    to("events", "event_id", index=True),
    # The event's kind, denormalized for searching.
    words("kind"),
    # waiting, delivered, failed, cancelled
    words("state"),
    Column("again_of", Id, ForeignKey("deliveries.id", ondelete="SET NULL"), index=True),
    number("tries"),
    # The earliest time of the next attempt, in milliseconds since 1970.
    number("due_at"),
    number("created_at"),
    number("ended_at"),
    # The last attempt: request and response. `body` is empty if it is the event's payload.
    words("method", ""),
    words("url", ""),
    words("headers", "{}"),
    words("body", ""),
    number("status"),
    words("answer_headers", "{}"),
    Column("answer", LargeBinary, nullable=False, server_default=text("''")),
    words("error", ""),
    number("milliseconds"),
    Index(None, "hook_id", "id"),
    Index(None, "hook_id", "state", "id"),
    # A partial index: only waiting deliveries are polled, and they are few.
    Index(
        "ix_deliveries_waiting",
        "hook_id",
        "id",
        sqlite_where=text("state = 'waiting'"),
        postgresql_where=text("state = 'waiting'"),
    ),
    Index(None, "created_at"),
    UniqueConstraint("uuid"),
    sqlite_autoincrement=True,
)
