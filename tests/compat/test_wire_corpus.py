"""Frames of the corpus decoded and encoded by the core, compared with protobuf."""

import json
from itertools import chain
from pathlib import Path

import pytest
from google.protobuf.json_format import MessageToJson

from holdfast.backup.schema import BackupInfo, Frame
from holdfast.backup.wire import (
    FrameStream,
    header_to_json,
    to_json_lines,
    walk,
)
from holdfast.backup.wire.fromjson import frame_from_json, header_from_json
from tests.backup.wire.core import Core, installed
from tests.backup.wire.differential import Score, check, compare
from tests.compat.corpus import chat_backups

FILES = chat_backups("valid", "*.binproto")
CAP = 1 << 28


def read(path: Path) -> tuple[bytes, list[bytes]]:
    """Return the records of a file."""
    with path.open("rb") as source:
        stream = FrameStream(source)
        return stream.header, [frame.raw for frame in stream]


@pytest.fixture(scope="module")
def core() -> Core:
    """Return the core as it is installed."""
    return installed()


@pytest.mark.parametrize("path", FILES, ids=lambda path: path.stem)
def test_every_frame_is_decoded_as_by_protobuf(core: Core, path: Path) -> None:
    """Each frame has the JSON of protobuf, and its JSON is encoded to the same bytes."""
    header, raws = read(path)
    expected = json.loads(MessageToJson(BackupInfo.FromString(header), preserving_proto_field_name=True))
    assert json.loads(header_to_json(header, lossless=False)) == expected
    assert header_from_json(header_to_json(header)) == header
    for raw in raws:
        check(core, raw, Score())


@pytest.mark.parametrize("path", FILES, ids=lambda path: path.stem)
def test_a_whole_file_round_trips_through_json_lines(path: Path) -> None:
    """Each frame is one JSON line with Signal's field names and has no unknown fields."""
    header, raws = read(path)
    data = path.read_bytes()
    start = data.index(header) + len(header)
    walked = walk.walk(data, start, CAP)
    assert (walked.frames, walked.fault, walked.unknown_fields) == (len(raws), 0, 0)
    lines = to_json_lines(data, start, CAP, "signal")
    assert lines.rest == len(data)
    assert [frame_from_json(line) for line in lines.text.splitlines()] == raws


@pytest.mark.long
def test_damaged_frames_are_accepted_or_refused_as_by_protobuf(core: Core) -> None:
    """Mutated frames, serialized by protobuf before, are accepted or refused exactly as by protobuf."""
    frames = chain.from_iterable(read(path)[1] for path in FILES)
    originals = sorted({Frame.FromString(raw).SerializeToString() for raw in frames if len(raw) < 2_000})
    assert len(originals) > 100
    assert compare(core, 10_000, seed=47, originals=originals).accepted > 3_000
