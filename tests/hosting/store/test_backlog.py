"""The backlog of webhook deliveries, by webhook."""

import uuid

from sqlalchemy import insert

from holdfast.hosting.store import accounts, hooks
from holdfast.hosting.store.backlog import hooks_with_backlog, last_deliveries
from holdfast.hosting.store.database import Database
from holdfast.hosting.store.hooks import HookOwner
from holdfast.hosting.store.tables import deliveries, events
from holdfast.hosting.store.tables import hooks as table

COLUMNS: dict[str, str | int | bool] = {
    "type": "gitea",
    "url": "https://ci.example/h",
    "content_type": "json",
    "events": "push",
    "is_active": True,
}


def add_delivery(database: Database, hook_id: int, state: str, **columns: object) -> int:
    """Insert an event and a delivery of it in a state, and return the delivery's id."""
    with database.write() as connection:
        event = connection.execute(
            insert(events).returning(events.c.id), {"kind": "push", "created_at": 1}
        ).scalar_one()
        row = {
            "uuid": str(uuid.uuid4()),
            "hook_id": hook_id,
            "event_id": event,
            "kind": "push",
            "state": state,
            **columns,
        }
        made: int = connection.execute(insert(deliveries).returning(deliveries.c.id), row).scalar_one()
    return made


def test_only_hooks_that_are_behind_or_paused_are_listed(database: Database) -> None:
    """Paused hooks are listed first, then those with the oldest delivery, each with that delivery's error."""
    admin = accounts.find_user(database, "admin")
    owners = (HookOwner("owner", admin.id), HookOwner("service"), HookOwner("service"), HookOwner("service"))
    well, slow, slower, paused = (hooks.add_hook(database, owner, COLUMNS, is_system=True).id for owner in owners)
    add_delivery(database, well, "delivered", created_at=5)
    add_delivery(database, slow, "waiting", created_at=20, tries=3, error="refused", due_at=99_000)
    add_delivery(database, slow, "waiting", created_at=30)
    add_delivery(database, slower, "waiting", created_at=10)
    with database.write() as connection:
        connection.execute(table.update().where(table.c.id == paused).values(paused_at=7))
    hook_backlogs, total = hooks_with_backlog(database, skip=0, limit=10)
    assert [item.id for item in hook_backlogs] == [paused, slower, slow]
    assert total == 3
    last = hook_backlogs[2]
    assert (last.waiting, last.oldest, last.tries, last.error, last.due_at) == (2, 20, 3, "refused", 99_000)
    assert (hook_backlogs[0].waiting, hook_backlogs[0].oldest) == (0, 0)
    assert hooks_with_backlog(database, skip=2, limit=1) == ([last], 3)
    add_delivery(database, well, "waiting", created_at=1)
    hook_backlogs, _ = hooks_with_backlog(database, skip=0, limit=10)
    assert [(item.owner, item.of_organization) for item in hook_backlogs if item.id == well] == [("admin", False)]


def test_a_hook_with_failures_is_listed_after_those_that_are_behind(database: Database) -> None:
    """A hook with failed deliveries is listed last, with their number and the error of the newest."""
    failing, behind = (
        hooks.add_hook(database, HookOwner("service"), COLUMNS, is_system=True).id for _ in range(2)
    )
    add_delivery(database, failing, "failed", error="first")
    add_delivery(database, failing, "failed", error="last")
    add_delivery(database, behind, "waiting", created_at=10)
    hook_backlogs, total = hooks_with_backlog(database, skip=0, limit=10)
    assert [(item.id, item.waiting, item.failed) for item in hook_backlogs] == [(behind, 1, 0), (failing, 0, 2)]
    assert (hook_backlogs[1].error, total) == ("last", 2)


def test_the_last_delivery_of_each_hook_is_found(database: Database) -> None:
    """The newest delivery of each hook is returned in any state, without the stored answer."""
    first, second, third = (hooks.add_hook(database, HookOwner("service"), COLUMNS).id for _ in range(3))
    add_delivery(database, first, "failed")
    newest = add_delivery(database, first, "delivered", answer=b"much", body="much")
    add_delivery(database, second, "delivered")
    other = add_delivery(database, second, "cancelled")
    result = last_deliveries(database, [first, second, third])
    assert {number: item.id for number, item in result.items()} == {first: newest, second: other}
    assert result[first].answer == b""
    assert last_deliveries(database, []) == {}
