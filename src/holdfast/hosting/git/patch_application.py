"""Applies a patch to a tree with `git apply`, using a temporary index and object folder.

Nothing is written to the repository: the result is the list of changed files with their content.
"""

import re
import tempfile
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from holdfast.hosting.errors import FileRefused, FileTooLarge, GitFailed
from holdfast.hosting.git.program import run
from holdfast.hosting.git.repository import Repo
from holdfast.hosting.git.trees import SUBMODULE, TreeEntry, find

__all__ = ["MOST_FILES", "PatchedFile", "apply_patch"]

MOST_FILES: Final = 300
"""The maximum number of files a patch may change."""
FILE_HEADER: Final = re.compile(rb"^(?:diff --git |--- )", re.MULTILINE)
COPY: Final = re.compile(rb"^copy from ", re.MULTILINE)
RENAME: Final = re.compile(rb"^rename from (.+?)\r?$", re.MULTILINE)
BINARY: Final = re.compile(rb"^(?:literal|delta) ([0-9]+)", re.MULTILINE)
RECORD: Final = re.compile(rb":([0-7]+) ([0-7]+) ([0-9a-f]+) ([0-9a-f]+) ([A-Z])\0([^\0]+)\0")
REASONS: Final = 5
"""The maximum number of lines of git's error output that are shown."""


@dataclass(frozen=True, slots=True)
class PatchedFile:
    """A file changed by a patch: its old id and its new content; None if it does not exist."""

    path: str
    old: str | None
    mode: int
    content: bytes | None


def apply_patch(repo: Repo, tree: str | None, patch: bytes, *, most_bytes: int) -> list[PatchedFile]:
    """Return the files a patch changes in a tree (None for an empty one), with at most `most_bytes` in total.

    Raise `FileRefused` if the patch does not apply, and `FileTooLarge` if it exceeds the limits.
    """
    require_bounded(patch, most_bytes)
    with tempfile.TemporaryDirectory(prefix="patch-", ignore_cleanup_errors=True) as temporary:
        Path(temporary, "objects").mkdir()
        variables = {
            "GIT_INDEX_FILE": str(Path(temporary, "index")),
            "GIT_OBJECT_DIRECTORY": str(Path(temporary, "objects")),
            "GIT_ALTERNATE_OBJECT_DIRECTORIES": str(repo.folder / "objects"),
        }
        try:
            named = run(repo.folder, "apply", "--numstat", "-z", input=patch, variables=variables)
            require_small(repo, tree, patch, named, most_bytes)
            run(repo.folder, "read-tree", tree or "--empty", variables=variables)
            run(repo.folder, "apply", "--cached", "--whitespace=nowarn", input=patch, variables=variables)
        except GitFailed as error:
            raise FileRefused(f"the patch does not apply: {reason_of(error)}") from None
        if tree is None:
            written = run(repo.folder, "hash-object", "-t", "tree", "-w", "--stdin", variables=variables)
            tree = written.decode().strip()
        options = ("--cached", "--raw", "-z", "--no-renames", "--no-abbrev")
        output = run(repo.folder, "diff-index", *options, tree, variables=variables)
        return list(changed_files(repo, output, variables, most_bytes))


def require_bounded(patch: bytes, most_bytes: int) -> None:
    """Raise an error for a patch that changes too many files, or could expand to much more than its size."""
    if len(FILE_HEADER.findall(patch)) > 2 * MOST_FILES:
        raise FileTooLarge(f"a patch may change {MOST_FILES} files")
    if COPY.search(patch):
        raise FileRefused("a patch that copies files is not supported; make it without --find-copies")
    # git allocates the declared size of a binary change, and refuses a change of another size.
    if any(len(size) > 12 for size in BINARY.findall(patch)) or sum(map(int, BINARY.findall(patch))) > most_bytes:
        raise FileTooLarge(f"the files of a patch may have {most_bytes} bytes")


def require_small(repo: Repo, tree: str | None, patch: bytes, named: bytes, most_bytes: int) -> None:
    """Raise an error for a patch of files that are too large to be read into memory together."""
    paths = {record.split(b"\t", 2)[-1] for record in named.split(b"\0") if record}
    paths.update(RENAME.findall(patch))
    if len(paths) > 2 * MOST_FILES:
        raise FileTooLarge(f"a patch may change {MOST_FILES} files")
    entries = [] if tree is None else [find(repo, tree, path) for path in paths]
    if sum(entry.size for entry in entries if isinstance(entry, TreeEntry)) > most_bytes:
        raise FileTooLarge(f"the files of a patch may have {most_bytes} bytes")


def reason_of(error: GitFailed) -> str:
    """Return git's error message about a patch."""
    lines = [line.removeprefix("error: ").strip() for line in error.stderr.splitlines()]
    return "; ".join([line for line in lines if line][:REASONS]) or "git could not read it"


def changed_files(repo: Repo, output: bytes, variables: dict[str, str], most_bytes: int) -> Iterator[PatchedFile]:
    """Read the changed files, deleted ones first."""
    records = sorted(RECORD.findall(output), key=lambda record: record[4] != b"D")
    if len(records) > MOST_FILES:
        raise FileTooLarge(f"a patch may change {MOST_FILES} files")
    if any(int(mode, 8) == SUBMODULE for record in records for mode in record[:2]):
        raise FileRefused("a patch cannot change submodules")
    ids = [new for _, _, _, new, status, _ in records if status != b"D"]
    contents = iter(read_blobs(repo, ids, variables, most_bytes))
    for _, mode, old, _, status, path in records:
        content = None if status == b"D" else next(contents)
        name = path.decode(errors="surrogateescape")
        yield PatchedFile(name, None if status == b"A" else old.decode(), int(mode, 8), content)


def read_blobs(repo: Repo, ids: list[bytes], variables: dict[str, str], most_bytes: int) -> list[bytes]:
    """Return the contents of blobs, in order."""
    names = b"".join(oid + b"\n" for oid in ids)
    described = run(repo.folder, "cat-file", "--batch-check=%(objectsize)", input=names, variables=variables)
    sizes = [int(size) for size in described.split()]
    if sum(sizes) > most_bytes:
        raise FileTooLarge(f"the files of a patch may have {most_bytes} bytes")
    output = run(repo.folder, "cat-file", "--batch=%(objectsize)", input=names, variables=variables)
    blobs, at = [], 0
    for size in sizes:
        start = output.index(b"\n", at) + 1
        blobs.append(output[start : start + size])
        at = start + size + 1
    return blobs
