"""`holdfast admin`."""

import json
from pathlib import Path

import pytest

from holdfast.hosting.data import open_database
from holdfast.hosting.store import accounts
from holdfast.secret import Secret
from holdfast.settings import Settings
from tests.cli.conftest import Run


@pytest.fixture
def data(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Settings:
    """Point the command line at an empty data folder."""
    monkeypatch.setenv("HOLDFAST_DATA", str(tmp_path / "data"))
    return Settings(data=tmp_path / "data")


def test_migrate_says_what_it_did(run: Run, data: Settings) -> None:
    """The second time there is nothing to do."""
    assert "migrated to revision" in run("admin", "migrate").out
    assert "already at revision" in run("admin", "migrate").out


def test_a_user_can_be_made_with_a_password_from_a_pipe(spawn: Run, data: Settings) -> None:
    """The password is never on the command line."""
    words = ("admin", "user", "create", "ada", "--full-name", "Ada", "--admin", "--password-stdin")
    ran = spawn(*words, data=b"long enough\n")
    assert (ran.status, ran.out) == (0, "ada can log in now.\n")
    with open_database(data) as database:
        assert accounts.check_password(database, "ada", Secret("long enough")) == accounts.User(
            1, "ada", "Ada", True
        )


def test_a_random_password_is_printed_and_works(run: Run, data: Settings) -> None:
    """For making users from scripts."""
    run("admin", "user", "create", "ada", "--random-password")
    ran = run("admin", "user", "password", "ada", "--random-password")
    password = Secret(ran.out.rpartition("password: ")[2].strip())
    with open_database(data) as database:
        assert accounts.check_password(database, "ada", password) is not None


def test_what_cannot_be_done_is_answered_with_no(run: Run, data: Settings) -> None:
    """Exit status 1 and one line."""
    run("admin", "user", "create", "ada", "--random-password")
    for words in (["create", "ADA"], ["create", "a/b"], ["password", "nobody"]):
        ran = run("admin", "user", *words, "--random-password")
        assert ran.status == 1
        assert ran.err.count("\n") == 1


def test_users_are_listed(run: Run, data: Settings) -> None:
    """For people and for programs."""
    run("admin", "user", "create", "ada", "--random-password")
    assert "ada" in run("admin", "user", "list").out
    assert json.loads(run("admin", "user", "list", "--json").out) == [
        {"id": 1, "name": "ada", "full_name": "", "is_admin": False}
    ]


def test_a_broken_database_is_unreadable_input(run: Run, data: Settings) -> None:
    """Exit status 3, and the file is left alone."""
    data.data.mkdir()
    (data.data / "holdfast.sqlite3").write_bytes(b"no database" * 1000)
    ran = run("admin", "user", "list")
    assert ran.status == 3
    assert "not a Holdfast database" in ran.err
