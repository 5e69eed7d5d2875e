"""Reads the records of exports other than messages: accounts, chats, people, groups and others."""

import json
from collections.abc import Iterator, Sequence, Set
from functools import cache
from typing import Any, Final, TypeVar

import msgspec

from holdfast.backup.archives import Archive, model
from holdfast.backup.exports import schemas

__all__ = ["account_list", "chat_record", "other_records", "recipient_records"]

Record = TypeVar("Record", bound=msgspec.Struct)
Row = dict[str, Any]

RECIPIENT: Final = "r.id, r.account_id, r.name, r.kind, r.avatar_color, r.last_seen IS NOT NULL AS vanished"
PEOPLE: Final = f"""
SELECT {RECIPIENT}, k.aci, k.pni, CASE WHEN k.e164 THEN '+' || k.e164 END AS phone, k.username, k.profile_name,
  k.system_name, k.system_nickname, k.nickname, k.note, k.blocked, k.blocked_ms, k.visibility, k.registered,
  k.unregistered_ms, k.profile_sharing, k.hide_story, k.identity_state
FROM recipient r LEFT JOIN contact k ON k.id = r.id WHERE r.kind IN ('contact', 'self', 'unknown') ORDER BY r.id
"""
GROUPS: Final = f"""
SELECT {RECIPIENT}, g.title, g.description, g.timer_s, g.version AS revision, g.announcements_only, g.terminated,
  g.access_attributes, g.access_members, g.access_invite_link, g.access_member_label, g.whitelisted, g.hide_story,
  g.story_send_mode, g.blocked, g.blocked_ms
FROM recipient r JOIN "group" g ON g.id = r.id ORDER BY r.id
"""
LISTS: Final = f"""
SELECT {RECIPIENT}, l.deleted_ms, l.allow_replies, l.privacy_mode
FROM recipient r JOIN distribution_list l ON l.id = r.id ORDER BY r.id
"""
CALL_LINKS: Final = f"""
SELECT {RECIPIENT}, l.restrictions, l.expires_ms FROM recipient r JOIN call_link l ON l.id = r.id ORDER BY r.id
"""
OTHERS: Final = f"""
SELECT {RECIPIENT} FROM recipient r
WHERE r.kind NOT IN ('contact', 'self', 'unknown', 'group', 'distribution_list', 'call_link') ORDER BY r.id
"""
# Only rows of the newest snapshot of an account are current.
PROFILES: Final = """
SELECT a.id AS account_id, p.n, p.name, p.emoji, p.color, p.created_ms, p.allow_all_calls, p.allow_all_mentions,
  p.schedule_enabled, p.schedule_start, p.schedule_end, p.schedule_days, p.snapshot_id
FROM notification_profile p JOIN account a ON a.newest_snapshot = p.snapshot_id ORDER BY a.id, p.n
"""
FOLDERS: Final = """
SELECT a.id AS account_id, f.n, f.name, f.type, f.show_only_unread, f.show_muted, f.all_individual, f.all_groups,
  f.snapshot_id
FROM chat_folder f JOIN account a ON a.newest_snapshot = f.snapshot_id ORDER BY a.id, f.n
"""


def rows(archive: Archive, query: str, *values: object) -> Iterator[Row]:
    """Run a query and return its rows as dictionaries."""
    cursor = archive.connection.execute(query, values)
    names = [column[0] for column in cursor.description]
    return (dict(zip(names, row, strict=True)) for row in cursor)


@cache
def fields(record_type: type[msgspec.Struct]) -> tuple[msgspec.structs.FieldInfo, ...]:
    """Return the fields of a record class; cached, because inspection is slow."""
    return msgspec.structs.fields(record_type)


def make_record(record_type: type[Record], row: Row, **extra: object) -> Record:
    """Return a record from the columns that it has fields for; SQLite stores booleans as integers."""
    values: Row = {}
    for field in fields(record_type):
        if field.name in extra:
            values[field.name] = extra[field.name]
        elif field.name in row and row[field.name] is not None:
            is_bool = field.type in {bool, bool | None}
            values[field.name] = bool(row[field.name]) if is_bool else row[field.name]
    return record_type(**values)


def account_list(archive: Archive, *, settings: bool) -> tuple[schemas.ExportedAccount, ...]:
    """Return the accounts with their imported backups."""
    snapshots: dict[int, list[schemas.ExportedSnapshot]] = {}
    for row in rows(
        archive,
        "SELECT account_id, made_ms, digest, app_version, frames, messages FROM snapshot ORDER BY made_ms, digest",
    ):
        snapshots.setdefault(row["account_id"], []).append(make_record(schemas.ExportedSnapshot, row))
    return tuple(
        make_record(
            schemas.ExportedAccount,
            row,
            settings=json.loads(row["settings"] or "{}") if settings else {},
            snapshots=tuple(snapshots.get(row["id"], ())),
        )
        for row in rows(
            archive,
            "SELECT a.id, a.name, a.username, s.bio, s.settings FROM account a "
            "LEFT JOIN snapshot s ON s.id = a.newest_snapshot ORDER BY a.id",
        )
    )


def chat_record(archive: Archive, stored_chat: model.Chat, files: Sequence[str]) -> schemas.ExportedChat:
    """Return a chat with its settings."""
    (row,) = rows(archive, "SELECT * FROM chat WHERE id = ?", stored_chat.id)
    return make_record(
        schemas.ExportedChat,
        row,
        account_id=stored_chat.account_id,
        name=stored_chat.name,
        kind=stored_chat.kind,
        messages=stored_chat.messages,
        latest_ms=stored_chat.latest_ms,
        vanished=stored_chat.vanished,
        files=tuple(files),
    )


def recipient_records(archive: Archive, only: Set[int] | None = None) -> Iterator[schemas.Recipient]:
    """Yield the people, groups and other recipients; all, or those with the given ids."""
    names_by_recipient: dict[int, list[schemas.NamePeriod]] = {}
    for row in rows(
        archive,
        "SELECT v.recipient_id, v.name, f.made_ms AS first_seen_ms, l.made_ms AS last_seen_ms "
        "FROM recipient_version v JOIN snapshot f ON f.id = v.first_seen JOIN snapshot l ON l.id = v.last_seen "
        "ORDER BY v.recipient_id, f.made_ms, l.made_ms, v.fingerprint",
    ):
        names_by_recipient.setdefault(row["recipient_id"], []).append(make_record(schemas.NamePeriod, row))
    members = group_by_owner(
        rows(
            archive,
            "SELECT group_id AS owner, service_id, standing, recipient_id AS person_id, role, label, label_emoji, "
            "added_by, at_ms FROM group_member ORDER BY group_id, standing, service_id",
        )
    )
    list_members = group_by_owner(
        rows(archive, "SELECT list_id AS owner, recipient_id FROM distribution_list_member ORDER BY 1, 2")
    )
    name = archive.names.name
    record_type: type[schemas.Recipient]
    for record_type, query in (
        (schemas.ExportedPerson, PEOPLE),
        (schemas.ExportedGroup, GROUPS),
        (schemas.ExportedDistributionList, LISTS),
        (schemas.ExportedCallLink, CALL_LINKS),
        (schemas.ExportedOther, OTHERS),
    ):
        for row in rows(archive, query):
            number = row["id"]
            if only is not None and number not in only:
                continue
            extra: Row = {"name": name(number), "names": tuple(names_by_recipient.get(number, ()))}
            if record_type is schemas.ExportedGroup:
                extra["members"] = tuple(
                    make_record(
                        schemas.ExportedMember,
                        member,
                        name=name(member["person_id"]) if member["person_id"] else None,
                    )
                    for member in members.get(number, ())
                )
            elif record_type is schemas.ExportedDistributionList:
                extra["members"] = tuple(member["recipient_id"] for member in list_members.get(number, ()))
            yield make_record(record_type, row, **extra)


def other_records(archive: Archive) -> Iterator[schemas.Line]:
    """Yield calls through links, sticker packs, notification profiles and chat folders."""
    for row in rows(archive, "SELECT * FROM ad_hoc_call ORDER BY account_id, at_ms, call_id"):
        yield make_record(schemas.ExportedCallLinkCall, row)
    for row in rows(archive, "SELECT account_id, pack_id FROM sticker_pack ORDER BY account_id, pack_id"):
        yield make_record(schemas.ExportedStickerPack, row)
    for row in rows(archive, PROFILES):
        ids = rows(
            archive,
            "SELECT DISTINCT recipient_id FROM notification_profile_member "
            "WHERE snapshot_id = ? AND n = ? ORDER BY 1",
            row["snapshot_id"],
            row["n"],
        )
        yield make_record(
            schemas.ExportedNotificationProfile, row, members=tuple(member["recipient_id"] for member in ids)
        )
    for row in rows(archive, FOLDERS):
        folder_members = list(
            rows(
                archive,
                "SELECT DISTINCT recipient_id, included FROM chat_folder_member "
                "WHERE snapshot_id = ? AND n = ? ORDER BY 1",
                row["snapshot_id"],
                row["n"],
            )
        )
        yield make_record(
            schemas.ExportedChatFolder,
            row,
            included=tuple(member["recipient_id"] for member in folder_members if member["included"]),
            excluded=tuple(member["recipient_id"] for member in folder_members if not member["included"]),
        )


def group_by_owner(entries: Iterator[Row]) -> dict[int, list[Row]]:
    """Group rows by their column `owner`."""
    groups: dict[int, list[Row]] = {}
    for row in entries:
        groups.setdefault(row["owner"], []).append(row)
    return groups
