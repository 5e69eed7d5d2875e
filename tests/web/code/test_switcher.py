"""The menu that switches to another branch or tag."""

from pathlib import Path

import pytest

from holdfast.hosting.git.repository import open_repository
from holdfast.web.code.location import CodeLocation, find_spot
from holdfast.web.code.switcher import SHOWN, switcher
from tests.hosting.git.oracle import commit, git, new_repository


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """Make a repository with branches and tags, one of which has a name that is no text."""
    made = new_repository(tmp_path / "7.git")
    head = commit(made, {b"a b/c.txt": b"c"})
    for ref in (b"refs/heads/fix/1", b"refs/heads/caf\xe9", b"refs/tags/v1"):
        git(made, "update-ref", ref, head)
    return made


def spot_of(folder: Path, kind: str, joined: str) -> CodeLocation:
    """Return where a page looks."""
    found = find_spot(open_repository(folder), "/ada/ship", kind, joined)
    assert found is not None
    return found


def test_the_default_branch_comes_first_and_the_current_one_is_marked(folder: Path) -> None:
    """Then all by name."""
    found = switcher(spot_of(folder, "branch", "fix/1"), "main")
    assert [(one.name, one.is_current) for one in found.branches] == [
        ("main", False),
        ("caf\ufffd", False),
        ("fix/1", True),
    ]
    assert [(one.name, one.is_current) for one in found.tags] == [("v1", False)]
    assert (found.branch_count, found.tag_count) == (3, 1)


def test_a_choice_leads_to_the_same_path_and_page(folder: Path) -> None:
    """A branch whose name is no text is reached by its commit."""
    spot = spot_of(folder, "tag", "v1/a b/c.txt")
    found = switcher(spot, "main", "blame")
    addresses = {one.name: one.address for one in (*found.branches, *found.tags)}
    assert addresses == {
        "main": "/ada/ship/blame/branch/main/a%20b/c.txt",
        "fix/1": "/ada/ship/blame/branch/fix/1/a%20b/c.txt",
        "caf\ufffd": f"/ada/ship/blame/commit/{spot.commit}/a%20b/c.txt",
        "v1": "/ada/ship/blame/tag/v1/a%20b/c.txt",
    }


def test_a_tag_with_the_name_of_the_current_branch_is_not_current(folder: Path) -> None:
    """They are two choices."""
    git(folder, "update-ref", "refs/tags/main", "refs/heads/main")
    found = switcher(spot_of(folder, "branch", "main"), "main")
    assert [one.is_current for one in found.branches] == [True, False, False]
    assert not any(one.is_current for one in found.tags)


def test_of_very_many_branches_some_are_shown_and_all_are_counted(folder: Path) -> None:
    """The default branch is among them wherever its name comes."""
    lines = "".join(f"create refs/heads/b{number:03} refs/heads/main\n" for number in range(SHOWN + 10))
    git(folder, "update-ref", "--stdin", input=lines.encode())
    found = switcher(spot_of(folder, "branch", "main"), "main")
    assert found.branch_count == SHOWN + 13
    assert found.branches[0].name == "main"
    assert len(found.branches) == SHOWN + 1


def test_without_its_default_branch_a_repository_has_a_menu(folder: Path) -> None:
    """The others are listed."""
    found = switcher(spot_of(folder, "branch", "fix/1"), "gone")
    assert [one.name for one in found.branches] == ["caf\ufffd", "fix/1", "main"]
