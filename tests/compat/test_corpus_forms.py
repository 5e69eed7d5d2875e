"""Conversion of every file of the corpus between all formats, which round-trips byte for byte."""

import io
from pathlib import Path

import pytest

from holdfast import backup
from holdfast.backup.conversion import OutputFormat, convert
from holdfast.backup.order import OrderChecker
from holdfast.backup.schema import Frame
from tests.backup.streams import MODERN_KEYS, STRONG_KEYS


def streamed(source: backup.Backup) -> bytes:
    """Write a backup as a plain stream."""
    out = io.BytesIO()
    convert(source, out, to=OutputFormat.STREAM)
    return out.getvalue()


def rewritten(data: bytes, to: OutputFormat, target: Path, keys: backup.KeyMaterial) -> bytes:
    """Write a backup in another form."""
    with backup.open(io.BytesIO(data), STRONG_KEYS) as source:
        if to is OutputFormat.FOLDER:
            convert(source, target, to=to, keys=keys)
            with backup.open(target, keys) as result:
                return streamed(result)
        out = io.BytesIO()
        convert(source, out, to=to, keys=keys)
        return out.getvalue()


@pytest.mark.parametrize("first", OutputFormat)
def test_every_valid_file_round_trips_through_every_pair_of_forms(
    corpus: Path, first: OutputFormat, tmp_path: Path
) -> None:
    """Each file has the same bytes after two conversions and a last one back to a stream."""
    keys = backup.KeyMaterial(pool=STRONG_KEYS.pool, aci=STRONG_KEYS.aci)
    for number, file in enumerate(sorted((corpus / "valid").glob("*.binproto"))):
        data = file.read_bytes()
        one = rewritten(data, first, tmp_path / str(number), keys)
        for second in (OutputFormat.STREAM, OutputFormat.JSONL, OutputFormat.JSON, OutputFormat.CONTAINER):
            two = rewritten(one, second, tmp_path / "unused", keys)
            assert rewritten(two, OutputFormat.STREAM, tmp_path / "unused", keys) == data, (file.name, second)


def test_every_valid_file_passes_the_rules_of_order(corpus: Path) -> None:
    """The order of the frames in each valid file of the reference corpus is accepted."""
    for file in sorted((corpus / "valid").glob("*.binproto")):
        order = OrderChecker()
        with backup.open(file) as result:
            for frame in result:
                order.check(frame.raw)


def test_the_files_written_by_hand_are_read(corpus: Path) -> None:
    """Each invalid file is read as a JSON5 array of frames that protobuf can parse."""
    files = sorted((corpus / "invalid").glob("*.jsonproto"))
    assert files
    for file in files:
        with backup.open(file) as result:
            assert result.form is backup.Form.ARRAY
            frames = [frame.raw for frame in result]
        assert frames
        for raw in frames:
            Frame.FromString(raw)


def test_the_encrypted_file_is_opened_by_backup_open(corpus: Path, tmp_path: Path) -> None:
    """The encrypted file is decrypted, and its stream is the same after a conversion to any form and back."""
    with backup.open(corpus / "encrypted" / "legacy-account.binproto.encrypted", MODERN_KEYS) as result:
        data = streamed(result)
    assert len(data) == 117
    for to in OutputFormat:
        again = rewritten(data, to, tmp_path / to, backup.KeyMaterial(pool=STRONG_KEYS.pool, aci=STRONG_KEYS.aci))
        assert rewritten(again, OutputFormat.STREAM, tmp_path / "x", STRONG_KEYS) == data
