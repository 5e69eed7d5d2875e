"""Output of git commands: complete, or streamed in chunks."""

import subprocess
from collections.abc import Iterable, Iterator, Mapping
from contextlib import suppress
from pathlib import Path
from typing import Final

from holdfast.hosting.errors import GitDamaged, GitFailed, GitTimedOut
from holdfast.hosting.git.program import environment, find_git, run

__all__ = ["git_output", "split_output", "stream_output"]

CHUNK: Final = 256 * 1024


def git_output(folder: Path, *arguments: str, input: bytes = b"") -> bytes:  # noqa: A002  # the name used by subprocess
    """Return the output of a git command on existing objects; raise `GitDamaged` if it fails."""
    try:
        return run(folder, *arguments, input=input)
    except GitTimedOut:
        raise
    except GitFailed as error:
        raise GitDamaged(f"git {arguments[0]} cannot read all it needs in {folder.name}") from error


def stream_output(folder: Path, *arguments: str, variables: Mapping[str, str] | None = None) -> Iterator[bytes]:
    """Yield the output of a git command; it is terminated when the consumer stops."""
    with subprocess.Popen(  # noqa: S603  # an argument list, without a shell
        [find_git(), *arguments],
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
        env=environment({**(variables or {}), "GIT_DIR": str(folder)}),
        bufsize=0,
        process_group=0,
    ) as process:
        finished = False
        try:
            output = process.stdout
            while output is not None and (chunk := output.read(CHUNK)):
                yield chunk
            finished = True
        finally:
            if not finished:
                with suppress(ProcessLookupError):
                    process.kill()
    if process.returncode:
        raise GitFailed(arguments[0], f"failed with exit code {process.returncode}", "", process.returncode)


def split_output(chunks: Iterable[bytes], separator: bytes) -> Iterator[bytes]:
    """Split streamed output at a separator; a non-empty rest after the last separator is yielded too."""
    rest = b""
    for chunk in chunks:
        *parts, rest = (rest + chunk).split(separator)
        yield from parts
    if rest:
        yield rest
