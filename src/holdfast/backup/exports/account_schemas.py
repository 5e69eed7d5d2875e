"""Records other than messages in exports to JSON Lines: accounts, chats, people, groups and others."""

from typing import Any, Literal

import msgspec

from holdfast.backup.exports.message_schemas import ExportedPart
from holdfast.redacted_repr import redacted

__all__ = [
    "Export",
    "ExportedAccount",
    "ExportedCallLink",
    "ExportedCallLinkCall",
    "ExportedChat",
    "ExportedChatFolder",
    "ExportedDistributionList",
    "ExportedGroup",
    "ExportedMember",
    "ExportedNotificationProfile",
    "ExportedOther",
    "ExportedPerson",
    "ExportedSnapshot",
    "ExportedStickerPack",
    "NamePeriod",
]


@redacted
class ExportedChat(ExportedPart, frozen=True, kw_only=True, tag="chat", tag_field="record"):
    """A chat with its settings; its id is that of its person or group."""

    id: int
    account_id: int
    name: str
    kind: str
    messages: int
    latest_ms: int | None = None
    archived: bool = False
    pinned_order: int | None = None
    timer_ms: int | None = None
    mute_until_ms: int | None = None
    marked_unread: bool = False
    quiet_mentions: bool = False
    wallpaper: str | None = None
    bubble_color: str | None = None
    dim_wallpaper: bool = False
    vanished: bool = False
    files: tuple[str, ...] = ()


@redacted
class NamePeriod(ExportedPart, frozen=True):
    """A name of a recipient and the times of the first and last backup that have it."""

    name: str
    first_seen_ms: int
    last_seen_ms: int


@redacted
class ExportedPerson(ExportedPart, frozen=True, kw_only=True, tag="person", tag_field="record"):
    """A contact, the owner of the account (`self`), or a placeholder for an unknown person."""

    id: int
    account_id: int
    name: str
    kind: str
    avatar_color: str | None = None
    vanished: bool = False
    names: tuple[NamePeriod, ...] = ()
    aci: str | None = None
    pni: str | None = None
    phone: str | None = None
    username: str | None = None
    profile_name: str | None = None
    system_name: str | None = None
    system_nickname: str | None = None
    nickname: str | None = None
    note: str | None = None
    blocked: bool = False
    blocked_ms: int | None = None
    visibility: str | None = None
    registered: bool | None = None
    unregistered_ms: int | None = None
    profile_sharing: bool = False
    hide_story: bool = False
    identity_state: str | None = None


@redacted
class ExportedMember(ExportedPart, frozen=True):
    """A person in a group; `standing` distinguishes members, invited, requesting and banned people."""

    service_id: str
    standing: str
    person_id: int | None = None
    name: str | None = None
    role: str | None = None
    label: str | None = None
    label_emoji: str | None = None
    added_by: str | None = None
    at_ms: int | None = None


@redacted
class ExportedGroup(ExportedPart, frozen=True, kw_only=True, tag="group", tag_field="record"):
    """A group with its members."""

    id: int
    account_id: int
    name: str
    avatar_color: str | None = None
    vanished: bool = False
    names: tuple[NamePeriod, ...] = ()
    title: str | None = None
    description: str | None = None
    timer_s: int | None = None
    revision: int = 0
    announcements_only: bool = False
    terminated: bool = False
    access_attributes: str | None = None
    access_members: str | None = None
    access_invite_link: str | None = None
    access_member_label: str | None = None
    whitelisted: bool = False
    hide_story: bool = False
    story_send_mode: str | None = None
    blocked: bool = False
    blocked_ms: int | None = None
    members: tuple[ExportedMember, ...] = ()


@redacted
class ExportedDistributionList(
    ExportedPart, frozen=True, kw_only=True, tag="distribution_list", tag_field="record"
):
    """A distribution list of stories."""

    id: int
    account_id: int
    name: str
    vanished: bool = False
    names: tuple[NamePeriod, ...] = ()
    deleted_ms: int | None = None
    allow_replies: bool | None = None
    privacy_mode: str | None = None
    members: tuple[int, ...] = ()


@redacted
class ExportedCallLink(ExportedPart, frozen=True, kw_only=True, tag="call_link", tag_field="record"):
    """A call link."""

    id: int
    account_id: int
    name: str
    vanished: bool = False
    names: tuple[NamePeriod, ...] = ()
    restrictions: str | None = None
    expires_ms: int | None = None


@redacted
class ExportedOther(ExportedPart, frozen=True, kw_only=True, tag="other", tag_field="record"):
    """Any other recipient, such as release notes."""

    id: int
    account_id: int
    name: str
    kind: str
    vanished: bool = False
    names: tuple[NamePeriod, ...] = ()


@redacted
class ExportedCallLinkCall(ExportedPart, frozen=True, kw_only=True, tag="call_link_call", tag_field="record"):
    """A call through a call link."""

    account_id: int
    call_id: str
    call_link_id: int
    state: str
    at_ms: int


@redacted
class ExportedStickerPack(ExportedPart, frozen=True, kw_only=True, tag="sticker_pack", tag_field="record"):
    """A sticker pack of the account."""

    account_id: int
    pack_id: str


@redacted
class ExportedNotificationProfile(
    ExportedPart, frozen=True, kw_only=True, tag="notification_profile", tag_field="record"
):
    """A notification profile of the newest backup; times are written as 930 for 9:30."""

    account_id: int
    name: str
    emoji: str | None = None
    color: str
    created_ms: int
    allow_all_calls: bool
    allow_all_mentions: bool
    schedule_enabled: bool
    schedule_start: int
    schedule_end: int
    schedule_days: str
    members: tuple[int, ...] = ()


@redacted
class ExportedChatFolder(ExportedPart, frozen=True, kw_only=True, tag="chat_folder", tag_field="record"):
    """A chat folder of the newest backup."""

    account_id: int
    name: str
    type: str
    show_only_unread: bool
    show_muted: bool
    all_individual: bool
    all_groups: bool
    included: tuple[int, ...] = ()
    excluded: tuple[int, ...] = ()


@redacted
class ExportedSnapshot(ExportedPart, frozen=True):
    """An imported backup."""

    made_ms: int
    digest: str
    app_version: str
    frames: int
    messages: int


@redacted
class ExportedAccount(ExportedPart, frozen=True):
    """An account whose backups were imported; `settings` are those of the newest backup."""

    id: int
    name: str
    username: str | None = None
    bio: str | None = None
    settings: dict[str, Any] = msgspec.field(default_factory=dict)
    snapshots: tuple[ExportedSnapshot, ...] = ()


@redacted
class Export(ExportedPart, frozen=True, kw_only=True, tag="export", tag_field="record"):
    """The description of an export: its format, selection and accounts.

    `since_ms` is inclusive, `until_ms` exclusive; `chats` are ids, omitted if all were exported.
    """

    format: Literal["holdfast-export"]
    version: int
    made_by: str
    since_ms: int | None = None
    until_ms: int | None = None
    chats: tuple[int, ...] = ()
    accounts: tuple[ExportedAccount, ...] = ()
