"""Reading a file that is stored as several objects."""

import os

import pytest
from hypothesis import given
from hypothesis import strategies as st

from holdfast.hosting.errors import NoSuchStoredObject
from holdfast.hosting.storage.object_reader import BUFFER, ObjectPart, open_parts
from holdfast.hosting.storage.object_store import ObjectStore, open_object_store
from holdfast.settings import Settings

SIZES = (3, BUFFER + 5, 1, 70_000)
CONTENT = os.urandom(sum(SIZES))


@pytest.fixture(scope="module")
def store(tmp_path_factory: pytest.TempPathFactory) -> ObjectStore:
    """Store a file in parts."""
    opened = open_object_store(Settings(data=tmp_path_factory.mktemp("store")))
    for part in parts():
        opened.put(part.key, CONTENT[part.start : part.start + part.size])
    return opened


def parts() -> list[ObjectPart]:
    """Return the parts of the file."""
    return [ObjectPart(sum(SIZES[:n]), size, f"chats/{n}") for n, size in enumerate(SIZES)]


@given(st.lists(st.tuples(st.integers(0, len(CONTENT) + 9), st.integers(0, 2 * BUFFER)), max_size=6))
def test_parts_are_read_as_one_file_from_any_position(store: ObjectStore, reads: list[tuple[int, int]]) -> None:
    """Reads across parts, up to the end and beyond it return the bytes of the whole file."""
    with open_parts(store, parts()) as file:
        for position, size in reads:
            assert file.seek(position) == position
            assert file.read(size) == CONTENT[position : position + size]
            assert file.tell() == max(position, min(position + size, len(CONTENT)))


def test_a_reader_has_an_end_and_is_read_only(store: ObjectStore) -> None:
    """A reader seeks and ends like a file on disk, and it is not writable."""
    with open_parts(store, parts()) as file:
        assert file.read() == CONTENT
        assert file.read(1) == b""
        assert file.seek(-5, os.SEEK_END) == len(CONTENT) - 5
        assert file.seek(2, os.SEEK_CUR) == len(CONTENT) - 3
        assert file.read() == CONTENT[-3:]
        with pytest.raises(ValueError, match="before the beginning"):
            file.seek(-1)
        assert (file.readable(), file.seekable(), file.writable()) == (True, True, False)
    with open_parts(store, []) as empty:
        assert empty.read() == b""
        assert empty.seek(0, os.SEEK_END) == 0


def test_a_missing_part_is_an_error(store: ObjectStore) -> None:
    """A read of a missing part raises an error and does not look like the end of the file."""
    with open_parts(store, [*parts(), ObjectPart(len(CONTENT), 4, "chats/gone")]) as file:
        file.seek(len(CONTENT))
        with pytest.raises(NoSuchStoredObject):
            file.read(1)
