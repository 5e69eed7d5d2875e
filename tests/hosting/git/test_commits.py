"""Reading and writing commits and annotated tags, compared with git."""

from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from holdfast.hosting.errors import GitDamaged, NoSuchObject, PathRefused, RefRefused
from holdfast.hosting.git.commits import (
    Commit,
    Signature,
    build_tree,
    commit_content,
    find_commit,
    parse_commit,
    parse_signature,
    parse_tag,
    read_commit,
    read_tag,
    signature_line,
    tag_content,
)
from holdfast.hosting.git.repository import open_repository
from tests.hosting.git.oracle import commit, git, line, write_object

ADA = Signature("Ada Byron", "ada@example.org", 1_700_000_000, -330)
TREE = "4b825dc642cb6eb9a060e54bf8d69288fbee4904"
WHO = b"Ada <ada@example.org> 1700000000 +0130"


def test_a_commit_is_read_whole(folder: Path) -> None:
    """A commit has its tree, parents, message, author and committer, and the time zones of both."""
    one = commit(folder, {b"a": b"1"})
    two = commit(folder, {b"b": b"1"}, branch="other", parents=[])
    commit_id = commit(folder, {b"c": b"1"}, parents=[one, two], message="a m\u00e9ssage\n\nbody\n".encode())
    repo = open_repository(folder)
    expected = Commit(
        commit_id,
        line(folder, "rev-parse", "main^{tree}"),
        (one, two),
        Signature("Ada Byron", "ada@example.org", 1_700_000_000 - 60, 90),
        Signature("Ada Byron", "ada@example.org", 1_700_000_000, -480),
        "a m\u00e9ssage\n\nbody\n",
    )
    assert read_commit(repo, commit_id) == find_commit(repo, commit_id) == expected


def test_an_object_that_is_not_a_commit_is_not_found(folder: Path) -> None:
    """The id of a tree, a shortened id, an unknown id and a branch name find no commit."""
    commit_id = commit(folder, {b"a": b"1"})
    repo = open_repository(folder)
    for wrong in (line(folder, "rev-parse", "main^{tree}"), commit_id[:10], "0" * 40, "main"):
        assert find_commit(repo, wrong) is None
    with pytest.raises(GitDamaged):
        read_commit(repo, "0" * 40)


@pytest.mark.parametrize(
    ("encoding", "written", "read"),
    [
        (b"", b"caf\xc3\xa9", "caf\u00e9"),
        (b"", b"caf\xe9", "caf\ufffd"),
        (b"encoding ISO-8859-1\n", b"caf\xe9", "caf\u00e9"),
        (b"encoding windows-1251\n", b"\xcf", "\u041f"),
        (b"encoding no-such\n", b"caf\xc3\xa9", "caf\u00e9"),
        (b"encoding hex\n", b"61", "61"),
        (b"encoding idna\n", b"xn--caf-dma", "xn--caf-dma"),
        (b"encoding unicode_escape\n", b"\\ud800", "\\ud800"),
        (b"encoding utf-7\n", b"+2AA-", "+2AA-"),
        (b"encoding \xff\n", b"x", "x"),
    ],
)
def test_a_message_in_any_encoding_is_text(encoding: bytes, written: bytes, read: str) -> None:
    """Messages and names are decoded with the declared encoding, and invalid bytes are replaced."""
    content = b"tree %s\nauthor %s <a@b> 1 +0000\ncommitter %s\n%s\n%s\n"
    created_commit = parse_commit("1" * 40, content % (TREE.encode(), written, WHO, encoding, written))
    assert created_commit.message == read + "\n"
    assert created_commit.author.name == read
    created_commit.message.encode()


@pytest.mark.parametrize(
    ("written", "read"),
    [
        (WHO, Signature("Ada", "ada@example.org", 1_700_000_000, 90)),
        (b"Ada B. <ada@example.org> 5 -1100", Signature("Ada B.", "ada@example.org", 5, -660)),
        (b" <> 0 +0000", Signature("", "", 0)),
        (b"Ada <ada", Signature("Ada", "ada", 0)),
        (b"Ada", Signature("Ada", "", 0)),
        (None, Signature("", "", 0)),
        (b"A <a<b>c> 7 +0100", Signature("A", "a<b", 7, 60)),
        (b"A <a> 99999999999999999999 +0000", Signature("A", "a", 0)),
        (b"A <a> 300000000000 +0000", Signature("A", "a", 0)),
        (b"A <a> -5 +9999", Signature("A", "a", 0)),
        (b"A <a> 5 nonsense", Signature("A", "a", 5)),
    ],
)
def test_an_invalid_author_line_is_parsed_as_far_as_possible(written: bytes | None, read: Signature) -> None:
    """Author lines of old tools may lack an address or have an invalid time, which becomes 0."""
    assert parse_signature(written, None) == read


@given(st.binary(max_size=200))
def test_any_bytes_are_parsed_or_refused(content: bytes) -> None:
    """The parsers of commits and tags return a result or raise `GitDamaged` for any bytes."""
    for start in (b"", b"tree %s\n" % TREE.encode(), b"object %s\ntype commit\n" % TREE.encode()):
        for parse in (parse_commit, parse_tag):
            try:
                parse("1" * 40, start + content)
            except GitDamaged:
                continue


SIGNATURE = "-----BEGIN PGP SIGNATURE-----\n\niQEz\n=abcd\n-----END PGP SIGNATURE-----"


def test_a_signed_commit_keeps_its_signature_apart() -> None:
    """The signed payload of a commit is its exact content without the signature header."""
    before = b"tree %s\nauthor %s\ncommitter %s\n" % (TREE.encode(), WHO, WHO)
    folded = b"gpgsig " + SIGNATURE.encode().replace(b"\n", b"\n ") + b"\n"
    created_commit = parse_commit("1" * 40, before + folded + b"\nsubject\n\nbody\n")
    assert created_commit.signature == SIGNATURE
    assert created_commit.payload == (before + b"\nsubject\n\nbody\n").decode()
    assert created_commit.message == "subject\n\nbody\n"


def test_an_annotated_tag_is_read_whole(folder: Path) -> None:
    """An annotated tag has its target, kind, name, message and tagger; a commit is not read as a tag."""
    commit_id = commit(folder, {b"a": b"1"})
    git(folder, "tag", "-a", "-m", "the first", "v1", "main")
    repo = open_repository(folder)
    tag = read_tag(repo, line(folder, "rev-parse", "v1"))
    assert (tag.target, tag.kind, tag.name, tag.message) == (commit_id, "commit", "v1", "the first\n")
    assert tag.tagger is not None
    assert tag.tagger.name == "Ada"
    with pytest.raises(NoSuchObject):
        read_tag(repo, commit_id)


def test_a_signed_tag_keeps_its_signature_apart() -> None:
    """The signature at the end of a tag is not part of the message or of the signed payload."""
    before = f"object {TREE}\ntype tree\ntag v1\n\nthe first\n"
    tag = parse_tag("1" * 40, (before + SIGNATURE + "\n").encode())
    assert (tag.message, tag.signature, tag.payload) == ("the first\n", SIGNATURE + "\n", before)
    assert tag.tagger is None


def test_a_commit_with_odd_headers_is_read(folder: Path) -> None:
    """A commit may have no message and unknown headers; one without a tree or with a bad parent is damaged."""
    content = b"tree %s\nauthor %s\ncommitter %s\nmergetag object 1\n type commit\n \n tag x\nwhat ever\n"
    commit_id = write_object(folder, "commit", content % (TREE.encode(), WHO, WHO))
    found_commit = read_commit(open_repository(folder), commit_id)
    assert (found_commit.message, found_commit.committer.name) == ("", "Ada")
    with pytest.raises(GitDamaged):
        parse_commit("1" * 40, b"author x\n\nmessage")
    with pytest.raises(GitDamaged):
        parse_commit("1" * 40, b"tree %s\nparent nonsense\n\nmessage" % TREE.encode())


def test_a_written_commit_equals_that_of_git(folder: Path) -> None:
    """A written commit passes `git fsck --strict`, and git prints its files, author and time."""
    repo = open_repository(folder)
    files = {
        "README.md": b"# hello\n",
        "docs/a.md": b"a",
        "docs.md": b"b",
        "docs/deep/c d.txt": b"",
        "\u00e9": b"x",
    }
    content = commit_content(build_tree(repo.write, files), (), ADA, ADA, "Initial commit\n")
    commit_id = repo.write("commit", content)
    git(folder, "update-ref", "refs/heads/main", commit_id)
    git(folder, "fsck", "--strict")
    listed = git(folder, "ls-tree", "-r", "-z", "--name-only", "HEAD").decode().split("\0")[:-1]
    assert sorted(listed) == sorted(files)
    assert git(folder, "show", "HEAD:docs/a.md") == b"a"
    assert line(folder, "log", "--format=%an %ae %ad %s", "--date=raw") == (
        "Ada Byron ada@example.org 1700000000 -0530 Initial commit"
    )
    assert read_commit(repo, commit_id).author == ADA


def test_a_written_tag_equals_that_of_git(folder: Path) -> None:
    """A written tag passes `git fsck`, its message ends in one line feed, and an invalid name is refused."""
    commit_id = commit(folder, {b"a": b"1"})
    repo = open_repository(folder)
    tag = repo.write("tag", tag_content(commit_id, "v1/\u00e9", ADA, "the first\0\n\n"))
    git(folder, "update-ref", "refs/tags/v1/\u00e9", tag)
    git(folder, "fsck", "--strict")
    found = read_tag(repo, tag)
    assert (found.target, found.name, found.tagger, found.message) == (commit_id, "v1/\u00e9", ADA, "the first\n")
    with pytest.raises(RefRefused):
        tag_content(commit_id, "a..b", ADA, "x")


@pytest.mark.parametrize(
    "path", ["", "/a", "a/", "a//b", "../a", "a/./b", ".git/config", "a/.GIT/x", "a\0b", "b/c"]
)
def test_files_at_conflicting_paths_are_refused(folder: Path, path: str) -> None:
    """A tree with an invalid path, or with a path below a file, raises `PathRefused`."""
    with pytest.raises(PathRefused):
        build_tree(open_repository(folder).write, {"b": b"", path: b""})


@given(st.text(max_size=20), st.text(max_size=20), st.integers(-(10**9), 10**9), st.integers(-1439, 1439))
def test_any_name_makes_a_signature_that_can_be_read(name: str, email: str, time: int, offset: int) -> None:
    """No name or address can end the line of a signature early or change its time."""
    written = signature_line(Signature(name, email, time, offset))
    assert b"\n" not in written
    read = parse_signature(written, None)
    assert (read.time, read.offset) == (max(time, 0), offset)
