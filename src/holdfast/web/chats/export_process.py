"""Runs the export process and streams its output, until it ends or the client disconnects."""

import subprocess
import sys
from collections.abc import Generator
from typing import BinaryIO, Final

import msgspec

from holdfast.errors import HoldfastError
from holdfast.web.chats.export_worker import ExportTask

__all__ = ["ExportFailed", "start_export"]

CHUNK: Final = 256 * 1024


class ExportFailed(HoldfastError):
    """An export failed."""


def start_export(task: ExportTask, slot: BinaryIO) -> Generator[bytes, None, None]:
    """Start an export, and return an iterator of its bytes; `slot` is released at the end.

    Raises `ExportFailed` if the process ends without output. If it fails later, the generator raises, so that the
    response is aborted and no client takes it for complete.
    """
    pieces = stream(task, slot)
    if next(pieces, None) is None:
        raise ExportFailed("the export is empty")
    return pieces


def stream(task: ExportTask, slot: BinaryIO) -> Generator[bytes, None, None]:
    """Yield `b""` when the first bytes are available, then the bytes; closing the generator kills the process."""
    command = [sys.executable, "-m", "holdfast.web.chats.export_worker"]
    pipe = subprocess.PIPE
    with slot, subprocess.Popen(command, stdin=pipe, stdout=pipe) as process:  # noqa: S603  # our own program
        assert process.stdin is not None  # noqa: S101  # asked for above
        assert process.stdout is not None  # noqa: S101  # the same
        try:
            process.stdin.write(msgspec.json.encode(task) + b"\n")
            process.stdin.flush()
            piece = process.stdout.read1(CHUNK)  # type: ignore[attr-defined]  # it is buffered
            if piece:
                yield b""
            while piece:
                yield piece
                piece = process.stdout.read1(CHUNK)  # type: ignore[attr-defined]  # as above
            if process.wait():
                raise ExportFailed(f"the export ended with status {process.returncode}")
        finally:
            process.kill()
