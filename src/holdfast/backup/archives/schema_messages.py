"""Tables of messages and their related rows.

Rows are compact: one time of a message is absolute and the others are relative to it, `look` is the bit field that
`item_rows` describes, and receipts are packed as `receipts` describes. The view `message` has all of this in
separate columns. What no page, search or export reads is in the records only.
"""

from typing import Final

__all__ = ["MESSAGES"]

MESSAGES: Final = """
CREATE TABLE block (
  id INTEGER PRIMARY KEY,
  snapshot_id INTEGER NOT NULL REFERENCES snapshot(id),
  data BLOB NOT NULL
) STRICT;

CREATE TABLE stored_message (
  id INTEGER PRIMARY KEY,
  chat_id INTEGER NOT NULL REFERENCES chat(id),
  author_id INTEGER NOT NULL REFERENCES recipient(id),
  order_ms INTEGER NOT NULL,
  order_n INTEGER NOT NULL,
  sent_before INTEGER NOT NULL,
  edited_after INTEGER NOT NULL,
  received_before INTEGER,
  server_sent_after INTEGER,
  look INTEGER NOT NULL,
  text TEXT,
  extra TEXT,
  receipts BLOB,
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
  message_id INTEGER NOT NULL REFERENCES stored_message(id),
  fingerprint INTEGER NOT NULL,
  first_seen INTEGER NOT NULL REFERENCES snapshot(id),
  last_seen INTEGER NOT NULL REFERENCES snapshot(id),
  block_id INTEGER NOT NULL REFERENCES block(id),
  block_at INTEGER NOT NULL,
  order_ms INTEGER NOT NULL,
  order_n INTEGER NOT NULL,
  PRIMARY KEY (message_id, fingerprint)
) STRICT, WITHOUT ROWID;

CREATE TABLE message_change (
  message_id INTEGER NOT NULL REFERENCES stored_message(id),
  n INTEGER NOT NULL,
  seen_in INTEGER NOT NULL REFERENCES snapshot(id),
  what TEXT NOT NULL,
  who_id INTEGER REFERENCES recipient(id),
  before TEXT,
  after TEXT,
  PRIMARY KEY (message_id, n)
) STRICT, WITHOUT ROWID;

CREATE TABLE twin (
  chat_alias INTEGER NOT NULL,
  author_alias INTEGER NOT NULL,
  first_sent_ms INTEGER NOT NULL,
  slot INTEGER NOT NULL,
  PRIMARY KEY (chat_alias, author_alias, first_sent_ms, slot)
) STRICT, WITHOUT ROWID;

CREATE TABLE reaction (
  message_id INTEGER NOT NULL REFERENCES stored_message(id),
  n INTEGER NOT NULL,
  author_id INTEGER NOT NULL REFERENCES recipient(id),
  emoji TEXT NOT NULL,
  sent_ms INTEGER NOT NULL,
  sort_order INTEGER NOT NULL,
  PRIMARY KEY (message_id, n)
) STRICT, WITHOUT ROWID;

CREATE TABLE revision (
  message_id INTEGER NOT NULL REFERENCES stored_message(id),
  n INTEGER NOT NULL,
  sent_ms INTEGER NOT NULL,
  received_ms INTEGER,
  text TEXT,
  PRIMARY KEY (message_id, n)
) STRICT, WITHOUT ROWID;

CREATE TABLE attachment (
  message_id INTEGER NOT NULL REFERENCES stored_message(id),
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
  plaintext_hash TEXT,
  media_name TEXT,
  local_key BLOB,
  PRIMARY KEY (message_id, revision, role, n)
) STRICT, WITHOUT ROWID;

CREATE TABLE media (
  media_name TEXT PRIMARY KEY,
  sha256 TEXT NOT NULL,
  size INTEGER NOT NULL,
  path TEXT NOT NULL
) STRICT, WITHOUT ROWID;

CREATE TABLE quote (
  message_id INTEGER NOT NULL REFERENCES stored_message(id),
  revision INTEGER NOT NULL,
  target_sent_ms INTEGER,
  author_id INTEGER NOT NULL REFERENCES recipient(id),
  type TEXT NOT NULL,
  text TEXT,
  PRIMARY KEY (message_id, revision)
) STRICT, WITHOUT ROWID;

CREATE TABLE text_range (
  message_id INTEGER NOT NULL REFERENCES stored_message(id),
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
  message_id INTEGER NOT NULL REFERENCES stored_message(id),
  revision INTEGER NOT NULL,
  n INTEGER NOT NULL,
  url TEXT NOT NULL,
  title TEXT,
  description TEXT,
  date_ms INTEGER,
  PRIMARY KEY (message_id, revision, n)
) STRICT, WITHOUT ROWID;

CREATE TABLE sticker (
  message_id INTEGER PRIMARY KEY REFERENCES stored_message(id),
  pack_id TEXT NOT NULL,
  pack_key BLOB NOT NULL,
  sticker_id INTEGER NOT NULL,
  emoji TEXT
) STRICT;

CREATE TABLE poll (
  message_id INTEGER PRIMARY KEY REFERENCES stored_message(id),
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
  message_id INTEGER PRIMARY KEY REFERENCES stored_message(id),
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
  message_id INTEGER PRIMARY KEY REFERENCES stored_message(id),
  state TEXT NOT NULL,
  receipt BLOB NOT NULL
) STRICT;

CREATE TABLE admin_deletion (
  message_id INTEGER PRIMARY KEY REFERENCES stored_message(id),
  admin_id INTEGER NOT NULL REFERENCES recipient(id)
) STRICT;

CREATE TABLE contact_card (
  message_id INTEGER PRIMARY KEY REFERENCES stored_message(id),
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
  message_id INTEGER NOT NULL REFERENCES stored_message(id),
  n INTEGER NOT NULL,
  type TEXT NOT NULL,
  details TEXT NOT NULL,
  PRIMARY KEY (message_id, n)
) STRICT, WITHOUT ROWID;

CREATE TABLE call (
  message_id INTEGER PRIMARY KEY REFERENCES stored_message(id),
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
"""
