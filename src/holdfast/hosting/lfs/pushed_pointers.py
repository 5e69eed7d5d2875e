"""LFS pointers among the new objects of a push, or all objects of a repository, without walking the history."""

from collections.abc import Callable, Collection, Iterator, Mapping
from itertools import islice
from pathlib import Path
from typing import Final

from holdfast.hosting.git.command_output import split_output, stream_output
from holdfast.hosting.git.encoding import display_name
from holdfast.hosting.git.program import run
from holdfast.hosting.git.quarantine import Push
from holdfast.hosting.lfs.pointer import MOST_BYTES, LfsPointer

__all__ = ["new_pointers", "paths_of", "stored_pointers"]

QUARANTINE: Final = "GIT_OBJECT_DIRECTORY"
# The size of the shortest pointer: version, object id, and a size of one digit.
LEAST_BYTES: Final = 126
READ_AT_ONCE: Final = 500
# The maximum number of small blobs that are read.
MOST_READ: Final = 200_000
MOST_STORED: Final = 2_000_000
FORMAT: Final = "--batch-check=%(objecttype) %(objectsize) %(objectname)"


def new_pointers(push: Push) -> Iterator[dict[str, LfsPointer]]:
    """Yield the pointers of a push in batches, by blob id, up to `MOST_READ` blobs; only new objects are read."""
    if QUARANTINE not in push.variables:
        return
    alone = {QUARANTINE: push.variables[QUARANTINE]}
    candidates = islice(small_blobs(push.folder, alone), MOST_READ)
    yield from pointers_among(candidates, lambda stdin: push.git("cat-file", "--batch", stdin=stdin))


def stored_pointers(folder: Path) -> Iterator[dict[str, LfsPointer]]:
    """Yield the pointers of a repository in batches, by blob id, up to `MOST_READ` blobs."""
    candidates = islice(small_blobs(folder, {}), MOST_STORED)
    yield from pointers_among(candidates, lambda stdin: run(folder, "cat-file", "--batch", input=stdin))


def pointers_among(candidates: Iterator[str], read: Callable[[bytes], bytes]) -> Iterator[dict[str, LfsPointer]]:
    """Read blobs with `git cat-file --batch`, and yield the pointers among them."""
    while some := list(islice(candidates, READ_AT_ONCE)):
        content = read("".join(f"{blob}\n" for blob in some).encode())
        pointers = {
            blob: pointer for blob, text in blobs_in(content) if (pointer := LfsPointer.parse(text)) is not None
        }
        if pointers:
            yield pointers


def small_blobs(folder: Path, variables: Mapping[str, str]) -> Iterator[str]:
    """Yield the blobs of at most the size of a pointer."""
    arguments = ("cat-file", "--batch-all-objects", "--unordered", FORMAT)
    for line in split_output(stream_output(folder, *arguments, variables=variables), b"\n"):
        kind, size, name = line.decode().split(" ")
        if kind == "blob" and LEAST_BYTES <= int(size) <= MOST_BYTES:
            yield name


def blobs_in(content: bytes) -> Iterator[tuple[str, bytes]]:
    """Parse the output of `git cat-file --batch`."""
    place = 0
    while place < len(content):
        end = content.index(b"\n", place)
        name, _, size = content[place:end].decode().split(" ")
        yield name, content[end + 1 : end + 1 + int(size)]
        place = end + 2 + int(size)


def paths_of(push: Push, blobs: Collection[str], *, most: int) -> list[str]:
    """Return the paths of new blobs of a push."""
    remaining = set(blobs)
    tips = dict.fromkeys(change.new for change in push.changes if not change.deletes)
    stdin = "".join(f"{new}\n" for new in tips).encode()
    output = push.git("rev-list", "--objects", "--filter=blob:limit=2k", "--stdin", "--not", "--all", stdin=stdin)
    paths: list[str] = []
    for line in output.split(b"\n"):
        name, _, path = line.partition(b" ")
        if name.decode(errors="replace") in remaining:
            paths.append(display_name(path))
            if len(paths) == most:
                break
    return paths
