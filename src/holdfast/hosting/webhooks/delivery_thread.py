"""Creates the deliverer from the settings, and runs it in a thread if there is no delivery process."""

import asyncio
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress

import structlog
import uvloop

from holdfast.hosting.app import App
from holdfast.hosting.webhooks.addresses import AllowedHosts
from holdfast.hosting.webhooks.chat import message_of
from holdfast.hosting.webhooks.client import WebhookClient, proxy_for
from holdfast.hosting.webhooks.deliverer import Deliverer
from holdfast.hosting.webhooks.payloads import payload_of
from holdfast.settings import Settings

__all__ = ["deliver", "delivering", "new_client", "new_deliverer"]

log = structlog.get_logger(__name__)


def new_client(settings: Settings) -> WebhookClient:
    """Create the client from the settings."""
    proxy = settings.webhook_proxy_url
    return WebhookClient(
        AllowedHosts.parse(settings.webhook_allowed_hosts),
        timeout=settings.webhook_timeout,
        verify_tls=settings.webhook_verify_tls,
        proxy=None if proxy is None else proxy_for(proxy.reveal(), settings.webhook_proxy_hosts),
        resolver_threads=settings.webhook_senders,
    )


def new_deliverer(app: App) -> Deliverer:
    """Create a deliverer for the running event loop."""
    return Deliverer(
        app,
        new_client(app.settings),
        payload_of=payload_of,
        message_of=message_of,
        open_secret=app.cipher.decrypt,
    )


def deliver(app: App, on_started: Callable[[Deliverer], None]) -> None:
    """Run a deliverer until it is stopped; `on_started` is called with it in the thread of its event loop."""

    async def run() -> None:
        deliverer = new_deliverer(app)
        on_started(deliverer)
        await deliverer.run()

    uvloop.run(run())


@contextmanager
def delivering(app: App) -> Iterator[None]:
    """Run a deliverer in a thread while the context is open."""
    started = threading.Event()
    running: list[tuple[asyncio.AbstractEventLoop, Deliverer]] = []

    def on_started(deliverer: Deliverer) -> None:
        running.append((asyncio.get_running_loop(), deliverer))
        started.set()

    def work() -> None:
        try:
            deliver(app, on_started)
        except Exception:
            log.exception("webhook deliverer crashed")
        finally:
            started.set()

    thread = threading.Thread(target=work, name="deliverer")
    thread.start()
    started.wait()

    try:
        yield
    finally:
        for loop, deliverer in running:
            # The deliverer and its loop may have ended already.
            with suppress(RuntimeError):
                loop.call_soon_threadsafe(deliverer.stop)
        thread.join()
