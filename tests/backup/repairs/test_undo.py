"""The original is restored byte for byte, or not at all."""

import base64
import hashlib
import io

import msgspec
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from holdfast import backup
from holdfast.backup.errors import LogRefused
from holdfast.backup.repairs.log import ChangeLog, LoggedChange, StreamDigest
from holdfast.backup.repairs.patches import Patches, apply_patches, records_in
from holdfast.backup.repairs.undo import restore_original, stream_digest
from tests.backup.streams import HEADER, record, small_sample, stream_of
from tests.backup.wire.encoding import delimited, varint


def patch_with_log(stream: bytes, replacements: dict[int, tuple[bytes, ...]]) -> tuple[bytes, ChangeLog]:
    """Patch a stream, and return the result with its change log."""
    with backup.open(io.BytesIO(stream)) as source:
        records = [entry for block in source.blocks() for entry in records_in(block.data)]
        patched = apply_patches(source, Patches(replacements))
        data = record(HEADER) + b"".join(block.data for block in patched.blocks())
        changes = tuple(
            LoggedChange(frame, base64.b64encode(records[frame - 1]).decode(), len(new), ())
            for frame, new in sorted(replacements.items())
        )
        before, after = stream_digest(source), stream_digest(patched)
        return data, ChangeLog(
            profile="strict", edition="spec", purpose="remote", changes=changes, original=before, repaired=after
        )


def undo(repaired: bytes, log: ChangeLog) -> bytes:
    """Restore the original."""
    with backup.open(io.BytesIO(repaired)) as source:
        return record(HEADER) + b"".join(block.data for block in restore_original(source, log).blocks())


@settings(max_examples=100)
@given(
    sizes=st.lists(st.integers(1, 4), min_size=1, max_size=10),
    places=st.dictionaries(st.integers(1, 10), st.integers(0, 3), max_size=8),
)
def test_any_patch_is_undone(sizes: list[int], places: dict[int, int]) -> None:
    """Undoing restores replaced, dropped and inserted records, also at the end and with overlong lengths."""
    bodies = [delimited(index % 8 + 1, b"x" * index) for index in range(len(sizes))]
    stream = record(HEADER) + b"".join(
        varint(len(body), size=size) + body for body, size in zip(bodies, sizes, strict=True)
    )
    chosen = {frame: (record(b"\x0a\x00"),) * size for frame, size in places.items() if frame <= len(sizes)}
    repaired, log = patch_with_log(stream, chosen)
    assert undo(repaired, log) == stream


def test_a_stream_is_identified_by_its_hash() -> None:
    """The digest of a stream has its count of frames, its size and its hash as a plain stream."""
    stream = stream_of(small_sample())
    with backup.open(io.BytesIO(stream)) as source:
        digest = stream_digest(source)
    assert digest == StreamDigest(len(small_sample()) - 1, len(stream), hashlib.sha256(stream).hexdigest())


def test_another_backup_or_another_log_is_refused() -> None:
    """An unrepaired stream, a changed log and an empty log are refused."""
    stream = stream_of([HEADER, *small_sample()[1:]])
    repaired, log = patch_with_log(stream, {2: ()})
    with pytest.raises(LogRefused, match="changed since it was repaired"):
        undo(stream, log)
    other = msgspec.structs.replace(log.changes[0], before=base64.b64encode(record(b"")).decode())
    with pytest.raises(LogRefused, match="no longer leads to the original"):
        undo(repaired, msgspec.structs.replace(log, changes=(other,)))
    with pytest.raises(LogRefused):
        undo(repaired, msgspec.structs.replace(log, changes=()))
