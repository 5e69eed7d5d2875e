"""The tables of an archive, and how an older archive becomes a newer one.

One SQLite file that any tool opens. Tables are named in the singular; the views `messages`, `chats` and `people`
are for people and stay as they are. Times are milliseconds since 1970, in the views also text in UTC.

`first_seen` and `last_seen` name the earliest and the latest snapshot that has a thing; `last_seen` is empty while
the newest snapshot of the account still has it. Both are the same whatever the order of imports was, and so are
all ids but those of snapshots and blocks: they are made from what identifies a thing.
"""

import sqlite3
from collections.abc import Callable, Sequence
from typing import Final

from holdfast.backup.errors import ArchiveTooNew, NotAnArchive

__all__ = ["APPLICATION_ID", "INDEXES", "LATER_INDEXES", "MIGRATIONS", "VERSION", "check", "create", "upgrade"]

# "HOLD", which `file` and SQLite show.
APPLICATION_ID: Final = 0x484F4C44

TABLES: Final = """
CREATE TABLE account (
  id INTEGER PRIMARY KEY,
  name TEXT NOT NULL,
  username TEXT,
  self_aci TEXT,
  newest_snapshot INTEGER REFERENCES snapshot(id)
) STRICT;

CREATE TABLE account_evidence (
  kind TEXT NOT NULL,
  value TEXT NOT NULL,
  account_id INTEGER NOT NULL REFERENCES account(id),
  PRIMARY KEY (kind, value, account_id)
) STRICT, WITHOUT ROWID;

CREATE TABLE snapshot (
  id INTEGER PRIMARY KEY,
  account_id INTEGER NOT NULL REFERENCES account(id),
  made_ms INTEGER NOT NULL,
  digest TEXT NOT NULL,
  version INTEGER NOT NULL,
  app_version TEXT NOT NULL,
  first_app_version TEXT NOT NULL,
  frames INTEGER NOT NULL,
  bytes INTEGER NOT NULL,
  messages INTEGER NOT NULL,
  name TEXT NOT NULL,
  username TEXT,
  bio TEXT,
  settings TEXT NOT NULL,
  header BLOB NOT NULL,
  account_record BLOB,
  source TEXT NOT NULL,
  imported_ms INTEGER NOT NULL,
  UNIQUE (account_id, digest)
) STRICT;

CREATE TABLE snapshot_recipient (
  snapshot_id INTEGER NOT NULL REFERENCES snapshot(id),
  file_id INTEGER NOT NULL,
  recipient_id INTEGER NOT NULL REFERENCES recipient(id),
  PRIMARY KEY (snapshot_id, file_id)
) STRICT, WITHOUT ROWID;

CREATE TABLE snapshot_chat (
  snapshot_id INTEGER NOT NULL REFERENCES snapshot(id),
  file_id INTEGER NOT NULL,
  chat_id INTEGER NOT NULL REFERENCES chat(id),
  PRIMARY KEY (snapshot_id, file_id)
) STRICT, WITHOUT ROWID;

CREATE TABLE skipped (
  snapshot_id INTEGER NOT NULL REFERENCES snapshot(id),
  frame INTEGER NOT NULL,
  record TEXT NOT NULL,
  action TEXT NOT NULL,
  what TEXT NOT NULL,
  times INTEGER NOT NULL,
  PRIMARY KEY (snapshot_id, frame, record, action, what)
) STRICT, WITHOUT ROWID;

CREATE TABLE recipient (
  id INTEGER PRIMARY KEY,
  account_id INTEGER NOT NULL REFERENCES account(id),
  kind TEXT NOT NULL,
  name TEXT NOT NULL,
  avatar_color TEXT,
  fingerprint INTEGER NOT NULL,
  first_seen INTEGER NOT NULL REFERENCES snapshot(id),
  last_seen INTEGER REFERENCES snapshot(id)
) STRICT;

CREATE TABLE identity (
  account_id INTEGER NOT NULL REFERENCES account(id),
  kind TEXT NOT NULL,
  value TEXT NOT NULL,
  recipient_id INTEGER NOT NULL REFERENCES recipient(id),
  PRIMARY KEY (account_id, kind, value, recipient_id)
) STRICT, WITHOUT ROWID;

CREATE TABLE recipient_version (
  recipient_id INTEGER NOT NULL REFERENCES recipient(id),
  fingerprint INTEGER NOT NULL,
  name TEXT NOT NULL,
  first_seen INTEGER NOT NULL REFERENCES snapshot(id),
  last_seen INTEGER NOT NULL REFERENCES snapshot(id),
  recorded_in INTEGER NOT NULL REFERENCES snapshot(id),
  record BLOB NOT NULL,
  PRIMARY KEY (recipient_id, fingerprint)
) STRICT, WITHOUT ROWID;

CREATE TABLE contact (
  id INTEGER PRIMARY KEY REFERENCES recipient(id),
  aci TEXT,
  pni TEXT,
  e164 INTEGER,
  username TEXT,
  profile_name TEXT,
  system_name TEXT,
  system_nickname TEXT,
  nickname TEXT,
  note TEXT,
  blocked INTEGER NOT NULL,
  blocked_ms INTEGER,
  visibility TEXT NOT NULL,
  registered INTEGER NOT NULL,
  unregistered_ms INTEGER,
  profile_sharing INTEGER NOT NULL,
  hide_story INTEGER NOT NULL,
  identity_state TEXT NOT NULL,
  profile_key BLOB,
  identity_key BLOB
) STRICT;

CREATE TABLE "group" (
  id INTEGER PRIMARY KEY REFERENCES recipient(id),
  master_key BLOB NOT NULL,
  title TEXT,
  description TEXT,
  avatar_url TEXT,
  timer_s INTEGER,
  version INTEGER NOT NULL,
  announcements_only INTEGER NOT NULL,
  terminated INTEGER NOT NULL,
  access_attributes TEXT NOT NULL,
  access_members TEXT NOT NULL,
  access_invite_link TEXT NOT NULL,
  access_member_label TEXT NOT NULL,
  invite_link_password BLOB,
  whitelisted INTEGER NOT NULL,
  hide_story INTEGER NOT NULL,
  story_send_mode TEXT NOT NULL,
  blocked INTEGER NOT NULL,
  blocked_ms INTEGER
) STRICT;

CREATE TABLE group_member (
  group_id INTEGER NOT NULL REFERENCES "group"(id),
  service_id TEXT NOT NULL,
  standing TEXT NOT NULL,
  recipient_id INTEGER REFERENCES recipient(id),
  role TEXT,
  joined_at_version INTEGER,
  label TEXT,
  label_emoji TEXT,
  added_by TEXT,
  at_ms INTEGER,
  PRIMARY KEY (group_id, service_id, standing)
) STRICT, WITHOUT ROWID;

CREATE TABLE distribution_list (
  id INTEGER PRIMARY KEY REFERENCES recipient(id),
  distribution_id TEXT NOT NULL,
  name TEXT,
  deleted_ms INTEGER,
  allow_replies INTEGER,
  privacy_mode TEXT
) STRICT;

CREATE TABLE distribution_list_member (
  list_id INTEGER NOT NULL REFERENCES distribution_list(id),
  recipient_id INTEGER NOT NULL REFERENCES recipient(id),
  PRIMARY KEY (list_id, recipient_id)
) STRICT, WITHOUT ROWID;

CREATE TABLE call_link (
  id INTEGER PRIMARY KEY REFERENCES recipient(id),
  root_key BLOB NOT NULL,
  admin_key BLOB,
  name TEXT,
  restrictions TEXT NOT NULL,
  expires_ms INTEGER
) STRICT;

CREATE TABLE chat (
  id INTEGER PRIMARY KEY REFERENCES recipient(id),
  archived INTEGER NOT NULL,
  pinned_order INTEGER,
  timer_ms INTEGER,
  timer_version INTEGER NOT NULL,
  mute_until_ms INTEGER,
  marked_unread INTEGER NOT NULL,
  quiet_mentions INTEGER NOT NULL,
  wallpaper TEXT,
  bubble_color TEXT,
  dim_wallpaper INTEGER NOT NULL,
  fingerprint INTEGER NOT NULL,
  first_seen INTEGER NOT NULL REFERENCES snapshot(id),
  last_seen INTEGER REFERENCES snapshot(id)
) STRICT;

CREATE TABLE chat_version (
  chat_id INTEGER NOT NULL REFERENCES chat(id),
  fingerprint INTEGER NOT NULL,
  first_seen INTEGER NOT NULL REFERENCES snapshot(id),
  last_seen INTEGER NOT NULL REFERENCES snapshot(id),
  recorded_in INTEGER NOT NULL REFERENCES snapshot(id),
  record BLOB NOT NULL,
  PRIMARY KEY (chat_id, fingerprint)
) STRICT, WITHOUT ROWID;

CREATE TABLE block (
  id INTEGER PRIMARY KEY,
  snapshot_id INTEGER NOT NULL REFERENCES snapshot(id),
  data BLOB NOT NULL
) STRICT;

CREATE TABLE message (
  id INTEGER PRIMARY KEY,
  chat_id INTEGER NOT NULL REFERENCES chat(id),
  author_id INTEGER NOT NULL REFERENCES recipient(id),
  sent_ms INTEGER NOT NULL,
  first_sent_ms INTEGER NOT NULL,
  received_ms INTEGER,
  server_sent_ms INTEGER,
  order_ms INTEGER NOT NULL,
  order_n INTEGER NOT NULL,
  direction TEXT NOT NULL,
  kind TEXT NOT NULL,
  text TEXT,
  extra TEXT,
  signs TEXT,
  has_media INTEGER NOT NULL,
  has_link INTEGER NOT NULL,
  read INTEGER,
  sealed_sender INTEGER,
  sms INTEGER NOT NULL,
  expire_start_ms INTEGER,
  expires_in_ms INTEGER,
  pinned_ms INTEGER,
  pinned_until_ms INTEGER,
  slot INTEGER NOT NULL,
  rank INTEGER NOT NULL,
  fingerprint INTEGER NOT NULL,
  first_seen INTEGER NOT NULL REFERENCES snapshot(id),
  last_seen INTEGER REFERENCES snapshot(id),
  block_id INTEGER NOT NULL REFERENCES block(id),
  block_at INTEGER NOT NULL
) STRICT;

CREATE TABLE message_version (
  message_id INTEGER NOT NULL REFERENCES message(id),
  fingerprint INTEGER NOT NULL,
  first_seen INTEGER NOT NULL REFERENCES snapshot(id),
  last_seen INTEGER NOT NULL REFERENCES snapshot(id),
  block_id INTEGER NOT NULL REFERENCES block(id),
  block_at INTEGER NOT NULL,
  PRIMARY KEY (message_id, fingerprint)
) STRICT, WITHOUT ROWID;

CREATE TABLE message_change (
  message_id INTEGER NOT NULL REFERENCES message(id),
  n INTEGER NOT NULL,
  seen_in INTEGER NOT NULL REFERENCES snapshot(id),
  what TEXT NOT NULL,
  who_id INTEGER REFERENCES recipient(id),
  before TEXT,
  after TEXT,
  PRIMARY KEY (message_id, n)
) STRICT, WITHOUT ROWID;

CREATE TABLE send_status (
  message_id INTEGER NOT NULL REFERENCES message(id),
  n INTEGER NOT NULL,
  recipient_id INTEGER NOT NULL REFERENCES recipient(id),
  status TEXT NOT NULL,
  at_ms INTEGER NOT NULL,
  sealed_sender INTEGER,
  reason TEXT,
  PRIMARY KEY (message_id, n)
) STRICT, WITHOUT ROWID;

CREATE TABLE reaction (
  message_id INTEGER NOT NULL REFERENCES message(id),
  n INTEGER NOT NULL,
  author_id INTEGER NOT NULL REFERENCES recipient(id),
  emoji TEXT NOT NULL,
  sent_ms INTEGER NOT NULL,
  sort_order INTEGER NOT NULL,
  PRIMARY KEY (message_id, n)
) STRICT, WITHOUT ROWID;

CREATE TABLE revision (
  message_id INTEGER NOT NULL REFERENCES message(id),
  n INTEGER NOT NULL,
  sent_ms INTEGER NOT NULL,
  received_ms INTEGER,
  text TEXT,
  PRIMARY KEY (message_id, n)
) STRICT, WITHOUT ROWID;

CREATE TABLE attachment (
  message_id INTEGER NOT NULL REFERENCES message(id),
  revision INTEGER NOT NULL,
  role TEXT NOT NULL,
  n INTEGER NOT NULL,
  content_type TEXT,
  file_name TEXT,
  size INTEGER NOT NULL,
  width INTEGER,
  height INTEGER,
  caption TEXT,
  blur_hash TEXT,
  flag TEXT,
  downloaded INTEGER,
  client_uuid TEXT,
  plaintext_hash TEXT,
  encrypted_digest TEXT,
  media_name TEXT,
  key BLOB,
  local_key BLOB,
  cdn_key TEXT,
  cdn_number INTEGER,
  uploaded_ms INTEGER,
  media_cdn_number INTEGER,
  PRIMARY KEY (message_id, revision, role, n)
) STRICT, WITHOUT ROWID;

CREATE TABLE media (
  media_name TEXT PRIMARY KEY,
  sha256 TEXT NOT NULL,
  size INTEGER NOT NULL,
  path TEXT NOT NULL
) STRICT, WITHOUT ROWID;

CREATE TABLE quote (
  message_id INTEGER NOT NULL REFERENCES message(id),
  revision INTEGER NOT NULL,
  target_sent_ms INTEGER,
  author_id INTEGER NOT NULL REFERENCES recipient(id),
  type TEXT NOT NULL,
  text TEXT,
  PRIMARY KEY (message_id, revision)
) STRICT, WITHOUT ROWID;

CREATE TABLE text_range (
  message_id INTEGER NOT NULL REFERENCES message(id),
  revision INTEGER NOT NULL,
  part TEXT NOT NULL,
  n INTEGER NOT NULL,
  start INTEGER NOT NULL,
  length INTEGER NOT NULL,
  style TEXT,
  mention_aci TEXT,
  mention_id INTEGER REFERENCES recipient(id),
  PRIMARY KEY (message_id, revision, part, n)
) STRICT, WITHOUT ROWID;

CREATE TABLE link_preview (
  message_id INTEGER NOT NULL REFERENCES message(id),
  revision INTEGER NOT NULL,
  n INTEGER NOT NULL,
  url TEXT NOT NULL,
  title TEXT,
  description TEXT,
  date_ms INTEGER,
  PRIMARY KEY (message_id, revision, n)
) STRICT, WITHOUT ROWID;

CREATE TABLE sticker (
  message_id INTEGER PRIMARY KEY REFERENCES message(id),
  pack_id TEXT NOT NULL,
  pack_key BLOB NOT NULL,
  sticker_id INTEGER NOT NULL,
  emoji TEXT
) STRICT;

CREATE TABLE poll (
  message_id INTEGER PRIMARY KEY REFERENCES message(id),
  question TEXT NOT NULL,
  allow_multiple INTEGER NOT NULL,
  has_ended INTEGER NOT NULL
) STRICT;

CREATE TABLE poll_option (
  message_id INTEGER NOT NULL REFERENCES poll(message_id),
  n INTEGER NOT NULL,
  text TEXT NOT NULL,
  PRIMARY KEY (message_id, n)
) STRICT, WITHOUT ROWID;

CREATE TABLE poll_vote (
  message_id INTEGER NOT NULL REFERENCES poll(message_id),
  option INTEGER NOT NULL,
  n INTEGER NOT NULL,
  voter_id INTEGER NOT NULL REFERENCES recipient(id),
  votes INTEGER NOT NULL,
  PRIMARY KEY (message_id, option, n)
) STRICT, WITHOUT ROWID;

CREATE TABLE payment (
  message_id INTEGER PRIMARY KEY REFERENCES message(id),
  amount TEXT,
  fee TEXT,
  note TEXT,
  status TEXT NOT NULL,
  reason TEXT,
  at_ms INTEGER,
  block_index INTEGER,
  block_ms INTEGER
) STRICT;

CREATE TABLE gift_badge (
  message_id INTEGER PRIMARY KEY REFERENCES message(id),
  state TEXT NOT NULL,
  receipt BLOB NOT NULL
) STRICT;

CREATE TABLE admin_deletion (
  message_id INTEGER PRIMARY KEY REFERENCES message(id),
  admin_id INTEGER NOT NULL REFERENCES recipient(id)
) STRICT;

CREATE TABLE contact_card (
  message_id INTEGER PRIMARY KEY REFERENCES message(id),
  name TEXT,
  given_name TEXT,
  family_name TEXT,
  prefix TEXT,
  suffix TEXT,
  middle_name TEXT,
  nickname TEXT,
  organization TEXT
) STRICT;

CREATE TABLE contact_card_field (
  message_id INTEGER NOT NULL REFERENCES contact_card(message_id),
  field TEXT NOT NULL,
  n INTEGER NOT NULL,
  type TEXT NOT NULL,
  label TEXT,
  value TEXT NOT NULL,
  PRIMARY KEY (message_id, field, n)
) STRICT, WITHOUT ROWID;

CREATE TABLE update_event (
  message_id INTEGER NOT NULL REFERENCES message(id),
  n INTEGER NOT NULL,
  type TEXT NOT NULL,
  details TEXT NOT NULL,
  PRIMARY KEY (message_id, n)
) STRICT, WITHOUT ROWID;

CREATE TABLE call (
  message_id INTEGER PRIMARY KEY REFERENCES message(id),
  kind TEXT NOT NULL,
  call_id TEXT,
  type TEXT,
  direction TEXT,
  state TEXT NOT NULL,
  started_ms INTEGER,
  ended_ms INTEGER,
  ringer_id INTEGER REFERENCES recipient(id),
  starter_id INTEGER REFERENCES recipient(id),
  read INTEGER NOT NULL
) STRICT;

CREATE TABLE ad_hoc_call (
  account_id INTEGER NOT NULL REFERENCES account(id),
  call_id TEXT NOT NULL,
  call_link_id INTEGER NOT NULL REFERENCES recipient(id),
  state TEXT NOT NULL,
  at_ms INTEGER NOT NULL,
  seen_in INTEGER NOT NULL REFERENCES snapshot(id),
  PRIMARY KEY (account_id, call_id, call_link_id)
) STRICT, WITHOUT ROWID;

CREATE TABLE sticker_pack (
  account_id INTEGER NOT NULL REFERENCES account(id),
  pack_id TEXT NOT NULL,
  pack_key BLOB NOT NULL,
  seen_in INTEGER NOT NULL REFERENCES snapshot(id),
  PRIMARY KEY (account_id, pack_id)
) STRICT, WITHOUT ROWID;

CREATE TABLE notification_profile (
  snapshot_id INTEGER NOT NULL REFERENCES snapshot(id),
  n INTEGER NOT NULL,
  profile_id TEXT,
  name TEXT NOT NULL,
  emoji TEXT,
  color TEXT NOT NULL,
  created_ms INTEGER NOT NULL,
  allow_all_calls INTEGER NOT NULL,
  allow_all_mentions INTEGER NOT NULL,
  schedule_enabled INTEGER NOT NULL,
  schedule_start INTEGER NOT NULL,
  schedule_end INTEGER NOT NULL,
  schedule_days TEXT NOT NULL,
  PRIMARY KEY (snapshot_id, n)
) STRICT, WITHOUT ROWID;

CREATE TABLE notification_profile_member (
  snapshot_id INTEGER NOT NULL,
  n INTEGER NOT NULL,
  recipient_id INTEGER NOT NULL REFERENCES recipient(id),
  PRIMARY KEY (snapshot_id, n, recipient_id),
  FOREIGN KEY (snapshot_id, n) REFERENCES notification_profile(snapshot_id, n)
) STRICT, WITHOUT ROWID;

CREATE TABLE chat_folder (
  snapshot_id INTEGER NOT NULL REFERENCES snapshot(id),
  n INTEGER NOT NULL,
  folder_id TEXT,
  name TEXT NOT NULL,
  type TEXT NOT NULL,
  show_only_unread INTEGER NOT NULL,
  show_muted INTEGER NOT NULL,
  all_individual INTEGER NOT NULL,
  all_groups INTEGER NOT NULL,
  PRIMARY KEY (snapshot_id, n)
) STRICT, WITHOUT ROWID;

CREATE TABLE chat_folder_member (
  snapshot_id INTEGER NOT NULL,
  n INTEGER NOT NULL,
  recipient_id INTEGER NOT NULL REFERENCES recipient(id),
  included INTEGER NOT NULL,
  PRIMARY KEY (snapshot_id, n, recipient_id, included),
  FOREIGN KEY (snapshot_id, n) REFERENCES chat_folder(snapshot_id, n)
) STRICT, WITHOUT ROWID;

CREATE TABLE chat_color (
  snapshot_id INTEGER NOT NULL REFERENCES snapshot(id),
  color_id TEXT NOT NULL,
  color TEXT NOT NULL,
  PRIMARY KEY (snapshot_id, color_id)
) STRICT, WITHOUT ROWID;
"""

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
# query, so that a rare chat is found among a million hits without looking at each.
SEARCH: Final = """
CREATE VIRTUAL TABLE message_index USING fts5 (
  text, extra, signs, facets, content='searchable', content_rowid='id',
  tokenize="unicode61 remove_diacritics 2"
);
"""

INDEXES: Final = """
CREATE INDEX recipient_by_account ON recipient (account_id, kind);
CREATE INDEX identity_by_recipient ON identity (recipient_id);
CREATE INDEX group_member_by_recipient ON group_member (recipient_id);
CREATE INDEX snapshot_by_time ON snapshot (account_id, made_ms, digest);
"""

# Made after the rows where an archive gets its first ones, which is faster.
LATER_INDEXES: Final = {
    "message_by_chat": "CREATE INDEX message_by_chat ON message (chat_id, order_ms, order_n, id)",
    "message_by_author": "CREATE INDEX message_by_author ON message (author_id, order_ms)",
    "message_vanished": "CREATE INDEX message_vanished ON message (last_seen) WHERE last_seen IS NOT NULL",
    "attachment_by_media": (
        "CREATE INDEX attachment_by_media ON attachment (media_name) WHERE media_name IS NOT NULL"
    ),
    "quote_by_target": "CREATE INDEX quote_by_target ON quote (target_sent_ms) WHERE target_sent_ms IS NOT NULL",
}

Migration = Callable[[sqlite3.Connection], None]


def first(connection: sqlite3.Connection) -> None:
    """Make the tables of the first version."""
    for script in (TABLES, INDEXES, VIEWS, SEARCH):
        for statement in script.split(";\n"):
            if statement.strip():
                connection.execute(statement)
    for statement in LATER_INDEXES.values():
        connection.execute(statement)


# The step that leads to each version from the one before it; a step that was released is never changed again.
MIGRATIONS: Final[Sequence[Migration]] = (first,)
VERSION: Final = len(MIGRATIONS)


def create(connection: sqlite3.Connection) -> None:
    """Make an archive of an empty database, inside the transaction that is open."""
    connection.execute(f"PRAGMA application_id = {APPLICATION_ID}")
    upgrade(connection)


def upgrade(connection: sqlite3.Connection) -> None:
    """Bring an archive to this version, inside the transaction that is open."""
    (found,) = connection.execute("PRAGMA user_version").fetchone()
    check(connection, found)
    for step in MIGRATIONS[found:]:
        step(connection)
    connection.execute(f"PRAGMA user_version = {VERSION}")


def check(connection: sqlite3.Connection, found: int) -> None:
    """Refuse what is not an archive, and one that a later version has written."""
    (mark,) = connection.execute("PRAGMA application_id").fetchone()
    if mark != APPLICATION_ID:
        raise NotAnArchive("this is a database, but not an archive of Holdfast")
    if found > VERSION:
        raise ArchiveTooNew(f"the archive has version {found}, this Holdfast knows versions up to {VERSION}")
