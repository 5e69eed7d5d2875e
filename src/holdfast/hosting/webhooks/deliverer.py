"""The outbox worker: sends deliveries in order for each hook, many hooks concurrently.

A hook is leased to one process at a time. Each leased hook has a task that sends one delivery after the other and
stops at the first that fails, which is retried with backoff. Tasks wait neither for each other nor for the
database: results are written in batches. Delivery is at least once: a process that dies may have sent deliveries
whose results it did not record.
"""

import asyncio
import functools
import os
import secrets
import socket
import time
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from typing import Any, Final, TypeVar

import structlog

from holdfast.hosting import metrics, traces
from holdfast.hosting.app import App
from holdfast.hosting.errors import DeliveryFailed, DeliveryHopeless, DoesNotExist, HostingError
from holdfast.hosting.store import outbox
from holdfast.hosting.store.events import Event
from holdfast.hosting.store.faults import is_outage
from holdfast.hosting.store.outbox import LeasedHook, Pause, Result, WaitingDelivery
from holdfast.hosting.webhooks.client import WebhookClient
from holdfast.hosting.webhooks.process_lock import DeliveryLock
from holdfast.hosting.webhooks.requests import DeliveryAttempt, MessageOf, build_request

__all__ = ["Deliverer", "DelivererTimings", "PayloadOf"]

T = TypeVar("T")
PayloadOf = Callable[[App, Event], str]
log = structlog.get_logger(__name__)

BATCH_SIZE: Final = 20
SKEW_INTERVAL: Final = 300.0
MAX_OPENED_SECRETS: Final = 256


@dataclass(frozen=True, slots=True)
class DelivererTimings:
    """Intervals that are not settings, in seconds."""

    poll_interval: float = 0.25
    """The polling interval of the outbox."""
    write_delay: float = 0.04
    """How long results are collected before they are written in one transaction."""
    lease: float = 15.0
    """How long a hook is leased; when a process dies, another one takes over its hooks after that."""
    batch_time: float = 2.0
    """How long a batch is used before the hook is read again."""
    retry_delay: float = 1.0
    """How long to wait before a failed database operation is retried."""


@dataclass(frozen=True, slots=True)
class DeliveryBatch:
    """The next deliveries of a hook; an event whose payload cannot be rendered has an error instead."""

    held: LeasedHook
    waiting: list[WaitingDelivery]
    problems: dict[int, HostingError]

    def payload(self, delivery: WaitingDelivery) -> str:
        """Return the payload of a delivery, or raise the error of its rendering."""
        if delivery.event_id in self.problems:
            raise self.problems[delivery.event_id]
        return delivery.payload


class Deliverer:
    """Sends deliveries until it is stopped; bound to one event loop."""

    def __init__(
        self,
        app: App,
        client: WebhookClient,
        *,
        payload_of: PayloadOf,
        message_of: MessageOf,
        open_secret: Callable[[str], str],
        timings: DelivererTimings | None = None,
    ) -> None:
        self._app = app
        self._database = app.database
        self._client = client
        self._payload_of = payload_of
        self._message_of = message_of
        # A cache of decrypted secrets: decryption takes a tenth of a delivery's time, and each delivery needs
        # them.
        self._open_secret = functools.lru_cache(maxsize=MAX_OPENED_SECRETS)(open_secret)
        self._timings = timings or DelivererTimings()
        self._concurrency = app.settings.webhook_senders
        self._tries = app.settings.webhook_tries
        self.holder = f"{socket.gethostname()} {os.getpid()} {secrets.token_hex(8)}"
        self._skew = 0
        # Expiry of the leases of our hooks, in monotonic time.
        self._leases: dict[int, float] = {}
        self._tasks: set[asyncio.Task[None]] = set()
        self._results: list[Result] = []
        self._pauses: list[Pause] = []
        self._released: list[int] = []
        self._reading = ThreadPoolExecutor(1, thread_name_prefix="outbox-reads")
        self._writing = ThreadPoolExecutor(1, thread_name_prefix="outbox-writes")
        self._wake = asyncio.Event()
        self._unwritten = asyncio.Event()
        self._stopping = asyncio.Event()

    def stop(self) -> None:
        """Finish the requests in flight and start no more; must be called in the thread of the event loop."""
        self._stopping.set()
        self._wake.set()

    async def run(self) -> None:
        """Send until stopped, and return when all results are written."""
        try:
            # On SQLite there is one machine: the holder of the lock knows that no other process holds a lease.
            with DeliveryLock(self._app.settings.data, needed=self._database.is_sqlite) as lock:
                while not lock.acquire() and not self._stopping.is_set():
                    await self._sleep(self._timings.retry_delay)
                if not self._stopping.is_set():
                    await self._drain()
        finally:
            await self._client.close()
            self._reading.shutdown()
            self._writing.shutdown()

    async def _drain(self) -> None:
        await self._guarded(self._start)
        background = [asyncio.create_task(self._renew_leases()), asyncio.create_task(self._write_results())]
        try:
            while not self._stopping.is_set():
                # Cleared before polling, so that work added later wakes the loop again.
                self._wake.clear()
                started = await self._guarded(self._claim_hooks) or 0
                if not started or len(self._tasks) >= self._concurrency:
                    await self._sleep(self._timings.poll_interval)
            if self._tasks:
                await asyncio.wait(self._tasks)
        finally:
            for task in background:
                task.cancel()
            await asyncio.gather(*background, return_exceptions=True)
            await self._guarded(self._write_once)

    async def _start(self) -> None:
        if self._database.is_sqlite:
            await self._in_write_thread(outbox.release_all, self._database)
        self._skew = await self._in_write_thread(outbox.clock_skew, self._database)

    async def _guarded(self, work: Callable[[], Any]) -> Any:
        """Run a database operation; log its failure and wait, so that the caller's loop can retry it."""
        try:
            return await work()
        except Exception as error:
            if is_outage(error):
                log.warning("webhook deliveries suspended: database unavailable", error=type(error).__name__)
            else:
                log.exception("webhook deliveries suspended: unexpected error")
        await self._sleep(self._timings.retry_delay, wakes=False)
        return None

    async def _sleep(self, seconds: float, *, wakes: bool = True) -> None:
        """Sleep, or wake up early when there is work or the deliverer is stopped."""
        event = self._wake if wakes else self._stopping
        try:
            async with asyncio.timeout(seconds):
                await event.wait()
        except TimeoutError:
            pass

    def _now(self) -> int:
        """Return the database's time in milliseconds."""
        return int(time.time() * 1000) + self._skew

    async def _claim_hooks(self) -> int:
        """Lease hooks with due deliveries, up to the concurrency limit, and start a task for each."""
        room = self._concurrency - len(self._tasks)
        if room <= 0:
            return 0
        now, expires = self._now(), time.monotonic() + self._timings.lease
        until = now + int(self._timings.lease * 1000)
        claimed = await self._in_write_thread(
            lambda: outbox.claim_hooks(self._database, self.holder, most=room, until=until, now=now)
        )
        for hook in claimed:
            self._leases[hook] = expires
            task = asyncio.create_task(self._send_to_hook(hook))
            self._tasks.add(task)
            task.add_done_callback(self._task_done)
        return len(claimed)

    def _task_done(self, task: "asyncio.Task[None]") -> None:
        self._tasks.discard(task)
        if len(self._tasks) + 1 >= self._concurrency:
            self._wake.set()

    async def _send_to_hook(self, hook: int) -> None:
        """Send to one hook until its outbox is empty, a delivery fails, or the lease is lost."""
        last = 0
        try:
            while not self._stopping.is_set():
                batch = await self._in_read_thread(self._read_batch, hook, last)
                if batch is None or not batch.waiting:
                    break
                batch_until = time.monotonic() + self._timings.batch_time
                for delivery in batch.waiting:
                    if delivery.due_at > self._now() or not await self._deliver(batch, delivery):
                        return
                    last = delivery.id
                    if self._stopping.is_set() or time.monotonic() >= batch_until:
                        break
        except Exception as error:
            if is_outage(error):
                log.warning(
                    "webhook delivery postponed: database unavailable", hook=hook, error=type(error).__name__
                )
            else:
                log.exception("webhook delivery postponed: unexpected error", hook=hook)
            await self._sleep(self._timings.retry_delay, wakes=False)
        finally:
            self._released.append(hook)
            self._unwritten.set()

    def _read_batch(self, hook: int, after: int) -> DeliveryBatch | None:
        """Read the next batch of a hook and render payloads that are missing; runs in a thread."""
        held = outbox.leased_hook(self._database, self.holder, hook, now=self._now())
        if held is None:
            return None
        waiting = outbox.waiting_deliveries(self._database, hook, after=after, most=BATCH_SIZE)
        missing = list({delivery.event_id for delivery in waiting if not delivery.payload})
        if not missing:
            return DeliveryBatch(held, waiting, {})
        rendered: dict[int, str] = {}
        problems: dict[int, HostingError] = {}
        for event in outbox.events_without_payload(self._database, missing):
            try:
                rendered[event.id] = self._payload_of(self._app, event)
            except DoesNotExist as error:
                problems[event.id] = DeliveryHopeless(f"the subject of the event no longer exists: {error}")
            except Exception as error:
                if is_outage(error):
                    raise
                log.exception("event payload rendering failed", event_id=event.id)
                problems[event.id] = DeliveryFailed(
                    f"the payload cannot be rendered ({type(error).__name__}); see the log"
                )
        if rendered:
            outbox.store_payloads(self._database, rendered)
        return DeliveryBatch(
            held, outbox.waiting_deliveries(self._database, hook, after=after, most=len(waiting)), problems
        )

    async def _deliver(self, batch: DeliveryBatch, delivery: WaitingDelivery) -> bool:
        """Attempt a delivery, record the result, and return whether the next one may be sent."""
        if time.monotonic() >= self._leases.get(batch.held.hook.id, 0.0):
            return False
        attempt = DeliveryAttempt(batch.held, delivery, time.monotonic())
        with traces.start_delivery(batch.held.hook.id, delivery.id) as span:
            may_continue = await self._attempt(batch, attempt)
            span.set("holdfast.outcome", attempt.outcome)
            if attempt.answer is not None:
                span.set("http.response.status_code", attempt.answer.status)
        return may_continue

    async def _attempt(self, batch: DeliveryBatch, attempt: DeliveryAttempt) -> bool:
        waiting_delivery = attempt.one
        try:
            attempt.outgoing = build_request(
                batch.held, waiting_delivery, batch.payload(waiting_delivery), self._open_secret, self._message_of
            )
            if attempt.outgoing is None:
                return self._finish(attempt, "cancelled", "this type of webhook has no message for it")
            attempt.answer = await self._client.send(attempt.outgoing)
        except DeliveryHopeless as error:
            return self._finish(attempt, "failed", str(error))
        except HostingError as error:
            return self._schedule_retry(attempt, str(error))
        except Exception as error:
            log.exception("webhook delivery failed", delivery=waiting_delivery.id)
            return self._schedule_retry(
                attempt, f"something is wrong here ({type(error).__name__}); the log says what"
            )
        if not 200 <= attempt.answer.status < 300:
            return self._schedule_retry(attempt, f"it answered {attempt.answer.status}")
        self._record(attempt, attempt.succeeded(self._now()), "delivered")
        return True

    def _finish(self, attempt: DeliveryAttempt, state: str, error: str) -> bool:
        """Record that a delivery will not be retried; the next one may be sent."""
        log.info("webhook delivery ended", hook=attempt.held.hook.id, delivery=attempt.one.id, state=state)
        self._record(attempt, attempt.ended(self._now(), state, error), state)
        return True

    def _schedule_retry(self, attempt: DeliveryAttempt, error: str) -> bool:
        """Record a failed attempt and schedule its retry; after the last one, pause the hook."""
        hook, tries = attempt.held.hook.id, attempt.one.tries + 1
        now = self._now()
        if tries >= self._tries:
            times = "time" if tries == 1 else "times in a row"
            self._pauses.append(
                Pause(hook, f"a delivery failed {tries} {times}; the last time: {error}", now // 1000)
            )
            log.warning("webhook paused", hook=hook, tries=tries)
        else:
            log.info(
                "webhook delivery failed",
                hook=hook,
                delivery=attempt.one.id,
                tries=tries,
                status=0 if attempt.answer is None else attempt.answer.status,
            )
        self._record(attempt, attempt.again(now, error), "retried")
        return False

    def _record(self, attempt: DeliveryAttempt, result: Result, outcome: str) -> None:
        attempt.outcome = outcome
        metrics.count_delivery(outcome, result.milliseconds / 1000)
        self._results.append(result)
        self._unwritten.set()

    async def _write_results(self) -> None:
        """Write results in batches until stopped."""
        while True:
            await self._unwritten.wait()
            await asyncio.sleep(self._timings.write_delay)
            await self._guarded(self._write_once)

    async def _write_once(self) -> None:
        """Write all results collected so far; on failure they stay collected."""
        self._unwritten.clear()
        results, pauses, released = self._results, self._pauses, self._released
        if not (results or pauses or released):
            return
        self._results, self._pauses, self._released = [], [], []
        now = self._now()
        # Before the leases are released: this process may be the next to claim them.
        expires = {hook: self._leases.pop(hook) for hook in released if hook in self._leases}
        try:
            # Shielded from cancellation: results handed to the thread would be lost.
            await asyncio.shield(
                self._in_write_thread(
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
            self._leases |= expires
            self._unwritten.set()
            raise

    async def _renew_leases(self) -> None:
        """Renew the leases of our hooks, three times per lease duration."""
        checked = time.monotonic()
        while True:
            await asyncio.sleep(self._timings.lease / 3)
            await self._guarded(self._renew_once)
            if time.monotonic() - checked > SKEW_INTERVAL:
                checked = time.monotonic()
                await self._guarded(self._measure_skew)

    async def _measure_skew(self) -> None:
        self._skew = await self._in_write_thread(outbox.clock_skew, self._database)

    async def _renew_once(self) -> None:
        hook_ids = list(self._leases)
        if not hook_ids:
            return
        now, expires = self._now(), time.monotonic() + self._timings.lease
        until = now + int(self._timings.lease * 1000)
        still = await self._in_write_thread(
            lambda: outbox.renew_leases(self._database, self.holder, hook_ids, until=until, now=now)
        )
        for hook in hook_ids:
            if hook in still and hook in self._leases:
                self._leases[hook] = expires

    async def _in_read_thread(self, work: Callable[..., T], *arguments: Any) -> T:
        return await asyncio.get_running_loop().run_in_executor(self._reading, work, *arguments)

    async def _in_write_thread(self, work: Callable[..., T], *arguments: Any) -> T:
        return await asyncio.get_running_loop().run_in_executor(self._writing, work, *arguments)
