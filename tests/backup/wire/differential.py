"""Differential testing of the core against protobuf with damaged and non-canonical frames.

`python -m tests.backup.wire.differential 500000` runs longer than the tests do.
"""

import argparse
import json
import random
import sys
from collections.abc import Sequence
from dataclasses import dataclass

from google.protobuf.json_format import MessageToJson
from google.protobuf.message import DecodeError

from holdfast.backup.errors import DamagedRecord
from holdfast.backup.schema import RECORDS, Frame
from holdfast.backup.wire.fromjson import frame_from_json
from tests.backup.wire.core import Core, installed
from tests.backup.wire.mutations import mutate
from tests.backup.wire.random_frames import random_frames

__all__ = ["Score", "check", "compare"]


@dataclass
class Score:
    """Counts of frames: all, those that protobuf accepts, and those in canonical encoding."""

    frames: int = 0
    accepted: int = 0
    canonical: int = 0


def compare(core: Core, count: int, seed: int, *, originals: Sequence[bytes] = (), round_trips: int = 1) -> Score:
    """Check so many frames made from `originals`, or from random ones."""
    rng = random.Random(seed)
    pool = originals or random_frames(2_000, seed)
    score = Score()
    for _ in range(count):
        check(core, mutate(rng, rng.choice(pool)), score, round_trips)
    return score


def check(core: Core, raw: bytes, score: Score, round_trips: int = 1) -> None:
    """Compare the core with protobuf on one frame: validity, canonical encoding, JSON, and some round trips."""
    score.frames += 1
    walk = core.walk.walk_record(raw)
    try:
        message = Frame.FromString(raw)
    except DecodeError:
        assert walk.fault, f"accepted, but protobuf refuses {raw.hex()}"
        assert 0 <= walk.at <= len(raw)
        assert not walk.canonical
        assert refuses(core, raw)
        return
    assert not walk.fault, f"refused for {walk.fault}, but protobuf accepts {raw.hex()}"
    score.accepted += 1
    serialized = message.SerializeToString()
    expected = json.loads(MessageToJson(message, preserving_proto_field_name=True))
    assert (message.WhichOneof("item") or "empty") == RECORDS[core.frames.kind_of(raw)[0]]
    message.DiscardUnknownFields()
    complete = message.SerializeToString() == serialized
    assert walk.canonical == (complete and serialized == raw), f"canonical is {walk.canonical} for {raw.hex()}"
    assert complete or walk.unknown_fields, f"has unknown fields that were not counted: {raw.hex()}"
    score.canonical += walk.canonical
    assert expected == json.loads(core.tojson.frame_to_json(raw, lossless=False)), f"other JSON for {raw.hex()}"
    if score.accepted % round_trips == 0:
        assert frame_from_json(core.tojson.frame_to_json(raw)) == raw, f"does not come back: {raw.hex()}"


def refuses(core: Core, raw: bytes) -> bool:
    """Return whether the core refuses to convert a frame to JSON."""
    try:
        core.tojson.frame_to_json(raw)
    except DamagedRecord:
        return True
    return False


if __name__ == "__main__":
    parser = argparse.ArgumentParser(prog="python -m tests.backup.wire.differential")
    parser.add_argument("frames", type=int, help="how many damaged frames are compared")
    sys.stdout.write(f"{compare(installed(), parser.parse_args().frames, seed=1)}\n")
