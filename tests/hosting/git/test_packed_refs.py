"""The file of packed refs: read as git reads it, and written so that git reads it."""

from pathlib import Path

import pytest

from holdfast.hosting.errors import GitDamaged, RefBusy
from holdfast.hosting.git import packed_refs
from holdfast.hosting.git.packed_refs import PackedRefs, lock_packed_refs, replace_packed_refs
from tests.hosting.git.oracle import commit, git, line


@pytest.fixture
def packed(folder: Path) -> Path:
    """Make a repository whose refs are packed: two branches, one below another's name, and an annotated tag."""
    commit(folder, {b"a": b"1"})
    for name in ("main-2", "a/b"):
        git(folder, "branch", name, "main")
    git(folder, "-c", "user.name=Ada", "-c", "user.email=a@example.org", "tag", "-a", "-m", "x", "v1", "main")
    git(folder, "pack-refs", "--all")
    return folder


def no_tag(_object_id: str) -> None:
    """Know no tag object."""


@pytest.mark.parametrize("parsed", [False, True])
def test_refs_are_found(packed: Path, *, parsed: bool) -> None:
    """By their whole name only, in the text and in what was made of it."""
    refs = PackedRefs(str(packed))
    if parsed:
        assert sorted(refs.lines) == refs.names
    at = line(packed, "rev-parse", "main")
    assert refs.get(b"refs/heads/main") == at
    assert refs.get(b"refs/tags/v1") == line(packed, "rev-parse", "v1")
    assert refs.get(b"refs/heads/mai") is None
    assert refs.get(b"heads/main") is None
    assert list(refs.below(b"refs/heads/a")) == [b"refs/heads/a/b"]
    assert list(refs.below(b"refs/heads/main")) == []
    assert refs.is_fully_peeled


def test_a_repository_without_packed_refs_has_none(folder: Path) -> None:
    """Nothing is found, and nothing is missing."""
    refs = PackedRefs(str(folder))
    assert (refs.get(b"refs/heads/main"), refs.names, list(refs.below(b"refs"))) == (None, [], [])


def test_what_is_written_git_reads(packed: Path) -> None:
    """Some changed, some removed, all else as it was; a file of an old version gets what its tags lead to."""
    place = packed / "packed-refs"
    at, tag = line(packed, "rev-parse", "main"), line(packed, "rev-parse", "v1")
    lines = [text for text in place.read_bytes().splitlines(keepends=True) if text[:1] not in b"#^"]
    place.write_bytes(b"".join(reversed(lines)))
    with lock_packed_refs(str(packed)) as descriptor:
        replace_packed_refs(
            str(packed),
            descriptor,
            PackedRefs(str(packed)),
            changed={b"refs/heads/new": at},
            removed=[b"refs/heads/a/b", b"refs/heads/never"],
            peel=lambda object_id: at if object_id == tag else None,
        )
    names = git(packed, "for-each-ref", "--format=%(refname)").decode().split()
    assert names == ["refs/heads/main", "refs/heads/main-2", "refs/heads/new", "refs/tags/v1"]
    assert line(packed, "rev-parse", "v1^{}") == at
    assert PackedRefs(str(packed)).is_fully_peeled
    assert not (packed / "packed-refs.lock").exists()
    git(packed, "fsck", "--strict")


def test_the_lock_is_gits(packed: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Git cannot pack while it is held; who finds it held waits and then says so; what fails lets go of it."""
    monkeypatch.setattr(packed_refs, "PATIENCE", 0.05)
    before = (packed / "packed-refs").read_bytes()
    with pytest.raises(ZeroDivisionError), lock_packed_refs(str(packed)):
        with pytest.raises(RefBusy, match=r"packed-refs\.lock"), lock_packed_refs(str(packed)):
            pass
        assert (packed / "packed-refs.lock").exists()
        raise ZeroDivisionError
    assert not (packed / "packed-refs.lock").exists()
    assert (packed / "packed-refs").read_bytes() == before


@pytest.mark.parametrize("text", [b"^" + b"1" * 40 + b"\n", b"nonsense\n", b"1" * 40 + b" refs/heads/cut"])
def test_a_damaged_file_is_not_written_again(packed: Path, text: bytes) -> None:
    """Whatever stands in it stays for whoever mends it."""
    (packed / "packed-refs").write_bytes(text)
    with pytest.raises(GitDamaged), lock_packed_refs(str(packed)) as descriptor:
        refs = PackedRefs(str(packed))
        replace_packed_refs(str(packed), descriptor, refs, changed={}, removed=[], peel=no_tag)
    assert (packed / "packed-refs").read_bytes() == text
