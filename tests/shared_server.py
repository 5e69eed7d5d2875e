"""A server that several applications use in turn, since starting one for every test would take too long."""

import asyncio
import threading
from collections.abc import Iterator
from concurrent.futures import Future
from contextlib import contextmanager

import uvicorn
import uvloop
from starlette.types import ASGIApp, Message, Receive, Scope, Send

__all__ = ["SharedServer"]


class SharedServer:
    """A real server on a free port of loopback, in a thread."""

    def __init__(self) -> None:
        self._app: ASGIApp | None = None
        self._ready: Future[tuple[asyncio.AbstractEventLoop, int]] = Future()
        self._server = uvicorn.Server(
            uvicorn.Config(self, port=0, lifespan="off", log_config=None, access_log=False)
        )
        self._thread = threading.Thread(target=lambda: uvloop.run(self._serve()), name="shared server")
        self._thread.start()
        self._loop, self.port = self._ready.result(30)

    async def _serve(self) -> None:
        task = asyncio.create_task(self._server.serve())
        while not self._server.started:  # noqa: ASYNC110  # uvicorn has nothing to wait for
            await asyncio.sleep(0.01)
        port = self._server.servers[0].sockets[0].getsockname()[1]
        self._ready.set_result((asyncio.get_running_loop(), port))
        await task

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Pass a request to the current application."""
        assert self._app is not None, "a request came when no application was on"
        await self._app(scope, receive, send)

    @contextmanager
    def serving(self, app: ASGIApp) -> Iterator[str]:
        """Run the lifespan of an application around the context, and serve it at the URL this yields."""
        assert self._app is None, "two applications want to be on at once"
        events: asyncio.Queue[Message] = asyncio.Queue()
        replies: asyncio.Queue[Message] = asyncio.Queue()

        async def run_lifespan() -> None:
            await app({"type": "lifespan", "asgi": {"version": "3.0"}, "state": {}}, events.get, replies.put)

        async def send_event(event: str) -> None:
            await events.put({"type": f"lifespan.{event}"})
            response = await replies.get()
            assert response["type"] == f"lifespan.{event}.complete", response

        lifespan = asyncio.run_coroutine_threadsafe(run_lifespan(), self._loop)
        asyncio.run_coroutine_threadsafe(send_event("startup"), self._loop).result(30)
        self._app = app
        try:
            yield f"http://127.0.0.1:{self.port}"
        finally:
            asyncio.run_coroutine_threadsafe(send_event("shutdown"), self._loop).result(30)
            lifespan.result(30)
            self._app = None

    def close(self) -> None:
        """Stop the server."""
        self._server.should_exit = True
        self._thread.join(30)
        assert not self._thread.is_alive()
