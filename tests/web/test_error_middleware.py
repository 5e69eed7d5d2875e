"""The error middleware: error pages, JSON errors, logging and aborted responses."""

import io
import sqlite3
from collections.abc import Iterator

import httpx
import pytest
from starlette.types import Receive, Scope, Send

from holdfast import logs
from holdfast.hosting.app import App
from holdfast.hosting.errors import NoSuchLfsObject, StorageFull
from holdfast.hosting.store.database import Database
from holdfast.server.request_log import RequestLog
from holdfast.settings import Settings
from tests.shared_server import SharedServer

pytestmark = pytest.mark.parametrize("settings", ["sqlite"], indirect=True)


@pytest.fixture
def app(settings: Settings, database: Database) -> Iterator[App]:
    """Open the application on a database."""
    del database
    opened = App.open(settings)
    yield opened
    opened.close()


class Failing:
    """An ASGI application that fails before or during its response."""

    def __init__(self, error: Exception, *, late: bool = False) -> None:
        self.error = error
        self.late = late

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Handle the lifespan protocol, and fail on requests."""
        if scope["type"] == "lifespan":
            while (message := await receive())["type"] != "lifespan.shutdown":
                await send({"type": f"{message['type']}.complete"})
            await send({"type": "lifespan.shutdown.complete"})
            return
        if self.late:
            headers = [(b"content-length", b"100")]
            await send({"type": "http.response.start", "status": 200, "headers": headers})
            await send({"type": "http.response.body", "body": b"half", "more_body": True})
        raise self.error


@pytest.mark.parametrize(
    ("path", "accept", "content"),
    [("/api/x", "*/*", "application/json"), ("/x", "text/html", "text/html"), ("/x", "*/*", "text/plain")],
)
def test_errors_are_html_or_json(
    app: App, shared_server: SharedServer, path: str, accept: str, content: str
) -> None:
    """The API gets JSON, browsers HTML and other clients plain text, all with Retry-After."""
    with shared_server.serving(RequestLog(Failing(StorageFull("no space")), app)) as url:
        response = httpx.get(f"{url}{path}", headers={"Accept": accept})
    assert (response.status_code, response.headers["retry-after"]) == (507, "60")
    assert response.headers["content-type"].startswith(content)
    assert "o space" in response.text


def test_an_unexpected_error_is_logged_with_its_traceback(app: App, shared_server: SharedServer) -> None:
    """Neither the response nor the log contains the text of the error."""
    stream = io.StringIO()
    logs.configure(stream=stream)
    with shared_server.serving(RequestLog(Failing(RuntimeError("mackerel")), app)) as url:
        response = httpx.get(url)
    assert response.status_code == 500
    assert "mackerel" not in response.text + stream.getvalue()
    assert "at=" in stream.getvalue()


@pytest.mark.parametrize("error", [NoSuchLfsObject("x"), OSError(5, "x"), sqlite3.OperationalError("x")])
def test_a_response_that_cannot_be_finished_is_aborted(
    app: App, shared_server: SharedServer, error: Exception
) -> None:
    """The client gets a protocol error, and the log has a line about it."""
    stream = io.StringIO()
    logs.configure(level="warning", stream=stream)
    with (
        shared_server.serving(RequestLog(Failing(error, late=True), app)) as url,
        pytest.raises(httpx.RemoteProtocolError),
    ):
        httpx.get(url)
    assert "response aborted" in stream.getvalue()
