"""All changes between two backups are counted and reported, and nothing else."""

import random
from itertools import groupby

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from holdfast.backup.compare.diff import diff
from holdfast.backup.errors import DamagedBackup
from tests.backup.compare.snapshots import changes, difference, opened, snapshot


@settings(max_examples=8, deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(seed=st.integers(0, 1000))
def test_ids_and_order_are_no_difference(seed: int) -> None:
    """Backups that number recipients and chats differently are the same."""
    original = snapshot(200, seed=seed % 3 + 1)
    assert difference(original.raw(), original.renumbered(seed).raw()).same


@settings(max_examples=8, deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(seed=st.integers(0, 1000))
def test_added_and_removed_messages_are_counted(seed: int) -> None:
    """The counts are those of the messages that only one of the two backups has."""
    rng = random.Random(seed)
    complete = snapshot(200)
    sides = [[rng.random() < 0.7 for _ in complete.items] for _ in range(2)]
    raws = []
    for number, side in enumerate(sides):
        removed = iter([not is_kept for is_kept in side])
        raws.append(snapshot(200).without(lambda _item: next(removed)).renumbered(seed + number).raw())  # noqa: B023  # used at once
    differences = difference(raws[0], raws[1])
    both = list(zip(*sides, strict=True))
    assert sum(chat.added for chat in differences.chats) == both.count((False, True))
    assert sum(chat.removed for chat in differences.chats) == both.count((True, False))
    assert sum(chat.changed for chat in differences.chats) == 0
    assert differences.messages_before - differences.messages_after == sum(sides[0]) - sum(sides[1])


def test_edits_deletions_and_reactions_are_told_by_chat() -> None:
    """Each change has its aspect, and an edit has the text before and after it."""
    old, new = snapshot(), snapshot().renumbered(2)
    edited, deleted, liked = new.texts()[0], new.texts()[1], new.texts()[2]
    old_text = edited.standardMessage.text.body
    revision = edited.revisions.add()
    revision.CopyFrom(old.texts()[0])
    edited.dateSent += 60_000
    edited.standardMessage.text.body = "better"
    body = deleted.standardMessage.text.body
    deleted.remoteDeletedMessage.SetInParent()
    liked.standardMessage.reactions.add(emoji="🦀", authorId=liked.authorId, sentTimestamp=5)
    differences = {change.what: change for change in changes(old.raw(), new.raw())}
    assert set(differences) == {("edited",), ("deleted",), ("reactions",)}
    assert (differences["edited",].before, differences["edited",].after) == (old_text, "better")
    assert differences["edited",].sent_ms == edited.dateSent
    assert differences["deleted",].before == body
    chats = difference(old.raw(), new.raw()).chats
    assert sum(chat.changed for chat in chats) == 3
    assert {name for chat in chats for name in chat.aspects} == {"edited", "deleted", "reactions"}


def test_changes_come_chat_by_chat_in_order_of_time() -> None:
    """The order is that of the times, also in a file with the messages in reverse order."""
    complete, none = snapshot(), snapshot().without(lambda _item: True)
    complete.frames.sort(key=lambda frame: -frame.chatItem.dateSent)
    message_changes = changes(none.raw(), complete.raw())
    assert len(message_changes) == len(complete.items)
    assert {change.what for change in message_changes} == {("added",)}
    by_chat = [(chat, list(group)) for chat, group in groupby(message_changes, key=lambda change: change.chat)]
    assert len(by_chat) == len({chat for chat, _ in by_chat})
    for chat, of_chat in by_chat:
        times = [change.sent_ms for change in of_chat]
        assert times == sorted(times), chat
    assert {change.author for change in message_changes} >= {"You"}


def test_a_choice_of_chats_hides_the_others() -> None:
    """A difference of selected chats has no other chats, no records and no settings."""
    old, new = snapshot(), snapshot().without(lambda _item: True)
    new.frames[0].account.givenName = "Somebody"
    name = "Note to Self"
    with opened(old.raw()) as earlier, opened(new.raw()) as later:
        differences = diff(earlier, later, chats=[name])
    assert [chat.chat for chat in differences.chats] == [name]
    assert not differences.settings
    assert not differences.records


def test_equal_messages_are_counted_as_often_as_they_are_there() -> None:
    """A second copy of a message is counted as added."""
    old, new = snapshot(), snapshot()
    frame = next(frame for frame in new.frames if frame.chatItem.standardMessage.text.body)
    new.frames.append(frame)
    (chat,) = difference(old.raw(), new.raw()).chats
    assert (chat.added, chat.removed, chat.changed) == (1, 0, 0)


def test_a_cut_file_is_an_error() -> None:
    """A truncated backup raises `DamagedBackup` on either side."""
    raw = snapshot().raw()
    for pair_recipients in ((raw[:-3], raw), (raw, raw[:-3])):
        with pytest.raises(DamagedBackup):
            difference(*pair_recipients)
