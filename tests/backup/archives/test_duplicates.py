"""Messages of one author with the same timestamp, distinguished by their original content."""

from collections.abc import Callable

import pytest

from holdfast.backup.archives.duplicates import content_of, duplicate_rank
from holdfast.backup.schema.backup_pb2 import ChatItem

PEOPLE = {1: 11, 2: 12}


def message(text: str = "hello") -> ChatItem:
    """Make an ordinary message with a file."""
    item = ChatItem(chatId=1, authorId=1, dateSent=5)
    item.outgoing.sendStatus.add(recipientId=2)
    item.standardMessage.text.body = text
    item.standardMessage.attachments.add(clientUuid=b"u" * 16).pointer.fileName = "a.jpg"
    return item


def edit(item: ChatItem) -> None:
    """Edit a message."""
    before = ChatItem.FromString(item.SerializeToString())
    item.revisions.append(before)
    item.standardMessage.text.body = "something else"


def react(item: ChatItem) -> None:
    """React to a message."""
    item.standardMessage.reactions.add(emoji="x", authorId=2)


def deliver(item: ChatItem) -> None:
    """Let a message arrive."""
    item.outgoing.sendStatus[0].read.SetInParent()


def download(item: ChatItem) -> None:
    """Let its file be there."""
    item.standardMessage.attachments[0].wasDownloaded = True
    item.standardMessage.attachments[0].pointer.locatorInfo.plaintextHash = b"h" * 32


@pytest.mark.parametrize("happens", [edit, react, deliver, download])
def test_what_happens_later_does_not_count(happens: Callable[[ChatItem], None]) -> None:
    """An edit, a reaction, a receipt and a download leave the content hash of a message as it was."""
    item = message()
    before = content_of(item, PEOPLE)
    happens(item)
    assert content_of(item, PEOPLE) == before


def test_what_is_said_counts() -> None:
    """Another text, another file and another kind of message have content hashes of their own."""
    other_file, poll = message(), ChatItem()
    other_file.standardMessage.attachments[0].clientUuid = b"v" * 16
    poll.poll.question = "hello"
    contents = [content_of(item, PEOPLE) for item in (message(), message("bye"), other_file, poll, ChatItem())]
    assert len(set(contents)) == 5


def test_votes_do_not_make_another_poll() -> None:
    """Neither votes nor the end of a poll change its content hash."""
    poll = ChatItem()
    poll.poll.question = "when?"
    poll.poll.options.add(option="now")
    before = content_of(poll, PEOPLE)
    poll.poll.options[0].votes.add(voterId=1, voteCount=1)
    poll.poll.hasEnded = True
    assert content_of(poll, PEOPLE) == before


def test_ranks_are_never_nothing() -> None:
    """The rank of a duplicate is never 0, which is the rank of a message without duplicates."""
    assert len({duplicate_rank(1, n) for n in range(100)}) > 95
    assert all(0 < duplicate_rank(content, 0) < 1 << 31 for content in range(100))
