"""Reads trees and blobs: directory listings, path lookup, and blob content."""

import re
import zlib
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Final, Literal

import msgspec

from holdfast.hosting.errors import GitDamaged, GitFailed
from holdfast.hosting.git.command_output import CHUNK, stream_output
from holdfast.hosting.git.encoding import display_name, raw
from holdfast.hosting.git.program import run
from holdfast.hosting.git.repository import HEADER, Repo, damaged_error

__all__ = [
    "EntryType",
    "MissingPath",
    "Node",
    "TreeEntry",
    "TreeListing",
    "children",
    "directory",
    "find",
    "listing",
    "page_of_directory",
    "read_blob",
    "stream_blob",
    "submodule_urls",
    "walk",
]

EntryType = Literal["file", "dir", "symlink", "submodule"]
DIRECTORY: Final = 0o40000
SYMLINK: Final = 0o120000
SUBMODULE: Final = 0o160000
# A few kilobytes of trees can expand to billions of files.
MOST_ENTRIES: Final = 250_000
DEEPEST: Final = 4096
LONGEST_PATH: Final = 4096
IN_MEMORY: Final = 8 * 1024 * 1024
MODULES_LARGEST: Final = 1024 * 1024
LINES: Final = {width: re.compile(rb"([0-7]{1,16}) ([^\0/]+)\0(.{%d})" % width, re.DOTALL) for width in (20, 32)}

# The mode, the name or path, and the id of an entry.
Node = tuple[int, bytes, str]


class TreeEntry(msgspec.Struct, frozen=True):
    """A tree entry with its path: a file, directory, symbolic link or submodule."""

    raw_path: bytes
    mode: int
    id: str
    size: int

    @property
    def path(self) -> str:
        """The path, decoded."""
        return display_name(self.raw_path)

    @property
    def name(self) -> str:
        """The last part of the path, decoded."""
        return display_name(self.raw_path.rpartition(b"/")[2])

    @property
    def type(self) -> EntryType:
        """The type of the entry."""
        return type_of(self.mode)


@dataclass(frozen=True, slots=True)
class MissingPath:
    """A failed path lookup: the component that is missing or not a directory, and whether it is the last."""

    component: str
    is_last: bool


@dataclass(frozen=True, slots=True)
class TreeListing:
    """A page of a recursive listing; `truncated` if more entries follow."""

    entries: list[TreeEntry]
    total: int
    truncated: bool


def type_of(mode: int) -> EntryType:
    """Return the entry type of a mode."""
    return {DIRECTORY: "dir", SYMLINK: "symlink", SUBMODULE: "submodule"}.get(mode, "file")  # type: ignore[return-value]  # the values of the table have that type


def canonical_mode(mode: int) -> int:
    """Return the canonical mode: old repositories contain others."""
    kind = mode & 0o170000
    if kind == 0o100000:
        return 0o100755 if mode & 0o100 else 0o100644
    return kind if kind in (DIRECTORY, SYMLINK) else SUBMODULE


def children(repo: Repo, tree: str) -> list[Node]:
    """Return a tree's entries in git's order."""
    content = repo.read(tree, "tree")
    matches = LINES[len(tree) // 2].findall(content)
    if sum(len(mode) + len(name) + 2 for mode, name, _ in matches) + len(matches) * len(tree) // 2 != len(content):
        raise damaged_error(tree)
    return [(canonical_mode(int(mode, 8)), name, at.hex()) for mode, name, at in matches]


def with_size(repo: Repo, node: Node) -> TreeEntry:
    """Return a node with its size; only blobs have one."""
    mode, path, at = node
    if mode in (DIRECTORY, SUBMODULE):
        return TreeEntry(path, mode, at, 0)
    header = repo.header(at)
    if header is None:
        raise damaged_error(at, "is missing")
    return TreeEntry(path, mode, at, header[1])


def directory(repo: Repo, tree: str, path: bytes = b"") -> list[TreeEntry]:
    """Return the entries of a directory in git's order; `path` is its path."""
    prefix = path + b"/" if path else b""
    return [with_size(repo, (mode, prefix + name, at)) for mode, name, at in children(repo, tree)]


def page_of_directory(repo: Repo, tree: str, path: bytes, *, skip: int, limit: int) -> TreeListing:
    """Return a page of the entries of a directory; sizes are only read for the page."""
    nodes = children(repo, tree)
    prefix = path + b"/" if path else b""
    page = nodes[skip : skip + limit]
    entries = [with_size(repo, (mode, prefix + name, at)) for mode, name, at in page]
    return TreeListing(entries, len(nodes), skip + limit < len(nodes))


def find(repo: Repo, tree: str, path: str | bytes) -> TreeEntry | MissingPath:
    """Return the entry at a path below a tree; the empty path is the tree itself."""
    raw_path = raw(path)
    if not raw_path:
        return TreeEntry(b"", DIRECTORY, tree, 0)
    parts = raw_path.split(b"/") if len(raw_path) <= LONGEST_PATH else [raw_path]
    at = tree
    for number, part in enumerate(parts, 1):
        is_last = number == len(parts)
        node = next((child for child in children(repo, at) if child[1] == part), None)
        if node is None or (not is_last and node[0] != DIRECTORY):
            return MissingPath(display_name(part), is_last)
        if is_last:
            return with_size(repo, (node[0], raw_path, node[2]))
        at = node[2]
    raise AssertionError


def walk(repo: Repo, tree: str) -> Iterator[Node]:
    """Yield everything below a tree as `git ls-tree -r -t` does: each directory, then its entries."""
    stack = [iter(children(repo, tree))]
    prefixes = [b""]
    while stack:
        node = next(stack[-1], None)
        if node is None:
            stack.pop()
            prefixes.pop()
            continue
        mode, name, at = node
        path = prefixes[-1] + name
        yield mode, path, at
        if mode == DIRECTORY:
            if len(stack) == DEEPEST:
                raise GitDamaged(f"the tree {tree} is deeper than {DEEPEST} directories")
            stack.append(iter(children(repo, at)))
            prefixes.append(path + b"/")


def listing(repo: Repo, tree: str, *, recursive: bool, page: int = 1, per_page: int) -> TreeListing:
    """Return a page of a directory, or of everything below it."""
    nodes: list[Node] = []
    cut = False
    for node in walk(repo, tree) if recursive else children(repo, tree):
        if len(nodes) == MOST_ENTRIES:
            cut = True
            break
        nodes.append(node)
    end = max(page, 1) * per_page
    page_nodes = nodes[end - per_page : end]
    return TreeListing([with_size(repo, node) for node in page_nodes], len(nodes), cut or end < len(nodes))


def read_blob(repo: Repo, blob: str) -> bytes:
    """Return the content of a blob."""
    return repo.read(blob, "blob")


def stream_blob(repo: Repo, blob: str, start: int = 0, stop: int | None = None) -> Iterator[bytes]:
    """Yield a blob's bytes, or those from `start` to `stop`, without loading a large blob into memory."""
    size = repo.require(blob, "blob")
    stop = size if stop is None else min(stop, size)
    pieces = iter([read_blob(repo, blob)]) if size <= IN_MEMORY else inflate_loose(repo, blob)
    at = 0
    for chunk in pieces:
        piece = chunk[max(start - at, 0) : max(stop - at, 0)]
        at += len(chunk)
        if piece:
            yield piece
        if at >= stop:
            return
    if at < size:
        raise repo.corrupt_error(blob, "is truncated")


def inflate_loose(repo: Repo, blob: str) -> Iterator[bytes]:
    """Inflate a large loose blob in chunks."""
    try:
        file = open(repo.loose_path(blob), "rb")  # noqa: PTH123, SIM115  # closed below
    except FileNotFoundError:
        yield from inflate_packed(repo, blob)
        return
    with file:
        inflate = zlib.decompressobj()
        header = b""
        while packed := file.read(CHUNK):
            while packed:
                try:
                    chunk = inflate.decompress(packed, CHUNK)
                except zlib.error as error:
                    raise repo.corrupt_error(blob) from error
                packed = inflate.unconsumed_tail
                if b"\0" not in header:
                    header += chunk[:HEADER]
                    chunk = chunk[chunk.find(b"\0") + 1 :]
                if chunk:
                    yield chunk


def inflate_packed(repo: Repo, blob: str) -> Iterator[bytes]:
    """Stream a large packed blob with git: libgit2 can only return it at once."""
    try:
        yield from stream_output(repo.folder, "cat-file", "blob", blob)
    except GitFailed as error:
        raise damaged_error(blob) from error


def submodule_urls(repo: Repo, tree: str) -> dict[bytes, str]:
    """Return the URLs of submodules by path, from `.gitmodules`; none if it is invalid."""
    entry = find(repo, tree, b".gitmodules")
    if isinstance(entry, MissingPath) or entry.type != "file" or entry.size > MODULES_LARGEST:
        return {}
    try:
        answer = run(
            repo.folder, "config", "--blob", entry.id, "-z", "--get-regexp", r"^submodule\..*\.(path|url)$"
        )
    except GitFailed:
        return {}
    values: dict[bytes, dict[bytes, bytes]] = {}
    for pair in answer.split(b"\0")[:-1]:
        key, _, value = pair.partition(b"\n")
        section, _, name = key.rpartition(b".")
        values.setdefault(section, {})[name] = value
    return {
        both[b"path"]: display_name(both[b"url"]) for both in values.values() if both.keys() == {b"path", b"url"}
    }
