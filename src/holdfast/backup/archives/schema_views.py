"""The views people query, the full-text index, and the indexes."""

from typing import Final

__all__ = ["INDEXES", "LATER_INDEXES", "SEARCH", "VIEWS"]

VIEWS: Final = """
CREATE VIEW searchable AS
SELECT id, text, extra, signs,
  'c' || chat_id || ' p' || author_id
  || CASE direction WHEN 'outgoing' THEN ' dout' WHEN 'none' THEN ' dnone' ELSE '' END
  || CASE kind WHEN 'message' THEN '' ELSE ' kother k' || kind END
  || CASE has_media WHEN 1 THEN ' hasmedia' ELSE '' END
  || CASE has_link WHEN 1 THEN ' haslink' ELSE '' END AS facets
FROM message;

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

# Words, and by `signs` what has no words: scripts without spaces and emoji. `facets` lets a filter be part of the
# query, so that a rare chat is found among a million hits without looking at each. How long a message is, is not
# written down: it is counted when hits are weighed, which are a thousand at most.
SEARCH: Final = """
CREATE VIRTUAL TABLE message_index USING fts5 (
  text, extra, signs, facets, content='searchable', content_rowid='id', columnsize=0,
  tokenize="unicode61 remove_diacritics 2"
);
"""

INDEXES: Final = """
CREATE INDEX recipient_by_account ON recipient (account_id, kind);
CREATE INDEX identity_by_recipient ON identity (recipient_id);
CREATE INDEX group_member_by_recipient ON group_member (recipient_id);
CREATE INDEX message_vanished ON message (last_seen) WHERE last_seen IS NOT NULL;
CREATE INDEX snapshot_by_time ON snapshot (account_id, made_ms, digest);
"""

# Made after the rows where an archive gets its first ones, which is faster.
LATER_INDEXES: Final = {
    "message_by_chat": "CREATE INDEX message_by_chat ON message (chat_id, order_ms, order_n, id)",
    "message_by_author": "CREATE INDEX message_by_author ON message (author_id, order_ms)",
    "attachment_by_media": (
        "CREATE INDEX attachment_by_media ON attachment (media_name) WHERE media_name IS NOT NULL"
    ),
    "quote_by_target": "CREATE INDEX quote_by_target ON quote (target_sent_ms) WHERE target_sent_ms IS NOT NULL",
}
