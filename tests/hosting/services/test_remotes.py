"""Checks of remote addresses before git fetches from them."""

import base64
import ipaddress
from dataclasses import replace

import msgspec
import pytest

from holdfast.hosting.app import App
from holdfast.hosting.errors import InvalidValue, RemoteFailed
from holdfast.hosting.services import remotes
from holdfast.hosting.services.remotes import Credentials
from holdfast.http_client import connector
from holdfast.http_client.urls import Address
from tests.hosting.services.http_stub import http_stub

NOBODY = Credentials()


@pytest.fixture
def allow_local_addresses(app: App) -> App:
    """Let repositories be fetched from this machine."""
    return replace(app, settings=msgspec.structs.replace(app.settings, migration_allowed_hosts="127.0.0.1/32"))


def test_redirects_are_followed_before_git_is_started(allow_local_addresses: App) -> None:
    """Git gets the final URL, and credentials are sent to the first server only."""
    with http_stub({"/b.git/info/refs": (200, b"")}) as other, http_stub({}) as stub:
        stub.redirects["/a/info/refs"] = f"{other.url}/b.git/info/refs?service=git-upload-pack"
        url = remotes.parse_address(f"{stub.url}/a/", "CloneAddr")
        found = remotes.open_remote(allow_local_addresses, url, Credentials("ada", "secret"))
    assert (found.url, found.addresses, found.authorization) == (f"{other.url}/b.git", ("127.0.0.1",), "")
    assert [request.authorization for request in other.seen] == [""]
    assert stub.seen[0].authorization == Credentials("ada", "secret").authorization


def test_a_redirect_to_an_address_that_is_not_allowed_is_refused(allow_local_addresses: App) -> None:
    """Redirects to addresses that the settings do not allow, and to `file:` URLs, are refused."""
    for target, reason in (
        ("http://169.254.169.254/a/info/refs", "migration_allowed_hosts"),
        ("http://[::1]:1/a/info/refs", "migration_allowed_hosts"),
        ("file:///etc/passwd", "must begin with http"),
    ):
        with http_stub({}) as stub:
            stub.redirects["/a/info/refs"] = target
            with pytest.raises(RemoteFailed, match=reason):
                remotes.open_remote(
                    allow_local_addresses, remotes.parse_address(f"{stub.url}/a", "CloneAddr"), NOBODY
                )


def test_the_number_of_redirects_is_limited(allow_local_addresses: App) -> None:
    """A server that redirects to itself gets six requests, and then the address is refused."""
    with http_stub({}) as stub:
        stub.redirects["/a/info/refs"] = f"{stub.url}/a/info/refs?service=git-upload-pack"
        with pytest.raises(RemoteFailed, match="redirects more than 5 times"):
            remotes.open_remote(allow_local_addresses, remotes.parse_address(f"{stub.url}/a", "CloneAddr"), NOBODY)
    assert len(stub.seen) == 6


@pytest.mark.parametrize(
    ("status", "reason"),
    [
        (401, "credentials"),
        (403, "credentials"),
        (404, "no repository"),
        (410, "no repository"),
        (500, "status 500"),
    ],
)
def test_errors_of_the_server_are_reported(allow_local_addresses: App, status: int, reason: str) -> None:
    """The error depends on the HTTP status and does not contain the body of the response."""
    with (
        http_stub({"/a/info/refs": (status, b"inner")}) as stub,
        pytest.raises(RemoteFailed, match=reason) as excinfo,
    ):
        remotes.open_remote(allow_local_addresses, remotes.parse_address(f"{stub.url}/a", "CloneAddr"), NOBODY)
    assert "inner" not in str(excinfo.value)


def test_a_web_page_is_not_a_repository(allow_local_addresses: App) -> None:
    """A redirect to a URL that is not git's smart protocol is refused, since the size would be unknown."""
    with http_stub({"/page": (200, b"")}) as stub:
        stub.redirects["/a/info/refs"] = f"{stub.url}/page"
        with pytest.raises(RemoteFailed, match="no git repository"):
            remotes.open_remote(allow_local_addresses, remotes.parse_address(f"{stub.url}/a", "CloneAddr"), NOBODY)


def test_only_allowed_addresses_of_a_name_are_given_to_git(
    allow_local_addresses: App, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A host name that resolves to a forbidden address later (DNS rebinding) does not lead git there."""
    responses = [["127.0.0.1"], ["10.0.0.7", "127.0.0.1"], ["10.0.0.7"]]

    def resolve(host: str, port: int) -> list[Address]:
        del port
        assert host == "git.example"
        return [ipaddress.ip_address(item) for item in responses.pop(0)]

    monkeypatch.setattr(connector, "look_up", resolve)
    monkeypatch.setattr(remotes, "look_up", resolve)
    with http_stub({"/a/info/refs": (200, b"")}) as stub:
        url = remotes.parse_address(f"http://git.example:{stub.port}/a", "CloneAddr")
        assert remotes.open_remote(allow_local_addresses, url, NOBODY).addresses == ("127.0.0.1",)
        responses[:] = [["127.0.0.1"], ["10.0.0.7"]]
        with pytest.raises(RemoteFailed, match=r"10\.0\.0\.7"):
            remotes.open_remote(allow_local_addresses, url, NOBODY)


def test_credentials_are_sent_as_basic_authentication() -> None:
    """A token without a user name is sent as the password; without either nothing is sent."""
    assert Credentials().authorization == ""
    for credentials, pair in (
        (Credentials("ada", "x"), b"ada:x"),
        (Credentials(password="x"), b"oauth2:x"),
        (Credentials("ada"), b"ada:"),
    ):
        scheme, _, encoded = credentials.authorization.partition(" ")
        assert (scheme, base64.b64decode(encoded)) == ("Basic", pair)


def test_the_settings_limit_a_command(app: App) -> None:
    """A git command that talks to a remote ends after the time and the size that the settings allow."""
    settings = msgspec.structs.replace(app.settings, migration_timeout=7, migration_max_mb=3)
    limits = remotes.limits_of(replace(app, settings=settings))
    assert (limits.seconds, limits.most_bytes) == (7, 3 * 1024 * 1024)


def test_an_address_has_a_limited_length() -> None:
    """An address of 2048 characters is accepted, and a longer one is refused."""
    address = "https://git.example/".ljust(2048, "a")
    assert remotes.parse_address(address, "CloneAddr").url == address
    with pytest.raises(InvalidValue, match="at most 2048 characters"):
        remotes.parse_address(address + "a", "CloneAddr")


@pytest.mark.parametrize("address", ["ftp://a/b", "a", "", "http://a/b?c", "https://a:99999/b", "javascript:1"])
def test_other_addresses_are_refused(address: str) -> None:
    """URLs of other schemes, with a query, without a host or with an invalid port are refused."""
    with pytest.raises(InvalidValue):
        remotes.parse_address(address, "CloneAddr")


def test_credentials_of_an_address_are_used_and_not_shown() -> None:
    """Credentials in a URL are removed from it and used unless the request has others."""
    url = remotes.parse_address("https://ada:p%40ss@git.example/a.git", "CloneAddr")
    assert url.url == "https://git.example/a.git"
    credentials = remotes.credentials_for(url, NOBODY)
    assert (credentials.username, credentials.password) == ("ada", "p@ss")
    assert "p@ss" not in repr(credentials)
    assert remotes.credentials_for(url, Credentials("bob", "x")).username == "bob"
