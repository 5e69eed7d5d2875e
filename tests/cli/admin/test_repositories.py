"""`holdfast admin repo`."""

import json
from contextlib import closing

from holdfast.hosting.access import Actor, RepositoryAccess
from holdfast.hosting.app import App
from holdfast.hosting.services import branches, repositories
from holdfast.hosting.store import accounts
from holdfast.hosting.store.repositories import find_repository
from holdfast.settings import Settings
from tests.cli.conftest import Run


def test_a_repository_is_made_moved_and_removed(run: Run, ada: Settings) -> None:
    """Renaming and transferring a repository keep its folder, and deleting it removes the folder."""
    run("admin", "org", "create", "acme", "--owner", "ada")
    assert run("admin", "repo", "create", "ada/one", "--private", "--default-branch", "trunk").status == 0
    (listed,) = json.loads(run("admin", "repo", "list", "--json").out)
    assert (listed["private"], listed["default_branch"], listed["empty"]) == (True, "trunk", True)
    folder = ada.data / listed["folder"]
    with closing(App.open(ada)) as app:
        app.copies.update(1)
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
    """Taken or invalid names and missing owners and repositories are errors in one line."""
    run("admin", "repo", "create", "ada/one")
    for arguments in (
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
        result = run("admin", "repo", *arguments)
        assert (result.status, result.err.count("\n")) == (1, 1), arguments
    assert len(json.loads(run("admin", "repo", "list", "--json").out)) == 1


def test_the_ref_log_is_shown_and_a_branch_restored(run: Run, ada: Settings) -> None:
    """The ref log is a table or JSON, and the version of a deletion restores the branch."""
    with closing(App.open(ada)) as app:
        owner = accounts.find_user(app.database, "ada")
        repository = repositories.create(app, owner, owner, repositories.NewRepository(name="one"), {"a": b"a"})
        actor = Actor(owner)
        target = RepositoryAccess(repository, repositories.permissions_in(app, actor, repository))
        branches.create(app, actor, target, "topic")
        fresh = RepositoryAccess(find_repository(app.database, "ada", "one"), target.permissions)
        branches.delete(app, actor, fresh, "topic")
    deleted, created, first = json.loads(run("admin", "repo", "ref-log", "ada/one", "--json").out)
    assert [deleted["kind"], created["kind"], first["ref"]] == ["delete", "create", "refs/heads/main"]
    assert (deleted["actor"], deleted["old"], deleted["restorable"]) == ("ada", created["new"], True)
    table = run("admin", "repo", "ref-log", "ada/one").out
    assert [line.split()[4:6] for line in table.splitlines()[1:]] == [
        ["delete", "topic"],
        ["create", "topic"],
        ["create", "main"],
    ]
    filtered = run("admin", "repo", "ref-log", "ada/one", "--ref", "refs/heads/main", "--json")
    assert json.loads(filtered.out) == [first]
    result = run("admin", "repo", "restore", "ada/one", str(deleted["version"]))
    assert result.out == f"refs/heads/topic restored to {deleted['old']}.\n"
    (newest,) = json.loads(run("admin", "repo", "ref-log", "ada/one", "--json", "--limit", "1").out)
    assert (newest["kind"], newest["ref"], newest["new"]) == ("create", "refs/heads/topic", deleted["old"])
    refused = run("admin", "repo", "restore", "ada/one", "99")
    assert (refused.status, refused.err.count("\n")) == (1, 1)
