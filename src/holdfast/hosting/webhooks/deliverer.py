"""Drains the outbox: sends what waits, in order for each hook, many hooks side by side.

For each hook there is a lane, which sends one delivery after the other and stops at the first that fails. A lane
never waits for another, nor for the database to write down what it found out: that is gathered and written for
many at once. So a process that dies may send again what it sent in its last moments, and loses nothing.
"""

import asyncio
import os
import secrets
import socket
import time
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from typing import Any, Final, TypeVar

import structlog

from holdfast.hosting import metrics
from holdfast.hosting.app import App
from holdfast.hosting.errors import DeliveryFailed, DeliveryHopeless, HostingError, Missing
from holdfast.hosting.store import outbox
from holdfast.hosting.store.events import Event
from holdfast.hosting.store.faults import is_outage
from holdfast.hosting.store.outbox import Held, Pause, Result, Waiting
from holdfast.hosting.webhooks.client import WebhookClient
from holdfast.hosting.webhooks.process_lock import OnlyOne
from holdfast.hosting.webhooks.requests import MessageOf, Try, compose

__all__ = ["Deliverer", "Pace", "PayloadOf"]

T = TypeVar("T")
PayloadOf = Callable[[App, Event], str]
log = structlog.get_logger(__name__)

TAKEN_AT_ONCE: Final = 20
SKEW_SECONDS: Final = 300.0


@dataclass(frozen=True, slots=True)
class Pace:
    """How long things take that nobody sets: seconds."""

    idle: float = 0.25
    """Between two looks at the outbox when nothing says that there is something in it."""
    gather: float = 0.04
    """How long results are gathered before they are written."""
    hold: float = 15.0
    """How long after a process has died another one takes over its hooks."""
    fresh: float = 2.0
    """How long after its hook was last looked at a delivery may still be sent."""
    trouble: float = 1.0
    """How long to wait when the database does not answer."""


@dataclass(frozen=True, slots=True)
class DeliveryBatch:
    """What a lane sends next; an event that cannot be described has a problem instead of a payload."""

    held: Held
    waiting: list[Waiting]
    problems: dict[int, HostingError]

    def payload(self, one: Waiting) -> str:
        """Return what is sent of a delivery's event, or raise what keeps it from being told."""
        if one.event_id in self.problems:
            raise self.problems[one.event_id]
        return one.payload


class Deliverer:
    """Sends what waits until it is told to stop; belongs to one event loop."""

    def __init__(
        self,
        app: App,
        client: WebhookClient,
        *,
        payload_of: PayloadOf,
        message_of: MessageOf,
        open_secret: Callable[[str], str],
        pace: Pace | None = None,
    ) -> None:
        self._host = app
        self._database = app.database
        self._client = client
        self._payload_of = payload_of
        self._message_of = message_of
        self._open_secret = open_secret
        self._pace = pace or Pace()
        self._most = app.settings.webhook_senders
        self._tries = app.settings.webhook_tries
        self.holder = f"{socket.gethostname()} {os.getpid()} {secrets.token_hex(8)}"
        self._skew = 0
        # Until when each hook we hold is surely nobody else's, by the clock that only goes forward.
        self._sure: dict[int, float] = {}
        self._lanes: set[asyncio.Task[None]] = set()
        self._results: list[Result] = []
        self._pauses: list[Pause] = []
        self._released: list[int] = []
        self._reading = ThreadPoolExecutor(1, thread_name_prefix="outbox-reads")
        self._writing = ThreadPoolExecutor(1, thread_name_prefix="outbox-writes")
        self._wake = asyncio.Event()
        self._something = asyncio.Event()
        self._stopping = asyncio.Event()

    def stop(self) -> None:
        """Finish what is under way and begin nothing more; to be called in the loop's own thread."""
        self._stopping.set()
        self._wake.set()

    async def run(self) -> None:
        """Send until told to stop, and end when everything is written."""
        try:
            # On SQLite everybody is on one machine: who has the lock knows that all others are gone.
            with OnlyOne(self._host.settings.data, needed=self._database.is_sqlite) as alone:
                while not alone.taken() and not self._stopping.is_set():
                    await self._rest(self._pace.trouble)
                if not self._stopping.is_set():
                    await self._send_all()
        finally:
            await self._client.close()
            self._reading.shutdown()
            self._writing.shutdown()

    async def _send_all(self) -> None:
        await self._surely(self._begin)
        helpers = [asyncio.create_task(self._keep_hold()), asyncio.create_task(self._keep_writing())]
        try:
            while not self._stopping.is_set():
                # Cleared before looking: what comes after the look wakes us again.
                self._wake.clear()
                begun = await self._surely(self._open_lanes) or 0
                if not begun or len(self._lanes) >= self._most:
                    await self._rest(self._pace.idle)
            if self._lanes:
                await asyncio.wait(self._lanes)
        finally:
            for helper in helpers:
                helper.cancel()
            await asyncio.gather(*helpers, return_exceptions=True)
            await self._surely(self._write)

    async def _begin(self) -> None:
        if self._database.is_sqlite:
            await self._write_with(outbox.free_all, self._database)
        self._skew = await self._write_with(outbox.clock_skew, self._database)

    async def _surely(self, work: Callable[[], Any]) -> Any:
        """Do something; when the database does not answer, say so and go on a little later."""
        try:
            return await work()
        except Exception as error:
            if is_outage(error):
                log.warning("deliveries wait: the database does not answer", error=type(error).__name__)
            else:
                log.exception("deliveries wait: something is wrong")
        await self._rest(self._pace.trouble, wakes=False)
        return None

    async def _rest(self, seconds: float, *, wakes: bool = True) -> None:
        """Wait a while, or until something is to be done."""
        event = self._wake if wakes else self._stopping
        try:
            async with asyncio.timeout(seconds):
                await event.wait()
        except TimeoutError:
            pass

    def _now(self) -> int:
        """Return the time in milliseconds, by the database's clock."""
        return int(time.time() * 1000) + self._skew

    async def _open_lanes(self) -> int:
        """Take hold of hooks that have something due, and begin to send to them."""
        room = self._most - len(self._lanes)
        if room <= 0:
            return 0
        now, sure = self._now(), time.monotonic() + self._pace.hold
        until = now + int(self._pace.hold * 1000)
        claimed = await self._write_with(
            lambda: outbox.claim(self._database, self.holder, most=room, until=until, now=now)
        )
        for hook in claimed:
            self._sure[hook] = sure
            lane = asyncio.create_task(self._lane(hook))
            self._lanes.add(lane)
            lane.add_done_callback(self._lane_ended)
        return len(claimed)

    def _lane_ended(self, lane: "asyncio.Task[None]") -> None:
        self._lanes.discard(lane)
        if len(self._lanes) + 1 >= self._most:
            self._wake.set()

    async def _lane(self, hook: int) -> None:
        """Send to one hook until nothing is left, something fails, or it is no longer ours."""
        last = 0
        try:
            while not self._stopping.is_set():
                batch = await self._read_with(self._take, hook, last)
                if batch is None or not batch.waiting:
                    break
                fresh_until = time.monotonic() + self._pace.fresh
                for one in batch.waiting:
                    if one.due_at > self._now() or not await self._deliver(batch, one):
                        return
                    last = one.id
                    if self._stopping.is_set() or time.monotonic() >= fresh_until:
                        break
        except Exception as error:
            if is_outage(error):
                log.warning(
                    "a delivery waits: the database does not answer", hook=hook, error=type(error).__name__
                )
            else:
                log.exception("a delivery waits: something is wrong", hook=hook)
            await self._rest(self._pace.trouble, wakes=False)
        finally:
            self._released.append(hook)
            self._something.set()

    def _take(self, hook: int, after: int) -> DeliveryBatch | None:
        """Read what a hook is to be sent next, and make what has not been made; runs in a thread."""
        held = outbox.held(self._database, self.holder, hook, now=self._now())
        if held is None:
            return None
        waiting = outbox.waiting_for(self._database, hook, after=after, most=TAKEN_AT_ONCE)
        missing = list({one.event_id for one in waiting if not one.payload})
        if not missing:
            return DeliveryBatch(held, waiting, {})
        made: dict[int, str] = {}
        problems: dict[int, HostingError] = {}
        for event in outbox.unmade(self._database, missing):
            try:
                made[event.id] = self._payload_of(self._host, event)
            except Missing as error:
                problems[event.id] = DeliveryHopeless(f"what it tells of is gone: {error}")
            except Exception as error:
                if is_outage(error):
                    raise
                log.exception("an event cannot be described", event_id=event.id)
                problems[event.id] = DeliveryFailed(
                    f"it cannot be described ({type(error).__name__}); see the log"
                )
        if made:
            outbox.keep_payloads(self._database, made)
        return DeliveryBatch(
            held, outbox.waiting_for(self._database, hook, after=after, most=len(waiting)), problems
        )

    async def _deliver(self, batch: DeliveryBatch, one: Waiting) -> bool:
        """Try to deliver, note what came of it, and tell whether the next one may go."""
        if time.monotonic() >= self._sure.get(batch.held.hook.id, 0.0):
            return False
        attempt = Try(batch.held, one, time.monotonic())
        try:
            attempt.outgoing = compose(batch.held, one, batch.payload(one), self._open_secret, self._message_of)
            if attempt.outgoing is None:
                return self._over(attempt, "cancelled", "this type of webhook has no message for it")
            attempt.answer = await self._client.send(attempt.outgoing)
        except DeliveryHopeless as error:
            return self._over(attempt, "failed", str(error))
        except HostingError as error:
            return self._failed(attempt, str(error))
        except Exception as error:
            log.exception("a delivery failed", delivery=one.id)
            return self._failed(attempt, f"something is wrong here ({type(error).__name__}); the log says what")
        if not 200 <= attempt.answer.status < 300:
            return self._failed(attempt, f"it answered {attempt.answer.status}")
        self._note(attempt.succeeded(self._now()), "delivered")
        return True

    def _over(self, attempt: Try, state: str, error: str) -> bool:
        """Note that a delivery ends without having been made; the next one may go."""
        log.info("a delivery ended", hook=attempt.held.hook.id, delivery=attempt.one.id, state=state)
        self._note(attempt.ended(self._now(), state, error), state)
        return True

    def _failed(self, attempt: Try, error: str) -> bool:
        """Note that a delivery is to be tried again; when it has been tried often enough, pause the hook."""
        hook, tries = attempt.held.hook.id, attempt.one.tries + 1
        now = self._now()
        if tries >= self._tries:
            times = "time" if tries == 1 else "times in a row"
            self._pauses.append(
                Pause(hook, f"a delivery failed {tries} {times}; the last time: {error}", now // 1000)
            )
            log.warning("a webhook is paused", hook=hook, tries=tries)
        else:
            status = 0 if attempt.answer is None else attempt.answer.status
            log.info("a delivery failed", hook=hook, delivery=attempt.one.id, tries=tries, status=status)
        self._note(attempt.again(now, error), "retried")
        return False

    def _note(self, result: Result, outcome: str) -> None:
        metrics.count_delivery(outcome, result.milliseconds / 1000)
        self._results.append(result)
        self._something.set()

    async def _keep_writing(self) -> None:
        """Write what lanes found out, a moment after there is something."""
        while True:
            await self._something.wait()
            await asyncio.sleep(self._pace.gather)
            await self._surely(self._write)

    async def _write(self) -> None:
        """Write everything gathered so far; on failure it stays gathered."""
        self._something.clear()
        results, pauses, released = self._results, self._pauses, self._released
        if not (results or pauses or released):
            return
        self._results, self._pauses, self._released = [], [], []
        now = self._now()
        # Before they are let go of: the next one to hold them may be we.
        sure = {hook: self._sure.pop(hook) for hook in released if hook in self._sure}
        try:
            # Not to be cut off half-way: what was given to the thread would be forgotten here.
            await asyncio.shield(
                self._write_with(
                    lambda: outbox.write_results(
                        self._database, self.holder, results, pauses=pauses, released=released, now=now
                    )
                )
            )
        except asyncio.CancelledError:
            raise
        except Exception:
            self._results = results + self._results
            self._pauses = pauses + self._pauses
            self._released = released + self._released
            self._sure |= sure
            self._something.set()
            raise

    async def _keep_hold(self) -> None:
        """Say again and again which hooks are ours."""
        checked = time.monotonic()
        while True:
            await asyncio.sleep(self._pace.hold / 3)
            await self._surely(self._renew)
            if time.monotonic() - checked > SKEW_SECONDS:
                checked = time.monotonic()
                await self._surely(self._look_at_clock)

    async def _look_at_clock(self) -> None:
        self._skew = await self._write_with(outbox.clock_skew, self._database)

    async def _renew(self) -> None:
        mine = list(self._sure)
        if not mine:
            return
        now, sure = self._now(), time.monotonic() + self._pace.hold
        until = now + int(self._pace.hold * 1000)
        still = await self._write_with(
            lambda: outbox.renew(self._database, self.holder, mine, until=until, now=now)
        )
        for hook in mine:
            if hook in still and hook in self._sure:
                self._sure[hook] = sure

    async def _read_with(self, work: Callable[..., T], *arguments: Any) -> T:
        return await asyncio.get_running_loop().run_in_executor(self._reading, work, *arguments)

    async def _write_with(self, work: Callable[..., T], *arguments: Any) -> T:
        return await asyncio.get_running_loop().run_in_executor(self._writing, work, *arguments)
