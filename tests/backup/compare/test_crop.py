"""A cropped backup is valid, with all recipients it refers to and no others."""

import io
import random
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from holdfast import backup
from holdfast.backup.compare.crop import SERVICE_IDS, CropResult, crop
from holdfast.backup.compare.selection import Window
from holdfast.backup.conversion import OutputFormat
from holdfast.backup.errors import DamagedBackup, UnknownChat
from holdfast.backup.order import RECIPIENT_IDS
from holdfast.backup.schema import BackupInfo, Frame
from holdfast.backup.wire.collect import Selection, collect
from tests.backup.compare.snapshots import Snapshot, difference, merged, opened, snapshot
from tests.backup.compare.valid import check
from tests.backup.streams import KEYS, folder_of, sample


def cropped(source: Snapshot, **options: object) -> tuple[Snapshot, CropResult]:
    """Crop a snapshot, validate and parse the result."""
    out = io.BytesIO()
    result = crop(opened(source.raw()), out, to=OutputFormat.STREAM, **options)  # type: ignore[arg-type]  # whatever crop takes
    check(out.getvalue())
    with opened(out.getvalue()) as part:
        frames = [Frame.FromString(frame.raw) for frame in part]
        return Snapshot(BackupInfo.FromString(part.header), frames), result


def test_one_chat_brings_its_people_and_nobody_else() -> None:
    """A crop to one group has its chat, messages, members and the account, and only contacts that these name."""
    source = snapshot(400)
    group = source.groups()[0]
    (chat,) = (chat for chat in source.chats if chat.recipientId == group.id)
    part, result = cropped(source, chats=[f"#{chat.id}"])
    assert part.chats == [chat]
    assert part.items == [item for item in source.items if item.chatId == chat.id]
    assert part.frames[0] == source.frames[0]
    members = {member.userId for member in group.group.snapshot.members}
    cropped_acis = {recipient.contact.aci for recipient in part.contacts()}
    acis = {recipient.contact.aci for recipient in source.contacts()}
    assert members & acis <= cropped_acis
    assert len(cropped_acis) < len(acis)
    others = [frame.SerializeToString() for frame in part.frames if not frame.recipient.HasField("contact")]
    ids = {number for raw in others for _slot, _depth, number, _end in collect(raw, Selection(RECIPIENT_IDS))}
    for recipient in part.contacts():
        keys = filter(None, (recipient.contact.aci, recipient.contact.pni))
        assert recipient.id in ids or any(key in raw for key in keys for raw in others)
    assert (result.chats, result.messages, result.recipients) == (1, len(part.items), len(part.recipients))
    assert (result.chats_before, result.messages_before) == (len(source.chats), 400)


def test_without_a_chat_the_others_stay() -> None:
    """Excluded chats are left out, also of those that were included."""
    source = snapshot()
    chats = [f"#{chat.id}" for chat in source.chats]
    part, _result = cropped(source, without_chats=chats[:2])
    assert part.chats == source.chats[2:]
    part, _result = cropped(source, chats=chats[:2], without_chats=chats[:1])
    assert part.chats == source.chats[1:2]


@settings(max_examples=6, deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(seed=st.integers(0, 1000), without_media=st.booleans())
def test_any_crop_is_valid(seed: int, without_media: bool) -> None:  # noqa: FBT001  # hypothesis gives it by name
    """A crop to random chats and a random period, with or without media, is a valid backup."""
    rng = random.Random(seed)
    source = snapshot(400)
    times = sorted(rng.choice(source.items).dateSent for _ in range(2))
    chats = [f"#{chat.id}" for chat in rng.sample(source.chats, rng.randrange(4))]
    part, _result = cropped(source, chats=chats, window=Window(*times), without_media=without_media)
    assert all(times[0] <= item.dateSent for item in part.items)


def test_a_span_of_time_keeps_chats_and_people() -> None:
    """A crop to a period has all chats and recipients, and the messages first sent in that period."""
    source = snapshot(400)
    times = sorted(item.dateSent for item in source.items)
    window = Window(times[100], times[299])
    part, _result = cropped(source, window=window)
    assert part.chats == source.chats
    assert part.recipients == source.recipients
    expected = [
        item for item in source.items if window.holds(min(version.dateSent for version in (item, *item.revisions)))
    ]
    assert [item.dateSent for item in part.items] == [item.dateSent for item in expected]


def test_a_quote_of_what_was_left_out_keeps_what_it_says() -> None:
    """A quote of a message that was left out keeps its text and author, without the target timestamp."""
    source = snapshot(400)
    quoting = [item for item in source.items if item.standardMessage.quote.targetSentTimestamp]
    middle = sorted(item.dateSent for item in quoting)[len(quoting) // 2]
    part, _result = cropped(source, window=Window(middle, None))
    before = {item.dateSent: item.standardMessage.quote for item in quoting}
    seen = set()
    for item in part.items:
        if item.dateSent in before and item.standardMessage.HasField("quote"):
            quote, old = item.standardMessage.quote, before[item.dateSent]
            assert (quote.text, quote.authorId) == (old.text, old.authorId)
            stays = old.targetSentTimestamp >= middle
            assert quote.HasField("targetSentTimestamp") is stays
            seen.add(stays)
    assert False in seen


def test_without_media_files_are_named_and_marked_as_not_available() -> None:
    """Attachments keep their type with an empty locator, and long texts keep their locators."""
    source = snapshot(400)
    part, _result = cropped(source, without_media=True)
    assert len(part.items) == 400
    raw = b"".join(frame.SerializeToString() for frame in part.frames)
    assert b"image/" in raw
    long = sum(item.standardMessage.HasField("longText") for item in source.items)
    assert long
    assert sum(bool(item.standardMessage.longText.locatorInfo.key) for item in part.items) == long
    for item in part.items:
        for attachment in item.standardMessage.attachments:
            assert attachment.pointer.HasField("locatorInfo")
            assert attachment.pointer.locatorInfo.ByteSize() == 0
            assert not attachment.wasDownloaded


def test_a_folder_is_written_with_the_media_of_what_stays(tmp_path: Path) -> None:
    """A crop without media has fewer files than one with media, and still the long texts."""
    source = folder_of(sample(400), tmp_path / "a")
    with backup.open(source, KEYS) as opened_backup:
        complete = crop(opened_backup, tmp_path / "b", to=OutputFormat.FOLDER, keys=KEYS, window=Window(0, None))
        less = crop(opened_backup, tmp_path / "c", to=OutputFormat.FOLDER, keys=KEYS, without_media=True)
    assert 0 < less.written.attachments < complete.written.attachments


def test_nothing_is_changed_where_nothing_is_left_out() -> None:
    """A crop to an open period has no difference from its source."""
    source = snapshot()
    out = io.BytesIO()
    crop(opened(source.raw()), out, to=OutputFormat.STREAM, window=Window(0, None))
    assert difference(source.raw(), out.getvalue()).same


@pytest.mark.parametrize("seed", [1, 2, 3, 4])
def test_a_crop_and_the_whole_make_the_whole(seed: int) -> None:
    """Merging a crop with its source in either order gives the source, although their times are equal."""
    raw, out = snapshot(300, seed).raw(), io.BytesIO()
    window = Window(1_640_995_200_000, None)
    crop(opened(raw), out, to=OutputFormat.STREAM, window=window, without_media=True)
    assert difference(merged(raw, out.getvalue()), raw).same
    assert difference(merged(out.getvalue(), raw), raw).same


def test_an_unknown_chat_or_a_cut_file_leaves_nothing(tmp_path: Path) -> None:
    """An unknown chat and a truncated backup raise an error, and no file is left."""
    raw = snapshot().raw()
    with pytest.raises(UnknownChat):
        crop(opened(raw), tmp_path / "x.binproto", to=OutputFormat.STREAM, chats=["nobody at all"])
    with pytest.raises(DamagedBackup):
        crop(opened(raw[:-1]), tmp_path / "x.binproto", to=OutputFormat.STREAM, window=Window(0, None))
    assert list(tmp_path.iterdir()) == []


def test_people_are_found_by_every_kind_of_id() -> None:
    """The fields with service ids include those of members, mentions, invitations and group updates."""
    assert {
        "BodyRange.mentionAci",
        "Group.Member.userId",
        "Group.MemberPendingProfileKey.addedByUserId",
        "SelfInvitedOtherUserToGroupUpdate.inviteeServiceId",
        "GroupInvitationRevokedUpdate.Invitee.inviteePni",
        "GroupMemberLeftUpdate.aci",
    } <= set(SERVICE_IDS)
