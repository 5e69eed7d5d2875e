"""Branches and tags, validation of ref names, and resolution of revisions."""

import subprocess
from pathlib import Path

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from holdfast.hosting.errors import GitDamaged, RefRefused
from holdfast.hosting.git.program import environment
from holdfast.hosting.git.refs import (
    Ref,
    RefPath,
    ResolvedRef,
    branch,
    check_new_branch,
    check_new_tag,
    check_ref_name,
    commit_of,
    head,
    is_ref_name,
    resolve,
    rev_parse,
    split_ref_path,
    tag,
)
from holdfast.hosting.git.repository import Repo, open_repository
from tests.hosting.git.oracle import commit, git, line, new_repository

REFUSED = ["a b", "a\\b", "~a", "a^", "a:b", "a?", "*", "a[b", "/a", ".a", "a/.b", "a.lock", "a.lock/b", "a..b"]
REFUSED += ["a//b", "a@{b", "a/", "a.", "@", "a\x00", "a\x1f", "a\x7f", "", "\ud800", "a\n", "a/b.lock"]


@pytest.mark.parametrize("name", REFUSED)
def test_names_no_branch_can_have_are_refused(name: str) -> None:
    """Each rule of `git check-ref-format` has an example that is refused."""
    assert not is_ref_name(name)
    with pytest.raises(RefRefused):
        check_ref_name(name)


@pytest.mark.parametrize("name", ["a", "a/b", "@a", "a@", "a.b", "a-b", "-a", "é", "a.locks", "{a}", "a.lock.b"])
def test_other_names_are_accepted(name: str) -> None:
    """Names that are close to the refused ones are valid."""
    check_ref_name(name)


@pytest.mark.parametrize("name", ["-a", "--all", "HEAD", "a..b"])
def test_names_that_git_refuses_for_tags_are_refused(name: str) -> None:
    """A tag like `-a` could only be named with its full ref, and `HEAD` would be ambiguous."""
    with pytest.raises(RefRefused):
        check_new_tag(name)
    for accepted in ("v1", "a-b", "head", "release/HEAD"):
        check_new_tag(accepted)


@pytest.mark.parametrize("name", ["-a", "--all", "HEAD", "a..b"])
def test_names_that_git_refuses_for_branches_are_refused(name: str) -> None:
    """Names like `-a` and `HEAD`, which are valid refs but ambiguous as branches, are refused as by git."""
    with pytest.raises(RefRefused):
        check_new_branch(name)
    wanted = ["git", "check-ref-format", "--branch", name]
    assert subprocess.run(wanted, env=environment(), check=False, capture_output=True).returncode != 0


@given(st.text(st.sampled_from("ab/.@{}-~^:lock\\ [é\x01*?"), max_size=12))
@example("a.lock")
@example("HEAD")
def test_git_accepts_every_name_we_accept(name: str) -> None:
    """A branch name is valid exactly if `git check-ref-format` accepts it, with the exception of `@`."""
    wanted = ["git", "check-ref-format", f"refs/heads/{name}"]
    accepted = subprocess.run(wanted, env=environment(), check=False).returncode == 0
    # git has no objection to a lone @ below refs/heads/; the rule has.
    assert is_ref_name(name) == (accepted and name != "@")


def ids(folder: Path, *names: str) -> list[str]:
    """Return the object ids of names, by `git rev-parse`."""
    return [line(folder, "rev-parse", name) for name in names]


@pytest.fixture
def repo(folder: Path) -> Repo:
    """Make a repository with branches and tags that are easily confused."""
    first = commit(folder, {b"a": b"1"})
    commit(folder, {b"a": b"2"})
    for name in ("feature/x", "both", "dir", "gone"):
        git(folder, "update-ref", f"refs/heads/{name}", first)
    git(folder, "tag", "both", "main")
    git(folder, "tag", "v1", first)
    git(folder, "tag", "-a", "-m", "the second", "v2", "main")
    git(folder, "tag", "-a", "-m", "a tag of a tag", "nested", "v2")
    git(folder, "tag", "blob", "main:a")
    git(folder, "tag", "rel/1.0", first)
    git(folder, "update-ref", "refs/pull/2/head", first)
    return open_repository(folder)


def test_one_branch_is_found_by_its_name(repo: Repo) -> None:
    """A branch is found by its exact name only; a tag is found with the id of the tag object."""
    assert branch(repo, "main") == Ref(b"main", line(repo.folder, "rev-parse", "main"))
    for wrong in (
        "Main",
        "main/",
        "main/x",
        "feature",
        "",
        "..",
        "a\0b",
        "v1",
        "\ud800",
        "x" * 5000,
        "../../HEAD",
    ):
        assert branch(repo, wrong) is None
    annotated = tag(repo, "v2")
    assert annotated is not None
    assert annotated.id == line(repo.folder, "rev-parse", "refs/tags/v2") != line(repo.folder, "rev-parse", "main")


def test_a_name_that_is_not_utf8_is_shown_and_found(repo: Repo) -> None:
    """The name is shown with a replacement character and found by its bytes or as an argument."""
    git(repo.folder, b"update-ref", b"refs/heads/caf\xe9", b"main")
    ref = branch(repo, b"caf\xe9")
    assert ref is not None
    assert ref.name == "caf\N{REPLACEMENT CHARACTER}"
    assert branch(repo, "caf\udce9") == ref


def test_tags_are_peeled_to_commits(repo: Repo) -> None:
    """A tag of a tag leads to the commit; a tag of a blob and an unknown id lead to none."""
    main, nested, blob = ids(repo.folder, "main", "nested", "refs/tags/blob")
    assert commit_of(repo, nested) == main == commit_of(repo, main)
    assert commit_of(repo, blob) is None
    assert commit_of(repo, "0" * 40) is None


def test_a_repository_without_a_commit_has_a_default_branch_but_no_branches(folder: Path) -> None:
    """An empty repository has a HEAD, and no name in it resolves."""
    repo = open_repository(folder)
    assert head(repo) == "main"
    assert resolve(repo, "", "main") is None
    assert split_ref_path(repo, "", "README.md", "main") is None
    assert rev_parse(repo, "main") is None


def test_a_name_in_a_query_is_a_full_ref_a_tag_a_branch_or_a_commit(repo: Repo) -> None:
    """A tag precedes a branch of the same name; short ids and expressions like `main~1` do not resolve."""
    main, first = ids(repo.folder, "main", "main~1")
    assert resolve(repo, "", "main") == ResolvedRef("branch", "main", main)
    assert resolve(repo, "both", "main") == ResolvedRef("tag", "both", main)
    assert resolve(repo, "refs/heads/both", "main") == ResolvedRef("branch", "both", first)
    assert resolve(repo, "refs/tags/both", "main") == ResolvedRef("tag", "both", main)
    assert resolve(repo, "feature/x", "main") == ResolvedRef("branch", "feature/x", first)
    assert resolve(repo, "v2", "main") == ResolvedRef("tag", "v2", main)
    assert resolve(repo, first, "main") == ResolvedRef("commit", first, first)
    tree, blob = ids(repo.folder, "main^{tree}", "main:a")
    for wrong in (
        first[:10],
        first.upper(),
        "HEAD",
        "main~1",
        "refs/pull/2/head",
        "blob",
        tree,
        blob,
        "no",
        "refs/",
    ):
        assert resolve(repo, wrong, "main") is None


def test_an_expression_resolves_as_in_git(repo: Repo) -> None:
    """Expressions resolve as by `git rev-parse`, except expensive searches, ranges and options."""
    main = line(repo.folder, "rev-parse", "main")
    said = (
        "main",
        "v1",
        "v2",
        "nested",
        main,
        main[:8],
        "HEAD",
        "main~1",
        "main^",
        "refs/heads/feature/x",
        "v2^{}",
    )
    for expression in (*said, "heads/both", "both"):
        assert rev_parse(repo, expression) == line(repo.folder, "rev-parse", f"{expression}^{{commit}}")
    costly = (":/change", "main^{/change}", "main:a")
    for wrong in (*costly, "", "no", "blob", "--all", "-1", "main~9", "main..v1", "a\0b", "x" * 2000, "\ud800"):
        assert rev_parse(repo, wrong) is None


def test_a_ref_and_a_path_are_told_apart(repo: Repo) -> None:
    """The shortest prefix that is a ref counts: branches before tags before commits."""
    main, first = ids(repo.folder, "main", "main~1")
    cases = [
        ("", "main/docs/a.md", RefPath("branch", "main", main, "docs/a.md")),
        ("main", "docs/a.md", RefPath("branch", "main", main, "docs/a.md")),
        (" main ", "a", RefPath("branch", "main", main, "a")),
        ("", "feature/x/a", RefPath("branch", "feature/x", first, "a")),
        ("", "HEAD/a", RefPath("branch", "main", main, "a")),
        ("", "both/a", RefPath("branch", "both", first, "a")),
        ("v2", "a", RefPath("tag", "v2", main, "a")),
        ("", "rel/1.0/a", RefPath("tag", "rel/1.0", first, "a")),
        ("", f"{first}/a/b", RefPath("commit", first, first, "a/b")),
        ("", f"{'1' * 40}/a", RefPath("commit", "1" * 40, None, "a")),
        ("", "blob/a", RefPath("tag", "blob", None, "a")),
        ("old/name", "a", RefPath("renamed", "old/name", None, "a")),
        ("", "dir/a", RefPath("branch", "dir", first, "a")),
        ("nowhere", "docs/a.md", RefPath("branch", "main", main, "docs/a.md")),
        (first[:10], "a", RefPath("branch", "main", main, "a")),
        ("refs/heads/both", "a", RefPath("branch", "main", main, "a")),
        ("", "a..b/c", RefPath("branch", "main", main, "a..b/c")),
        ("", "", RefPath("branch", "main", main, "")),
    ]
    for ref, path, expected in cases:
        assert split_ref_path(repo, ref, path, "main", {"old/name"}) == expected
    assert split_ref_path(repo, "", "a/" * 20000, "main") == RefPath("branch", "main", main, "a/" * 20000)


def test_a_damaged_ref_raises_an_error(repo: Repo) -> None:
    """A ref file with invalid content raises `GitDamaged`; it does not count as a missing branch."""
    (repo.folder / "refs" / "heads" / "gone").write_text("garbage\n")
    with pytest.raises(GitDamaged):
        branch(repo, "gone")


def test_a_detached_head_is_not_a_branch(repo: Repo) -> None:
    """A detached HEAD, as imported repositories may have, names no branch; invalid content is damage."""
    (repo.folder / "HEAD").write_text(line(repo.folder, "rev-parse", "main") + "\n")
    assert head(repo) is None
    (repo.folder / "HEAD").write_text("nonsense")
    with pytest.raises(GitDamaged):
        head(repo)


def test_refs_are_found_loose_and_packed(tmp_path: Path) -> None:
    """A path is split at refs that are loose, packed or both; a deleted ref is not found any more."""
    folder = new_repository(tmp_path / "a.git")
    commit_id = commit(folder, {b"a": b"1"}, branch="main")
    repo = open_repository(folder)
    paths = {"deep/er/x": "deep/er", "tagged/x": "tagged", "flat/x": "flat", "deep/x": "main", "other/x": "main"}
    for name in ("refs/heads/deep/er", "refs/tags/tagged", "refs/heads/flat"):
        git(folder, "update-ref", name, commit_id)
    for pack in (False, True):
        if pack:
            git(folder, "pack-refs", "--all", "--prune")
            git(folder, "update-ref", "refs/heads/late/r", commit_id)
            paths["late/r/x"] = "late/r"
        for path, name in paths.items():
            ref_path = split_ref_path(repo, "", path, "main")
            assert ref_path is not None
            assert ref_path.name == name
    git(folder, "update-ref", "-d", "refs/heads/flat")
    ref_path = split_ref_path(repo, "", "flat/x", "main")
    assert ref_path is not None
    assert (ref_path.name, ref_path.path) == ("main", "flat/x")
