"""The webhook client: address checks, redirects, timeouts and limits of responses."""

import asyncio
import ipaddress
import socket
import ssl
import threading
import time
from collections.abc import Awaitable, Callable
from contextlib import ExitStack, suppress
from pathlib import Path

import pytest
import uvloop

from holdfast.hosting.errors import AddressRefused, DeliveryFailed, UrlRefused
from holdfast.hosting.webhooks.addresses import AllowedHosts
from holdfast.hosting.webhooks.client import KEPT_BYTES, WebhookClient, WebhookResponse, proxy_for
from holdfast.hosting.webhooks.webhook_request import WebhookRequest
from holdfast.http_client.urls import Address
from tests.hosting.webhooks.receivers import OK, Receiver, Seen, answer, receiving

SIGNED = {"Content-Type": "application/json", "Authorization": "Bearer t", "X-Hub-Signature-256": "sha256=1"}


def resolving(**names: str) -> Callable[[str, int], Awaitable[list[Address]]]:
    """Make a resolver of host names, with underscores for dots; addresses are separated by spaces."""

    async def resolve(host: str, _port: int) -> list[Address]:
        result = names.get(host.replace(".", "_").replace("-", "_"), host)
        return [ipaddress.ip_address(part) for part in result.split()]

    return resolve


def send(
    *urls: str,
    allowed: str = "loopback",
    timeout: float = 5,
    resolve: Callable[[str, int], Awaitable[list[Address]]] | None = None,
    verify_tls: bool = True,
    tls: ssl.SSLContext | None = None,
) -> WebhookResponse:
    """Send requests in turn with one client, and return the last response."""

    async def run() -> WebhookResponse:
        client = WebhookClient(
            AllowedHosts.parse(allowed), timeout=timeout, resolve=resolve, verify_tls=verify_tls, tls=tls
        )
        try:
            for url in urls[:-1]:
                await client.send(WebhookRequest("POST", url, SIGNED, b"{}"))
            return await client.send(WebhookRequest("POST", urls[-1], SIGNED, b"{}"))
        finally:
            await client.close()

    return uvloop.run(run())


def test_a_request_arrives_unchanged(receiver: Receiver) -> None:
    """The receiver gets the path, the headers and the body of the request, and a User-Agent of this service."""
    receiver.script = answer(201, b"thanks", X_Seen="yes")
    got = send(receiver.url("/a/b?c=d"))
    assert (got.status, got.body, got.header("x-seen"), got.cut) == (201, b"thanks", "yes", "")
    (seen,) = receiver.seen
    assert (seen.method, seen.path, seen.body) == ("POST", "/a/b?c=d", b"{}")
    assert seen.headers["authorization"] == "Bearer t"
    assert seen.headers["host"] == f"127.0.0.1:{receiver.port}"
    assert seen.headers["user-agent"].startswith("Holdfast/")


def test_a_connection_is_used_again(receiver: Receiver) -> None:
    """A connection is reused, and a new one is opened when the receiver has closed it."""
    send(*[receiver.url()] * 3)
    assert (len(receiver.seen), receiver.connections) == (3, 1)

    def once(seen: Seen, end: socket.socket) -> bool:
        OK(seen, end)
        return False

    receiver.script = once
    assert send(*[receiver.url()] * 3).status == 200
    assert len(receiver.seen) >= 6
    assert receiver.connections >= 4


@pytest.mark.parametrize(
    "host",
    ["127.0.0.1", "localhost", "127.1", "2130706433", "0x7f.0.0.1", "0177.0.0.1", "[::1]", "[::ffff:127.0.0.1]"],
)
def test_no_spelling_of_this_machine_is_called_by_default(receiver: Receiver, host: str) -> None:
    """Every spelling of a loopback address is refused, as the resolved address is checked and not the name."""
    with pytest.raises(AddressRefused, match="webhook_allowed_hosts"):
        send(f"http://{host}:{receiver.port}/", allowed="external")
    assert receiver.connections == 0


def test_a_name_of_an_internal_address_is_refused(receiver: Receiver) -> None:
    """A name that resolves to internal addresses is refused with an error that names them."""
    resolve = resolving(hooks_example_org="10.9.8.7 127.0.0.1")
    with pytest.raises(
        AddressRefused, match=r"hooks\.example\.org, which is 10\.9\.8\.7 \(private\), 127\.0\.0\.1"
    ):
        send(f"http://hooks.example.org:{receiver.port}/", allowed="external", resolve=resolve)
    assert receiver.connections == 0


def test_a_name_is_resolved_once_and_that_address_is_connected_to(receiver: Receiver) -> None:
    """A name is not resolved again after its address was checked, so DNS rebinding has no effect."""
    asked = []

    async def rebinding(host: str, _port: int) -> list[Address]:
        asked.append(host)
        return [ipaddress.ip_address("127.0.0.1" if len(asked) == 1 else "127.0.0.2")]

    url = f"http://rebind.example.org:{receiver.port}/"
    assert send(url, allowed="127.0.0.1/32", resolve=rebinding).status == 200
    assert asked == ["rebind.example.org"]
    with pytest.raises(AddressRefused, match=r"127\.0\.0\.2"):
        send(url, allowed="127.0.0.1/32", resolve=rebinding)


def test_the_address_that_may_be_called_is_chosen_among_several(receiver: Receiver) -> None:
    """Of several addresses, those that are not allowed or do not answer are skipped."""
    resolve = resolving(x_org="10.0.0.1 127.0.0.9 127.0.0.1")
    assert send(f"http://x.org:{receiver.port}/", resolve=resolve).status == 200


@pytest.mark.parametrize(
    "place",
    [
        "http://127.0.0.2:{port}/",
        "http://169.254.169.254/latest/meta-data/",
        "http://[::1]:{port}/",
        "http://inside.example.org:{port}/",
        "//0.0.0.0:{port}/",
    ],
)
@pytest.mark.parametrize("status", [301, 302, 303, 307, 308])
def test_a_redirect_to_an_internal_address_is_refused(receiver: Receiver, place: str, status: int) -> None:
    """The target of a redirect is checked like the first address, and gets no request."""
    receiver.script = answer(status, Location=place.format(port=receiver.port))
    resolve = resolving(inside_example_org="192.168.0.1", __1="::1")
    with pytest.raises(AddressRefused, match="webhook_allowed_hosts"):
        send(receiver.url(), allowed="127.0.0.1", resolve=resolve)
    assert len(receiver.seen) == 1


@pytest.mark.parametrize(
    ("status", "method"), [(301, "GET"), (302, "GET"), (303, "GET"), (307, "POST"), (308, "POST")]
)
def test_a_redirect_is_followed_without_credentials(receiver: Receiver, status: int, method: str) -> None:
    """Another origin gets neither the authorization nor the signature, and the same origin gets them."""
    with receiving() as other:
        receiver.script = answer(status, Location=other.url("/there"))
        assert send(receiver.url()).status == 200
        (seen,) = other.seen
    assert (seen.method, seen.path, seen.body) == (method, "/there", b"{}" if method == "POST" else b"")
    assert "authorization" not in seen.headers
    assert "x-hub-signature-256" not in seen.headers
    assert ("content-type" in seen.headers) is (method == "POST")

    def within(seen: Seen, end: socket.socket) -> bool:
        return (OK if seen.path == "/there" else answer(status, Location="/there"))(seen, end)

    receiver.script = within
    assert send(receiver.url()).status == 200
    assert receiver.seen[-1].headers["authorization"] == "Bearer t"


def test_the_number_of_redirects_is_limited(receiver: Receiver) -> None:
    """Five redirects are followed, and a redirect without a location is a final answer."""
    receiver.script = answer(302, Location="/again")
    with pytest.raises(DeliveryFailed, match="more than 5 times"):
        send(receiver.url())
    assert len(receiver.seen) == 6
    receiver.script = answer(302)
    assert send(receiver.url()).status == 302
    receiver.script = answer(302, Location="ftp://x.org/")
    with pytest.raises(UrlRefused):
        send(receiver.url())


def never_respond(_seen: Seen, end: socket.socket) -> bool:
    """Send nothing until the sender closes the connection."""
    end.recv(1)
    return False


def send_slowly(seen: Seen, end: socket.socket) -> bool:
    """Send headers, a byte at a time."""
    del seen
    for sign in b"HTTP/1.1 200 OK\r\nX-Slow: " + b"y" * 1000:
        end.sendall(bytes([sign]))
        time.sleep(0.05)
    return False


@pytest.mark.parametrize("script", [never_respond, send_slowly])
def test_a_slow_receiver_times_out(receiver: Receiver, script: Callable[[Seen, socket.socket], bool]) -> None:
    """The timeout covers the whole request, also when single bytes keep arriving."""
    receiver.script = script
    began = time.monotonic()
    with pytest.raises(DeliveryFailed, match=r"longer than 0\.4 seconds"):
        send(receiver.url(), timeout=0.4)
    assert time.monotonic() - began < 20


def test_slow_redirects_time_out_together(receiver: Receiver) -> None:
    """The timeout covers all redirects together, although each is answered in time."""

    def slowly(seen: Seen, end: socket.socket) -> bool:
        time.sleep(0.2)
        return answer(307, Location="/on")(seen, end)

    receiver.script = slowly
    with pytest.raises(DeliveryFailed, match=r"longer than 0\.5 seconds"):
        send(receiver.url(), timeout=0.5)


def test_a_success_with_an_endless_body_is_a_success(receiver: Receiver) -> None:
    """The status counts although the body is not complete, and the received part is kept."""

    def talk(_seen: Seen, end: socket.socket) -> bool:
        end.sendall(b"HTTP/1.1 200 OK\r\nContent-Length: 100\r\n\r\nhel")
        return end.recv(1) == b"never"

    receiver.script = talk
    got = send(receiver.url(), timeout=0.4)
    assert (got.status, got.body) == (200, b"hel")
    assert "longer than 0.4 seconds" in got.cut


def test_the_first_64_kilobytes_of_an_answer_are_kept(receiver: Receiver) -> None:
    """An answer of 64 KB is kept completely, and a longer one is marked as cut."""
    receiver.script = answer(200, b"x" * KEPT_BYTES)
    whole = send(receiver.url())
    assert (len(whole.body), whole.cut) == (KEPT_BYTES, "")
    receiver.script = answer(200, b"x" * (KEPT_BYTES + 1))
    part = send(receiver.url())
    assert (len(part.body), part.cut) == (KEPT_BYTES, "the answer is larger than 64 KB; the rest was not read")


@pytest.mark.parametrize("status", [200, 302])
def test_a_connection_is_closed_when_the_rest_of_an_answer_is_not_read(receiver: Receiver, status: int) -> None:
    """The connection of an answer that is not read to its end is closed at once, not with the client."""
    closed = threading.Event()
    head = f"HTTP/1.1 {status} X\r\nLocation: /next\r\nContent-Length: {KEPT_BYTES * 9}\r\n\r\n"

    def unfinished(seen: Seen, end: socket.socket) -> bool:
        if seen.path == "/next":
            return OK(seen, end)
        end.sendall(head.encode() + b"x" * (KEPT_BYTES + 9))
        with suppress(ConnectionError):
            end.recv(1)
        closed.set()
        return False

    receiver.script = unfinished

    async def run() -> bool:
        client = WebhookClient(AllowedHosts.parse("loopback"), timeout=5)
        try:
            await client.send(WebhookRequest("POST", receiver.url(), SIGNED, b"{}"))
            return await asyncio.to_thread(closed.wait, 5)
        finally:
            await client.close()

    assert uvloop.run(run())


def test_a_proxy_is_for_the_hosts_of_the_settings_or_for_all() -> None:
    """Host patterns are separated by commas and ignore case; without any the proxy is for all hosts."""
    some = proxy_for("http://proxy.example.org:3128", "*.Example.org, , hooks.test")
    hosts = ("a.example.org", "hooks.test", "example.com", "")
    assert [some.serves(host) for host in hosts] == [True, True, False, False]
    every = proxy_for("http://proxy.example.org:3128", " ")
    assert [every.serves(host) for host in hosts] == [True] * 4


def test_unknown_hosts_and_closed_ports_are_failures(receiver: Receiver) -> None:
    """An unknown host and a closed port raise DeliveryFailed, which is retried, unlike a refused address."""
    with socket.create_server(("127.0.0.1", 0)) as free:
        port = free.getsockname()[1]
    with pytest.raises(DeliveryFailed, match=rf"no connection: 127\.0\.0\.1 port {port}: Connection refused"):
        send(f"http://127.0.0.1:{port}/")
    with pytest.raises(DeliveryFailed, match="cannot be found"):
        send("http://nobody.invalid/")


@pytest.mark.parametrize("value", ["a\r\nX-Evil: b", "a\nb", "a\0b"])
def test_a_header_cannot_bring_another_one(receiver: Receiver, value: str) -> None:
    """A header value with a line break or a null byte is refused before a connection is opened."""

    async def run() -> None:
        client = WebhookClient(AllowedHosts.parse("*"), timeout=5)
        try:
            await client.send(WebhookRequest("POST", receiver.url(), {"Authorization": value}, b""))
        finally:
            await client.close()

    with pytest.raises(UrlRefused, match="the header 'Authorization'"):
        uvloop.run(run())
    assert receiver.connections == 0


def test_credentials_in_an_address_are_sent_unless_a_header_says_otherwise(receiver: Receiver) -> None:
    """Credentials in the URL are sent as Basic authorization unless the request has its own header."""

    async def run(headers: dict[str, str]) -> None:
        client = WebhookClient(AllowedHosts.parse("*"), timeout=5)
        await client.send(WebhookRequest("POST", f"http://ada:pw@127.0.0.1:{receiver.port}/", headers, b""))
        await client.close()

    uvloop.run(run({}))
    uvloop.run(run({"authorization": "Bearer t"}))
    assert [seen.headers["authorization"] for seen in receiver.seen] == ["Basic YWRhOnB3", "Bearer t"]


def test_tls_is_checked_against_the_name(certificate: Path) -> None:
    """The certificate must match the host name although an address is dialed; `verify_tls` turns this off."""
    server = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    server.load_cert_chain(certificate)
    trusting = ssl.create_default_context(cafile=str(certificate))
    resolve = resolving(hooks_example_org="127.0.0.1", other_example_org="127.0.0.1")
    with ExitStack() as stack:
        secure = stack.enter_context(receiving(tls=server))
        url = secure.url(scheme="https", host="hooks.example.org")
        assert send(url, resolve=resolve, tls=trusting).status == 200
        with pytest.raises(DeliveryFailed, match=r"certificate does not count: .*not valid for 'other"):
            send(secure.url(scheme="https", host="other.example.org"), resolve=resolve, tls=trusting)
        with pytest.raises(DeliveryFailed, match="certificate does not count: self"):
            send(url, resolve=resolve)
        assert send(url, resolve=resolve, verify_tls=False).status == 200
        plain = stack.enter_context(receiving())
        with pytest.raises(DeliveryFailed, match=r"TLS failed|cut off"):
            send(plain.url(scheme="https", host="hooks.example.org"), resolve=resolve, tls=trusting)
