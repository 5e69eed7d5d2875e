"""Runs the export process and streams its output, until it ends or the client disconnects."""

import os
import selectors
import socket
import subprocess
import sys
import time
from collections.abc import Callable, Generator
from contextlib import ExitStack, closing
from typing import BinaryIO, Final

import msgspec

from holdfast.errors import HoldfastError
from holdfast.hosting.errors import StorageError
from holdfast.web.chats.attachment_channel import AttachmentServer
from holdfast.web.chats.encrypted_media import EncryptedFiles
from holdfast.web.chats.export_worker import ExportTask

__all__ = ["ExportFailed", "start_export"]

CHUNK: Final = 256 * 1024
# The generator yields at least this often, so that a response whose client has disconnected is closed.
YIELD_INTERVAL_S: Final = 1.0
# The interval at which the access of the reader is checked again.
CHECK_INTERVAL_S: Final = 5.0


class ExportFailed(HoldfastError):
    """An export failed."""


def start_export(
    task: ExportTask,
    slot: BinaryIO,
    attachments: EncryptedFiles | None = None,
    may_continue: Callable[[], bool] = lambda: True,
) -> Generator[bytes, None, None]:
    """Start an export, and return an iterator of its bytes; `slot` is released at the end.

    `attachments` are the encrypted files that the process may read. `may_continue` is called from time to time,
    and ends the export when it returns False.

    Raises `ExportFailed` if the process ends without output. If it fails later, the generator raises, so that the
    response is aborted and no client takes it for complete.
    """
    pieces = stream(task, slot, attachments, may_continue)
    if next(pieces, None) is None:
        raise ExportFailed("the export is empty")
    return pieces


def stream(
    task: ExportTask, slot: BinaryIO, attachments: EncryptedFiles | None, may_continue: Callable[[], bool]
) -> Generator[bytes, None, None]:
    """Run the process; yield `b""` at its first output or request, then its output.

    `b""` is also yielded between pieces of the output. Closing the generator kills the process.
    """
    command = [sys.executable, "-m", "holdfast.web.chats.export_worker"]
    pipe = subprocess.PIPE
    with ExitStack() as stack:
        stack.enter_context(slot)
        server, passed = None, list[socket.socket]()
        if attachments is not None:
            channel, other_end = socket.socketpair()
            stack.enter_context(channel)
            passed.append(stack.enter_context(other_end))
            server = stack.enter_context(closing(AttachmentServer(channel, attachments)))
            task = msgspec.structs.replace(task, attachments=other_end.fileno())
        process = stack.enter_context(
            subprocess.Popen(command, stdin=pipe, stdout=pipe, pass_fds=[end.fileno() for end in passed])  # noqa: S603  # our own program
        )
        stack.callback(process.kill)
        for end in passed:
            # While this process has it, the channel would not be closed with the other process.
            end.close()
        assert process.stdin is not None  # noqa: S101  # asked for above
        process.stdin.write(msgspec.json.encode(task) + b"\n")
        process.stdin.flush()
        yield from relay(process, server, may_continue)
        if process.wait():
            raise ExportFailed(f"the export ended with status {process.returncode}")


def relay(
    process: "subprocess.Popen[bytes]", server: AttachmentServer | None, may_continue: Callable[[], bool]
) -> Generator[bytes, None, None]:
    """Yield the output of the process until its end, and respond to its requests meanwhile."""
    output = process.stdout
    assert output is not None  # noqa: S101  # asked for above
    checked = time.monotonic()
    has_begun = False
    with selectors.DefaultSelector() as selector:
        selector.register(output, selectors.EVENT_READ)
        if server is not None:
            selector.register(server, selectors.EVENT_READ)
        while True:
            ready = [key.fileobj for key, _events in selector.select(YIELD_INTERVAL_S)]
            if time.monotonic() - checked >= CHECK_INTERVAL_S:
                if not may_continue():
                    raise ExportFailed("the export was ended, as its reader has lost access")
                checked = time.monotonic()
            # Not through the buffered file, whose buffer the selector does not see.
            piece = os.read(output.fileno(), CHUNK) if output in ready else b""
            if output in ready and not piece:
                return
            if ready and not has_begun:
                has_begun = True
                yield b""
            if server is not None and server in ready and not respond(server):
                selector.unregister(server)
            if has_begun:
                yield piece


def respond(server: AttachmentServer) -> bool:
    """Respond to a request of the process; raise `ExportFailed` if the store is not available."""
    try:
        return server.respond()
    except (StorageError, OSError) as error:
        raise ExportFailed("the attachments cannot be read at the moment") from error
