"""Writing samples in every format, with their attachments."""

import hashlib
import io
from pathlib import Path

import pytest

from holdfast import backup
from holdfast.backup.container.attachments import AttachmentKey, LocalKey
from holdfast.backup.conversion import OutputFormat
from holdfast.backup.errors import AttachmentMissing
from holdfast.backup.order import OrderChecker
from holdfast_demo.sample import sample_media, sample_records
from holdfast_demo.sample_writer import SampleMedia, write_sample
from tests.backup.streams import KEYS, MODERN_KEYS, sample, stream_of


@pytest.mark.parametrize("to", OutputFormat)
def test_a_sample_is_the_same_in_every_form(to: OutputFormat, tmp_path: Path) -> None:
    """Every format has the same records, in an order that a checked writer accepts."""
    write_sample(sample_records(60), tmp_path / "x", to, seed=1, keys=KEYS)
    with backup.open(tmp_path / "x", KEYS) as source:
        assert (source.header, *(frame.raw for frame in source)) == sample(60)
        order = OrderChecker()
        for frame in source:
            order.check(frame.raw)


def test_a_sample_goes_to_an_open_file() -> None:
    """A sample can be written to a file object in every format that is a single file."""
    for to in (OutputFormat.STREAM, OutputFormat.JSONL, OutputFormat.JSON, OutputFormat.CONTAINER):
        out = io.BytesIO()
        write_sample(sample_records(60), out, to, seed=1, keys=MODERN_KEYS)
        with backup.open(io.BytesIO(out.getvalue()), MODERN_KEYS) as source:
            assert (source.header, *(frame.raw for frame in source)) == sample(60)
        if to is OutputFormat.STREAM:
            assert out.getvalue() == stream_of(sample(60))


@pytest.mark.parametrize("seed", [1, 5])
def test_a_folder_has_every_attachment(seed: int, tmp_path: Path) -> None:
    """A sample folder has all attachments that its messages refer to."""
    written = write_sample(sample_records(400, seed), tmp_path / "x", OutputFormat.FOLDER, seed=seed, keys=KEYS)
    assert written is not None
    assert written.problems == ()
    summary = backup.info(tmp_path / "x", KEYS, verify_media=True)
    assert summary.media is not None
    assert summary.media.files == summary.media.present == written.attachments > 20
    assert summary.media.verified


def test_what_is_not_of_the_history_is_missing() -> None:
    """A hash that is not in the sample is a missing attachment."""
    media = SampleMedia(sample_media(1))
    stranger = AttachmentKey(LocalKey(bytes(64)), hashlib.sha256(b"x").digest(), 1)
    with pytest.raises(AttachmentMissing):
        media.check(stranger)
    with pytest.raises(AttachmentMissing), media.open(stranger):
        pass
