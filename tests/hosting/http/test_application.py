"""The HTTP application: compression, request limits and errors."""

import gzip
import json
import os
import socket
from urllib.parse import urlsplit

import pytest

from holdfast.hosting.store import tokens
from tests.conftest import Service
from tests.hosting.api_clients import ServiceClients


def test_bodies_and_responses_may_be_compressed(clients: ServiceClients) -> None:
    """A gzip body is accepted, and a response is compressed only for clients that accept gzip."""
    body = gzip.compress(json.dumps({"name": "zipped"}).encode())
    headers = {"Content-Type": "application/json", "Content-Encoding": "gzip"}
    assert clients.admin.post("/user/repos", content=body, headers=headers).status_code == 201
    response = clients.admin.get("/repos/admin/zipped", headers={"Accept-Encoding": "gzip"})
    assert response.headers["content-encoding"] == "gzip"
    plain = clients.admin.get("/repos/admin/zipped", headers={"Accept-Encoding": "identity"})
    assert "content-encoding" not in plain.headers
    assert plain.json() == response.json()


@pytest.mark.parametrize(
    ("content", "encoding", "status"),
    [
        (b"not gzip at all", "gzip", 400),
        (gzip.compress(b'{"name": "x"}')[:-9], "gzip", 400),
        (b"{}", "br", 415),
        (gzip.compress(b" " * 50_000_000), "gzip", 413),
        (b" " * 5_000_000, "identity", 413),
    ],
    ids=["no gzip", "cut off", "unknown", "a bomb", "large"],
)
def test_a_body_that_cannot_be_read_is_refused(
    clients: ServiceClients, content: bytes, encoding: str, status: int
) -> None:
    """Damaged gzip, unknown encodings, decompression bombs and large bodies are refused."""
    headers = {"Content-Type": "application/json", "Content-Encoding": encoding}
    assert clients.admin.post("/user/repos", content=content, headers=headers).status_code == status


def test_a_hundred_megabytes_are_refused_before_they_are_sent(clients: ServiceClients) -> None:
    """A Content-Length of 100 MiB is refused with 413 before the body is sent."""
    address = urlsplit(clients.service.url)
    head = (
        "POST /api/v1/user/repos HTTP/1.1\r\nHost: x\r\nContent-Type: application/json\r\n"
        f"Authorization: {clients.admin.headers['authorization']}\r\nContent-Length: {100 * 2**20}\r\n\r\n"
    )
    with socket.create_connection((address.hostname, address.port), 10) as connection:
        connection.sendall(head.encode() + b'{"name": "')
        assert connection.recv(1000).startswith(b"HTTP/1.1 413 ")


@pytest.mark.parametrize("number", ["x", "-1", "0", "99999999999999999999", "1.5", "1e3", "%00", "%D9%A1"])
def test_an_invalid_number_in_a_path_is_not_found(clients: ServiceClients, number: str) -> None:
    """A path parameter that is no positive number of 64 bits gives 404."""
    assert clients.admin.get(f"/repositories/{number}").status_code == 404


@pytest.mark.parametrize(
    "path", ["/api/v1/no/such/thing", "/api/v1", "/api/v1/", "/api/v2/version", "/api", "/api/"]
)
def test_an_unknown_route_is_named_in_json(clients: ServiceClients, path: str) -> None:
    """The 404 of an unknown route has the method, the path and the URL of the documentation."""
    response = clients.open("").get(path, headers={"Accept": "text/html"})
    assert (response.status_code, response.headers["content-type"]) == (404, "application/json;charset=utf-8")
    swagger = f"{clients.service.url}/api/swagger"
    assert response.json() == {"message": f"no such route: GET {path}", "url": swagger}


def test_an_unknown_method_is_named_in_json(clients: ServiceClients) -> None:
    """A 405 response names the method, and lists the allowed ones in the message and the header."""
    response = clients.anonymous.delete("/version")
    assert (response.status_code, response.headers["allow"]) == (405, "GET, HEAD")
    assert response.json()["message"] == "method not allowed: DELETE /api/v1/version; allowed are GET, HEAD"


def test_an_unknown_route_is_named_in_a_short_form(clients: ServiceClients) -> None:
    """The 404 of a long or invalid path is JSON and has less than 400 bytes."""
    for path in ("/a" * 5000, "/%FF%00", "/%22%7B", "/%ED%A0%80"):
        response = clients.anonymous.get(path)
        assert response.status_code == 404
        assert response.json()["message"].startswith("no such route: GET /api/v1/")
        assert len(response.content) < 400


@pytest.mark.parametrize(
    "path",
    ["/api/v1/version", "/api/v1/repos/search", "/", "/admin", "/ada/ship.git/info/refs", "/nothing/at/all"],
)
@pytest.mark.parametrize("accepts", ["text/html", "*/*"])
def test_a_query_with_very_many_parameters_is_refused(clients: ServiceClients, path: str, accepts: str) -> None:
    """The API, pages and git endpoints refuse such a query with a client error, never with a server error."""
    query = "&".join(f"a{number}=1" for number in range(600))
    for method in ("GET", "POST"):
        response = clients.open("").request(method, f"{path}?{query}", headers={"Accept": accepts})
        assert response.status_code in {400, 404, 405}, response.text
    if path == "/api/v1/repos/search":
        response = clients.anonymous.get(f"/repos/search?{query}")
        assert response.json()["message"] == "a query string has at most 500 parameters"
        assert clients.anonymous.get("/repos/search?" + query[: query.index("&a500=")]).status_code == 200


def test_forms_are_read_too(clients: ServiceClients) -> None:
    """A body may be an HTML form instead of JSON, since some scripts send forms."""
    response = clients.admin.post("/user/repos", data={"name": "formed", "private": "true"})
    assert (response.status_code, response.json()["private"]) == (201, True)


def test_an_internal_error_is_reported_without_its_text(service: Service, monkeypatch: pytest.MonkeyPatch) -> None:
    """A 500 response has the id of the request, with which the log can be searched."""

    def fail(*_: object) -> None:
        raise RuntimeError("the secret is mackerel")

    monkeypatch.setattr(tokens, "holder_of", fail)
    with service.client() as client:
        headers = {"Authorization": "token x", "X-Request-Id": "mine"}
        response = client.get("/api/v1/user", headers=headers)
    assert response.status_code == 500
    assert response.json()["message"] == "internal error; request mine"
    assert "mackerel" not in response.text


@pytest.mark.parametrize(("ratio", "status"), [(150, 422), (250, 413)])
def test_the_compression_ratio_of_a_body_is_limited(clients: ServiceClients, ratio: int, status: int) -> None:
    """A body is refused if it is decompressed to more than 200 times its size, even below the size limit."""
    packed = packed_to(ratio)
    plain = gzip.decompress(packed)
    assert len(plain) < 4 * 2**20
    headers = {"Content-Type": "application/json", "Content-Encoding": "gzip"}
    response = clients.admin.post("/user/repos", content=packed, headers=headers)
    assert response.status_code == status, response.text


def packed_to(ratio: int) -> bytes:
    """Compress a JSON body that unpacks to about `ratio` times its size, and well above the allowance."""
    size = 2**20
    noise = os.urandom(size).hex().encode()
    fewest, most = 0, size
    while most - fewest > 128:
        middle = (fewest + most) // 2
        created = gzip.compress(b'{"name": "%s"}' % (noise[:middle] + b" " * (size - middle)), 9)
        if size / len(created) > ratio:
            fewest = middle
        else:
            most = middle
    created = gzip.compress(b'{"name": "%s"}' % (noise[:most] + b" " * (size - most)), 9)
    assert ratio * 0.9 < size / len(created) < ratio * 1.1
    return created
