"""`holdfast admin repo`."""

import json

from holdfast.settings import Settings
from tests.cli.conftest import Run


def test_a_repository_is_made_moved_and_removed(run: Run, ada: Settings) -> None:
    """Its folder stays where it is until it is removed."""
    run("admin", "org", "create", "acme", "--owner", "ada")
    assert run("admin", "repo", "create", "ada/one", "--private", "--default-branch", "trunk").status == 0
    (listed,) = json.loads(run("admin", "repo", "list", "--json").out)
    assert (listed["private"], listed["default_branch"], listed["empty"]) == (True, "trunk", True)
    folder = ada.data / listed["folder"]
    assert (folder / "HEAD").read_text() == "ref: refs/heads/trunk\n"
    assert run("admin", "repo", "rename", "ada/one", "two").out == "Repository ada/one renamed to ada/two.\n"
    assert (
        run("admin", "repo", "transfer", "ada/two", "acme").out == "Repository ada/two transferred to acme/two.\n"
    )
    assert folder.is_dir()
    assert "acme/two" in run("admin", "repo", "list").out
    assert run("admin", "repo", "delete", "acme/two").out == "Repository acme/two deleted.\n"
    assert not folder.exists()


def test_what_cannot_be_is_refused_in_one_line(run: Run, ada: Settings) -> None:
    """Names that are taken or cannot be, owners and repositories that are not there."""
    run("admin", "repo", "create", "ada/one")
    for words in (
        ("create", "ada/ONE"),
        ("create", "ada"),
        ("create", "ada/.."),
        ("create", "ada/x", "--default-branch", "a..b"),
        ("create", "nobody/one"),
        ("rename", "ada/one", "a/b"),
        ("rename", "ada/none", "two"),
        ("transfer", "ada/one", "nobody"),
        ("delete", "one"),
    ):
        ran = run("admin", "repo", *words)
        assert (ran.status, ran.err.count("\n")) == (1, 1), words
    assert len(json.loads(run("admin", "repo", "list", "--json").out)) == 1
