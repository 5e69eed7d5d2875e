"""Runs a function in a child process, for libraries that start threads.

A pre-fork server must not start threads before it forks: a forked process has only the thread that forked, and
would wait forever for the others. The library of the object store has a thread pool, so code that uses it before
the workers are forked runs in a child process.
"""

import multiprocessing
import sys
from collections.abc import Callable
from multiprocessing.connection import Connection

from holdfast.errors import HoldfastError

__all__ = ["run_in_child"]


def run_in_child(function: Callable[[], None]) -> None:
    """Run a function in a forked process, and wait for it; a `HoldfastError` it raises is raised here."""
    context = multiprocessing.get_context("fork")
    receiver, sender = context.Pipe(duplex=False)
    sys.stdout.flush()
    sys.stderr.flush()
    process = context.Process(target=run_and_report, args=(function, sender))
    process.start()
    sender.close()
    try:
        error: HoldfastError | None = receiver.recv()
    except EOFError:
        error = HoldfastError("the start was interrupted")
    process.join()
    if error is not None:
        raise error


def run_and_report(function: Callable[[], None], sender: Connection) -> None:
    """Run a function, and send the error it raised, or None; any other exception is printed by the process."""
    try:
        function()
    except HoldfastError as error:
        sender.send(error)
    else:
        sender.send(None)
