"""`holdfast admin migrate`, `doctor` and `gc`."""

import json
from contextlib import closing
from pathlib import Path

import pytest
from sqlalchemy import text

from holdfast.hosting.app import App
from holdfast.hosting.data_folder import open_database
from holdfast.hosting.services import repositories
from holdfast.hosting.store import accounts, sessions
from holdfast.hosting.store.encryption import INSTANCE_FILE
from holdfast.hosting.store.migrate import upgrade
from holdfast.settings import Settings
from tests.cli.conftest import Run


def write_old_database(data: Settings) -> None:
    """Replace the database by one of an earlier version."""
    (data.data / "holdfast.sqlite3").unlink()
    with open_database(data) as database:
        upgrade(database, "0008")


def test_migrate_says_what_it_did(run: Run, data: Settings) -> None:
    """`migrate` prints the new revision, and the second time that nothing had to be done."""
    write_old_database(data)
    assert "migrated to revision" in run("admin", "migrate").out
    assert "already at revision" in run("admin", "migrate").out


def execute(data: Settings, statement: str) -> None:
    """Execute a statement in the database directly."""
    with open_database(data) as database, database.write() as connection:
        connection.execute(text(statement))


def test_the_doctor_tells_heals_and_says_so_by_its_exit_status(run: Run, ada: Settings) -> None:
    """The exit status is 0 if there is no problem or all were fixed, and 1 if one is left."""
    run("admin", "repo", "create", "ada/one")
    assert (run("admin", "doctor", "--deep").status, run("admin", "doctor").out) == (0, "No problems found.\n")
    execute(ada, "UPDATE repositories SET branch_count = 9")
    result = run("admin", "doctor")
    assert result.status == 1
    assert "branch-count  ada/one: has 0 branches, and counts 9" in result.out
    (finding,) = json.loads(run("admin", "doctor", "--json").out)
    assert (finding["id"], finding["where"], finding["fixed"]) == ("branch-count", "ada/one", False)
    assert "0 problems left, 1 repaired." in run("admin", "doctor", "--fix").out
    assert run("admin", "doctor").status == 0
    execute(ada, "UPDATE repositories SET version = -1")
    result = run("admin", "doctor", "--fix")
    assert result.status == 1
    assert "1 problem found." in result.out


@pytest.mark.parametrize(
    "arguments",
    [
        "doctor",
        "gc",
        "migrate",
        "instance",
        "ssh-host-keys",
        "backup {}/backup.tar",
        "user list",
        "user create ada --random-password",
        "user password ada --random-password",
        "token list ada",
        "org list",
        "repo list",
        "repo delete a/b",
    ],
)
def test_nothing_is_made_where_nothing_is(run: Run, tmp_path: Path, arguments: str) -> None:
    """A data folder without data is an error that names it, and nothing is created."""
    data = tmp_path / "nothing"
    result = run("admin", *arguments.format(tmp_path).split(), "--data", str(data))
    assert (result.status, result.err.count("\n")) == (1, 1)
    assert f"there is no Holdfast data in {data}; set HOLDFAST_DATA or --data" in result.err
    assert not data.exists()
    data.mkdir()
    assert run("admin", *arguments.format(tmp_path).split(), "--data", str(data)).status == 1
    assert list(data.iterdir()) == []
    assert not (tmp_path / "backup.tar").exists()


def test_a_folder_is_named_on_the_command_line(run: Run, ada: Settings, monkeypatch: pytest.MonkeyPatch) -> None:
    """`--data` takes precedence over HOLDFAST_DATA."""
    monkeypatch.setenv("HOLDFAST_DATA", str(ada.data.with_name("nothing")))
    assert "ada" in run("admin", "user", "list", "--data", str(ada.data)).out


def test_the_wrong_folder_is_refused_until_it_is_adopted(run: Run, ada: Settings) -> None:
    """Without its instance file a data folder is refused for changes until `instance --adopt`."""
    run("admin", "repo", "create", "ada/one")
    assert run("admin", "instance").status == 0
    (ada.data / INSTANCE_FILE).unlink()
    assert run("admin", "repo", "create", "ada/two").status == 1
    assert [item["id"] for item in json.loads(run("admin", "doctor", "--json").out)] == ["instance"]
    data = json.loads(run("admin", "instance", "--json").out)
    assert data["folder"] is None
    assert "--adopt" in data["problem"]
    assert run("admin", "instance", "--adopt").out.endswith("Database and data folder belong together.\n")
    assert run("admin", "doctor").out == "No problems found.\n"
    assert [item["name"] for item in json.loads(run("admin", "repo", "list", "--json").out)] == ["one"]
    assert run("admin", "repo", "create", "ada/two").status == 0


def test_the_doctor_does_not_migrate_by_itself(run: Run, data: Settings) -> None:
    """`doctor` reports a pending migration, and `doctor --fix` runs it."""
    write_old_database(data)
    for _ in range(2):
        assert [item["id"] for item in json.loads(run("admin", "doctor", "--json").out)] == ["migrations"]
    assert run("admin", "doctor", "--fix").status == 0
    assert run("admin", "doctor").out == "No problems found.\n"


@pytest.mark.parametrize("options", [[], ["--fix"], ["--before-upgrade"]])
def test_a_newer_database_is_left_to_the_newer_version(run: Run, ada: Settings, options: list[str]) -> None:
    """`doctor` reports a database of a newer version, with what helps; a migration would not."""
    execute(ada, "UPDATE alembic_version SET version_num = '9999'")
    result = run("admin", "doctor", *options, "--json")
    assert result.status == 1
    (finding,) = json.loads(result.out)
    assert finding["id"] == "database-newer"
    assert finding["advice"].startswith("install the newer version again")


def test_repositories_are_packed_and_what_has_run_out_is_removed(run: Run, ada: Settings) -> None:
    """`gc` reports as text and as JSON, and with `--needed` packs only repositories that need it."""
    with closing(App.open(ada)) as app:
        owner = accounts.find_user(app.database, "ada")
        repositories.create(app, owner, owner, repositories.NewRepository(name="one"), {"README.md": b"# One\n"})
        sessions.start_session(app.database, owner, days=1, now=1_000_000)
    assert run("admin", "gc").out.splitlines() == [
        "1 repository packed.",
        "1 session, 0 failed logins, 0 LFS objects and 0 incomplete uploads removed.",
    ]
    data = json.loads(run("admin", "gc", "--json").out)
    assert (data["packed"], data["busy"], data["failed"], data["removed_sessions"]) == ([1], [], [], 0)
    assert json.loads(run("admin", "gc", "--needed", "--json").out)["packed"] == []


def test_the_host_keys_of_ssh_are_shown(run: Run, data: Settings) -> None:
    """The fingerprints are shown as text and JSON, and private keys are not."""
    del data
    listed = json.loads(run("admin", "ssh-host-keys", "--json").out)
    assert [key["public_key"].split()[0] for key in listed] == [key["algorithm"] for key in listed]
    assert "ssh-ed25519" in {key["algorithm"] for key in listed}
    output = run("admin", "ssh-host-keys").out
    assert all(key["fingerprint"] in output and key["fingerprint"].startswith("SHA256:") for key in listed)
    assert "PRIVATE" not in output + json.dumps(listed)


def test_before_an_upgrade_the_doctor_looks_only(run: Run, data: Settings) -> None:
    """`--before-upgrade` accepts an old database, reports a newer one, and excludes `--fix`."""
    write_old_database(data)
    assert (run("admin", "doctor", "--before-upgrade").status, run("admin", "doctor").status) == (0, 1)
    execute(data, "UPDATE alembic_version SET version_num = '9999'")
    result = run("admin", "doctor", "--before-upgrade")
    assert result.status == 1
    assert "database-newer" in result.out
    assert "which a newer Holdfast wrote" in result.out.replace("\n", " ")
    assert run("admin", "doctor", "--before-upgrade", "--fix").status == 2
