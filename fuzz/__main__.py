"""Feeds the reader mutated backups until the time is up; anything but an answer or a BackupError is a find.

    make fuzz                     two minutes
    make fuzz SECONDS=3600        an hour

The fuzzer follows the branches of the Python around the core; inside the compiled core it searches blindly, and
the differential tests are what holds that to protobuf.
"""

import contextlib
import io
import sys
import tempfile
from pathlib import Path

import atheris

with atheris.instrument_imports(include=["holdfast"]):
    from holdfast import backup
    from holdfast.backup.conversion import OutputFormat, convert
    from holdfast.backup.wire.varint import encode_varint
    from holdfast_demo.sample import sample_records

# Small limits, so that a find is a mistake and not merely a lot of work.
LIMITS = backup.StreamLimits(frame_bytes=1 << 20)
GUNZIP = backup.GunzipLimits(output=1 << 24, ratio=200, ratio_after=1 << 20)
KEYS = backup.read_keys(f"hmac-key = {'ab' * 32}\naes-key = {'cd' * 32}")


def look(data: bytes) -> None:
    """Read a file every way there is; whatever is converted must be readable again."""
    with contextlib.suppress(backup.BackupError):
        with backup.open(io.BytesIO(data), KEYS, limits=LIMITS, gunzip_limits=GUNZIP) as source:
            backup.info(source)
            text, again = io.BytesIO(), io.BytesIO()
            convert(source, text, to=OutputFormat.JSONL)
        with backup.open(io.BytesIO(text.getvalue())) as source:
            convert(source, again, to=OutputFormat.STREAM)
        with backup.open(io.BytesIO(again.getvalue())) as source:
            backup.info(source)


def seeds(folder: Path) -> None:
    """Give the fuzzer something to start from, in every form a file can have."""
    records = list(sample_records(400))
    plain = b"".join(encode_varint(len(record)) + record for record in records[:40])
    (folder / "stream").write_bytes(plain)
    for number, record in enumerate(records[1::7]):
        header = encode_varint(len(records[0])) + records[0]
        (folder / f"frame-{number}").write_bytes(header + encode_varint(len(record)) + record)
    for to in (OutputFormat.JSONL, OutputFormat.JSON, OutputFormat.CONTAINER):
        with backup.open(io.BytesIO(plain)) as source, (folder / to.value).open("wb") as target:
            convert(source, target, to=to, keys=KEYS)


def main() -> None:
    """Fuzz for as long as the command line says."""
    seconds = sys.argv[1] if len(sys.argv) > 1 else "120"
    with tempfile.TemporaryDirectory() as folder:
        seeds(Path(folder))
        options = [f"-max_total_time={seconds}", "-max_len=20000", "-rss_limit_mb=2048"]
        atheris.Setup([sys.argv[0], *options, folder], look)
        atheris.Fuzz()


if __name__ == "__main__":
    main()
