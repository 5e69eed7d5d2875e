"""The deliverer: order, retries, pauses, leases and cancellation."""

import json
import socket
import threading
import time
from collections import Counter
from contextlib import ExitStack, closing
from dataclasses import replace
from typing import Any

import msgspec
import pytest
from sqlalchemy import delete, update

from holdfast.hosting.app import App
from holdfast.hosting.errors import NoSuchRepository
from holdfast.hosting.metrics import delivery_histogram
from holdfast.hosting.store import outbox as queue
from holdfast.hosting.store.events import Event
from holdfast.hosting.store.hooks import HookOwner, find_hook, resume_hook
from holdfast.hosting.store.outbox import claim_hooks
from holdfast.hosting.store.tables import deliveries, hooks
from holdfast.hosting.webhooks import deliverer as module
from holdfast.hosting.webhooks.deliverer import DelivererTimings
from tests.conftest import wait_for
from tests.hosting.webhooks.outboxes import QUICK, Outbox, sending
from tests.hosting.webhooks.receivers import OK, Receiver, Seen, answer, receiving


def numbers(receiver: Receiver) -> list[int]:
    """Return the numbers of the received events, in order."""
    return [json.loads(seen.body)["n"] for seen in receiver.seen]


def test_everything_arrives_once_and_in_order(outbox: Outbox, receiver: Receiver) -> None:
    """Each event is sent once and in order, also one recorded meanwhile, and request and answer are stored."""
    receiver.script = answer(202, b"thanks", X_Y="z")
    hook = outbox.hook(receiver.url(), secret="sealed s", authorization="sealed Bearer t")
    outbox.record_events([hook], 30)
    with sending(outbox.host) as deliverer:
        wait_for(lambda: len(receiver.seen) >= 10)
        outbox.record_events([hook], 30)
        outbox.drained()
        wait_for(lambda: outbox.one_hook(hook).holder == "")
        assert deliverer.holder
    assert numbers(receiver) == list(range(1, 61))
    assert outbox.states() == ["delivered"] * 60
    row = outbox.rows()[0]
    assert (row.tries, row.status, row.answer, row.error, row.body) == (1, 202, b"thanks", "", "")
    assert (row.method, row.url) == ("POST", receiver.url())
    assert json.loads(row.answer_headers)["X-Y"] == "z"
    sent = json.loads(row.headers)
    assert sent["X-Gitea-Delivery"] == row.uuid == receiver.seen[0].headers["x-gitea-delivery"]
    assert receiver.seen[0].headers["authorization"] == "Bearer t"
    assert sent["Authorization"] == "******"
    assert abs(row.ended_at - time.time()) < 60


def test_a_new_event_is_sent_soon(outbox: Outbox, receiver: Receiver) -> None:
    """A running deliverer finds a new event by itself and sends it."""
    hook = outbox.hook(receiver.url())
    with sending(outbox.host):
        for count in range(1, 4):
            outbox.record_events([hook])
            wait_for(lambda count=count: len(receiver.seen) == count)  # type: ignore[misc]  # mypy does not infer a lambda with a default value


def test_a_receiver_that_was_down_gets_its_deliveries_later(outbox: Outbox) -> None:
    """Deliveries wait behind the failed one, and all arrive in order when the receiver is up again."""
    with receiving() as gone:
        port = gone.port
    hook = outbox.hook(f"http://127.0.0.1:{port}/")
    outbox.record_events([hook], 5)
    with sending(outbox.host):
        outbox.tried(hook, 1)
        first, *rest = outbox.rows()
        assert (first.state, first.status, first.ended_at) == ("waiting", 0, 0)
        assert first.error == f"no connection: 127.0.0.1 port {port}: Connection refused"
        assert 8_000 < first.due_at - time.time() * 1000 < 12_000
        assert [row.tries for row in rest] == [0] * 4
        with receiving(port=port) as back:
            outbox.make_retries_due()
            outbox.drained()
            assert numbers(back) == [1, 2, 3, 4, 5]


@pytest.mark.parametrize("status", [500, 404, 300, 301, 429])
def test_a_response_that_is_not_a_success_is_retried(outbox: Outbox, receiver: Receiver, status: int) -> None:
    """A failed delivery stores the answer, waits for Retry-After and is retried before the next one."""
    receiver.script = answer(status, b"oh no", Retry_After="600")
    hook = outbox.hook(receiver.url())
    outbox.record_events([hook], 2)
    with sending(outbox.host):
        outbox.tried(hook, 1)
        first, second = outbox.rows()
        assert (first.state, first.status, first.answer) == ("waiting", status, b"oh no")
        assert first.error == f"it answered {status}"
        assert 590_000 < first.due_at - time.time() * 1000 < 610_000
        assert second.tries == 0
        receiver.script = OK
        outbox.make_retries_due()
        outbox.drained()
    assert numbers(receiver) == [1, 1, 2]
    assert len({seen.headers["x-gitea-delivery"] for seen in receiver.seen}) == 2


def test_a_hook_that_keeps_failing_is_paused_and_can_be_resumed(outbox: Outbox, receiver: Receiver) -> None:
    """A paused hook has a reason, and its later events wait until it is resumed."""
    receiver.script = answer(503)
    hook = outbox.hook(receiver.url())
    outbox.record_events([hook])
    with sending(outbox.host):
        for tries in (1, 2, 3):
            outbox.tried(hook, tries)
            outbox.make_retries_due()
        row = outbox.one_hook(hook)
        assert row.pause_reason == "a delivery failed 3 times in a row; the last time: it answered 503"
        assert abs(row.paused_at - time.time()) < 60
        outbox.record_events([hook])
        receiver.script = OK
        other = outbox.hook(receiver.url("/other"))
        outbox.record_events([other])
        wait_for(lambda: outbox.states(other) == ["delivered"])
        assert outbox.states(hook) == ["waiting", "waiting"]
        assert sum(seen.path == "/hook" for seen in receiver.seen) == 3
        owner = HookOwner("service", 0)
        resume_hook(outbox.database, owner, find_hook(outbox.database, owner, hook))
        wait_for(lambda: outbox.states(hook) == ["delivered", "delivered"])
        assert [row.tries for row in outbox.rows(hook)] == [1, 1]


def test_an_address_that_is_refused_is_final_and_the_next_delivery_goes_on(
    outbox: Outbox, receiver: Receiver
) -> None:
    """A refused or invalid URL is not retried, and the stored error has the reason."""
    hook = outbox.hook("http://10.0.0.1/hook")
    unusable = outbox.hook("nonsense")
    outbox.record_events([hook, unusable], 2)
    with sending(outbox.host):
        outbox.drained()
    assert outbox.states() == ["failed"] * 4
    first, second = outbox.rows(hook)[0], outbox.rows(unusable)[0]
    assert first.error == (
        "webhooks may not be sent to 10.0.0.1 (private); "
        "the setting webhook_allowed_hosts would allow it with private or 10.0.0.1"
    )
    assert second.error == "the address must begin with http:// or https://"
    assert outbox.one_hook(hook).paused_at == 0
    receiver.script = answer(302, Location="http://169.254.169.254/")
    redirected = outbox.hook(receiver.url())
    outbox.record_events([redirected])
    with sending(outbox.host):
        outbox.drained()
    (row,) = outbox.rows(redirected)
    assert (row.state, row.status) == ("failed", 0)
    assert "169.254.169.254 (link-local)" in row.error


@pytest.mark.long
def test_a_slow_receiver_does_not_delay_the_others(outbox: Outbox, receiver: Receiver) -> None:
    """Five other hooks get a hundred deliveries while one receiver does not answer."""

    def hang(_seen: Seen, end: socket.socket) -> bool:
        end.recv(1)
        return False

    with ExitStack() as stack:
        slow = stack.enter_context(receiving(hang))
        slow_hook = outbox.hook(slow.url())
        others = [outbox.hook(receiver.url(f"/{number}")) for number in range(5)]
        outbox.record_events([slow_hook, *others], 20)
        stack.enter_context(sending(outbox.host, timeout=5))
        began = time.monotonic()
        wait_for(lambda: len(receiver.seen) == 100)
        assert time.monotonic() - began < 5
        assert outbox.rows(slow_hook)[0].tries == 0
        outbox.tried(slow_hook, 1)
        assert "longer than 5 seconds" in outbox.rows(slow_hook)[0].error


def test_deliveries_of_each_hook_are_sent_in_order_one_at_a_time(outbox: Outbox) -> None:
    """Each of eight hooks gets its deliveries in order, and never two at the same time."""
    running: Counter[str] = Counter()
    worst: Counter[str] = Counter()

    def watch(seen: Seen, end: socket.socket) -> bool:
        running[seen.path] += 1
        worst[seen.path] = max(worst[seen.path], running[seen.path])
        time.sleep(0.002)
        running[seen.path] -= 1
        return OK(seen, end)

    with receiving(watch) as receiver:
        created_hooks = [outbox.hook(receiver.url(f"/{number}")) for number in range(8)]
        outbox.record_events(created_hooks, 25)
        with sending(outbox.host):
            outbox.drained()
        for number in range(8):
            payloads = [json.loads(seen.body)["n"] for seen in receiver.seen if seen.path == f"/{number}"]
            assert payloads == list(range(1, 26))
    assert set(worst.values()) == {1}


def test_a_deleted_or_inactive_hook_gets_no_more_deliveries(outbox: Outbox, receiver: Receiver) -> None:
    """A change during a delivery applies to the next one, as does a new URL."""
    arrived, go_on = threading.Event(), threading.Event()

    def wait(seen: Seen, end: socket.socket) -> bool:
        arrived.set()
        go_on.wait(10)
        return OK(seen, end)

    receiver.script = wait
    gone, off, moved = (outbox.hook(receiver.url(path)) for path in ("/gone", "/off", "/old"))
    with sending(outbox.host, timings=DelivererTimings(poll_interval=0.02, write_delay=0.005, batch_time=0.0)):
        for hook in (gone, off, moved):
            outbox.record_events([hook], 3)
        assert arrived.wait(10)
        wait_for(lambda: len(receiver.seen) == 3)
        with outbox.database.write() as connection:
            connection.execute(delete(hooks).where(hooks.c.id == gone))
        outbox.change(off, is_active=False)
        outbox.change(moved, url=receiver.url("/new"))
        go_on.set()
        # Those of the inactive hook still wait; the others have been sent.
        wait_for(lambda: outbox.states() == ["delivered", "waiting", "waiting", *["delivered"] * 3])
    assert Counter(seen.path for seen in receiver.seen) == {"/gone": 1, "/off": 1, "/old": 1, "/new": 2}


def test_a_delivery_cancelled_while_it_is_sent_counts_as_delivered(outbox: Outbox, receiver: Receiver) -> None:
    """A delivery that succeeds after it was cancelled is stored as delivered, as it was received."""

    def cancel(seen: Seen, end: socket.socket) -> bool:
        with outbox.database.write() as connection:
            connection.execute(update(deliveries).values(state="cancelled"))
        outbox.change(hook, is_active=False)
        return OK(seen, end)

    receiver.script = cancel
    hook = outbox.hook(receiver.url())
    outbox.record_events([hook], 2)
    with sending(outbox.host, timings=DelivererTimings(poll_interval=0.02, write_delay=0.005, batch_time=0.0)):
        wait_for(lambda: outbox.states() == ["delivered", "cancelled"])
    assert len(receiver.seen) == 1


def test_a_payload_is_rendered_once_for_all_hooks(outbox: Outbox, receiver: Receiver) -> None:
    """The payload of an event is rendered once, and all hooks get the same text."""
    described: list[int] = []

    def payload_of(_host: App, event: Event) -> str:
        described.append(event.id)
        return json.dumps({"n": event.id, "when": time.time()})

    created_hooks = [outbox.hook(receiver.url(f"/{number}")) for number in range(4)]
    outbox.record_events(created_hooks, 10)
    with sending(outbox.host, payload_of=payload_of):
        outbox.drained()
    assert len(described) == len(set(described)) == 10
    assert len({seen.body for seen in receiver.seen}) == 10


def test_a_payload_that_cannot_be_rendered_does_not_stop_the_others(outbox: Outbox, receiver: Receiver) -> None:
    """A missing subject fails the delivery, another error is retried, and other events are sent."""

    def payload_of(_host: App, event: Event) -> str:
        number = json.loads(event.details)["n"]
        if number == 1:
            raise NoSuchRepository("no repository")
        if number == 3:
            raise ZeroDivisionError
        return event.details

    hook = outbox.hook(receiver.url())
    outbox.record_events([hook], 3)
    with sending(outbox.host, payload_of=payload_of):
        wait_for(lambda: outbox.rows()[2].tries == 1)
    assert outbox.states() == ["failed", "delivered", "waiting"]
    assert outbox.rows()[0].error == "the subject of the event no longer exists: no repository"
    assert "ZeroDivisionError" in outbox.rows()[2].error


def test_chat_services_get_messages_for_supported_events_only(outbox: Outbox, receiver: Receiver) -> None:
    """A sent message is stored, and an event without a message for the type is cancelled."""
    hook = outbox.hook(receiver.url(), type="slack")
    outbox.record_events([hook])
    outbox.record_events([hook], kind="create")
    with sending(outbox.host):
        outbox.drained()
    said, unsaid = outbox.rows()
    assert (said.state, said.body) == ("delivered", 'text {"n":1}')
    assert (unsaid.state, unsaid.error) == ("cancelled", "this type of webhook has no message for it")
    assert [seen.body for seen in receiver.seen] == [b'text {"n":1}']


def test_the_end_waits_for_what_is_under_way(outbox: Outbox) -> None:
    """Stopping finishes and stores the current delivery, starts no other, and releases the hook."""

    def slowly(seen: Seen, end: socket.socket) -> bool:
        time.sleep(0.3)
        return OK(seen, end)

    with receiving(slowly) as receiver:
        hook = outbox.hook(receiver.url())
        outbox.record_events([hook], 3)
        with sending(outbox.host):
            wait_for(lambda: len(receiver.seen) == 1)
        assert outbox.states() == ["delivered", "waiting", "waiting"]
        assert len(receiver.seen) == 1
    assert outbox.one_hook(hook).holder == ""
    assert not [thread for thread in threading.enumerate() if thread.name.startswith("outbox-")]


def test_deliveries_claimed_by_a_dead_process_are_sent_again(outbox: Outbox, receiver: Receiver) -> None:
    """On SQLite, with one sending process, they are sent at once, otherwise when the lease has expired."""
    hook = outbox.hook(receiver.url())
    outbox.record_events([hook])
    now = int(time.time() * 1000)
    until = now + (3_600_000 if outbox.database.is_sqlite else 1500)
    assert claim_hooks(outbox.database, "a dead one", most=5, until=until, now=now) == [hook]
    with sending(outbox.host):
        outbox.drained()
    assert len(receiver.seen) == 1
    if not outbox.database.is_sqlite:
        assert time.time() * 1000 >= until


def test_two_deliverers_send_nothing_twice(outbox: Outbox, receiver: Receiver) -> None:
    """Two concurrent deliverers send each of 400 deliveries once."""
    created_hooks = [outbox.hook(receiver.url(f"/{number}")) for number in range(10)]
    outbox.record_events(created_hooks, 40)
    other = App.open(outbox.host.settings)
    try:
        with sending(outbox.host), sending(other):
            outbox.drained()
    finally:
        other.close()
    received = [seen.headers["x-gitea-delivery"] for seen in receiver.seen]
    assert len(received) == len(set(received)) == 400


def test_a_database_that_does_not_answer_is_waited_for(outbox: Outbox, receiver: Receiver) -> None:
    """A result is kept during an outage of the database and written afterwards, without a second request."""
    hook = outbox.hook(receiver.url())
    outbox.record_events([hook])
    broken = threading.Event()

    def breaking(seen: Seen, end: socket.socket) -> bool:
        with outbox.database.engine.begin() as connection:
            connection.exec_driver_sql("ALTER TABLE deliveries RENAME TO elsewhere")
        broken.set()
        return OK(seen, end)

    receiver.script = breaking
    with sending(outbox.host, timings=DelivererTimings(poll_interval=0.02, write_delay=0.005, retry_delay=0.05)):
        assert broken.wait(10)
        time.sleep(0.2)  # long enough for several looks at a table that is not there
        with outbox.database.engine.begin() as connection:
            connection.exec_driver_sql("ALTER TABLE elsewhere RENAME TO deliveries")
        receiver.script = OK
        outbox.drained()
    assert len(receiver.seen) == 1
    assert outbox.one_hook(hook).holder == ""


class StoppedClock:
    """Replaces the module `time` with clocks that change only when they are set."""

    def __init__(self) -> None:
        self.ahead = 0.0
        self._time, self._monotonic = time.time(), time.monotonic()

    def time(self) -> float:
        """Return the time of day."""
        return self._time + self.ahead

    def monotonic(self) -> float:
        """Return the time of the monotonic clock."""
        return self._monotonic + self.ahead


@pytest.fixture
def clock(monkeypatch: pytest.MonkeyPatch) -> StoppedClock:
    """Stop the clocks of the deliverer."""
    stopped = StoppedClock()
    monkeypatch.setattr(module, "time", stopped)
    return stopped


@pytest.fixture
def calls(monkeypatch: pytest.MonkeyPatch) -> dict[str, list[Any]]:
    """Record what the functions of the outbox return, by their names."""
    made: dict[str, list[Any]] = {}

    def record(name: str) -> None:
        function, results = getattr(queue, name), made.setdefault(name, [])

        def call(*arguments: Any, **options: Any) -> Any:
            results.append(function(*arguments, **options))
            return results[-1]

        monkeypatch.setattr(queue, name, call)

    for name in ("claim_hooks", "clock_skew", "renew_leases", "write_results"):
        record(name)
    return made


def test_a_hook_is_kept_while_a_delivery_takes_longer_than_its_lease(
    outbox: Outbox, receiver: Receiver, clock: StoppedClock, calls: dict[str, list[Any]]
) -> None:
    """The lease is renewed before it expires, and the next delivery needs no new claim."""
    go_on = threading.Event()

    def wait(seen: Seen, end: socket.socket) -> bool:
        go_on.wait(10)
        return OK(seen, end)

    receiver.script = wait
    hook = outbox.hook(receiver.url())
    outbox.record_events([hook], 2)
    with sending(outbox.host, timings=replace(QUICK, lease=0.3)) as deliverer:
        wait_for(lambda: len(receiver.seen) == 1)
        for _ in range(2):
            until = outbox.one_hook(hook).held_until
            clock.ahead += 0.2
            wait_for(lambda until=until: outbox.one_hook(hook).held_until >= until + 199)  # type: ignore[misc]  # defaults of a lambda have no type
        assert outbox.one_hook(hook).holder == deliverer.holder
        go_on.set()
        outbox.drained()
    assert numbers(receiver) == [1, 2]
    assert [claimed for claimed in calls["claim_hooks"] if claimed] == [[hook]]


def test_nothing_is_sent_when_a_lease_that_was_not_renewed_is_over(
    outbox: Outbox, receiver: Receiver, clock: StoppedClock, calls: dict[str, list[Any]]
) -> None:
    """After the lease has expired nothing more is sent, as another process may send it."""
    go_on = threading.Event()

    def wait(seen: Seen, end: socket.socket) -> bool:
        go_on.wait(10)
        return OK(seen, end)

    receiver.script = wait
    hook = outbox.hook(receiver.url())
    outbox.record_events([hook], 2)
    with sending(outbox.host, timings=replace(QUICK, lease=0.3)):
        wait_for(lambda: len(receiver.seen) == 1)
        outbox.change(hook, holder="another", held_until=int(time.time() * 1000) + 60_000)
        clock.ahead = 0.2
        calls["renew_leases"].clear()
        wait_for(lambda: len(calls["renew_leases"]) > 1)
        clock.ahead = 0.4
        go_on.set()
        wait_for(lambda: outbox.states() == ["delivered", "waiting"])
    assert calls["renew_leases"][1] == set()
    assert len(receiver.seen) == 1


def test_a_hook_that_was_released_is_not_renewed(
    outbox: Outbox, receiver: Receiver, calls: dict[str, list[Any]]
) -> None:
    """While nothing is sent no lease is renewed, and the database's clock is not read again."""
    hook = outbox.hook(receiver.url())
    outbox.record_events([hook])
    with sending(outbox.host, timings=replace(QUICK, lease=0.15)):
        outbox.drained()
        wait_for(lambda: outbox.one_hook(hook).holder == "")
        calls["renew_leases"].clear()
        time.sleep(0.15)  # long enough to renew it three times
    assert calls["renew_leases"] == []
    assert len(calls["clock_skew"]) == 1


def test_attempts_are_counted_by_outcome_with_their_duration(outbox: Outbox, receiver: Receiver) -> None:
    """The histogram of the metrics has one observation in seconds for each attempt."""
    histogram = delivery_histogram("delivered")

    def observed(name: str) -> float:
        (sample,) = [one for metric in histogram.collect() for one in metric.samples if one.name.endswith(name)]
        return float(sample.value)

    count, seconds, started = observed("_count"), observed("_sum"), time.monotonic()
    outbox.record_events([outbox.hook(receiver.url())], 3)
    with sending(outbox.host):
        wait_for(lambda: len(receiver.seen) == 3)
    assert observed("_count") - count == 3
    assert 0 <= observed("_sum") - seconds <= time.monotonic() - started


def test_results_are_collected_and_written_together(
    outbox: Outbox, receiver: Receiver, calls: dict[str, list[Any]]
) -> None:
    """Five results are written in one transaction, at the latest when the deliverer stops."""
    outbox.record_events([outbox.hook(receiver.url())], 5)
    with sending(outbox.host, timings=replace(QUICK, write_delay=60)):
        wait_for(lambda: len(receiver.seen) == 5)
    assert outbox.states() == ["delivered"] * 5
    assert len(calls["write_results"]) == 1


def test_a_hook_that_another_process_took_is_left_to_it(outbox: Outbox, receiver: Receiver) -> None:
    """The current delivery is finished, nothing more is sent, and the other process keeps the hook."""

    def take(seen: Seen, end: socket.socket) -> bool:
        outbox.change(hook, holder="another", held_until=int(time.time() * 1000) + 60_000)
        return OK(seen, end)

    receiver.script = take
    hook = outbox.hook(receiver.url())
    outbox.record_events([hook], 2)
    with sending(outbox.host, timings=replace(QUICK, batch_time=0.0)):
        wait_for(lambda: outbox.states() == ["delivered", "waiting"])
    assert len(receiver.seen) == 1
    assert outbox.one_hook(hook).holder == "another"


def test_as_many_hooks_are_told_at_once_as_the_setting_says(outbox: Outbox, calls: dict[str, list[Any]]) -> None:
    """With two senders a new hook is claimed as soon as one is finished, without waiting for the next poll."""
    all_others = threading.Event()

    def wait(seen: Seen, end: socket.socket) -> bool:
        if seen.path == "/0":
            all_others.wait(10)
        elif seen.path == "/5":
            all_others.set()
        return OK(seen, end)

    app = App.open(msgspec.structs.replace(outbox.host.settings, webhook_senders=2))
    with closing(app), receiving(wait) as receiver:
        outbox.record_events([outbox.hook(receiver.url(f"/{number}")) for number in range(6)])
        with sending(app, timings=replace(QUICK, poll_interval=60)):
            outbox.drained()
    assert [len(claimed) for claimed in calls["claim_hooks"] if claimed] == [2, 1, 1, 1, 1]


def test_an_empty_outbox_is_looked_at_once_in_each_interval(outbox: Outbox, calls: dict[str, list[Any]]) -> None:
    """An empty outbox is polled once in each interval, and stopping does not wait for the next poll."""
    with sending(outbox.host, timings=replace(QUICK, poll_interval=60)):
        wait_for(lambda: bool(calls["claim_hooks"]))
        time.sleep(0.05)  # long enough for many looks, if nothing held them up
    assert calls["claim_hooks"] == [[]]


def test_the_clock_of_the_database_says_what_is_due(outbox: Outbox, monkeypatch: pytest.MonkeyPatch) -> None:
    """The difference to the database's clock is read again while running, and decides what is due."""
    ahead = [0, 60_000]
    monkeypatch.setattr(module, "SKEW_INTERVAL", 0.0)
    monkeypatch.setattr(queue, "clock_skew", lambda _database: ahead[0] if len(ahead) == 1 else ahead.pop(0))
    hook = outbox.hook("http://10.0.0.1/hook")
    outbox.record_events([hook])
    now = int(time.time() * 1000)
    with outbox.database.write() as connection:
        connection.execute(update(deliveries).values(due_at=now + 40_000))
    with sending(outbox.host, timings=replace(QUICK, lease=0.6)):
        outbox.drained()
    assert outbox.rows()[0].ended_at > now // 1000 + 40


def test_one_try_is_all_there_is_when_the_setting_says_so(outbox: Outbox, receiver: Receiver) -> None:
    """With one attempt allowed a hook is paused after the first failure, with that reason."""
    receiver.script = answer(503)
    hook = outbox.hook(receiver.url())
    outbox.record_events([hook])
    app = App.open(msgspec.structs.replace(outbox.host.settings, webhook_tries=1))
    with closing(app), sending(app):
        wait_for(lambda: bool(outbox.one_hook(hook).paused_at))
    assert outbox.one_hook(hook).pause_reason == "a delivery failed 1 time; the last time: it answered 503"


def test_an_unexpected_error_is_tried_again(outbox: Outbox, receiver: Receiver) -> None:
    """The stored error names the exception, and other hooks get their deliveries."""

    def fail(*_arguments: object) -> None:
        raise ZeroDivisionError

    broken, sound = outbox.hook(receiver.url(), type="slack"), outbox.hook(receiver.url())
    outbox.record_events([broken, sound])
    with sending(outbox.host, message_of=fail):
        outbox.tried(broken, 1)
        wait_for(lambda: outbox.states(sound) == ["delivered"])
    (row,) = outbox.rows(broken)
    assert row.error == "something is wrong here (ZeroDivisionError); the log says what"
    assert row.state == "waiting"
