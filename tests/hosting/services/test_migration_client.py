"""The HTTP client of migrations: credentials, limits, redirects and allowed hosts."""

import time
from dataclasses import replace
from pathlib import Path

import msgspec
import pytest

from holdfast.hosting.app import App
from holdfast.hosting.errors import RemoteFailed
from holdfast.hosting.services import migration_client
from holdfast.hosting.services.migration_client import MigrationClient
from holdfast.http_client.urls import HttpUrl
from tests.hosting.services.http_stub import http_stub

pytestmark = pytest.mark.parametrize("settings", ["sqlite"], indirect=True)


@pytest.fixture
def allow_local_addresses(app: App) -> App:
    """Let services on this machine be read, and files of a mebibyte."""
    settings = msgspec.structs.replace(
        app.settings, migration_allowed_hosts="127.0.0.1/32", max_lfs_mb=1, migration_max_mb=2
    )
    return replace(app, settings=settings)


def open_client(app: App, url: str) -> MigrationClient:
    """Return a client whose credentials belong to an address."""
    return MigrationClient.open(app, HttpUrl.parse(url), "token t0ken")


def test_credentials_are_sent_to_their_host_only(allow_local_addresses: App) -> None:
    """Another port is another origin, also after a redirect; an explicit authorization header is sent anyway."""
    with http_stub({"/a": (200, b"a")}) as other, http_stub({"/a": (200, b"b")}) as home:
        client = open_client(allow_local_addresses, home.url)
        home.redirects["/away"] = f"{other.url}/a"
        for url in (f"{home.url}/a", f"{other.url}/a", f"{home.url}/away"):
            client.read(client.request("GET", HttpUrl.parse(url), {}))
        client.read(client.request("GET", HttpUrl.parse(f"{other.url}/a"), {"authorization": "own"}))
    assert [request.authorization for request in home.seen] == ["token t0ken", "token t0ken"]
    assert [request.authorization for request in other.seen] == ["", "", "own"]


def test_files_are_limited_one_by_one_and_together(allow_local_addresses: App, tmp_path: Path) -> None:
    """A download is limited by `max_lfs_mb`, and all downloads of a migration by `migration_max_mb`."""
    large, small = b"x" * 1_048_577, b"y" * 1_000_000
    with http_stub({"/large": (200, large), "/small": (200, small)}) as stub:
        client = open_client(allow_local_addresses, stub.url)
        with pytest.raises(RemoteFailed, match="the film is larger than the setting max_lfs_mb allows"):
            client.download(f"{stub.url}/large", tmp_path / "large", subject="the film", headers={})
        for name in ("first", "second"):
            size = client.download(f"{stub.url}/small", tmp_path / name, subject="the film", headers={})
            assert (size, (tmp_path / name).read_bytes()) == (len(small), small)
        with pytest.raises(RemoteFailed, match="migration_max_mb"):
            client.download(f"{stub.url}/small", tmp_path / "third", subject="the film", headers={})


def test_answers_time_and_redirects_are_limited(
    allow_local_addresses: App, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The error names the limit that was exceeded or the status of the response."""
    monkeypatch.setattr(migration_client, "MOST_BYTES", 10)
    with http_stub({"/a": (200, b"x" * 11), "/missing": (404, b""), "/closed": (403, b"")}) as stub:
        stub.redirects["/round"] = f"{stub.url}/round"
        client = open_client(allow_local_addresses, stub.url)
        for path, reason in (
            ("/a", "too much"),
            ("/round", "redirects more than"),
            ("/missing", "404"),
            ("/closed", "refused"),
        ):
            with pytest.raises(RemoteFailed, match=reason):
                client.read(client.request("GET", HttpUrl.parse(f"{stub.url}{path}"), {}))
        client.deadline = time.monotonic() - 1
        with pytest.raises(RemoteFailed, match="migration_timeout"):
            client.read(client.request("GET", HttpUrl.parse(f"{stub.url}/a"), {}))


def test_no_other_host_is_contacted(app: App, allow_local_addresses: App, tmp_path: Path) -> None:
    """A host that the settings do not allow is contacted neither directly nor after a redirect."""
    with http_stub({}) as stub:
        stub.redirects["/away"] = "http://127.0.0.2/x"
        for host, url in ((app, f"{stub.url}/a"), (allow_local_addresses, f"{stub.url}/away")):
            with pytest.raises(RemoteFailed, match="migration_allowed_hosts"):
                open_client(host, stub.url).download(url, tmp_path / "file", subject="the film", headers={})
        assert len(stub.seen) == 1
    assert not (tmp_path / "file").exists()
