"""Two versions of a message are merged, and an older message is adapted to a later backup."""

from holdfast.backup.compare.canonical import Aspect
from holdfast.backup.compare.resolve import DAY_MS, ResolvedFrame, adapt_message, resolve
from holdfast.backup.schema.backup_pb2 import ChatItem, Frame, Poll, Reaction, RemoteDeletedMessage

NOW = 1_700_000_000_000


def text(body: str, *earlier: str) -> ChatItem:
    """Return a text message with its earlier versions."""
    item = ChatItem(chatId=1, authorId=1, dateSent=NOW)
    item.incoming.dateReceived = NOW
    item.standardMessage.text.body = body
    item.revisions.extend(text(version) for version in earlier)
    return item


def raw(item: ChatItem) -> bytes:
    """Serialize the frame of a message."""
    return Frame(chatItem=item).SerializeToString()


def resolved(old: ChatItem, new: ChatItem) -> tuple[ChatItem, ResolvedFrame]:
    """Resolve two versions."""
    resolved_frame = resolve(raw(old), raw(new))
    return Frame.FromString(resolved_frame.raw).chatItem, resolved_frame


def test_the_later_version_wins_and_what_it_replaced_is_told() -> None:
    """The replaced text is a conflict, unless the later version has it among its revisions."""
    item, resolved_frame = resolved(text("a"), text("b"))
    assert (item, resolved_frame.lost, resolved_frame.kept, resolved_frame.dropped) == (
        text("b"),
        (Aspect.EDITED,),
        "b",
        "a",
    )
    item, resolved_frame = resolved(text("a"), text("b", "a"))
    assert (item, resolved_frame.lost) == (text("b", "a"), ())


def test_a_version_with_more_edits_wins_with_the_state_of_the_later_one() -> None:
    """The text with more revisions wins, with the reactions, timer and read state of the later one."""
    old, new = text("c", "a", "b"), text("b", "a")
    new.standardMessage.reactions.append(Reaction(emoji="x", authorId=1))
    new.incoming.read = True
    new.expiresInMs = DAY_MS
    old.pinDetails.pinNeverExpires = True
    item, _made = resolved(old, new)
    assert [version.standardMessage.text.body for version in (item, *item.revisions)] == ["c", "a", "b"]
    assert item.incoming.read
    assert item.expiresInMs == DAY_MS
    assert len(item.standardMessage.reactions) == 1
    assert not item.HasField("pinDetails")


def test_a_later_deletion_wins_and_is_told() -> None:
    """A later deletion wins and is reported, and an earlier one that the later backup lacks is undone."""
    deleted = ChatItem(chatId=1, authorId=1, dateSent=NOW, remoteDeletedMessage=RemoteDeletedMessage())
    item, resolved_frame = resolved(text("a"), deleted)
    assert (item, resolved_frame.lost, resolved_frame.dropped) == (deleted, (Aspect.DELETED,), "a")
    item, _made = resolved(deleted, text("a"))
    assert item == text("a")


def test_reactions_and_votes_are_the_later_ones() -> None:
    """Added reactions and votes are no conflict, and missing ones are."""
    liked = text("a")
    liked.standardMessage.reactions.append(Reaction(emoji="x", authorId=1))
    assert resolved(text("a"), liked)[1].lost == ()
    assert resolved(liked, text("a"))[1].lost == (Aspect.REACTIONS,)
    poll = ChatItem(chatId=1, poll=Poll(options=[Poll.PollOption(option="a")]))
    with_vote = ChatItem.FromString(poll.SerializeToString())
    with_vote.poll.options[0].votes.add(voterId=4)
    assert resolved(poll, with_vote)[1].lost == ()
    assert resolved(with_vote, poll)[1].lost == (Aspect.VOTES,)


def test_a_file_only_the_older_backup_has_is_kept() -> None:
    """A locator that the later backup lacks is taken from the older one, without a conflict."""
    old, new = text("a"), text("a")
    for item in (old, new):
        item.standardMessage.attachments.add().pointer.contentType = "image/png"
    old.standardMessage.attachments[0].pointer.locatorInfo.plaintextHash = b"h"
    new.standardMessage.attachments[0].pointer.locatorInfo.SetInParent()
    new.standardMessage.reactions.append(Reaction(emoji="x", authorId=1))
    item, resolved_frame = resolved(old, new)
    assert item.standardMessage.attachments[0].pointer.locatorInfo.plaintextHash == b"h"
    assert len(item.standardMessage.reactions) == 1
    assert resolved_frame.lost == ()
    assert resolved(new, old)[0] == old


def test_a_quote_keeps_pointing_to_its_message() -> None:
    """The target of a quote is kept if either backup has it, without a conflict."""
    with_target, without_target = text("a"), text("a")
    for item in (with_target, without_target):
        item.standardMessage.quote.text.body = "q"
    with_target.standardMessage.quote.targetSentTimestamp = 5
    for pair in ((with_target, without_target), (without_target, with_target)):
        item, resolved_frame = resolved(*pair)
        assert (item, resolved_frame.lost) == (with_target, ())


def test_what_means_the_same_stays_as_it_is() -> None:
    """Resolving two equal versions gives the same bytes and no conflict."""
    assert resolve(raw(text("a")), raw(text("a"))) == ResolvedFrame(raw(text("a")), (), (), "", "")


def test_a_message_whose_time_ran_out_stays_without_the_timer() -> None:
    """An expired message and its revisions lose the timer, and one with time left keeps it."""
    item = text("b", "a")
    for version in (item, *item.revisions):
        version.expireStartDate, version.expiresInMs = NOW, 10 * DAY_MS
    assert adapt_message(raw(item), NOW + 9 * DAY_MS, frozenset()) == (raw(item), False)
    resolved_frame, stopped = adapt_message(raw(item), NOW + 9 * DAY_MS + 1, frozenset())
    assert stopped
    assert Frame.FromString(resolved_frame).chatItem == text("b", "a")


def test_two_who_became_one_act_once() -> None:
    """Of two people who became one, the last reaction and the first vote count."""
    item = text("a")
    item.standardMessage.reactions.extend(
        [Reaction(emoji="y", authorId=4, sentTimestamp=2), Reaction(emoji="x", authorId=4, sentTimestamp=1)]
    )
    resolved_frame, _stopped = adapt_message(raw(item), NOW, frozenset({4}))
    assert [
        reaction.emoji for reaction in Frame.FromString(resolved_frame).chatItem.standardMessage.reactions
    ] == ["y"]
    poll = ChatItem(poll=Poll(options=[Poll.PollOption(option="a"), Poll.PollOption(option="b")]))
    poll.poll.options[0].votes.add(voterId=4)
    poll.poll.options[0].votes.add(voterId=4)
    poll.poll.options[1].votes.add(voterId=4)
    resolved_frame, _stopped = adapt_message(raw(poll), NOW, frozenset({4}))
    assert [len(option.votes) for option in Frame.FromString(resolved_frame).chatItem.poll.options] == [1, 0]
