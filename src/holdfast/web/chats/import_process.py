"""Runs the import process, and kills it at its time or output limit."""

import os
import signal
import subprocess
import sys
import time
from contextlib import suppress
from pathlib import Path
from typing import Final

import msgspec

from holdfast.web.chats.import_worker import ImportLimits, ImportTask

__all__ = ["SPOOLED", "entry_size", "exit_reason", "run"]

# The copy of a backup that is not a local file.
SPOOLED: Final = "source"
# The interval at which the limits of the process are checked.
WATCH_S: Final = 0.2


def run(task: ImportTask, entry: Path) -> tuple[int, str]:
    """Run the import process; its standard input stays open as long as this process lives.

    Returns its exit status, and the limit it was killed for: it is killed when it takes too long or writes too
    much.
    """
    command = [sys.executable, "-m", "holdfast.web.chats.import_worker"]
    limits = task.limits
    end = time.monotonic() + limits.seconds
    ended = ""
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.DEVNULL) as process:  # noqa: S603  # our own program
        assert process.stdin is not None  # noqa: S101  # asked for above
        try:
            process.stdin.write(msgspec.json.encode(task) + b"\n")
            process.stdin.flush()
            while True:
                try:
                    return process.wait(WATCH_S), ended
                except subprocess.TimeoutExpired:
                    if time.monotonic() > end:
                        ended = limits.too_long
                    elif entry_size(entry) > limits.output * 2:
                        # Twice the limit: the database and its journal, or copied attachments.
                        ended = limits.too_large
                    if ended:
                        process.kill()
        except BaseException:
            process.kill()
            raise


def exit_reason(status: int, limits: ImportLimits) -> str:
    """Return the message for a worker process that died."""
    if status == -signal.SIGKILL:
        # By the kernel, when memory or CPU time is exhausted.
        return f"{limits.too_much_memory[:-1]}, or it took too long."
    if status == -signal.SIGXCPU:
        return limits.too_long
    return "It could not be read."


def entry_size(entry: Path) -> int:
    """Return the size of a cache entry in bytes, without the copy of its source."""
    total = 0
    for folder, inside, names in os.walk(entry):
        inside[:] = [name for name in inside if name != SPOOLED]
        for name in names:
            if name != SPOOLED:
                with suppress(OSError):
                    total += os.lstat(f"{folder}/{name}").st_size
    return total
