"""The process that serves git over SSH; there is one on each machine."""

import asyncio
import logging
import os
import signal
import socket
import threading
from collections.abc import Callable
from contextlib import closing

import uvloop
from anyio import to_thread

from holdfast.hosting import traces
from holdfast.hosting.app import App
from holdfast.hosting.git_server.ssh import GitSsh
from holdfast.hosting.services import ssh_host_keys
from holdfast.server.scheduled_tasks import run_scheduled_tasks, scheduled_tasks
from holdfast.server.supervisor import GRACE_SECONDS, HARD_STOP_SECONDS
from holdfast.settings import Settings

__all__ = ["serve_ssh"]


def serve_ssh(settings: Settings, server: socket.socket, on_started: Callable[[], None], parent_gone: int) -> None:
    """Serve SSH until the process is stopped or its parent has exited."""
    # asyncssh logs the names of users at info level, and keys at debug level.
    logging.getLogger("asyncssh").setLevel(logging.WARNING)
    with (
        closing(App.open(settings)) as app,
        traces.exporting(settings.otlp_endpoint),
        asyncio.Runner(loop_factory=uvloop.new_event_loop) as runner,
    ):
        runner.run(serve(app, server, on_started, parent_gone))


async def serve(app: App, server: socket.socket, on_started: Callable[[], None], parent_gone: int) -> None:
    """Accept connections until a signal, then finish the sessions."""
    stopped = asyncio.Event()
    loop = asyncio.get_running_loop()

    def stop() -> None:
        loop.remove_reader(parent_gone)
        watchdog = threading.Timer(HARD_STOP_SECONDS, os._exit, [1])
        watchdog.daemon = True
        watchdog.start()
        stopped.set()

    loop.add_signal_handler(signal.SIGTERM, stop)
    loop.add_reader(parent_gone, stop)
    ssh = GitSsh(app)
    host_keys = await to_thread.run_sync(ssh_host_keys.load, app)
    # Tasks that need a lease are left to the processes that serve requests.
    tasks = tuple(task for task in scheduled_tasks(app) if not task.needs_lease)
    async with run_scheduled_tasks(app, tasks):
        await ssh.listen(server, host_keys)
        on_started()
        await stopped.wait()
        await ssh.stop(GRACE_SECONDS)
