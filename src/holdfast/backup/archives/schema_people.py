"""Tables of accounts, snapshots, recipients and chats."""

from typing import Final

__all__ = ["PEOPLE"]

PEOPLE: Final = """
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
  alias INTEGER NOT NULL,
  PRIMARY KEY (snapshot_id, file_id)
) STRICT, WITHOUT ROWID;

CREATE TABLE snapshot_chat (
  snapshot_id INTEGER NOT NULL REFERENCES snapshot(id),
  file_id INTEGER NOT NULL,
  chat_id INTEGER NOT NULL REFERENCES chat(id),
  alias INTEGER NOT NULL,
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
  alias INTEGER NOT NULL,
  recipient_id INTEGER NOT NULL REFERENCES recipient(id),
  first_seen INTEGER NOT NULL REFERENCES snapshot(id),
  PRIMARY KEY (account_id, kind, value, alias)
) STRICT, WITHOUT ROWID;

CREATE TABLE recipient_version (
  recipient_id INTEGER NOT NULL REFERENCES recipient(id),
  fingerprint INTEGER NOT NULL,
  alias INTEGER NOT NULL,
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
  alias INTEGER NOT NULL,
  first_seen INTEGER NOT NULL REFERENCES snapshot(id),
  last_seen INTEGER NOT NULL REFERENCES snapshot(id),
  recorded_in INTEGER NOT NULL REFERENCES snapshot(id),
  record BLOB NOT NULL,
  PRIMARY KEY (chat_id, fingerprint)
) STRICT, WITHOUT ROWID;
"""
