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


def sticker(item: ChatItem) -> None:
    """Send a sticker."""
    item.stickerMessage.sticker.packId = b"p" * 16


def vote(item: ChatItem) -> None:
    """Ask something."""
    item.poll.question = "when?"
    item.poll.options.add(option="now")


def view_once(item: ChatItem) -> None:
    """Send a picture that is seen once."""
    item.viewOnceMessage.attachment.clientUuid = b"u" * 16


def reply_to_story(item: ChatItem) -> None:
    """Reply to a story."""
    item.directStoryReplyMessage.textReply.text.body = "nice"


def pay(item: ChatItem) -> None:
    """Send a payment."""
    item.paymentNotification.note = "for lunch"


def give(item: ChatItem) -> None:
    """Send a badge."""
    item.giftBadge.receiptCredentialPresentation = b"r" * 9


def send_contact(item: ChatItem) -> None:
    """Send a contact."""
    item.contactMessage.contact.organization = "harbour"


Change = Callable[[ChatItem], object]
KINDS: list[tuple[Change, Change, Change]] = [
    (
        sticker,
        lambda item: item.stickerMessage.reactions.add(emoji="x"),
        lambda item: setattr(item.stickerMessage.sticker, "packId", b"q" * 16),
    ),
    (
        vote,
        lambda item: item.poll.options[0].votes.add(voterId=1, voteCount=1),
        lambda item: setattr(item.poll.options[0], "option", "never"),
    ),
    (
        vote,
        lambda item: setattr(item.poll, "hasEnded", True),
        lambda item: setattr(item.poll, "question", "where?"),
    ),
    (
        view_once,
        lambda item: item.viewOnceMessage.ClearField("attachment"),
        lambda item: item.updateMessage.SetInParent(),
    ),
    (
        reply_to_story,
        lambda item: item.directStoryReplyMessage.reactions.add(emoji="x"),
        lambda item: setattr(item.directStoryReplyMessage.textReply.text, "body", "bad"),
    ),
    (
        pay,
        lambda item: item.paymentNotification.transactionDetails.SetInParent(),
        lambda item: setattr(item.paymentNotification, "note", "for tea"),
    ),
    (
        give,
        lambda item: setattr(item.giftBadge, "state", 2),
        lambda item: setattr(item.giftBadge, "receiptCredentialPresentation", b"s"),
    ),
    (
        send_contact,
        lambda item: item.contactMessage.reactions.add(emoji="x"),
        lambda item: setattr(item.contactMessage.contact, "organization", "dock"),
    ),
]


@pytest.mark.parametrize(("send", "change", "replace"), KINDS)
def test_every_kind_of_message_keeps_its_content(
    send: Change,
    change: Change,
    replace: Change,
) -> None:
    """What recipients do with a message does not change its content hash, but other content does."""
    item = ChatItem()
    send(item)
    before = content_of(item, PEOPLE)
    change(item)
    assert content_of(item, PEOPLE) == before
    replace(item)
    assert content_of(item, PEOPLE) != before


def test_people_are_compared_by_their_ids_in_the_archive() -> None:
    """Backups give people different ids; the same message of two backups has one content hash."""
    calls = [ChatItem(), ChatItem(), ChatItem()]
    for call, ringer in zip(calls, (1, 7, 2), strict=True):
        call.updateMessage.groupCall.ringerRecipientId = ringer
    first, of_another_backup, by_another_person = calls
    assert content_of(of_another_backup, {7: 11, 1: 12}) == content_of(first, PEOPLE)
    assert content_of(by_another_person, PEOPLE) != content_of(first, PEOPLE)


def test_ranks_are_never_nothing() -> None:
    """The rank of a duplicate is never 0, which is the rank of a message without duplicates."""
    assert len({duplicate_rank(1, n) for n in range(100)}) > 95
    assert all(0 < duplicate_rank(content, 0) < 1 << 31 for content in range(100))
