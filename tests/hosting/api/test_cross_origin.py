"""Cross-origin resource sharing (CORS) of the API."""

import anyio
import pytest
from starlette.responses import Response
from starlette.types import Message

from holdfast.hosting.api import CrossOrigin
from tests.hosting.api_clients import ServiceClients


def response_headers(origins: str, origin: str | None, method: str = "GET") -> dict[str, str]:
    """Return the headers of the response to a request with this origin."""
    headers = [] if origin is None else [(b"origin", origin.encode())]
    scope = {"type": "http", "method": method, "headers": headers}
    messages: list[Message] = []

    async def receive() -> Message:
        raise AssertionError

    async def send(message: Message) -> None:
        messages.append(message)

    async def run() -> None:
        await CrossOrigin(Response(b""), origins)(scope, receive, send)

    anyio.run(run)
    return {name.decode(): value.decode() for name, value in messages[0]["headers"] if name != b"content-length"}


def test_scripts_of_other_sites_may_send_requests_without_cookies(clients: ServiceClients) -> None:
    """A preflight allows any origin and the Authorization header, but no credentials."""
    preflight = clients.anonymous.options("/user", headers={"Origin": "https://app.example"})
    assert preflight.status_code == 204
    assert preflight.headers["access-control-allow-origin"] == "*"
    assert "Authorization" in preflight.headers["access-control-allow-headers"]
    response = clients.anonymous.get("/version", headers={"Origin": "https://app.example"})
    assert response.headers["access-control-allow-origin"] == "*"
    assert "access-control-allow-credentials" not in response.headers


def test_only_origins_of_the_settings_are_allowed() -> None:
    """An allowed origin is returned with `Vary: Origin`, so that caches keep the responses apart."""
    origins = "https://a.example, https://b.example"
    expected = {"access-control-allow-origin": "https://b.example", "vary": "Origin"}
    assert response_headers(origins, "https://b.example") == expected
    assert response_headers(origins, "https://c.example") == {}
    assert response_headers(origins, None) == {}


@pytest.mark.parametrize("origin", ["https://a.example", "null"])
def test_any_origin_may_be_allowed(origin: str) -> None:
    """With `*` in the settings the response is the same for all origins."""
    assert response_headers("*", origin) == {"access-control-allow-origin": "*"}


def test_a_preflight_response_lists_methods_and_headers() -> None:
    """A preflight of an allowed origin lists methods and headers; one of another origin has no such headers."""
    headers = response_headers("https://a.example", "https://a.example", "OPTIONS")
    assert "PATCH" in headers["access-control-allow-methods"]
    assert "Sudo" in headers["access-control-allow-headers"]
    assert response_headers("https://a.example", "https://b.example", "OPTIONS") == {}
