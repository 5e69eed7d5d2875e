"""Webhook requests through a proxy."""

import socket
import ssl
import threading
from pathlib import Path

import pytest
import uvloop

from holdfast.hosting.errors import DeliveryFailed
from holdfast.hosting.webhooks.addresses import AllowedHosts
from holdfast.hosting.webhooks.client import WebhookClient, WebhookResponse, proxy_for
from holdfast.hosting.webhooks.webhook_request import WebhookRequest
from holdfast.http_client.client import HttpProxy
from tests.hosting.webhooks.receivers import OK, Script, Seen, answer, receiving


def send(url: str, proxy: HttpProxy, *, tls: ssl.SSLContext | None = None) -> WebhookResponse:
    """Send one request through a proxy; only public addresses are allowed."""

    async def run() -> WebhookResponse:
        client = WebhookClient(AllowedHosts.parse("external"), timeout=5, proxy=proxy, tls=tls)
        try:
            return await client.send(WebhookRequest("POST", url, {"X-A": "b"}, b"{}"))
        finally:
            await client.close()

    return uvloop.run(run())


def test_plain_requests_are_handed_to_the_proxy_whole() -> None:
    """A proxy gets a plain request with the absolute URL and the Proxy-Authorization header."""
    with receiving() as proxy:
        chosen = proxy_for(f"http://ada:pw@127.0.0.1:{proxy.port}", "*")
        assert send("http://hooks.example.org:8080/a?b", chosen).status == 200
        (seen,) = proxy.seen
    assert (seen.method, seen.path) == ("POST", "http://hooks.example.org:8080/a?b")
    assert seen.headers["host"] == "hooks.example.org:8080"
    assert seen.headers["proxy-authorization"] == "Basic YWRhOnB3"


def test_only_the_hosts_of_the_setting_are_reached_through_it() -> None:
    """The proxy is used only for hosts that match a pattern of the setting."""
    proxy = proxy_for("http://127.0.0.1:3128", "*.corp.example, other.org")
    assert proxy.serves("ci.corp.example")
    assert proxy.serves("other.org")
    assert not proxy.serves("corp.example")
    assert not proxy.serves("127.0.0.1")


def tunnel(port: int) -> tuple[list[Seen], Script]:
    """Make a proxy's script that connects every tunnel to a port of loopback."""
    seen_all: list[Seen] = []

    def connect(seen: Seen, end: socket.socket) -> bool:
        seen_all.append(seen)
        with socket.create_connection(("127.0.0.1", port)) as far:
            end.sendall(b"HTTP/1.1 200 Connection established\r\n\r\n")
            back = threading.Thread(target=pump, args=(far, end))
            back.start()
            pump(end, far)
            far.shutdown(socket.SHUT_RDWR)
            back.join()
        return False

    return seen_all, connect


def pump(source: socket.socket, sink: socket.socket) -> None:
    """Copy bytes from one socket to the other until the end."""
    try:
        while data := source.recv(65536):
            sink.sendall(data)
    except OSError:
        pass


def test_https_goes_through_a_tunnel_and_its_certificate_is_ours_to_check(certificate: Path) -> None:
    """The proxy gets only a CONNECT request, and the receiver's certificate is checked."""
    server = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    server.load_cert_chain(certificate)
    trusting = ssl.create_default_context(cafile=str(certificate))
    with receiving(tls=server) as receiver:
        seen, script = tunnel(receiver.port)
        with receiving(script) as proxy:
            chosen = proxy_for(f"http://u:p@127.0.0.1:{proxy.port}", "*")
            assert send("https://hooks.example.org/secret", chosen, tls=trusting).status == 200
            with pytest.raises(DeliveryFailed, match="not valid for 'other"):
                send("https://other.example.org/", chosen, tls=trusting)
    assert (seen[0].method, seen[0].path) == ("CONNECT", "hooks.example.org:443")
    assert seen[0].headers["proxy-authorization"] == "Basic dTpw"
    assert [request.path for request in receiver.seen] == ["/secret"]


def test_a_proxy_that_does_not_let_us_through_is_named() -> None:
    """A proxy that refuses, is no HTTP server, hangs up or is down is named in the error."""
    for script, problem in (
        (answer(403), "does not let us through: it answered 403"),
        (lambda _seen, end: bool(end.sendall(b"220 smtp ready\r\n\r\n")), "through the proxy: .* not HTTP"),
        (lambda _seen, _end: False, "through the proxy: it closed the connection without an answer"),
    ):
        with receiving(script) as proxy, pytest.raises(DeliveryFailed, match=problem):
            send("https://hooks.example.org/", proxy_for(f"http://127.0.0.1:{proxy.port}", "*"))
    with receiving(OK) as gone:
        pass
    for scheme in ("http", "https"):
        with pytest.raises(DeliveryFailed, match="no connection to the proxy"):
            send(f"{scheme}://hooks.example.org/", proxy_for(f"http://127.0.0.1:{gone.port}", "*"))
