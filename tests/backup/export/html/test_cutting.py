"""Pages of a chat."""

from holdfast.backup.archive import Archive, Position
from holdfast.backup.export.choice import Choice
from holdfast.backup.export.html import cutting
from holdfast.backup.export.html.cutting import Cuts, cuts_of, stacks
from tests.backup.export.made import message


def test_pages_are_counted_from_the_oldest(opened: Archive) -> None:
    """What is appended later leaves where the first ones begin as it is."""
    chat = max(opened.chats(), key=lambda chat: chat.messages)
    every = list(opened.messages(chat.id))
    whole = cuts_of(opened, chat.id, Choice())
    assert whole.starts == [one.position for one in every[:: cutting.MESSAGES]]
    some = cuts_of(opened, chat.id, Choice(until_ms=every[-1].position.ms))
    assert some.starts == whole.starts[: len(some.starts)]
    assert cuts_of(opened, chat.id, Choice(since_ms=every[-1].position.ms + 1)).starts == []


def test_a_page_that_is_split_moves_no_other() -> None:
    """The rest goes to a page of the same number with a second one."""
    cuts = Cuts([Position(0, 0, 0), Position(100, 0, 0), Position(200, 0, 0)])
    assert cuts.split("2", Position(150, 0, 0)) == "2-2"
    assert cuts.split("2-2", Position(160, 0, 0)) == "2-3"
    assert cuts.names == ["1", "2", "2-2", "2-3", "3"]
    assert [cuts.page(Position(ms, 0, 0)) for ms in (0, 99, 100, 155, 160, 250)] == [
        "1",
        "1",
        "2",
        "2-2",
        "2-3",
        "3",
    ]
    assert (cuts.before("1"), cuts.after("1"), cuts.before("2-2"), cuts.after("3")) == (None, "2", "2", None)


def test_messages_go_to_their_pages() -> None:
    """Also those that were imported after the pages were cut."""
    starts = [Position(0, 0, 0), Position(10, 0, 0), Position(20, 0, 0), Position(30, 0, 0)]
    found = list(stacks(iter([message(sent_ms=ms, id=ms) for ms in (1, 5, 9, 10, 25, 26)]), starts))
    assert [[one.sent_ms for one in stack] for stack in found] == [[1, 5, 9], [10], [25, 26], []]
    assert list(stacks(iter([]), [])) == []
