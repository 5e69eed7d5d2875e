"""Archives and bundles of commits."""

import io
import tarfile
import tempfile
from collections.abc import AsyncGenerator
from contextlib import aclosing
from pathlib import Path

import anyio
import pytest

from holdfast.hosting.errors import GitFailed
from holdfast.hosting.git.archives import archive, bundle
from holdfast.hosting.git.refs import ResolvedRef
from tests.hosting.git.oracle import commit, git, new_repository


def read(pieces: AsyncGenerator[bytes, None]) -> bytes:
    """Return all chunks joined."""

    async def run() -> bytes:
        return b"".join([piece async for piece in pieces])

    return anyio.run(run)


def test_paths_are_names_not_patterns(tmp_path: Path) -> None:
    """The paths of an archive are literal: `*` and `:(glob)x` name files; an unknown path is an error."""
    folder = new_repository(tmp_path / "a.git")
    commit_id = commit(folder, {b"*": b"star", b":(glob)x": b"magic", b"a": b"plain", b"d/b": b"deep"})
    result = read(archive(folder, commit_id, "tar.gz", prefix="p", paths=["*", ":(glob)x", "d"]))
    with tarfile.open(fileobj=io.BytesIO(result), mode="r:gz") as opened:
        assert {item.name for item in opened if item.isfile()} == {"p/*", "p/:(glob)x", "p/d/b"}
    with pytest.raises(GitFailed):
        read(archive(folder, commit_id, "zip", prefix="p", paths=["nothing"]))


def test_a_bundle_leaves_nothing_behind(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A bundle has HEAD and its ref, and no temporary file is left, even if its reader stops early."""
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))
    folder = new_repository(tmp_path / "a.git")
    made = commit(folder, {b"a": b"1"})
    for named in (
        ResolvedRef("branch", "a/b", made),
        ResolvedRef("tag", "v1", made),
        ResolvedRef("commit", made, made),
    ):
        (tmp_path / "file").write_bytes(read(bundle(folder, named)))
        heads = git(folder, "bundle", "list-heads", str(tmp_path / "file")).decode().split("\n")
        name = {"branch": "refs/heads/a/b", "tag": "refs/tags/v1", "commit": "refs/heads/bundle"}[named.kind]
        assert set(heads) - {""} == {f"{made} HEAD", f"{made} {name}"}

    async def leave() -> None:
        async with aclosing(bundle(folder, ResolvedRef("branch", "main", made))) as pieces:
            await anext(pieces)

    anyio.run(leave)
    assert sorted(path.name for path in tmp_path.iterdir()) == ["a.git", "file"]
