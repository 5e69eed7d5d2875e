"""Resolution of a URL path to a ref and a path in the repository."""

from pathlib import Path

import pytest

from holdfast.hosting.git.commits import Signature, build_tree, commit_content
from holdfast.hosting.git.local_refs import write_refs
from holdfast.hosting.git.repository import Repo, open_repository
from holdfast.web.code.location import CodeLocation, find_location
from tests.hosting.git.oracle import new_repository

ADA = Signature("Ada", "ada@example.org", 1_700_000_000)


@pytest.fixture
def repo(tmp_path: Path) -> Repo:
    """Create a repository with several branches and a tag."""
    created_repo = open_repository(new_repository(tmp_path / "1.git"))
    tree = build_tree(created_repo.write, {"a/b.txt": b"text"})
    commit = created_repo.write("commit", commit_content(tree, (), ADA, ADA, "first\n"))
    names = ("refs/heads/main", "refs/heads/feature/x", "refs/heads/100%", "refs/tags/main")
    write_refs(created_repo, dict.fromkeys(names, commit))
    return created_repo


@pytest.mark.parametrize(
    ("kind", "joined", "ref", "path"),
    [
        ("branch", "main", "main", b""),
        ("branch", "main/a/b.txt", "main", b"a/b.txt"),
        ("branch", "feature/x/a", "feature/x", b"a"),
        ("branch", "100%/a", "100%", b"a"),
        ("tag", "main/a", "main", b"a"),
        ("branch", "main//a/./../a", "main", b"a"),
        ("branch", "main/caf\udce9", "main", b"caf\xe9"),
    ],
)
def test_a_ref_and_a_path_are_told_apart(repo: Repo, kind: str, joined: str, ref: str, path: bytes) -> None:
    """The shortest prefix that is a ref of the kind is the ref, and the path is normalized bytes."""
    code_location = find_location(repo, "/o/r", kind, joined)
    assert code_location is not None
    assert (code_location.kind, code_location.ref, code_location.path) == (kind, ref, path)


@pytest.mark.parametrize(
    ("kind", "joined"),
    [
        *[("branch", name) for name in ("nothing", "feature", "main/.git/config", "..", "", "main/..")],
        ("tag", "feature/x"),
        ("commit", "main"),
        ("commit", "e" * 40),
        ("other", "main"),
    ],
)
def test_an_unknown_ref_is_not_found(repo: Repo, kind: str, joined: str) -> None:
    """A missing ref, a ref of another kind and an invalid path have no location."""
    assert find_location(repo, "/o/r", kind, joined) is None


def test_urls_can_contain_any_name(repo: Repo) -> None:
    """Special characters and invalid UTF-8 in refs and paths are percent-encoded."""
    location = CodeLocation("/o/r", repo, "branch", "a?b#c%", "f" * 40, b'x"<y>/\xff?')
    assert location.address("src") == "/o/r/src/branch/a%3Fb%23c%25/x%22%3Cy%3E/%FF%3F"
    assert location.top("raw") == "/o/r/raw/branch/a%3Fb%23c%25"
    assert location.change("_edit") == "/o/r/_edit/a%3Fb%23c%25/x%22%3Cy%3E/%FF%3F"
    assert location.lasting == f"/o/r/src/commit/{'f' * 40}/x%22%3Cy%3E/%FF%3F"
    assert [crumb.name for crumb in location.crumbs()] == ['x"<y>', "\ufffd?"]
    assert location.file_name == "\ufffd?"
