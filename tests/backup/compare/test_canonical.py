"""Canonical versions of messages, which are compared by meaning instead of bytes."""

import random
from collections.abc import Callable

import pytest
from google.protobuf import text_format

from holdfast.backup.compare.canonical import (
    Aspect,
    canonicalize,
    differing_aspects,
    file_pointers,
    message_summary,
    parse_item,
)
from holdfast.backup.schema.backup_pb2 import BodyRange, ChatItem, Frame, Poll, Reaction, SendStatus
from tests.backup.compare.snapshots import snapshot


def message() -> ChatItem:
    """Return a message with reactions, receipts, styles and attachments."""
    item = ChatItem(chatId=1, authorId=2, dateSent=1000)
    item.outgoing.sendStatus.extend(
        [SendStatus(recipientId=3, timestamp=5), SendStatus(recipientId=4, timestamp=6)]
    )
    body = item.standardMessage
    body.text.body = "hello"
    body.text.bodyRanges.extend([BodyRange(start=0, length=2, style=BodyRange.BOLD), BodyRange(start=3, length=1)])
    body.reactions.extend(
        [Reaction(emoji="x", authorId=3, sortOrder=1), Reaction(emoji="y", authorId=4, sortOrder=2)]
    )
    attachment = body.attachments.add()
    attachment.wasDownloaded = True
    attachment.pointer.locatorInfo.plaintextHash = b"h"
    return item


def changed(change: Callable[[ChatItem], object]) -> tuple[Aspect, ...]:
    """Return the aspects in which a message differs from a changed copy."""
    item = message()
    change(item)
    return differing_aspects(message(), item)


def shuffle(item: ChatItem) -> None:
    """Reverse lists, renumber reactions and clear the downloaded flags."""
    for entries in (
        item.outgoing.sendStatus,
        item.standardMessage.reactions,
        item.standardMessage.text.bodyRanges,
    ):
        first = type(entries[0]).FromString(entries[0].SerializeToString())
        del entries[0]
        entries.append(first)  # type: ignore[arg-type]  # it came from the same list
    for reaction in item.standardMessage.reactions:
        reaction.sortOrder += 1_000_000
    item.standardMessage.attachments[0].wasDownloaded = False


def test_order_and_numbering_of_lists_mean_nothing() -> None:
    """The order of lists, the sort order of reactions and the downloaded flag are no differences."""
    assert changed(shuffle) == ()


@pytest.mark.parametrize(
    ("change", "aspect"),
    [
        (lambda item: setattr(item.standardMessage.text, "body", "bye"), Aspect.EDITED),
        (lambda item: item.revisions.add(dateSent=1), Aspect.EDITED),
        (lambda item: item.remoteDeletedMessage.SetInParent(), Aspect.DELETED),
        (lambda item: item.standardMessage.reactions.pop(), Aspect.REACTIONS),
        (lambda item: setattr(item.standardMessage.reactions[0], "emoji", "z"), Aspect.REACTIONS),
        (lambda item: item.outgoing.sendStatus[0].read.SetInParent(), Aspect.RECEIPTS),
        (lambda item: item.standardMessage.attachments[0].pointer.locatorInfo.Clear(), Aspect.MEDIA),
        (lambda item: setattr(item.pinDetails, "pinNeverExpires", True), Aspect.PIN),
        (lambda item: setattr(item, "expiresInMs", 5), Aspect.TIMER),
    ],
)
def test_a_change_is_called_by_its_name(change: Callable[[ChatItem], object], aspect: Aspect) -> None:
    """A change of one part of a message is reported as that one aspect."""
    assert changed(change) == (aspect,)


def test_votes_are_a_change_of_their_own() -> None:
    """New votes and the end of a poll are both reported as a change of votes."""
    old = ChatItem(poll=Poll(question="?", options=[Poll.PollOption(option="a"), Poll.PollOption(option="b")]))
    new = ChatItem()
    new.CopyFrom(old)
    new.poll.options[1].votes.add(voterId=3)
    assert differing_aspects(ChatItem.FromString(old.SerializeToString()), new) == (Aspect.VOTES,)
    old.poll.hasEnded = True
    copy = ChatItem.FromString(old.SerializeToString())
    copy.poll.hasEnded = False
    assert differing_aspects(old, copy) == (Aspect.VOTES,)


def test_every_message_of_a_sample_is_itself_and_has_words() -> None:
    """A message equals itself, its canonical form is stable, and it has a summary."""
    for item in snapshot(400).items:
        raw = Frame(chatItem=item).SerializeToString()
        assert differing_aspects(parse_item(raw), parse_item(raw)) == ()
        once = canonicalize(parse_item(raw)).SerializeToString()
        assert canonicalize(ChatItem.FromString(once)).SerializeToString() == once
        assert message_summary(item)


def test_every_file_of_a_message_is_found() -> None:
    """A message has as many file pointers as it has locators."""
    rng = random.Random(1)
    for item in rng.sample(snapshot(400).items, 200):
        expected = text_format.MessageToString(item).count("locatorInfo")
        assert len(file_pointers(item)) == expected
