"""Long lists: loaded in batches, and streamed above a size."""

from collections.abc import Iterator

import msgspec
import pytest

from holdfast.hosting.http import long_lists
from holdfast.hosting.http.long_lists import batches_of, list_or_stream
from holdfast.hosting.http.responses import RawResponse


class Note(msgspec.Struct):
    """An item of a list."""

    text: str


def notes(count: int, loaded: list[int]) -> Iterator[list[Note]]:
    """Load notes in batches; the second batch is of notes that were deleted meanwhile."""
    for number, batch in enumerate(batches_of(range(count))):
        loaded.append(len(batch))
        yield [] if number == 1 else [Note(f"é{value}") for value in batch]


def test_a_list_with_short_texts_is_returned_whole() -> None:
    """Batches that are empty are left out."""
    listed = list_or_stream(notes(120, []), lambda note: note.text)
    assert isinstance(listed, list)
    assert [note.text for note in listed] == [f"é{number}" for number in (*range(50), *range(100, 120))]
    assert list_or_stream(notes(0, []), lambda note: note.text) == []


def test_a_list_with_long_texts_is_streamed(monkeypatch: pytest.MonkeyPatch) -> None:
    """What is above the size is loaded only when it is sent."""
    monkeypatch.setattr(long_lists, "IN_MEMORY", 60)
    loaded: list[int] = []
    response = list_or_stream(notes(120, loaded), lambda note: note.text)
    assert isinstance(response, RawResponse)
    assert loaded == [50]
    assert isinstance(response.pieces, Iterator)
    content = b"".join(piece for piece in response.pieces if isinstance(piece, bytes))
    assert loaded == [50, 50, 20]
    assert msgspec.json.decode(content) == [{"text": f"é{number}"} for number in (*range(50), *range(100, 120))]
