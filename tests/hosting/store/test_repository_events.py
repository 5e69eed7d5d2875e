"""Events of changed and deleted repositories."""

import json
from typing import Any

import msgspec

from holdfast.hosting.store.accounts import Account
from holdfast.hosting.store.database import Database
from holdfast.hosting.store.repository_events import record_changed, record_deleted
from tests.hosting.repository_helpers import make_people, make_repository, recorded_events


def actions(database: Database) -> list[tuple[str, Any]]:
    """Return the recorded actions with the old values."""
    return [(details["action"], details.get("changed")) for _, details in recorded_events(database)]


def test_only_changes_are_recorded(database: Database, ada: Account) -> None:
    """Only changed settings are recorded, by their names in the API, and archiving and visibility apart."""
    home = make_repository(database, ada, description="old", topics='["sail"]', archived_at=5)
    with database.write() as connection:
        record_changed(connection, home, ada, {"description": "old", "has_pulls": True, "archived_at": 5})
        record_changed(connection, home, ada, {"archived_at": 6})
    assert actions(database) == []
    with database.write() as connection:
        columns: dict[str, str | bool | int] = {
            "archived_at": 0,
            "is_private": True,
            "description": "new",
            "has_pulls": False,
            "is_template": True,
            "topics": "[]",
            "declared": '{"allow_rebase":false,"mirror_interval":""}',
            "size": 0,
        }
        record_changed(connection, home, ada, columns)
    before = {"description": "old", "has_pull_requests": True, "template": False, "topics": ["sail"]}
    assert actions(database) == [
        ("unarchived", None),
        ("privatized", None),
        ("edited", {**before, "allow_rebase": True}),
    ]


def test_the_deletion_of_a_repository_is_recorded_completely(database: Database) -> None:
    """The event of a deletion has the row of the repository without the email address of its owner."""
    (bob,) = make_people(database, "bob", email="bob@example.org", full_name="Bob")
    home = make_repository(database, bob, "boat", description="small")
    with database.write() as connection:
        record_deleted(connection, home, bob)
    ((_, details),) = recorded_events(database)
    assert (details["repository"], details["name"]) == (home.id, "bob/boat")
    row = msgspec.to_builtins(home)
    assert details["was"] == {**row, "owner": {**row["owner"], "email": ""}}
    assert (details["was"]["description"], details["was"]["owner"]["full_name"]) == ("small", "Bob")
    assert "bob@example.org" not in json.dumps(details)
