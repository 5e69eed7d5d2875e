"""The client of the demo: requests, pushes, and errors without credentials."""

import hashlib
import socket
from pathlib import Path

import pytest

from holdfast.hosting.errors import GitFailed
from holdfast.hosting.lfs.pointer import LfsPointer
from holdfast.secret import Secret
from holdfast_demo.client import DemoClient, DemoRequestFailed, basic_authorization, pointer_to
from tests.conftest import ADMIN_PASSWORD, Service


def make_client(service: Service, password: str = ADMIN_PASSWORD) -> DemoClient:
    """Make a client of a running service."""
    return DemoClient(
        "127.0.0.1", int(service.url.rpartition(":")[2]), Secret(basic_authorization("admin", password))
    )


def test_an_answer_is_decoded_and_none_is_none(service: Service) -> None:
    """JSON responses are decoded, an empty one is None, and a request can act as another user."""
    client = make_client(service)
    person = {
        "username": "ada",
        "email": "ada@example.org",
        "password": "long enough",
        "must_change_password": False,
    }
    client.request("POST", "/admin/users", person)
    assert client.request("GET", "/user")["login"] == "admin"
    assert client.request("GET", "/user", person="ada")["login"] == "ada"
    assert client.request("DELETE", "/admin/users/ada") is None


def test_a_large_file_arrives_once(service: Service) -> None:
    """An upload that is repeated stores the LFS object once."""
    client = make_client(service)
    client.request("POST", "/user/repos", {"name": "a"})
    for _ in range(2):
        client.upload("admin/a", b"large")
    files = [path for path in (service.settings.data / "lfs").rglob("*") if path.is_file()]
    assert [path.read_bytes() for path in files] == [b"large"]


def test_an_error_response_is_reported_with_its_reason(service: Service) -> None:
    """The error has the request, the status and the message of the service."""
    with pytest.raises(DemoRequestFailed, match=r"GET /api/v1/users/nobody returned 404: .+"):
        make_client(service).request("GET", "/users/nobody")
    with pytest.raises(DemoRequestFailed, match="401") as caught:
        make_client(service, "wrong-password").request("GET", "/user")
    assert "wrong" not in str(caught.value)


def test_a_push_that_fails_does_not_show_the_password(service: Service, tmp_path: Path) -> None:
    """The password is not in the error output of git either."""
    with pytest.raises(GitFailed) as caught:
        make_client(service).push(tmp_path, "admin/none", ["refs/heads/main"], person="admin")
    assert ADMIN_PASSWORD not in repr(vars(caught.value))
    assert basic_authorization("admin", ADMIN_PASSWORD) not in repr(vars(caught.value))


def test_a_closed_port_is_an_error() -> None:
    """A port without a listener raises a client error."""
    with socket.socket() as bound:
        bound.bind(("127.0.0.1", 0))
        client = DemoClient("127.0.0.1", bound.getsockname()[1], Secret("x"))
        with pytest.raises(DemoRequestFailed, match=r"GET /api/v1/user failed: .+refused"):
            client.request("GET", "/user")


def test_addresses_of_both_kinds_can_be_written() -> None:
    """An IPv6 address is written in brackets in the URL, and an IPv4 address is not."""
    assert DemoClient("::1", 80, Secret("")).root == "http://[::1]:80"
    assert DemoClient("127.0.0.1", 80, Secret("")).root == "http://127.0.0.1:80"


def test_a_pointer_stands_for_its_content() -> None:
    """An LFS pointer has the SHA-256 and the size of its content, and is parsed as it was formatted."""
    pointer = LfsPointer(hashlib.sha256(b"a").hexdigest(), 1)
    assert pointer_to(b"a") == LfsPointer.parse(pointer.format()) == pointer
