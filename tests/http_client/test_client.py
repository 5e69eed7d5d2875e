"""The asynchronous HTTP client: headers of requests, and responses that are refused."""

import asyncio
import socket
from collections.abc import Callable
from contextlib import closing

import pytest

from holdfast.http_client.client import HttpClient, HttpProxy, HttpResponse, tls_context
from holdfast.http_client.errors import (
    AddressNotAllowed,
    ConnectError,
    InvalidRequest,
    ProtocolError,
    ResponseTimeout,
)
from holdfast.http_client.requests import HttpRequest
from holdfast.http_client.urls import HttpUrl
from tests.hosting.webhooks.receivers import Script, Seen, answer, receiving


def fetch(client: Callable[[], HttpClient], *urls: str, **headers: str) -> list[tuple[HttpResponse, bytes]]:
    """Send one request after the other with one client; return the responses with their bodies."""

    async def run() -> list[tuple[HttpResponse, bytes]]:
        opened = client()
        try:
            results = []
            for url in urls:
                response = await opened.send(HttpRequest("GET", HttpUrl.parse(url), headers))
                with closing(response):
                    body = b""
                    while piece := await response.read(4):
                        body += piece
                    results.append((response, body))
            return results
        finally:
            await opened.close()

    return asyncio.run(run())


def raw(content: bytes) -> Script:
    """Answer with some bytes, and close the connection."""

    def give(_seen: Seen, end: socket.socket) -> bool:
        end.sendall(content)
        return False

    return give


def test_a_response_is_streamed_and_never_decompressed() -> None:
    """A body with Content-Encoding is returned unchanged, and header names are lower case."""
    with receiving(answer(200, b"not gzip", Content_Encoding="gzip", X_Name="\xe9")) as receiver:
        ((response, body),) = fetch(HttpClient, receiver.url("/a%2Fb?c=%20"))
    assert (response.status, body, response.header("content-encoding")) == (200, b"not gzip", "gzip")
    assert (response.header("x-name"), response.header("x-other")) == ("\xc3\xa9", "")
    assert response.is_read
    (seen,) = receiver.seen
    assert seen.path == "/a%2Fb?c=%20"
    assert seen.headers["user-agent"].startswith("Holdfast/")
    assert seen.headers["accept-encoding"] == "identity"


def test_connections_are_reused_and_replaced_when_the_server_closed_them() -> None:
    """Requests share a connection unless `keep_alive` is off, and one closed by the server is replaced."""
    with receiving(answer(200, b"ok")) as receiver:
        fetch(HttpClient, *[receiver.url()] * 3)
        assert (len(receiver.seen), receiver.connections) == (3, 1)
        fetch(lambda: HttpClient(keep_alive=False), *[receiver.url()] * 2)
        assert receiver.connections == 3
        receiver.script = raw(b"HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n")
        assert [response.status for response, _ in fetch(HttpClient, *[receiver.url()] * 3)] == [200] * 3


def test_redirects_are_returned_to_the_caller_and_cookies_are_not_stored() -> None:
    """A redirect is not followed, a cookie is not sent back, and a 302 without Location is no redirect."""
    with receiving(answer(302, Location="/next", Set_Cookie="a=b")) as receiver:
        (first, _), _ = fetch(HttpClient, receiver.url(), receiver.url())
        assert first.is_redirect
        assert [seen.path for seen in receiver.seen] == ["/hook", "/hook"]
        assert "cookie" not in receiver.seen[1].headers
        receiver.script = answer(302)
        ((response, _),) = fetch(HttpClient, receiver.url())
        assert not response.is_redirect


@pytest.mark.parametrize(
    ("content", "message"),
    [
        (b"", "without an answer"),
        (b"SSH-2.0-OpenSSH\r\n\r\n", "not HTTP"),
        (b"HTTP/1.1 101 Switching Protocols\r\nConnection: upgrade\r\nUpgrade: x\r\n\r\n", "another protocol"),
        (
            b"HTTP/1.1 200 OK\r\n" + b"".join(b"X-%d: %b\r\n" % (n, b"y" * 4000) for n in range(20)) + b"\r\n",
            "64 KB",
        ),
        (b"HTTP/1.1 200 OK\r\nContent-Length: 9\r\n\r\nabc", "ended before"),
    ],
)
def test_a_response_that_is_not_valid_is_an_error(content: bytes, message: str) -> None:
    """An invalid response of any kind is a `ProtocolError` instead of an exception of aiohttp."""
    with receiving(raw(content)) as receiver, pytest.raises(ProtocolError, match=message):
        fetch(HttpClient, receiver.url())


def test_requests_that_cannot_be_sent_have_errors_of_their_own() -> None:
    """A denied address, a refused connection, an invalid header and a timeout raise different errors."""
    with receiving(lambda _seen, end: end.recv(1) == b"never") as receiver:
        with pytest.raises(AddressNotAllowed, match=r"127\.0\.0\.1 may not be connected to"):
            fetch(lambda: HttpClient(policy=lambda _host, _address: False), receiver.url())
        with pytest.raises(InvalidRequest, match="X-Evil"):
            fetch(HttpClient, receiver.url(), **{"X-Evil": "a\r\nb"})
        assert receiver.connections == 0
        with pytest.raises(ResponseTimeout):
            fetch(lambda: HttpClient(read_timeout=0.2), receiver.url())
    with pytest.raises(ConnectError, match=rf"127\.0\.0\.1 port {receiver.port}: Connection refused"):
        fetch(HttpClient, receiver.url())


def test_only_the_hosts_of_a_proxy_are_requested_through_it() -> None:
    """Other hosts are connected to directly, and only the proxy gets the credentials of the proxy."""
    with receiving(answer(200, b"direct")) as receiver, receiving(answer(200, b"proxied")) as through:
        proxy = HttpProxy(
            HttpUrl.parse(f"http://ada:pw@127.0.0.1:{through.port}"), lambda host: host == "far.example"
        )

        def client() -> HttpClient:
            return HttpClient(proxy=proxy)

        result = fetch(client, receiver.url(), "http://far.example/x")
        assert [body for _, body in result] == [b"direct", b"proxied"]
        assert "proxy-authorization" not in receiver.seen[0].headers
        assert through.seen[0].path == "http://far.example/x"
        assert through.seen[0].headers["proxy-authorization"] == "Basic YWRhOnB3"


def test_certificates_are_verified_unless_that_is_turned_off() -> None:
    """A context without verification does not change the context that verifies."""
    assert not tls_context(verify=False).check_hostname
    assert tls_context(verify=False).verify_mode.name == "CERT_NONE"
    assert tls_context().check_hostname
    assert tls_context().verify_mode.name == "CERT_REQUIRED"
