"""Forwarded headers of trusted proxies: the client's address and the scheme."""

import asyncio

import pytest
from starlette.types import Receive, Scope, Send

from holdfast.server.forwarded_headers import ForwardedHeaders
from tests.conftest import ADMIN_PASSWORD, Service


def seen(
    peer: str | None, *headers: tuple[bytes, bytes], trusted: str = "127.0.0.1, 10.0.0.0/8"
) -> tuple[str | None, str]:
    """Return the address and the scheme an application sees."""
    scopes: list[Scope] = []

    async def app(scope: Scope, _receive: Receive, _send: Send) -> None:
        scopes.append(scope)

    client = None if peer is None else (peer, 1234)
    scope = {"type": "http", "client": client, "scheme": "http", "headers": list(headers)}
    asyncio.run(ForwardedHeaders(app, trusted)(scope, None, None))  # type: ignore[arg-type]  # neither is called
    return scopes[0]["client"] and scopes[0]["client"][0], scopes[0]["scheme"]


@pytest.mark.parametrize(
    ("given", "address"),
    [
        (b"192.0.2.1", "192.0.2.1"),
        (b"198.51.100.1, 192.0.2.1", "192.0.2.1"),
        (b"192.0.2.1, 10.1.2.3", "192.0.2.1"),
        (b"evil, 192.0.2.1, 10.1.2.3, 127.0.0.1", "192.0.2.1"),
        (b"192.0.2.1:5678", "192.0.2.1"),
        (b"2001:db8::1", "2001:db8::1"),
        (b"[2001:db8::1]:443", "2001:db8::1"),
        (b"[2001:db8::1]", "2001:db8::1"),
        (b"::ffff:192.0.2.1", "192.0.2.1"),
        (b"10.1.2.3", "10.1.2.3"),
        (b"", "127.0.0.1"),
        (b" , ,", "127.0.0.1"),
        (b"unknown", "127.0.0.1"),
        (b"unix:", "127.0.0.1"),
        (b"192.0.2.1, garbage", "127.0.0.1"),
        (b"192.0.2.1, garbage, 10.1.2.3", "10.1.2.3"),
        (b"192.0.2.1:99999999", "127.0.0.1"),
        (b"[2001:db8::1", "127.0.0.1"),
        (b"[2001:db8::1]x", "127.0.0.1"),
        (b"\xff\xfe\xe9", "127.0.0.1"),
        (b"a" * 50_000, "127.0.0.1"),
        (b"192.0.2.1," * 5000 + b"198.51.100.7", "198.51.100.7"),
        (b"10.0.0.1," * 5000 + b"10.0.0.1", "10.0.0.1"),
        (b"<script>, '; DROP TABLE users", "127.0.0.1"),
    ],
)
def test_the_last_address_that_is_not_a_proxy_is_the_client(given: bytes, address: str) -> None:
    """Entries are trusted from the right up to the first that is no proxy or no valid address."""
    assert seen("127.0.0.1", (b"x-forwarded-for", given)) == (address, "http")


def test_several_headers_are_one_list() -> None:
    """Several X-Forwarded-For headers are one list in the order of the headers."""
    given = ((b"x-forwarded-for", b"198.51.100.1"), (b"x-forwarded-for", b"192.0.2.1"))
    assert seen("10.9.9.9", *given) == ("192.0.2.1", "http")


@pytest.mark.parametrize("peer", ["192.0.2.9", "2001:db8::9", None, ""])
def test_headers_of_untrusted_peers_are_ignored(peer: str | None) -> None:
    """A peer that is no trusted proxy cannot choose its address, or it could evade limits by address."""
    assert seen(peer, (b"x-forwarded-for", b"198.51.100.1"), (b"x-forwarded-proto", b"https")) == (peer, "http")


@pytest.mark.parametrize(
    ("given", "scheme"), [(b"https", "https"), (b"HTTPS ", "https"), (b"gopher", "http"), (b"\xff", "http")]
)
def test_the_scheme_is_http_or_https(given: bytes, scheme: str) -> None:
    """A forwarded scheme other than HTTP and HTTPS is ignored."""
    assert seen("127.0.0.1", (b"x-forwarded-proto", given))[1] == scheme


def test_every_peer_can_be_trusted() -> None:
    """With `*` as trusted proxies, the first address of the header is the client."""
    assert seen("192.0.2.9", (b"x-forwarded-for", b"198.51.100.1, 192.0.2.1"), trusted="*")[0] == "198.51.100.1"


@pytest.mark.parametrize("given", [b"", b"\xff" * 3000, b"[::1", b"unix:/x", b"a" * 50_000, b"1.2.3.4:x", b","])
def test_any_header_leaves_logging_in_possible(service: Service, given: bytes) -> None:
    """An invalid X-Forwarded-For header does not change the result of a login."""
    headers = [(b"X-Forwarded-For", given), (b"Origin", b"http://["), (b"Sec-Fetch-Site", b"none")]
    with service.client() as client:
        wrong = client.post("/login", data={"name": "admin", "password": "wrong"}, headers=headers)
        assert wrong.status_code == 401
        assert client.get("/api/v1/user", auth=("admin", "wrong"), headers=headers).status_code == 401
        right = client.post("/login", data={"name": "admin", "password": ADMIN_PASSWORD}, headers=headers)
        assert right.status_code == 303


def test_an_invalid_origin_is_cross_site(service: Service) -> None:
    """An Origin header that cannot be parsed gets 403 or 401 and not an internal error."""
    with service.client() as client:
        response = client.post("/login", data={"name": "admin", "password": "x"}, headers={"Origin": "http://["})
        assert response.status_code == 403
        cookie = {"Cookie": "holdfast_session=x", "Origin": "http://["}
        assert client.get("/api/v1/user", headers=cookie).status_code == 401
