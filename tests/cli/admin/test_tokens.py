"""`holdfast admin token`."""

import json
import time
from datetime import UTC, datetime

from holdfast.hosting.data_folder import open_database
from holdfast.hosting.store.tokens import holder_of
from holdfast.secret import Secret
from holdfast.settings import Settings
from tests.cli.conftest import Run


def test_a_token_is_printed_once_and_works(run: Run, ada: Settings) -> None:
    """A new token is printed and valid, and the list shows only its last eight characters."""
    value = run(
        "admin", "token", "create", "ada", "ci", "--scope", "read:user", "--scope", "write:issue"
    ).out.strip()
    with open_database(ada) as database:
        held = holder_of(database, Secret(value))
    assert held is not None
    assert (held[0].name, held[1].scopes) == ("ada", ("read:user", "write:issue"))
    as_json = run("admin", "token", "list", "ada", "--json").out
    (listed,) = json.loads(as_json)
    assert (listed["name"], listed["last_eight"]) == ("ci", value[-8:])
    output = run("admin", "token", "list", "ada").out
    assert "ci" in output
    assert value[:-8] not in output + as_json
    run("admin", "token", "delete", "ada", "ci")
    with open_database(ada) as database:
        assert holder_of(database, Secret(value)) is None


def test_programs_get_a_token_as_json(run: Run, ada: Settings) -> None:
    """The JSON of a new token has its name, its scopes and its value."""
    data = json.loads(run("admin", "token", "create", "ada", "ci", "--json").out)
    assert (data["name"], data["scopes"], len(data["value"])) == ("ci", ["all"], 40)


def test_what_cannot_be_is_refused_in_one_line(run: Run, ada: Settings) -> None:
    """A duplicate name, an unknown scope, and a missing user or token are errors in one line."""
    run("admin", "token", "create", "ada", "ci")
    for arguments in (
        ("create", "ada", "ci"),
        ("create", "ada", "other", "--scope", "read:everything"),
        ("create", "nobody", "ci"),
        ("delete", "ada", "none"),
        ("list", "nobody"),
    ):
        result = run("admin", "token", *arguments)
        assert (result.status, result.err.count("\n")) == (1, 1), arguments


def test_a_token_may_be_good_for_some_days(run: Run, ada: Settings) -> None:
    """`--days` sets the expiry, which the list shows."""
    data = json.loads(run("admin", "token", "create", "ada", "ci", "--days", "30", "--json").out)
    assert 29.9 < (data["expires_at"] - time.time()) / 86_400 <= 30
    run("admin", "token", "create", "ada", "other")
    output = run("admin", "token", "list", "ada").out
    assert f"{datetime.fromtimestamp(data['expires_at'], UTC):%Y-%m-%d}" in output
    assert "never" in output
