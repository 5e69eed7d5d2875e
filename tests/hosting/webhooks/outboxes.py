"""An outbox for delivery tests: webhooks, recorded events and a running deliverer."""

import asyncio
import threading
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from typing import Any

import msgspec
import uvloop
from sqlalchemy import func, insert, select, update

from holdfast.hosting.app import App
from holdfast.hosting.store import deliveries as queued
from holdfast.hosting.store.events import Event
from holdfast.hosting.store.hooks import Hook
from holdfast.hosting.store.tables import deliveries, events, hooks
from holdfast.hosting.webhooks.addresses import AllowedHosts
from holdfast.hosting.webhooks.client import WebhookClient
from holdfast.hosting.webhooks.deliverer import Deliverer, DelivererTimings, PayloadOf
from holdfast.hosting.webhooks.requests import MessageOf
from holdfast.hosting.webhooks.webhook_request import WebhookRequest
from tests.conftest import wait_for

__all__ = ["QUICK", "Outbox", "plain_message", "plain_payload", "sending"]

QUICK = DelivererTimings(poll_interval=0.02, write_delay=0.005, retry_delay=0.05)


def plain_payload(_host: App, event: Event) -> str:
    """Render an event as its details."""
    return event.details


def plain_message(
    hook: Hook, kind: str, payload: str, uuid: str, open_secret: Callable[[str], str]
) -> WebhookRequest | None:
    """Render a chat message of pushes only."""
    del uuid, open_secret
    return (
        WebhookRequest("POST", hook.url, {"X-Kind": kind}, f"text {payload}".encode()) if kind == "push" else None
    )


class Outbox:
    """The outbox of a host."""

    def __init__(self, app: App) -> None:
        self.host = app
        self.database = app.database
        self._made = 0

    def hook(self, url: str, **columns: object) -> int:
        """Make an active hook of the whole service."""
        row: dict[str, object] = {
            "scope": "system",
            "url": url,
            "type": "gitea",
            "content_type": "json",
            "events": "push",
            "is_active": True,
        }
        with self.database.write() as connection:
            made: int = connection.execute(insert(hooks).returning(hooks.c.id), {**row, **columns}).scalar_one()
        return made

    def record_events(self, to: Sequence[int], times: int = 1, *, kind: str = "push") -> None:
        """Record events in one transaction, and queue their deliveries for hooks."""
        now = int(time.time())
        with self.database.write() as connection:
            for _ in range(times):
                self._made += 1
                row = {"kind": kind, "details": msgspec.json.encode({"n": self._made}).decode(), "created_at": now}
                number = connection.execute(insert(events).returning(events.c.id), row).scalar_one()
                queued.queue_for_hooks(connection, list(to), number, kind, now=now)

    def rows(self, hook: int | None = None) -> list[Any]:
        """Return the deliveries, in their order."""
        chosen = select(deliveries).order_by(deliveries.c.id)
        with self.database.read() as connection:
            return list(connection.execute(chosen if hook is None else chosen.where(deliveries.c.hook_id == hook)))

    def states(self, hook: int | None = None) -> list[str]:
        """Return the states of the deliveries."""
        return [row.state for row in self.rows(hook)]

    def waiting(self) -> int:
        """Count the waiting deliveries."""
        with self.database.read() as connection:
            chosen = select(func.count()).select_from(deliveries).where(deliveries.c.state == "waiting")
            return connection.execute(chosen).scalar_one()

    def drained(self, seconds: float = 20) -> None:
        """Wait until no delivery is waiting."""
        wait_for(lambda: self.waiting() == 0, seconds)

    def one_hook(self, hook: int) -> Any:
        """Return a hook's row."""
        with self.database.read() as connection:
            return connection.execute(select(hooks).where(hooks.c.id == hook)).one()

    def change(self, hook: int, **columns: object) -> None:
        """Change a hook's row."""
        with self.database.write() as connection:
            connection.execute(update(hooks).where(hooks.c.id == hook).values(**columns))

    def tried(self, hook: int, times: int) -> None:
        """Wait until the first delivery of a hook has a number of attempts and the hook is released."""
        wait_for(lambda: self.rows(hook)[0].tries == times and self.one_hook(hook).holder == "")

    def make_retries_due(self) -> None:
        """Make the next tries due."""
        with self.database.write() as connection:
            connection.execute(update(deliveries).where(deliveries.c.state == "waiting").values(due_at=0))


@contextmanager
def sending(
    app: App,
    *,
    timings: DelivererTimings = QUICK,
    payload_of: PayloadOf = plain_payload,
    message_of: MessageOf = plain_message,
    timeout: float = 5,
    allowed: str = "loopback",
) -> Iterator[Deliverer]:
    """Run a deliverer in a thread until the test is over, as the service does."""
    ready = threading.Event()
    made: list[Deliverer] = []
    loops: list[Any] = []

    async def run() -> None:
        deliverer = Deliverer(
            app,
            WebhookClient(AllowedHosts.parse(allowed), timeout=timeout),
            payload_of=payload_of,
            message_of=message_of,
            open_secret=lambda text: text.removeprefix("sealed "),
            timings=timings,
        )
        made.append(deliverer)
        loops.append(asyncio.get_running_loop())
        ready.set()
        await deliverer.run()

    thread = threading.Thread(target=lambda: uvloop.run(run()))
    thread.start()
    assert ready.wait(10)
    try:
        yield made[0]
    finally:
        if thread.is_alive():
            loops[0].call_soon_threadsafe(made[0].stop)
        thread.join(30)
        assert not thread.is_alive()
