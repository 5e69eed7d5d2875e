"""Runs the export process and passes on what it writes, until it ends or the client leaves."""

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
    """An export did not come to its end."""


def start_export(task: ExportTask, slot: BinaryIO) -> Generator[bytes, None, None]:
    """Start an export, and return its bytes as they are made; `slot` is given back at the end.

    Raises `ExportFailed` if the process ends without having written anything; when it fails later, the generator
    does, so that the response breaks off and nobody takes it for whole.
    """
    pieces = stream(task, slot)
    if next(pieces, None) is None:
        raise ExportFailed("the export is empty")
    return pieces


def stream(task: ExportTask, slot: BinaryIO) -> Generator[bytes, None, None]:
    """Yield nothing once the first bytes are there, and then the bytes; the process ends with the generator."""
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
