"""The complete records of a truncated stream can be read."""

import io

import pytest

from holdfast import backup
from holdfast.backup.errors import DamagedBackup
from holdfast.backup.repairs.salvage import find_damage, salvage_records
from tests.backup.streams import lines_of, small_sample, stream_of


@pytest.mark.parametrize("tail", [b"\x80", b"\x7f", b"\x7fabc"])
def test_whole_records_are_read_and_the_rest_is_told(tail: bytes) -> None:
    """Complete records are read, and the damage has the remaining bytes and the frame number."""
    with backup.open(io.BytesIO(stream_of(small_sample()) + tail)) as source:
        damage = find_damage(source)
        assert damage is not None
        assert (damage.rest, damage.frame) == (tail, len(small_sample()))
        records = salvage_records(source)
        assert [frame.raw for frame in records] == list(small_sample()[1:])
        assert records.size == len(stream_of(small_sample()))


def test_a_whole_stream_is_whole() -> None:
    """A complete stream has no damage, and all of its frames are read."""
    with backup.open(io.BytesIO(stream_of(small_sample()))) as source:
        assert find_damage(source) is None
        assert [frame.raw for frame in salvage_records(source)] == list(small_sample()[1:])


def test_a_length_that_makes_no_sense_ends_what_is_whole() -> None:
    """An invalid length ends the stream, since the start of the next record is unknown."""
    with backup.open(io.BytesIO(stream_of(small_sample()) + b"\xff" * 12)) as source:
        damage = find_damage(source)
        assert damage is not None
        assert (damage.rest, damage.frame) == (b"", len(small_sample()))
        assert [frame.raw for frame in salvage_records(source)] == list(small_sample()[1:])


def test_what_is_no_stream_is_not_cut_off() -> None:
    """Damaged JSON Lines are an error, since they have no length prefixes."""
    with backup.open(io.BytesIO(lines_of(small_sample()) + b"{")) as source:
        with pytest.raises(DamagedBackup):
            find_damage(source)
        with pytest.raises(DamagedBackup):
            list(salvage_records(source))
