"""The complete records of a truncated stream can be read."""

import io

import pytest

from holdfast import backup
from holdfast.backup.errors import DamagedBackup
from holdfast.backup.repairs.salvage import find_damage, salvage_records
from tests.backup.streams import lines_of, small_sample, stream_of


@pytest.mark.parametrize("tail", [b"\x80", b"\x7f", b"\x7fabc"])
def test_whole_records_are_read_and_the_rest_is_told(tail: bytes) -> None:
    """With the bytes there are of it."""
    with backup.open(io.BytesIO(stream_of(small_sample()) + tail)) as source:
        damage = find_damage(source)
        assert damage is not None
        assert (damage.rest, damage.frame) == (tail, len(small_sample()))
        records = salvage_records(source)
        assert [frame.raw for frame in records] == list(small_sample()[1:])
        assert records.size == len(stream_of(small_sample()))


def test_a_whole_stream_is_whole() -> None:
    """And says so."""
    with backup.open(io.BytesIO(stream_of(small_sample()))) as source:
        assert find_damage(source) is None
        assert [frame.raw for frame in salvage_records(source)] == list(small_sample()[1:])


def test_a_length_that_makes_no_sense_ends_what_is_whole() -> None:
    """Nobody knows where the next record begins."""
    with backup.open(io.BytesIO(stream_of(small_sample()) + b"\xff" * 12)) as source:
        damage = find_damage(source)
        assert damage is not None
        assert (damage.rest, damage.frame) == (b"", len(small_sample()))
        assert [frame.raw for frame in salvage_records(source)] == list(small_sample()[1:])


def test_what_is_no_stream_is_not_cut_off() -> None:
    """Damage of a form that has no records by length is an error."""
    with backup.open(io.BytesIO(lines_of(small_sample()) + b"{")) as source:
        with pytest.raises(DamagedBackup):
            find_damage(source)
        with pytest.raises(DamagedBackup):
            list(salvage_records(source))
