"""A roll finds every id that was there before a frame, and no other."""

from hypothesis import given, settings
from hypothesis import strategies as st

from tests.backup.wire.core import Core

IDS = st.integers(1, (1 << 64) - 1)


def test_a_roll_knows_what_was_added(core: Core) -> None:
    """However many there are, and however they are spread."""

    @settings(max_examples=30)
    @given(st.dictionaries(IDS, st.integers(0, 15), max_size=600), IDS)
    def check(ids: dict[int, int], other: int) -> None:
        roll = core.roll.Roll(1)
        for frame, (key, kind) in enumerate(ids.items(), 1):
            assert not roll.knows(key)
            roll.add(key, kind, frame)
        assert all(roll.kind_of(key) == kind for key, kind in ids.items())
        assert roll.knows(other) == (other in ids)
        assert not roll.knows(0)
        assert roll.room() >= 2 * len(ids)

    check()


def test_a_copy_is_apart(core: Core) -> None:
    """Adding to one does not change the other."""
    roll = core.roll.Roll()
    roll.add(5, 1, 1)
    copy = roll.copy()
    copy.add(6, 2, 2)
    assert (copy.knows(5), copy.knows(6), roll.knows(5), roll.knows(6)) == (True, True, True, False)
