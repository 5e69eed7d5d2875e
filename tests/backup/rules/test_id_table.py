"""The id table finds every id that was added before a frame, and no other."""

from hypothesis import given, settings
from hypothesis import strategies as st

from tests.backup.wire.core import Core

IDS = st.integers(1, (1 << 64) - 1)


def test_a_table_knows_what_was_added(core: Core) -> None:
    """A table returns the kind of every id that was added, with any number and distribution of ids."""

    @settings(max_examples=30)
    @given(st.dictionaries(IDS, st.integers(0, 15), max_size=600), IDS)
    def check(ids: dict[int, int], other: int) -> None:
        table = core.id_table.IdTable(1)
        for frame, (key, kind) in enumerate(ids.items(), 1):
            assert not table.knows(key)
            table.add(key, kind, frame)
        assert all(table.kind_of(key) == kind for key, kind in ids.items())
        assert table.knows(other) == (other in ids)
        assert not table.knows(0)
        assert table.room() >= 2 * len(ids)

    check()


def test_a_copy_is_apart(core: Core) -> None:
    """An id added to a copy of a table is not in the original."""
    table = core.id_table.IdTable()
    table.add(5, 1, 1)
    copy = table.copy()
    copy.add(6, 2, 2)
    assert (copy.knows(5), copy.knows(6), table.knows(5), table.knows(6)) == (True, True, True, False)
