"""The manifest: the list of the attachment files of a snapshot."""

import io

import pytest
from hypothesis import given
from hypothesis import strategies as st

from holdfast.backup.container.manifest import read_manifest, write_manifest
from holdfast.backup.errors import DamagedBackup

NAMES = st.text("0123456789abcdef", min_size=64, max_size=64)
NAME = "a5ee652dbadf9570110ed4af0fa80dee7126b26dae10d630965f4698080b310e"


def written(names: list[str]) -> bytes:
    """Write a manifest to memory."""
    target = io.BytesIO()
    write_manifest(target, names)
    return target.getvalue()


def test_a_record_is_as_published() -> None:
    """A record is its length, the tag of the field, the length of the name, and the name."""
    assert written([NAME]) == bytes.fromhex("420a40") + NAME.encode()


@given(st.lists(NAMES, unique=True, max_size=20))
def test_names_come_back_in_order(names: list[str]) -> None:
    """A manifest of any length, also an empty one, is read back in order."""
    assert names == list(read_manifest(io.BytesIO(written(names))))


def test_a_name_is_written_once() -> None:
    """A name that is given twice is listed once."""
    assert written([NAME, NAME]) == written([NAME])


def test_records_without_a_name_are_passed_over() -> None:
    """Empty records, empty names and unknown fields are skipped, and the names around them are read."""
    record = written([NAME])
    raw = b"\x00" + record + b"\x02\x0a\x00" + b"\x04\x12\x02hi" + record
    assert list(read_manifest(io.BytesIO(raw))) == [NAME, NAME]


@pytest.mark.parametrize(
    ("raw", "problem", "frame", "offset"),
    [
        ((written([NAME]) * 2)[:-1], "the file ends in the middle of a record", 1, 67),
        (written([NAME]) + b"\x01\x0a", "a record of the manifest is not readable", 1, 67),
        (b"\x02\x0a\x40", "a record of the manifest is not readable", 0, 0),
        (written([NAME]) + b"\xff\xff\x7f", "the record claims to be longer than is allowed", 1, 67),
    ],
)
def test_a_broken_manifest_is_not_taken_for_a_short_one(raw: bytes, problem: str, frame: int, offset: int) -> None:
    """A truncated manifest is an error, since files would look unused otherwise."""
    with pytest.raises(DamagedBackup) as caught:
        list(read_manifest(io.BytesIO(raw)))
    assert (problem, frame, offset) == (caught.value.problem, caught.value.frame, caught.value.offset)
