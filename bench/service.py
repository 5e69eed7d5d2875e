"""What a request costs: asking who one is, against a route of the bare framework that returns a constant."""

import gc
import multiprocessing
import os
import statistics
import tempfile
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

import uvicorn
from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import PlainTextResponse
from starlette.routing import Route
from starlette.types import ASGIApp

from bench.harness import Figure
from bench.load import rate
from holdfast import logs
from holdfast.hosting.data_folder import open_database, prepare
from holdfast.hosting.store import accounts, tokens
from holdfast.secret import Secret
from holdfast.server.app import build
from holdfast.server.connection_limits import Limits
from holdfast.server.worker import configured
from holdfast.settings import Settings

__all__ = ["figures"]

ROUNDS = 5


def bare() -> ASGIApp:
    """Make an application with one route that returns a constant."""

    async def constant(_request: Request) -> PlainTextResponse:
        return PlainTextResponse("hello")

    return Starlette(routes=[Route("/constant", constant)])


def serve(
    make: Callable[[], ASGIApp], listening: "multiprocessing.Queue[int]", log: str, processors: set[int]
) -> None:
    """Serve an application on some processors until the process is ended; its log goes where nobody reads it.

    The whole one is served as the service is, a bare one as the framework does it by itself.
    """
    os.sched_setaffinity(0, processors)
    with Path(log).open("w", encoding="utf-8") as stream:
        logs.configure(style="json", level="info", stream=stream)
        if isinstance(make, Whole):
            config = configured(make(), Limits.of(make.settings))
            config.port = 0
        else:
            config = uvicorn.Config(make(), port=0, log_config=None, access_log=False)
        server = uvicorn.Server(config)
        socket = config.bind_socket()
        socket.listen(100)
        # As a worker of the service does.
        gc.collect()
        gc.freeze()
        listening.put(socket.getsockname()[1])
        server.run(sockets=[socket])


@contextmanager
def served_apart(settings: Settings, folder: str) -> Iterator[tuple[int, int]]:
    """Serve on one processor, and run the caller on the others; yields the port and the id of the process."""
    before = os.sched_getaffinity(0)
    os.sched_setaffinity(0, before - {0} or before)
    context = multiprocessing.get_context("spawn")
    listening = context.Queue()
    arguments = (Whole(Settings(data=settings.data)), listening, f"{folder}/log", {0})
    server = context.Process(target=serve, args=arguments, daemon=True)
    server.start()
    try:
        yield listening.get(timeout=60), server.pid or 0
    finally:
        server.terminate()
        server.join()
        os.sched_setaffinity(0, before)


class Whole:
    """Makes the whole application; a class so that another process can be given it."""

    def __init__(self, settings: Settings) -> None:
        self.settings = settings

    def __call__(self) -> ASGIApp:
        """Build it."""
        return build(self.settings)


def figures() -> list[Figure]:
    """Measure both in turn, in one run; the client asks from another processor than the one that answers."""
    before = os.sched_getaffinity(0)
    os.sched_setaffinity(0, before - {0} or before)
    try:
        return measured()
    finally:
        os.sched_setaffinity(0, before)


def measured() -> list[Figure]:
    """Ask both servers in turn."""
    with tempfile.TemporaryDirectory() as folder:
        settings = Settings(data=Path(folder), admin_password=Secret("a-password-for-a-benchmark"))
        with open_database(settings) as database:
            prepare(database, settings)
            _, value = tokens.create_token(database, accounts.find_user(database, "admin"), "bench", ("all",))
        context = multiprocessing.get_context("spawn")
        servers = []
        ports = []
        for make in (bare, Whole(Settings(data=settings.data))):
            listening = context.Queue()
            server = context.Process(target=serve, args=(make, listening, f"{folder}/log", {0}), daemon=True)
            server.start()
            servers.append(server)
            ports.append(listening.get(timeout=60))
        time.sleep(1)
        asked = {"Authorization": f"token {value.reveal()}"}
        pairs = [(rate(ports[0], "/constant", {}), rate(ports[1], "/api/v1/user", asked)) for _ in range(ROUNDS)]
        for server in servers:
            server.terminate()
            server.join()
    constants, users = zip(*pairs, strict=True)
    ratio = statistics.median(user / constant for constant, user in pairs)
    return [
        Figure("a bare route that returns a constant", statistics.median(constants), "req/s"),
        Figure("GET /user with a token", statistics.median(users), "req/s"),
        Figure("GET /user, against the bare route", ratio * 100, "%", least=30),
    ]
