"""Tables of the remaining records: call-link calls, stickers, notification profiles, chat folders, colors."""

from typing import Final

__all__ = ["REST"]

REST: Final = """
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
  alias INTEGER NOT NULL,
  recipient_id INTEGER NOT NULL REFERENCES recipient(id),
  PRIMARY KEY (snapshot_id, n, alias),
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
  alias INTEGER NOT NULL,
  included INTEGER NOT NULL,
  recipient_id INTEGER NOT NULL REFERENCES recipient(id),
  PRIMARY KEY (snapshot_id, n, alias, included),
  FOREIGN KEY (snapshot_id, n) REFERENCES chat_folder(snapshot_id, n)
) STRICT, WITHOUT ROWID;

CREATE TABLE chat_color (
  snapshot_id INTEGER NOT NULL REFERENCES snapshot(id),
  color_id TEXT NOT NULL,
  color TEXT NOT NULL,
  PRIMARY KEY (snapshot_id, color_id)
) STRICT, WITHOUT ROWID;
"""
