"""Scenes of a history, and its exact number of messages."""

from collections import defaultdict

import pytest
from hypothesis import given
from hypothesis import strategies as st

from holdfast.backup.schema.backup_pb2 import ChatItem
from holdfast_demo.sample import Edition
from holdfast_demo.sample.chat_items import schedule
from holdfast_demo.sample.item_sequences import item_sequences
from holdfast_demo.sample.seeded_random import SeededRandom
from tests.holdfast_demo.sample.sample_parts import header, items

DAY = 86_400_000


@given(st.integers(1, 5000), st.integers(0, 1000))
def test_scenes_leave_exactly_the_rest_for_everyday_talk(messages: int, seed: int) -> None:
    """Each scene begins after the one before has ended, and the items add up to the requested number."""
    count = 0
    for scene, due in schedule(item_sequences("current"), messages, SeededRandom(seed)):
        assert due >= count
        count = due + (len(scene.items) if scene else 0)
    assert count == messages


def test_all_scenes_are_played_when_there_is_room() -> None:
    """Four hundred messages have room for the whole programme of either edition."""
    for edition in ("spec", "current"):
        scenes = item_sequences(edition)
        played = [scene for scene, _ in schedule(scenes, 400, SeededRandom(1)) if scene]
        assert sorted(map(id, played)) == sorted(map(id, scenes))


@pytest.mark.parametrize("edition", ["spec", "current"])
def test_quotes_polls_and_pins_refer_to_what_was_said(edition: Edition) -> None:
    """A quote, the end of a poll and a pin name an earlier item of the same chat by its time and author."""
    sent: dict[int, dict[int, ChatItem]] = defaultdict(dict)
    quotes = polls = pins = 0
    for item in items(3000, 2, edition):
        earlier = sent[item.chatId]
        quote, update = item.standardMessage.quote, item.updateMessage
        if quote.HasField("targetSentTimestamp"):
            quotes += 1
            assert earlier[quote.targetSentTimestamp].authorId == quote.authorId
        if update.HasField("pollTerminate"):
            polls += 1
            poll = earlier[update.pollTerminate.targetSentTimestamp].poll
            assert poll.hasEnded
            assert poll.question == update.pollTerminate.question
        if update.HasField("pinMessage"):
            pins += 1
            pinned = earlier[update.pinMessage.targetSentTimestamp]
            assert pinned.HasField("pinDetails")
            assert pinned.authorId == update.pinMessage.authorId
        earlier[item.dateSent] = item
    assert quotes > 100
    assert polls
    assert bool(pins) == (edition == "current")


@pytest.mark.parametrize("seed", range(1, 6))
def test_nothing_expires_before_the_backup_is_a_day_old(seed: int) -> None:
    """A disappearing message expires a day after the backup or later, or its timer has not started."""
    backup_time = header(3000, seed).backupTimeMs
    expiring = [item for item in items(3000, seed) if item.HasField("expiresInMs")]
    assert len(expiring) >= 3
    for item in expiring:
        assert item.expiresInMs >= DAY
        if item.HasField("expireStartDate"):
            assert item.expireStartDate + item.expiresInMs >= backup_time + DAY
        else:
            assert item.HasField("incoming")
            assert not item.incoming.read


def test_nobody_reacts_or_votes_twice() -> None:
    """Each person has one reaction to an item of any kind, and one vote unless several are allowed."""
    kinds = set()
    for item in items(3000):
        kind = item.WhichOneof("item") or ""
        reactions = [reaction.authorId for reaction in getattr(getattr(item, kind), "reactions", ())]
        assert len(reactions) == len(set(reactions))
        votes = [vote.voterId for option in item.poll.options for vote in option.votes]
        assert item.poll.allowMultiple or len(votes) == len(set(votes))
        if len(reactions) > 1 or (len(votes) > 1 and not item.poll.allowMultiple):
            kinds.add(kind)
    assert kinds >= {"standardMessage", "poll"}
