"""Output of git commands: complete, or streamed in chunks."""

import select
import subprocess
import tempfile
from collections.abc import Iterable, Iterator, Mapping
from contextlib import suppress
from pathlib import Path
from typing import IO, Final

from holdfast.hosting.errors import GitDamaged, GitFailed, GitTimedOut
from holdfast.hosting.git.corruption import report_failure
from holdfast.hosting.git.folders import in_use
from holdfast.hosting.git.program import environment, find_git, limit_memory, run, stderr_tail

__all__ = ["DIFF_MEMORY", "git_output", "split_output", "stream_output"]

# Maximum memory of a command that compares trees. git lists all changed files before it writes the first, and a
# few small trees that contain each other many times have billions.
DIFF_MEMORY: Final = 2**30
CHUNK: Final = 256 * 1024


def git_output(
    folder: Path,
    *arguments: str,
    input: bytes = b"",  # noqa: A002  # the name used by subprocess
    memory: int | None = None,
) -> bytes:
    """Return the output of a git command on existing objects; raise `GitDamaged` if it fails."""
    try:
        return run(folder, *arguments, input=input, memory=memory)
    except GitTimedOut:
        raise
    except GitFailed as error:
        raise GitDamaged(f"git {arguments[0]} cannot read all it needs in {folder.name}") from error


def stream_output(
    folder: Path,
    *arguments: str,
    variables: Mapping[str, str] | None = None,
    memory: int | None = None,
    idle_timeout: float | None = None,
) -> Iterator[bytes]:
    """Yield the output of a git command; it is terminated when the consumer stops.

    `memory` is its limit in bytes, and `idle_timeout` the seconds in which it must write something.
    """
    with (
        in_use(folder),
        tempfile.TemporaryFile(prefix="holdfast-stderr-") as complaint,
        subprocess.Popen(  # noqa: S603  # an argument list, without a shell
            [find_git(), *arguments],
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=complaint,
            env=environment({**(variables or {}), "GIT_DIR": str(folder)}),
            bufsize=0,
            process_group=0,
        ) as process,
    ):
        finished = False
        if memory is not None:
            limit_memory(process.pid, memory)
        try:
            output = process.stdout
            while output is not None:
                if idle_timeout is not None and not is_readable(output, idle_timeout):
                    raise GitTimedOut(arguments[0], f"wrote nothing for {idle_timeout:g} seconds")
                chunk = output.read(CHUNK)
                if not chunk:
                    break
                yield chunk
            finished = True
        finally:
            if not finished:
                with suppress(ProcessLookupError):
                    process.kill()
        if process.wait():
            complaint.seek(0)
            stderr = stderr_tail(complaint.read())
            report_failure(folder, arguments[0], stderr)
            code = process.returncode
            raise GitFailed(arguments[0], f"failed with exit code {code}", stderr, code)


def is_readable(output: IO[bytes], timeout: float) -> bool:
    """Wait until a pipe has output or is closed; return False after a timeout."""
    waiting = select.poll()
    waiting.register(output, select.POLLIN | select.POLLHUP)
    return bool(waiting.poll(timeout * 1000))


def split_output(chunks: Iterable[bytes], separator: bytes) -> Iterator[bytes]:
    """Split streamed output at a separator; a non-empty rest after the last separator is yielded too."""
    rest = b""
    for chunk in chunks:
        *parts, rest = (rest + chunk).split(separator)
        yield from parts
    if rest:
        yield rest
