"""Ordering rules: the account first and once, ids unique and not 0, references after their targets."""

import random
from collections.abc import Callable

import pytest
from hypothesis import given
from hypothesis import strategies as st

from holdfast.backup.errors import DamagedRecord, OrderBroken
from holdfast.backup.order import RECIPIENT_IDS, OrderChecker
from holdfast.backup.schema.backup_pb2 import AccountData, Chat, ChatItem, Frame, Recipient
from holdfast.backup.wire.tables import FIELDS
from tests.backup.streams import sample

ACCOUNT = Frame(account=AccountData(givenName="Ada"))


def person(number: int) -> Frame:
    """Make a recipient."""
    return Frame(recipient=Recipient(id=number))


def chat(number: int, recipient: int) -> Frame:
    """Make a chat."""
    return Frame(chat=Chat(id=number, recipientId=recipient))


def item(chat_id: int, author: int, change: Callable[[ChatItem], object] = lambda _item: None) -> Frame:
    """Make a message."""
    message = ChatItem(chatId=chat_id, authorId=author)
    change(message)
    return Frame(chatItem=message)


def check(*frames: Frame) -> None:
    """Check frames one after the other."""
    order = OrderChecker()
    for frame in frames:
        order.check(frame.SerializeToString())


START = (ACCOUNT, person(1), person(2), chat(7, 2))


@pytest.mark.parametrize("seed", [1, 2, 3])
def test_a_sample_is_in_order(seed: int) -> None:
    """Samples with every kind of record and reference break no rule of order."""
    order = OrderChecker()
    for raw in sample(450, seed)[1:]:
        order.check(raw)


@pytest.mark.parametrize(
    ("frames", "rule", "message"),
    [
        ((person(1),), "account.first", r"first frame must be the account \(frame 1,"),
        ((Frame(),), "account.first", "frame 1"),
        ((ACCOUNT, ACCOUNT), "account.once", r"second account.*\(frame 2,"),
        ((*START, ACCOUNT), "account.once", "frame 5"),
        ((ACCOUNT, person(0)), "recipient.id.zero", "must not be 0"),
        ((ACCOUNT, Frame(recipient=Recipient())), "recipient.id.zero", "frame 2"),
        ((ACCOUNT, person(5), person(5)), "recipient.id.unique", "id 5 already"),
        ((ACCOUNT, person(5), chat(0, 5)), "chat.id.zero", "must not be 0"),
        ((ACCOUNT, person(5), chat(3, 5), chat(3, 5)), "chat.id.unique", "id 3 already"),
        ((ACCOUNT, person(5), chat(3, 6)), "recipient.known", "Chat.recipientId refers to recipient 6"),
        ((ACCOUNT, person(5), Frame(chat=Chat(id=3))), "recipient.known", "refers to recipient 0"),
        ((*START, item(8, 2)), "chat.known", "ChatItem.chatId refers to chat 8"),
        ((*START, item(0, 2)), "chat.known", "refers to chat 0"),
        ((*START, item(7, 9)), "recipient.known", "ChatItem.authorId refers to recipient 9"),
        ((*START, item(7, 0)), "recipient.known", "refers to recipient 0"),
    ],
)
def test_a_broken_rule_is_named_with_id_and_frame(frames: tuple[Frame, ...], rule: str, message: str) -> None:
    """The error has the id of the rule and the number of the last frame, which breaks it."""
    check(*frames[:-1])
    with pytest.raises(OrderBroken, match=message) as caught:
        check(*frames)
    assert (caught.value.rule, caught.value.frame) == (rule, len(frames))
    assert f"rule {rule})" in str(caught.value)


def set_in(frame: Frame, path: str, value: int) -> Frame:
    """Set a field deep inside a frame, adding to lists on the way."""
    holder: object = frame
    *names, last = path.split(".")
    for name in names:
        inner = getattr(holder, name)
        holder = inner.add() if hasattr(inner, "add") else inner
    target = getattr(holder, last)
    if hasattr(target, "append"):
        target.append(value)
    else:
        setattr(holder, last, value)
    return frame


REFERENCES = {
    "SendStatus.recipientId": "chatItem.outgoing.sendStatus.recipientId",
    "Quote.authorId": "chatItem.standardMessage.quote.authorId",
    "Reaction.authorId": "chatItem.standardMessage.reactions.authorId",
    "Poll.PollOption.PollVote.voterId": "chatItem.poll.options.votes.voterId",
    "AdHocCall.recipientId": "adHocCall.recipientId",
    "DistributionList.memberRecipientIds": "recipient.distributionList.distributionList.memberRecipientIds",
    "NotificationProfile.allowedMembers": "notificationProfile.allowedMembers",
    "ChatFolder.includedRecipientIds": "chatFolder.includedRecipientIds",
    "ChatFolder.excludedRecipientIds": "chatFolder.excludedRecipientIds",
    "GroupCall.ringerRecipientId": "chatItem.updateMessage.groupCall.ringerRecipientId",
    "GroupCall.startedCallRecipientId": "chatItem.updateMessage.groupCall.startedCallRecipientId",
    "AdminDeletedMessage.adminId": "chatItem.adminDeletedMessage.adminId",
    "PinMessageUpdate.authorId": "chatItem.updateMessage.pinMessage.authorId",
    "Chat.recipientId": "chat.recipientId",
    "ChatItem.authorId": "chatItem.revisions.authorId",
}


def referring(name: str, value: int) -> Frame:
    """Make a frame that refers to a recipient in one of the ways there are, and is in order otherwise."""
    path = REFERENCES[name]
    base = {
        "chatItem": item(7, 2),
        "recipient": person(50),
        "chat": chat(50, 1),
    }.get(path.partition(".")[0], Frame())
    return set_in(base, path, value)


@pytest.mark.parametrize("name", REFERENCES)
def test_every_reference_to_a_recipient_is_held_to_what_is_there(name: str) -> None:
    """Each field that has a recipient id is checked against the recipients written before."""
    check(*START, referring(name, 2))
    with pytest.raises(OrderBroken, match=f"{name} refers to recipient 99, which has not been written") as caught:
        check(*START, referring(name, 99))
    assert (caught.value.rule, caught.value.frame) == ("recipient.known", 5)


@pytest.mark.parametrize("name", ["SendStatus", "Quote", "Reaction", "Poll.PollOption.PollVote"])
def test_a_reference_that_is_missing_is_one_to_zero(name: str) -> None:
    """An absent id is read as 0, also in a list beside an element that has an id."""
    (full,) = (field for field in REFERENCES if field.rpartition(".")[0] == name)
    with pytest.raises(OrderBroken, match=f"{full} refers to recipient 0"):
        check(*START, referring(full, 0))
    doubled = referring("Reaction.authorId", 2)
    doubled.chatItem.standardMessage.reactions.add(emoji="x")
    with pytest.raises(OrderBroken, match=r"Reaction.authorId refers to recipient 0"):
        check(*START, doubled)


def test_no_field_that_holds_a_recipient_is_forgotten() -> None:
    """Every number of the schema whose name says it is one is in the list, or is known to be something else."""
    suspects = {
        f"{field.containing_type.full_name.removeprefix('holdfast.backup.')}.{field.name}"  # type: ignore[union-attr]  # no field is an extension
        for field in FIELDS.values()
        if field.cpp_type == field.CPPTYPE_UINT64
        and (
            "recipientid" in field.name.lower()
            or field.name in {"authorId", "voterId", "adminId", "allowedMembers"}
        )
    }
    assert suspects == set(RECIPIENT_IDS) == set(REFERENCES)


def test_colours_are_unique_and_known_before_they_are_used() -> None:
    """Colours must be unique, nonzero, and defined by the account before a chat uses them."""

    def account(*palette: int, used: int = 0) -> Frame:
        frame = Frame(account=AccountData())
        for number in palette:
            frame.account.accountSettings.customChatColors.add(id=number, solid=1)
        if used:
            frame.account.accountSettings.defaultChatStyle.customColorId = used
        return frame

    styled = chat(8, 1)
    styled.chat.style.customColorId = 4
    check(account(4, used=4), person(1), styled)
    for frames, rule in (
        ((account(4, 4),), "color.id.unique"),
        ((account(0),), "color.id.zero"),
        ((account(used=4),), "color.known"),
        ((account(5), person(1), styled), "color.known"),
    ):
        with pytest.raises(OrderBroken) as caught:
            check(*frames)
        assert caught.value.rule == rule


def test_an_older_revision_need_not_name_its_chat() -> None:
    """A revision without a chat id is in order."""
    check(*START, item(7, 2, lambda message: message.revisions.add(authorId=2)))


def test_a_refused_frame_does_not_count() -> None:
    """The records of a refused frame are unknown afterwards, and the next frame has its number."""
    order = OrderChecker()
    for frame in START:
        order.check(frame.SerializeToString())
    broken = Frame(recipient=Recipient(id=70))
    broken.recipient.distributionList.distributionList.memberRecipientIds.append(99)
    for _ in range(2):
        with pytest.raises(OrderBroken, match="frame 5"):
            order.check(broken.SerializeToString())
    order.check(person(70).SerializeToString())
    with pytest.raises(OrderBroken, match="frame 6"):
        order.check(person(70).SerializeToString())


def test_a_frame_that_is_no_frame_is_damaged() -> None:
    """A frame that cannot be parsed is a DamagedRecord, not an OrderBroken."""
    with pytest.raises(DamagedRecord, match="middle of a field"):
        OrderChecker().check(b"\x0a\x05a")


@given(seed=st.integers(0, 1 << 32))
def test_a_record_moved_behind_its_reference_is_caught(seed: int) -> None:
    """A recipient or chat after the first frame that refers to it breaks a rule."""
    rng = random.Random(seed)
    frames = [Frame.FromString(raw) for raw in sample()[1:]]
    chats = [index for index, frame in enumerate(frames) if frame.HasField("chat")]
    moved = rng.choice(chats)
    if rng.random() < 0.5:
        expected = frames[moved].chat.recipientId
        first_use = moved
        moved = next(index for index, frame in enumerate(frames) if frame.recipient.id == expected)
    else:
        uses = [index for index, frame in enumerate(frames) if frame.chatItem.chatId == frames[moved].chat.id]
        if not uses:
            return
        first_use = uses[0]
    target = rng.randrange(first_use + 1, len(frames) + 1)
    frame = frames[moved]
    frames.insert(target, frame)
    del frames[moved]
    with pytest.raises(OrderBroken) as caught:
        check(*frames)
    assert caught.value.rule in {"recipient.known", "chat.known"}
