"""Streams `git archive` (zip, tar) and `git bundle` of a commit."""

import asyncio
import re
import shutil
import tempfile
from collections.abc import AsyncGenerator, Iterable, Iterator, Sequence
from contextlib import aclosing
from functools import lru_cache
from pathlib import Path
from typing import Final, Literal

import msgspec

from holdfast.hosting.errors import ArchiveTooLarge, BodyDamaged, GitFailed, GitTimedOut
from holdfast.hosting.git import process, trees
from holdfast.hosting.git.encoding import argument, is_id, raw
from holdfast.hosting.git.folders import in_use
from holdfast.hosting.git.program import run
from holdfast.hosting.git.refs import ResolvedRef
from holdfast.hosting.git.repository import open_repository

__all__ = [
    "FORMATS",
    "LEVEL",
    "ArchiveLimits",
    "Format",
    "archive",
    "bundle",
    "depends_on_refs",
    "requested_trees",
]

Format = Literal["zip", "tar.gz"]
FORMATS: Final[tuple[Format, ...]] = ("tar.gz", "zip")
# The compression level: half the time of git's default level, for a tenth more bytes.
LEVEL: Final = 3
# In any directory.
ATTRIBUTES: Final = ":(glob)**/.gitattributes"
ARGUMENT: Final = b"argument "
PACKET: Final = re.compile(rb"[0-9a-fA-F]{4}")
# A few nested trees can contain each other more often than that.
MOST: Final = 2**62
LITERAL: Final = {"GIT_LITERAL_PATHSPECS": "1"}
CONFIGURATION: Final = "[core]\n\trepositoryformatversion = 0\n\tbare = true\n"


def archive(
    folder: Path, commit: str, kind: Format, *, prefix: str, paths: Sequence[str] = ()
) -> AsyncGenerator[bytes, None]:
    """Yield an archive of a commit's files, or of those at `paths`, under a top directory `prefix`."""
    arguments_of_paths = [argument(raw(path)) for path in paths]
    return process.stream(
        folder,
        "archive",
        f"--format={kind}",
        f"-{LEVEL}",
        f"--prefix={prefix}/",
        commit,
        "--",
        *arguments_of_paths,
        variables=LITERAL,
    )


class ArchiveLimits(msgspec.Struct, frozen=True):
    """The maximum number of files and directories, and of bytes of all files, in an archive."""

    entries: int
    size: int

    def check(self, folder: Path, trees_of_archive: Iterable[str]) -> None:
        """Raise `ArchiveTooLarge` if an archive of some trees would exceed a limit."""
        sizes = [tree_size(folder, tree) for tree in trees_of_archive]
        if sum(size.entries for size in sizes) > self.entries:
            raise ArchiveTooLarge(self.entries, "files and directories")
        if sum(size.size for size in sizes) > self.size:
            raise ArchiveTooLarge(self.size >> 20, "MiB of files")


class TreeSize(msgspec.Struct, frozen=True):
    """The number of files and directories below a tree, and the bytes of all files; `MOST` at most."""

    entries: int
    size: int


@lru_cache(maxsize=4096)
def tree_size(folder: Path, tree: str) -> TreeSize:
    """Return the size of a tree; each tree and blob is read once, however often it is contained."""
    repo = open_repository(folder)
    sizes: dict[str, TreeSize] = {}
    blobs: dict[str, int] = {}
    nodes: dict[str, list[trees.Node]] = {}
    # Not recursive: trees may be nested deeper than the stack of the interpreter.
    waiting = [tree]
    while waiting:
        at = waiting[-1]
        if at in sizes:
            waiting.pop()
            continue
        if at not in nodes:
            nodes[at] = trees.children(repo, at)
        unknown = {oid for mode, _, oid in nodes[at] if mode == trees.DIRECTORY and oid not in sizes}
        if unknown:
            waiting.extend(unknown)
            continue
        entries = size = 0
        for mode, _, oid in nodes.pop(at):
            entries += 1
            if mode == trees.DIRECTORY:
                entries += sizes[oid].entries
                size += sizes[oid].size
            elif mode != trees.SUBMODULE:
                if oid not in blobs:
                    blobs[oid] = repo.require(oid, "blob")
                size += blobs[oid]
        sizes[at] = TreeSize(min(entries, MOST), min(size, MOST))
        waiting.pop()
    return sizes[tree]


def requested_trees(folder: Path, request: bytes) -> list[str]:
    """Return the trees that the arguments of `git archive --remote` name.

    Which argument is the revision depends on the options before it, so all of them are looked up.
    """
    names = [name for name in packet_arguments(request) if not name.startswith(b"-")]
    if any(b"\n" in name for name in names):
        raise BodyDamaged("an argument contains a line break")
    return resolve(folder, [b"%s^{tree}" % oid.encode() for oid in resolve(folder, names)])


def packet_arguments(request: bytes) -> Iterator[bytes]:
    """Yield the arguments in the packets (pkt-line) of a request."""
    position = 0
    while match := PACKET.match(request, position):
        end = position + max(int(match[0], 16), len(match[0]))
        line = request[match.end() : end]
        if line.startswith(ARGUMENT):
            yield line.removeprefix(ARGUMENT).removesuffix(b"\n")
        position = end


def resolve(folder: Path, names: Iterable[bytes]) -> list[str]:
    """Return the ids of objects, given their names as revisions; names without an object are left out."""
    output = run(
        folder, "cat-file", "--batch-check=%(objectname)", input=b"".join(b"%s\n" % name for name in names)
    )
    return [line.decode() for line in output.splitlines() if is_id(line.decode(errors="replace"))]


@lru_cache(maxsize=4096)
def depends_on_refs(folder: Path, commit: str) -> bool:
    """Return whether files of a commit have placeholders (`export-subst`), some of which contain refs."""
    try:
        how = ("-q", "--fixed-strings", "export-subst", commit, "--", ATTRIBUTES)
        run(folder, "grep", *how, variables={"GIT_LITERAL_PATHSPECS": "0"})
    except GitTimedOut:
        raise
    except GitFailed as error:
        if error.code == 1:
            return False
        raise
    return True


async def bundle(folder: Path, resolved: ResolvedRef) -> AsyncGenerator[bytes, None]:
    """Yield a bundle of a commit and its history, with the branch or tag it was requested by.

    A bundle contains refs, and a commit requested by id may have none: it gets one in a temporary repository that
    uses the original's objects (alternates).
    """
    borrowing = Path(await asyncio.to_thread(tempfile.mkdtemp, prefix="holdfast-bundle-"))
    try:
        await asyncio.to_thread(create_borrowing_repository, borrowing, folder, resolved)
        output = process.stream(borrowing, "bundle", "create", "--quiet", "-", "HEAD", "--branches", "--tags")
        with in_use(folder):
            async with aclosing(output):
                async for piece in output:
                    yield piece
    finally:
        shutil.rmtree(borrowing, ignore_errors=True)


def create_borrowing_repository(borrowing: Path, folder: Path, resolved: ResolvedRef) -> None:
    """Create a repository with one branch or tag that uses the objects of another (alternates)."""
    branch = resolved.name if resolved.kind == "branch" else "bundle"
    ref = f"refs/tags/{resolved.name}" if resolved.kind == "tag" else f"refs/heads/{branch}"
    (borrowing / "config").write_text(CONFIGURATION)
    (borrowing / "objects" / "info").mkdir(parents=True)
    (borrowing / "objects" / "info" / "alternates").write_bytes(bytes(folder / "objects") + b"\n")
    (borrowing / "refs").mkdir()
    (borrowing / "packed-refs").write_bytes(f"{resolved.commit} {ref}\n".encode(errors="surrogateescape"))
    head = f"ref: {ref}" if resolved.kind != "tag" else resolved.commit
    (borrowing / "HEAD").write_bytes(f"{head}\n".encode(errors="surrogateescape"))
