"""Messages of one chat, author and time are matched by content."""

from collections.abc import Sequence

from holdfast.backup.compare.canonical import Aspect
from holdfast.backup.compare.index import MessageGroup, MessageIndex
from holdfast.backup.compare.message_matches import mark_messages, match_changed
from holdfast.backup.schema.backup_pb2 import ChatItem, Frame, Reaction, RemoteDeletedMessage
from holdfast.backup.wire.renumber import Numbered


def text(body: str, *reactions: Reaction) -> ChatItem:
    """Return a text message."""
    item = ChatItem(chatId=1, authorId=1, dateSent=1)
    item.standardMessage.text.body = body
    item.standardMessage.reactions.extend(reactions)
    return item


def matches(
    before: Sequence[ChatItem], after: Sequence[ChatItem]
) -> list[tuple[int | None, int | None, tuple[Aspect, ...]]]:
    """Match messages."""
    sides: list[list[Numbered]] = [
        [(0, 1, 1, 1, 1, 0, Frame(chatItem=item).SerializeToString()) for item in side] for side in (before, after)
    ]
    group = MessageGroup(1, 1, 1, tuple(range(len(before))), tuple(range(len(after))))
    marks = bytearray(len(before)), bytearray(len(after))
    mark_messages(group, marks)
    with MessageIndex() as index:
        index.keep("before", marks[0], [sides[0]])
        index.keep("after", marks[1], [sides[1]])
        return sorted(match_changed(index, group), key=str)


def test_what_means_the_same_is_found_first() -> None:
    """Messages with the same meaning are matched first, in any order, and the rest is an edit."""
    first, second = Reaction(emoji="x", authorId=1, sortOrder=1), Reaction(emoji="x", authorId=1, sortOrder=9)
    assert matches([text("a"), text("b", first)], [text("b", second), text("c")]) == [
        (0, 1, (Aspect.EDITED,)),
        (1, 0, ()),
    ]


def test_a_deleted_message_is_what_it_was_before() -> None:
    """A deleted message is matched with the text that it was before."""
    deleted = ChatItem(chatId=1, authorId=1, dateSent=1, remoteDeletedMessage=RemoteDeletedMessage())
    assert matches([text("a"), text("b")], [text("b"), deleted]) == [(0, 1, (Aspect.DELETED,)), (1, 0, ())]


def test_others_are_new_or_gone() -> None:
    """A sticker and a text are not matched if there are several candidates."""
    sticker = ChatItem(chatId=1, authorId=1, dateSent=1)
    sticker.stickerMessage.sticker.stickerId = 1
    assert matches([sticker, sticker], [text("a")]) == [(0, None, ()), (1, None, ()), (None, 0, ())]
    assert matches([sticker], [text("a")]) == [(0, 0, (Aspect.EDITED,))]


def test_several_candidates_are_paired_in_their_order_and_by_their_kind() -> None:
    """Equal messages are matched first, then messages of the same kind in their order."""
    first, second = (ChatItem(chatId=1, authorId=1, dateSent=1) for _ in range(2))
    first.stickerMessage.sticker.stickerId = 1
    second.stickerMessage.sticker.stickerId = 2
    edited = (Aspect.EDITED,)
    assert matches([text("a"), text("b")], [text("c"), text("d")]) == [(0, 0, edited), (1, 1, edited)]
    assert matches([first, text("a")], [text("b"), second]) == [(0, 1, edited), (1, 0, edited)]
    assert matches([text("a"), text("b"), text("c")], [text("b"), text("d")]) == [
        (0, 1, edited),
        (1, 0, ()),
        (2, None, ()),
    ]
    assert matches([text("a")], [text("b"), text("a")]) == [(0, 1, ()), (None, 0, ())]


def test_thousands_of_one_time_are_no_trouble() -> None:
    """3,000 messages of one time in reverse order are all matched."""
    many = [text(str(number)) for number in range(3000)]
    pairs = matches(many, list(reversed(many[1:])))
    assert sum(not aspect and new is not None and old is not None for old, new, aspect in pairs) == 2999
