"""`holdfast admin user`."""

import io
import json
import sys
from contextlib import closing

import pytest
from sqlalchemy import text

from holdfast.hosting.app import App
from holdfast.hosting.data_folder import open_database
from holdfast.hosting.store import accounts, two_factor
from holdfast.hosting.store.tokens import holder_of
from holdfast.secret import Secret
from holdfast.settings import Settings
from tests.cli.conftest import Run
from tests.hosting.passkey_helpers import ROOT, give_passkey
from tests.hosting.two_factor_helpers import give_second_factor


def test_a_user_can_be_made_with_a_password_from_a_pipe(spawn: Run, data: Settings) -> None:
    """`--password-stdin` reads the password, so it is not on the command line."""
    arguments = ("admin", "user", "create", "ada", "--full-name", "Ada", "--admin", "--password-stdin")
    result = spawn(*arguments, data=b"long enough\n")
    assert (result.status, result.out) == (0, "User ada created.\n")
    with open_database(data) as database:
        ada = accounts.check_password(database, "ada", Secret("long enough"))
    assert ada is not None
    assert (ada.name, ada.full_name, ada.is_admin) == ("ada", "Ada", True)


def test_a_random_password_is_printed_and_works(run: Run, data: Settings) -> None:
    """`--random-password` prints a working password, and changing it revokes the user's tokens."""
    run("admin", "user", "create", "ada", "--random-password")
    token = Secret(run("admin", "token", "create", "ada", "ci").out.strip())
    result = run("admin", "user", "password", "ada", "--random-password")
    assert "Their sessions and tokens are revoked." in result.out
    password = Secret(result.out.rpartition("password: ")[2].strip())
    with open_database(data) as database:
        assert accounts.check_password(database, "ada", password) is not None
        assert holder_of(database, token) is None


def test_what_cannot_be_done_is_answered_with_no(run: Run, data: Settings) -> None:
    """A taken or invalid name and an unknown user have exit status 1 and one line of error."""
    run("admin", "user", "create", "ada", "--random-password")
    for arguments in (["create", "ADA"], ["create", "a/b"], ["password", "nobody"]):
        result = run("admin", "user", *arguments, "--random-password")
        assert result.status == 1
        assert result.err.count("\n") == 1


def test_users_are_listed(run: Run, data: Settings) -> None:
    """Users are listed as text and as JSON, without their passwords."""
    run("admin", "user", "create", "ada", "--random-password")
    assert "ada" in run("admin", "user", "list").out
    (ada,) = json.loads(run("admin", "user", "list", "--json").out)
    assert (ada["name"], ada["is_admin"]) == ("ada", False)
    assert not any("password" in key and key != "must_change_password" for key in ada)


def test_a_user_can_be_renamed_and_removed(run: Run, ada: Settings) -> None:
    """A taken name is refused, and the commands print what they did."""
    run("admin", "user", "create", "bob", "--random-password")
    assert run("admin", "user", "rename", "ada", "BOB").status == 1
    assert run("admin", "user", "rename", "ada", "countess").out == "User ada renamed to countess.\n"
    assert run("admin", "user", "delete", "countess").out == "User countess deleted.\n"
    assert run("admin", "user", "delete", "countess").status == 1


def test_somebody_who_owns_something_is_removed_only_with_all_of_it(run: Run, ada: Settings) -> None:
    """A user with repositories is deleted only with `--purge`, which removes their folders too."""
    run("admin", "repo", "create", "ada/one")
    with closing(App.open(ada)) as app:
        folder = app.copies.update(1).folder
    assert folder.is_relative_to(ada.data / "repositories")
    assert run("admin", "user", "delete", "ada").status == 1
    assert "ada/one" in run("admin", "repo", "list").out
    assert folder.is_dir()
    result = run("admin", "user", "delete", "ada", "--purge")
    assert (result.status, result.out) == (0, "User ada deleted with 1 repository.\n")
    assert not folder.exists()
    assert users_in(ada) == []


def test_an_e_mail_address_belongs_to_one_user(run: Run, ada: Settings) -> None:
    """An address that is invalid or belongs to another user is refused, and no user is created with it."""
    before = users_in(ada)
    for address in ("ada@example.org", "no address"):
        result = run("admin", "user", "create", "bob", "--random-password", "--email", address)
        assert (result.status, result.err.count("\n")) == (1, 1)
    assert users_in(ada) == before


def test_a_broken_database_is_unreadable_input(run: Run, data: Settings) -> None:
    """A file that is no database has exit status 3."""
    (data.data / "holdfast.sqlite3").write_bytes(b"no database" * 1000)
    result = run("admin", "user", "list")
    assert result.status == 3
    assert "not a Holdfast database" in result.err


@pytest.mark.parametrize("arguments", ["password ada", "create bob"])
def test_an_input_that_ends_gives_no_password(spawn: Run, ada: Settings, arguments: str) -> None:
    """An empty input is wrong usage without a traceback, and no user is changed."""
    before = users_in(ada)
    result = spawn("admin", "user", *arguments.split(), data=b"")
    assert result.status == 2
    assert result.err.splitlines()[-1].strip().startswith("error: ")
    assert "nothing was changed" in result.err
    assert "Traceback" not in result.err
    assert "GetPassWarning" not in result.err
    assert users_in(ada) == before


def test_a_pipe_that_ends_gives_no_password(run: Run, ada: Settings, monkeypatch: pytest.MonkeyPatch) -> None:
    """An empty `--password-stdin` is wrong usage without a traceback, and no user is changed."""
    before = users_in(ada)
    monkeypatch.setattr(sys, "stdin", io.StringIO())
    result = run("admin", "user", "password", "ada", "--password-stdin")
    assert result.status == 2
    assert result.err.splitlines()[-1].strip().startswith("error: ")
    assert "nothing was changed" in result.err
    assert "Traceback" not in result.err
    assert "GetPassWarning" not in result.err
    assert users_in(ada) == before


def users_in(settings: Settings) -> list[tuple[object, ...]]:
    """Return all columns of all users, with their password hashes."""
    with open_database(settings) as database, database.read() as connection:
        return [tuple(row) for row in connection.execute(text("SELECT * FROM users ORDER BY id"))]


def test_two_factor_authentication_is_disabled_for_a_user(run: Run, ada: Settings) -> None:
    """Two-factor authentication of a user with a passkey is disabled, and a second try is an error."""
    with open_database(ada) as database:
        give_second_factor(ada, accounts.find_user(database, "ada"))
        give_passkey(ada, accounts.find_user(database, "ada"), ROOT)
    result = run("admin", "user", "disable-two-factor", "ada")
    assert (result.status, result.out) == (0, "Two-factor authentication of ada disabled.\n")
    with open_database(ada) as database:
        assert not two_factor.is_enabled(database, accounts.find_user(database, "ada"))
    second = run("admin", "user", "disable-two-factor", "ada")
    assert second.status == 1
    assert "not enabled" in second.err
