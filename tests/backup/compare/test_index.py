"""Messages of two backups are matched by chat, author, time and fingerprint."""

from collections import Counter

from hypothesis import given
from hypothesis import strategies as st

from holdfast.backup.compare.index import UNMATCHED, MessageGroup, MessageIndex
from holdfast.backup.wire.renumber import Numbered


def item(chat: int, author: int, origin: int, raw: bytes) -> Numbered:
    """Return a message as the index takes it."""
    return (0, chat, author, origin, origin, 0, raw)


MESSAGES = st.lists(
    st.builds(item, st.integers(1, 2), st.integers(1, 2), st.integers(0, 2), st.sampled_from([b"a", b"b"]))
)


@given(before=MESSAGES, after=MESSAGES)
def test_what_is_the_same_is_paired_and_the_rest_is_told(before: list[Numbered], after: list[Numbered]) -> None:
    """Equal messages are paired one to one, and every other message is in one group."""
    with MessageIndex() as index:
        index.add("before", [before[:2], before[2:]])
        index.add("after", [after])
        groups = list(index.match())
        for n, partner in enumerate(index.before):
            if partner != UNMATCHED:
                assert index.after[partner] == n
                assert before[n][1:] == after[partner][1:]
        common = Counter(entry[1:] for entry in before) & Counter(entry[1:] for entry in after)
        assert sum(partner != UNMATCHED for partner in index.before) == common.total()
        left = [n for n, partner in enumerate(index.before) if partner == UNMATCHED]
        right = [n for n, partner in enumerate(index.after) if partner == UNMATCHED]
        assert sorted(n for group in groups for n in group.before) == left
        assert sorted(n for group in groups for n in group.after) == right
        assert len({group[:3] for group in groups}) == len(groups)


def test_times_beyond_the_calendar_are_times_too() -> None:
    """Messages with the largest 64-bit time are paired too."""
    with MessageIndex() as index:
        far = item(1, 1, (1 << 64) - 1, b"x")
        index.add("before", [[far]])
        index.add("after", [[far]])
        assert list(index.match()) == []
        assert list(index.before) == [0]


def test_bytes_and_groups_are_kept_until_they_are_needed() -> None:
    """Groups are returned in the order they were postponed, and raw messages and changes are stored."""
    with MessageIndex() as index:
        index.add("before", [[item(1, 1, 1, b"a"), item(2, 1, 1, b"b")]])
        index.add("after", [[item(1, 1, 1, b"c")]])
        (changed, removed) = index.match()
        assert changed == MessageGroup(1, 1, 1, (0,), (0,))
        assert removed == MessageGroup(2, 1, 1, (1,), ())
        index.postpone(removed)
        index.postpone(changed)
        assert list(index.postponed()) == [removed, changed]
        index.keep("before", b"\x01\x00", [[item(1, 1, 1, b"a"), item(2, 1, 1, b"b")]])
        index.keep("after", b"\x01", [[item(1, 1, 1, b"c")]])
        assert (index.raw("before", 0), index.raw("after", 0)) == (b"a", b"c")
        index.replace(0, b"d")
        assert index.raw("after", 0) == b"d"
        index.add_change(removed, 1, None)
        index.add_change(changed, 0, 0)
        assert list(index.changes()) == [(1, 0, 0), (2, 1, None)]
        assert (index.counts("before"), index.counts("after")) == ({1: 1, 2: 1}, {1: 1})
