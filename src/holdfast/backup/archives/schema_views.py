"""Views for users, the full-text index, and the indexes."""

from typing import Final

from holdfast.backup.archives import item_rows

__all__ = ["FACETS", "INCOMING", "INDEXES", "LATER_INDEXES", "ORDINARY", "OUTGOING", "SEARCH", "VIEWS"]


def case_expression(value: str, names: tuple[str, ...]) -> str:
    """Return a CASE expression that maps numbers to their names."""
    cases = " ".join(f"WHEN {n} THEN '{name}'" for n, name in enumerate(names) if name)
    return f"CASE {value} {cases} END"


def flag_expression(mask: int) -> str:
    """Return an expression that tests a flag of `look`."""
    return f"(look & {mask}) <> 0"


INCOMING: Final = item_rows.DIRECTIONS.index("incoming")
OUTGOING: Final = item_rows.DIRECTIONS.index("outgoing")
NEITHER: Final = item_rows.DIRECTIONS.index("none")
ORDINARY: Final = item_rows.KINDS.index("message")
KIND: Final = case_expression("look >> 4 & 31", item_rows.KINDS)
# The terms of the index that filters search for.
FACETS: Final = f"""
'c' || chat_id || ' p' || author_id
  || CASE look & 15 WHEN {OUTGOING} THEN ' dout' WHEN {NEITHER} THEN ' dnone' ELSE '' END
  || CASE look >> 4 & 31 WHEN {ORDINARY} THEN '' ELSE ' kother k' || {KIND} END
  || CASE WHEN look & {item_rows.HAS_MEDIA} THEN ' hasmedia' ELSE '' END
  || CASE WHEN look & {item_rows.HAS_LINK} THEN ' haslink' ELSE '' END
""".strip()

# `signs` is NULL here; it is computed when a message is indexed, see `message_index`.
VIEWS: Final = f"""
CREATE VIEW message AS
SELECT id, chat_id, author_id, order_ms - sent_before AS sent_ms,
  order_ms - sent_before - edited_after AS first_sent_ms, order_ms - received_before AS received_ms,
  order_ms - sent_before + server_sent_after AS server_sent_ms, order_ms, order_n,
  {case_expression("look & 15", item_rows.DIRECTIONS)} AS direction,
  {KIND} AS kind,
  text, extra, {flag_expression(item_rows.HAS_MEDIA)} AS has_media,
  {flag_expression(item_rows.HAS_LINK)} AS has_link,
  CASE WHEN look & 15 = {INCOMING} THEN {flag_expression(item_rows.IS_READ)} END AS read,
  CASE WHEN look & 15 = {INCOMING} THEN {flag_expression(item_rows.IS_SEALED)} END AS sealed_sender,
  {flag_expression(item_rows.IS_SMS)} AS sms,
  {case_expression(f"look >> {item_rows.DELIVERY} & 7", item_rows.DELIVERIES)} AS status,
  expire_start_ms, expires_in_ms, pinned_ms, pinned_until_ms, slot, rank, fingerprint, first_seen, last_seen,
  block_id, block_at
FROM stored_message;

CREATE VIEW searchable AS
SELECT id, text, extra, NULL AS signs,
  {FACETS} AS facets
FROM stored_message;

CREATE VIEW messages AS
SELECT m.id, a.name AS account, c.name AS chat,
  CASE p.kind WHEN 'self' THEN a.name ELSE p.name END AS author, m.direction, m.kind, m.text,
  strftime('%Y-%m-%d %H:%M:%S', m.sent_ms / 1000, 'unixepoch') AS sent, m.sent_ms, m.received_ms,
  m.has_media, m.has_link,
  (SELECT group_concat(r.emoji, '') FROM reaction r WHERE r.message_id = m.id) AS reactions,
  (SELECT count(*) FROM revision v WHERE v.message_id = m.id) AS edits,
  CASE WHEN m.last_seen IS NULL THEN NULL ELSE (
    SELECT strftime('%Y-%m-%d %H:%M:%S', n.made_ms / 1000, 'unixepoch') FROM snapshot l
    JOIN snapshot n ON n.account_id = l.account_id AND (n.made_ms, n.digest) > (l.made_ms, l.digest)
    WHERE l.id = m.last_seen ORDER BY n.made_ms, n.digest LIMIT 1) END AS vanished,
  m.chat_id, m.author_id, c.account_id, m.order_ms, m.order_n
FROM message m
JOIN recipient c ON c.id = m.chat_id
JOIN recipient p ON p.id = m.author_id
JOIN account a ON a.id = c.account_id;

CREATE VIEW chats AS
SELECT c.id, a.name AS account, r.name, r.kind, c.archived, c.pinned_order, c.timer_ms, c.mute_until_ms,
  (SELECT count(*) FROM message m WHERE m.chat_id = c.id) AS messages,
  (SELECT strftime('%Y-%m-%d %H:%M:%S', m.order_ms / 1000, 'unixepoch') FROM message m
    WHERE m.chat_id = c.id ORDER BY m.order_ms DESC, m.order_n DESC LIMIT 1) AS latest,
  (SELECT m.order_ms FROM message m
    WHERE m.chat_id = c.id ORDER BY m.order_ms DESC, m.order_n DESC LIMIT 1) AS latest_ms,
  c.last_seen IS NOT NULL AS vanished, r.account_id
FROM chat c
JOIN recipient r ON r.id = c.id
JOIN account a ON a.id = r.account_id;

CREATE VIEW people AS
SELECT r.id, a.name AS account, CASE r.kind WHEN 'self' THEN a.name ELSE r.name END AS name, r.kind,
  k.aci, k.pni, CASE WHEN k.e164 THEN '+' || k.e164 END AS phone,
  k.username, k.profile_name, k.system_name, k.nickname, k.note, k.blocked, k.registered, r.avatar_color,
  r.last_seen IS NOT NULL AS vanished, r.account_id
FROM recipient r
JOIN account a ON a.id = r.account_id
LEFT JOIN contact k ON k.id = r.id
WHERE r.kind IN ('contact', 'self');
"""

# The column `signs` has tokens for scripts without word separators and for emoji. `facets` makes filters part of
# the query, so that a rare chat is found among a million hits without a scan. Column sizes are not stored: they
# are computed for ranking, of a thousand hits at most. `message_term` counts the messages of each term and facet,
# among them those of each author.
SEARCH: Final = """
CREATE VIRTUAL TABLE message_index USING fts5 (
  text, extra, signs, facets, content='searchable', content_rowid='id', columnsize=0,
  tokenize="unicode61 remove_diacritics 2"
);
CREATE VIRTUAL TABLE message_term USING fts5vocab (message_index, col);
"""

INDEXES: Final = """
CREATE INDEX recipient_by_account ON recipient (account_id, kind);
CREATE INDEX identity_by_recipient ON identity (recipient_id);
CREATE INDEX group_member_by_recipient ON group_member (recipient_id);
CREATE INDEX message_vanished ON stored_message (last_seen) WHERE last_seen IS NOT NULL;
CREATE INDEX snapshot_by_time ON snapshot (account_id, made_ms, digest);
"""

# Created after the rows of a first import, which is faster.
LATER_INDEXES: Final = {
    "message_by_chat": "CREATE INDEX message_by_chat ON stored_message (chat_id, order_ms, order_n)",
    "attachment_by_media": (
        "CREATE INDEX attachment_by_media ON attachment (media_name) WHERE media_name IS NOT NULL"
    ),
    "quote_by_target": "CREATE INDEX quote_by_target ON quote (target_sent_ms) WHERE target_sent_ms IS NOT NULL",
}
