"""Selection of the webhooks that get a delivery of an event."""

import threading
import uuid
from collections.abc import Mapping

import pytest
from sqlalchemy import delete, func, insert, select

from holdfast.hosting.data_folder import open_database
from holdfast.hosting.store import events, tables
from holdfast.hosting.store.accounts import Account
from holdfast.hosting.store.database import Database
from holdfast.hosting.store.hook_subscriptions import matches_branch_filter
from holdfast.hosting.store.repositories import add_repository
from holdfast.hosting.store.tables import deliveries, hooks
from holdfast.settings import Settings


@pytest.fixture
def repository_id(database: Database, ada: Account) -> int:
    """Make a repository's row."""
    with database.write() as connection:
        return add_repository(connection, ada, "notes", default_branch="main")


def add_hook(database: Database, scope: str, **columns: object) -> int:
    """Make an active hook for pushes."""
    row = {"url": "http://x", "type": "gitea", "content_type": "json", "events": "push", "is_active": True}
    with database.write() as connection:
        made: int = connection.execute(
            insert(hooks).returning(hooks.c.id), {**row, "scope": scope, **columns}
        ).scalar_one()
    return made


def record_event(
    database: Database, kind: str, ada: Account, repository_id: int | None, details: Mapping[str, object]
) -> int:
    """Record an event."""
    with database.write() as connection:
        return events.record(
            connection, kind, owner_id=ada.id, repository_id=repository_id, actor_id=ada.id, details=details
        )


def queued_deliveries(database: Database) -> list[tuple[int, int]]:
    """Return the hook and the event of each queued delivery, in the order of the rows."""
    with database.read() as connection:
        rows = connection.execute(select(deliveries.c.hook_id, deliveries.c.event_id).order_by(deliveries.c.id))
        return [(row.hook_id, row.event_id) for row in rows]


def test_hooks_of_the_repository_its_owner_and_the_system_get_deliveries_in_order(
    database: Database, ada: Account, repository_id: int
) -> None:
    """Other repositories' hooks, default hooks, inactive hooks and other subscriptions get none."""
    system = add_hook(database, "system")
    owner = add_hook(database, "owner", owner_id=ada.id)
    own = add_hook(database, "repository", repository_id=repository_id)
    with database.write() as connection:
        other = add_repository(connection, ada, "other", default_branch="main")
    add_hook(database, "repository", repository_id=other)
    add_hook(database, "default")
    add_hook(database, "system", is_active=False)
    add_hook(database, "system", events="create,issues")
    event = record_event(database, "push", ada, repository_id, {"ref": "refs/heads/main"})
    assert queued_deliveries(database) == [(own, event), (owner, event), (system, event)]


def test_a_delivery_is_due_at_once(database: Database, ada: Account, repository_id: int) -> None:
    """A new delivery is waiting and due, with a UUID and the kind of its event."""
    add_hook(database, "system", events="create,issues,push")
    record_event(database, "issues", ada, repository_id, {"action": "opened"})
    with database.read() as connection:
        row = connection.execute(select(deliveries)).one()
    assert (row.kind, row.state, row.tries, row.again_of) == ("issues", "waiting", 0, None)
    assert str(uuid.UUID(row.uuid, version=4)) == row.uuid
    assert row.due_at == 0


def test_a_rolled_back_event_has_no_deliveries(database: Database, ada: Account, repository_id: int) -> None:
    """No delivery is queued when the transaction that records its event fails."""
    add_hook(database, "system")

    def fail() -> None:
        with database.write() as connection:
            events.record(
                connection, "push", owner_id=ada.id, repository_id=repository_id, actor_id=ada.id, details={}
            )
            raise OSError("no space")

    with pytest.raises(OSError, match="no space"):
        fail()
    assert queued_deliveries(database) == []


def test_a_hook_that_is_being_removed_does_no_harm(database: Database, ada: Account, repository_id: int) -> None:
    """An event recorded during the deletion of a hook is queued for the remaining hooks only."""
    gone, stays = add_hook(database, "system"), add_hook(database, "system")
    results: list[int] = []
    teller = threading.Thread(
        target=lambda: results.append(
            record_event(database, "push", ada, repository_id, {"ref": "refs/heads/main"})
        )
    )
    with database.write() as connection:
        connection.execute(delete(tables.hooks).where(tables.hooks.c.id == gone))
        teller.start()
        teller.join(0.3)
        assert results == []
    teller.join()
    assert queued_deliveries(database) == [(stays, results[0])]


def test_an_event_without_repository_reaches_the_owner(database: Database, ada: Account) -> None:
    """An event without a repository, as of a deleted one, is queued for the owner's hook and no default hook."""
    owner = add_hook(database, "owner", owner_id=ada.id, events="repository")
    add_hook(database, "default", events="repository")
    event = record_event(database, "repository", ada, None, {"action": "deleted"})
    assert queued_deliveries(database) == [(owner, event)]


@pytest.mark.parametrize(
    ("branch_filter", "ref", "expected"),
    [
        ("", "refs/tags/v1", True),
        ("*", "refs/tags/v1", True),
        ("**", "refs/heads/a/b", True),
        ("main", "refs/heads/main", True),
        ("main", "refs/heads/maint", False),
        ("release*", "refs/heads/release/1/2", True),
        ("{main,dev}", "refs/heads/dev", True),
        ("v1", "refs/tags/v1", False),
        ("refs/tags/*", "refs/tags/v1", True),
        ("refs/heads/main", "refs/heads/main", True),
    ],
)
def test_a_filter_is_for_branches_or_whole_refs(branch_filter: str, ref: str, expected: bool) -> None:  # noqa: FBT001  # a parameter of the test
    """A filter matches branch names or full refs; a star also matches slashes, and tags need the full ref."""
    assert matches_branch_filter(branch_filter, ref) is expected


def test_only_what_is_about_a_ref_is_filtered(database: Database, ada: Account, repository_id: int) -> None:
    """The branch filter applies to events of refs, and not to events of issues."""
    hook = add_hook(database, "system", events="push,create,delete,issues", branch_filter="main")
    for kind in ("push", "create", "delete"):
        record_event(database, kind, ada, repository_id, {"ref": "refs/heads/other"})
    first = record_event(database, "issues", ada, repository_id, {"action": "opened"})
    second = record_event(database, "push", ada, repository_id, {"ref": "refs/heads/main"})
    assert queued_deliveries(database) == [(hook, first), (hook, second)]


def test_disabled_webhooks_get_no_deliveries(
    settings: Settings, database: Database, ada: Account, repository_id: int
) -> None:
    """With webhooks disabled events are recorded without deliveries."""
    add_hook(database, "system")
    off = Settings(data=settings.data, database_url=settings.database_url, webhooks=False)
    with open_database(off) as silent:
        record_event(silent, "push", ada, repository_id, {"ref": "refs/heads/main"})
    assert queued_deliveries(database) == []
    with database.read() as connection:
        assert connection.execute(select(func.count()).select_from(tables.events)).scalar_one() == 1
