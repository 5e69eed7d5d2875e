"""Streams `git archive` (zip, tar) and `git bundle` of a commit."""

import asyncio
import shutil
import tempfile
from collections.abc import AsyncGenerator, Sequence
from contextlib import aclosing
from functools import lru_cache
from pathlib import Path
from typing import Final, Literal

from holdfast.hosting.errors import GitFailed, GitTimedOut
from holdfast.hosting.git import process
from holdfast.hosting.git.encoding import argument, raw
from holdfast.hosting.git.folders import in_use
from holdfast.hosting.git.program import run
from holdfast.hosting.git.refs import ResolvedRef

__all__ = ["FORMATS", "LEVEL", "Format", "archive", "bundle", "depends_on_refs"]

Format = Literal["zip", "tar.gz"]
FORMATS: Final[tuple[Format, ...]] = ("tar.gz", "zip")
# The compression level: half the time of git's default level, for a tenth more bytes.
LEVEL: Final = 3
# In any directory.
ATTRIBUTES: Final = ":(glob)**/.gitattributes"
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
