"""`holdfast admin migrate`, `doctor` and `gc`."""

import json
import shutil

from holdfast.settings import Settings
from tests.cli.conftest import Run


def test_migrate_says_what_it_did(run: Run, data: Settings) -> None:
    """The second time there is nothing to do."""
    assert "migrated to revision" in run("admin", "migrate").out
    assert "already at revision" in run("admin", "migrate").out


def test_the_doctor_tells_heals_and_says_so_by_its_exit_status(run: Run, ada: Settings) -> None:
    """0 when all is well or was healed, 1 when something is left."""
    run("admin", "repo", "create", "ada/one")
    assert (run("admin", "doctor", "--deep").status, run("admin", "doctor").out) == (0, "All is well.\n")
    (ada.data / "repositories" / "01" / "1.git" / "HEAD").write_text("ref: refs/heads/other\n")
    ran = run("admin", "doctor")
    assert ran.status == 1
    assert "head  ada/one: HEAD names other, the default branch is main" in ran.out
    (told,) = json.loads(run("admin", "doctor", "--json").out)
    assert (told["id"], told["where"], told["fixed"]) == ("head", "ada/one", False)
    assert "0 left to do, 1 repaired." in run("admin", "doctor", "--fix").out
    assert run("admin", "doctor").status == 0
    shutil.rmtree(ada.data / "repositories" / "01" / "1.git")
    ran = run("admin", "doctor", "--fix")
    assert ran.status == 1
    assert "1 to do." in ran.out


def test_the_doctor_makes_nothing_where_nothing_is(run: Run, data: Settings) -> None:
    """A misspelt folder is not filled with an empty database."""
    ran = run("admin", "doctor")
    assert (ran.status, ran.err.count("\n")) == (1, 1)
    assert not data.data.exists()


def test_the_doctor_does_not_migrate_by_itself(run: Run, data: Settings) -> None:
    """It only looks, unless it is told to heal."""
    data.data.mkdir(mode=0o700)
    (data.data / "holdfast.sqlite3").touch(0o600)
    assert [item["id"] for item in json.loads(run("admin", "doctor", "--json").out)] == ["migrations"]
    assert run("admin", "doctor", "--fix").status == 0
    assert run("admin", "doctor").out == "All is well.\n"


def test_repositories_are_packed_and_what_has_run_out_is_removed(run: Run, ada: Settings) -> None:
    """For people and for programs; with --needed only those that need it."""
    run("admin", "repo", "create", "ada/one")
    assert "1 repositories packed." in run("admin", "gc").out
    told = json.loads(run("admin", "gc", "--json").out)
    assert (told["packed"], told["busy"], told["failed"], told["removed_sessions"]) == ([1], [], [], 0)
    assert json.loads(run("admin", "gc", "--needed", "--json").out)["packed"] == []
