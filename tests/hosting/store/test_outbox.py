"""The outbox: leases, due deliveries and retention."""

import time

import pytest
from sqlalchemy import func, insert, select, text, update

from holdfast.hosting.store import deliveries as queued
from holdfast.hosting.store import outbox
from holdfast.hosting.store.accounts import Account
from holdfast.hosting.store.database import Database
from holdfast.hosting.store.outbox import Pause, Result
from holdfast.hosting.store.prepared_statements import Bind, Statement
from holdfast.hosting.store.tables import deliveries, events, hooks

NOW = (int(time.time()) + 86_400) * 1000


def make_hook(database: Database, **columns: object) -> int:
    """Make an active hook."""
    row = {"scope": "system", "type": "gitea", "url": "http://x", "content_type": "json", "events": "push"}
    with database.write() as connection:
        made: int = connection.execute(
            insert(hooks).returning(hooks.c.id), {**row, "is_active": True, **columns}
        ).scalar_one()
    return made


def record_event(database: Database, *to: int, at: int | None = None) -> int:
    """Record an event, and queue its deliveries for hooks."""
    moment = int(time.time()) if at is None else at
    with database.write() as connection:
        row = {"kind": "push", "details": "{}", "created_at": moment}
        number: int = connection.execute(insert(events).returning(events.c.id), row).scalar_one()
        queued.queue_for_hooks(connection, list(to), number, "push", now=moment)
    return number


def claim_hooks(database: Database, holder: str = "me", *, now: int = NOW, most: int = 10) -> list[int]:
    """Claim hooks for ten seconds."""
    return outbox.claim_hooks(database, holder, most=most, until=now + 10_000, now=now)


def result(delivery: int, state: str = "delivered", *, due_at: int = 0) -> Result:
    """Make a result."""
    return Result(delivery, state, 1, due_at, NOW // 1000, "POST", "u", "{}", "", 200, "{}", b"ok", "", 3)


def test_a_hook_is_held_by_one_at_a_time(database: Database) -> None:
    """A hook that one process has claimed is free for others when it is released or the lease has expired."""
    first, second = make_hook(database), make_hook(database)
    record_event(database, first, second)
    assert claim_hooks(database, most=1) == [first]
    assert claim_hooks(database, "another") == [second]
    assert claim_hooks(database) == []
    assert outbox.leased_hook(database, "me", first, now=NOW) is not None
    assert outbox.leased_hook(database, "another", first, now=NOW) is None
    outbox.write_results(database, "another", [], released=[first, second], now=NOW)
    assert claim_hooks(database) == [second]
    assert claim_hooks(database, "a third", now=NOW + 10_001) == [first, second]
    assert outbox.leased_hook(database, "me", first, now=NOW + 10_001) is None


def test_the_holder_of_a_hook_can_continue(database: Database) -> None:
    """The holder can renew its lease, but not after it has expired, even when nobody else has claimed the hook."""
    hook = make_hook(database)
    record_event(database, hook)
    claim_hooks(database)
    assert outbox.renew_leases(database, "me", [hook], until=NOW + 20_000, now=NOW + 5000) == {hook}
    assert claim_hooks(database, "another", now=NOW + 15_000) == []
    assert outbox.renew_leases(database, "another", [hook], until=NOW + 30_000, now=NOW + 15_000) == set()
    assert outbox.renew_leases(database, "me", [hook], until=NOW + 30_000, now=NOW + 20_000) == set()


@pytest.mark.parametrize("columns", [{"is_active": False}, {"paused_at": 5}, {"held_until": NOW + 1}])
def test_inactive_paused_and_claimed_hooks_are_not_claimed(database: Database, columns: dict[str, object]) -> None:
    """A hook that is inactive, paused or leased to another process is not claimed."""
    record_event(database, make_hook(database, **columns))
    assert claim_hooks(database) == []


def test_a_delayed_delivery_holds_back_later_ones(database: Database) -> None:
    """The first pending delivery of a hook decides when it is claimed, and does not delay other hooks."""
    slow, quick = make_hook(database), make_hook(database)
    record_event(database, slow, quick)
    record_event(database, slow, quick)
    assert set(claim_hooks(database)) == {slow, quick}
    first = outbox.waiting_deliveries(database, slow, after=0, most=1)[0]
    again = result(first.id, "waiting", due_at=NOW + 5000)
    outbox.write_results(database, "me", [again], released=[slow, quick], now=NOW)
    assert claim_hooks(database) == [quick]
    assert claim_hooks(database, now=NOW + 5000) == [slow]


def test_a_delivery_waits_with_its_event_in_the_order_it_happened(database: Database) -> None:
    """Pending deliveries of a hook are returned in the order of their events, after a given one."""
    hook, other = make_hook(database), make_hook(database)
    happened = [record_event(database, hook, other) for _ in range(3)]
    waiting = outbox.waiting_deliveries(database, hook, after=0, most=10)
    assert [item.event_id for item in waiting] == happened
    later = outbox.waiting_deliveries(database, hook, after=waiting[0].id, most=1)
    assert [item.event_id for item in later] == happened[1:2]


def test_a_claimed_hook_has_the_kind_of_its_owner(database: Database, ada: Account) -> None:
    """The target of a hook is a user, an organization or the system, as receivers distinguish them."""
    hook = make_hook(database, scope="owner", owner_id=ada.id)
    everywhere = make_hook(database)
    record_event(database, hook, everywhere)
    claim_hooks(database)
    held = outbox.leased_hook(database, "me", hook, now=NOW)
    assert held is not None
    assert (held.target, held.hook.owner_id, held.hook.is_active) == ("user", ada.id, True)
    with database.write() as connection:
        connection.execute(text("UPDATE users SET is_organization = true"))
    again, system = (outbox.leased_hook(database, "me", item, now=NOW) for item in (hook, everywhere))
    assert again is not None
    assert system is not None
    assert (again.target, system.target) == ("organization", "system")


def test_results_pauses_and_releases_are_written_together(database: Database) -> None:
    """A result is stored, and a hook is paused and released only by the process that holds it."""
    hook, other = make_hook(database), make_hook(database)
    record_event(database, hook, other)
    claim_hooks(database)
    waiting_delivery = outbox.waiting_deliveries(database, hook, after=0, most=1)[0]
    pauses = [Pause(hook, "because", 77), Pause(other, "because", 77)]
    outbox.write_results(
        database, "me", [result(waiting_delivery.id)], pauses=pauses[:1], released=[hook], now=NOW
    )
    outbox.write_results(database, "nobody", [], pauses=pauses[1:], released=[other], now=NOW)
    with database.read() as connection:
        row = connection.execute(select(deliveries).where(deliveries.c.id == waiting_delivery.id)).one()
        rows = connection.execute(select(hooks).order_by(hooks.c.id)).all()
    assert (row.state, row.status, row.answer, row.milliseconds) == ("delivered", 200, b"ok", 3)
    assert [(row.paused_at, row.pause_reason, row.holder) for row in rows] == [(77, "because", ""), (0, "", "me")]


def test_a_cancelled_delivery_is_not_retried(database: Database) -> None:
    """A failed attempt leaves a cancelled delivery cancelled, and a successful one makes it delivered."""
    hook = make_hook(database)
    record_event(database, hook)
    record_event(database, hook)
    failed, succeeded = outbox.waiting_deliveries(database, hook, after=0, most=2)
    with database.write() as connection:
        connection.execute(update(deliveries).values(state="cancelled"))
    outbox.write_results(database, "me", [result(failed.id, "waiting"), result(succeeded.id)], now=NOW)
    with database.read() as connection:
        states = connection.execute(select(deliveries.c.state).order_by(deliveries.c.id)).scalars().all()
    assert states == ["cancelled", "delivered"]


def test_the_first_rendered_payload_is_stored_for_all(database: Database) -> None:
    """Storing a second payload of an event returns the first one and changes nothing."""
    hook = make_hook(database)
    event = record_event(database, hook)
    assert [item.id for item in outbox.events_without_payload(database, [event])] == [event]
    assert outbox.store_payloads(database, {event: "first"}) == {event: "first"}
    assert outbox.store_payloads(database, {event: "second"}) == {event: "first"}
    assert outbox.events_without_payload(database, [event]) == []
    assert outbox.waiting_deliveries(database, hook, after=0, most=1)[0].payload == "first"


def test_a_single_process_releases_every_hook(database: Database) -> None:
    """Hooks that a dead process held can be claimed after all leases are released."""
    hook = make_hook(database)
    record_event(database, hook)
    claim_hooks(database, "a dead one")
    outbox.release_all(database)
    assert claim_hooks(database) == [hook]


def test_pending_deliveries_are_counted(database: Database) -> None:
    """The size of the queue is the number of pending deliveries with the time of the oldest one."""
    hook = make_hook(database)
    assert outbox.queue_size(database) == outbox.QueueSize(0, 0)
    record_event(database, hook, at=500)
    record_event(database, hook, at=400)
    assert outbox.queue_size(database) == outbox.QueueSize(2, 400)


def test_old_deliveries_are_deleted_and_pending_ones_are_not(
    database: Database, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Ended deliveries and events without deliveries are deleted after the retention, in batches."""
    monkeypatch.setattr(outbox, "DELETE_BATCH", 2)
    hook = make_hook(database)
    old = [record_event(database, hook, at=100) for _ in range(5)]
    with database.write() as connection:
        connection.execute(insert(events), [{"kind": "push", "details": "{}", "created_at": 100}] * 3)
    late = record_event(database, hook, at=100)
    new = record_event(database, hook, at=9000)
    with database.write() as connection:
        ended = deliveries.c.event_id.in_(old[1:])
        connection.execute(update(deliveries).where(ended).values(state="delivered", ended_at=200))
        connection.execute(
            update(deliveries).where(deliveries.c.event_id == late).values(state="failed", ended_at=9000)
        )
    assert outbox.delete_old_deliveries(database, before=5000) == 4
    with database.read() as connection:
        left = connection.execute(select(events.c.id).order_by(events.c.id)).scalars().all()
        states = connection.execute(select(deliveries.c.state).order_by(deliveries.c.id)).scalars().all()
    assert left == [old[0], late, new]
    assert states == ["waiting", "failed", "waiting"]


def test_finding_due_deliveries_does_not_grow_with_the_backlog(database: Database) -> None:
    """The queries use the index of waiting deliveries and scan neither the backlog nor the history."""
    busy, idle = make_hook(database), make_hook(database)
    record_event(database, *[busy, idle] * 1500)
    with database.write() as connection:
        connection.execute(update(deliveries).values(state="delivered"))
    record_event(database, idle)
    record_event(database, *[busy] * 3000)
    assert set(claim_hooks(database)) == {busy, idle}
    dialect = "sqlite" if database.is_sqlite else "postgresql"
    explain = "EXPLAIN QUERY PLAN" if database.is_sqlite else "EXPLAIN"
    asked_for: list[tuple[Statement, dict[str, Bind]]] = [
        (outbox.DUE, {"now": NOW, "most": 5}),
        (outbox.WAITING_FOR, {"hook": busy, "after": 0, "most": 20}),
    ]
    for statement, binds in asked_for:
        with database.write() as connection:
            if not database.is_sqlite:
                connection.exec_driver_sql("ANALYZE")
            asked = f"{explain} {statement.text(dialect)}"
            plan = [row[-1] for row in connection.exec_driver_sql(asked, statement.binds(dialect, binds))]
        assert any("ix_deliveries_waiting" in step for step in plan)
        assert not any("Seq Scan on deliveries" in step or "SCAN deliveries" in step for step in plan)
        assert not any("ix_deliveries_hook_id_state_id" in step for step in plan)


def test_the_clock_of_the_database_is_used(database: Database, monkeypatch: pytest.MonkeyPatch) -> None:
    """The clock of a server on the same machine differs from ours by less than two seconds.

    If our clock is an hour late, the server is an hour ahead; SQLite has no clock of its own.
    """
    assert abs(outbox.clock_skew(database)) < 2000
    late = time.time() - 3600
    monkeypatch.setattr(time, "time", lambda: late)
    ahead = 0 if database.is_sqlite else 3_600_000
    assert abs(outbox.clock_skew(database) - ahead) < 2000
    with database.read() as connection:
        assert connection.execute(select(func.count()).select_from(hooks)).scalar_one() == 0
