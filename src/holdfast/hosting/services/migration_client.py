"""The HTTP client of a migration: bounded responses, and addresses checked against SSRF as for webhooks.

Credentials are sent to one origin only, and dropped on a redirect to another. The total size of all files of a
migration and the total time are bounded.
"""

import time
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from holdfast.hosting.app import App
from holdfast.hosting.errors import RemoteFailed
from holdfast.hosting.services import remotes
from holdfast.http_client import sync
from holdfast.http_client.errors import AddressNotAllowed, HttpClientError, InvalidUrl
from holdfast.http_client.requests import HttpRequest, redirected
from holdfast.http_client.urls import HttpUrl
from holdfast.redacted_repr import redacted

__all__ = ["API", "MigrationClient"]

API: Final = "the API of the other service"
MOST_BYTES: Final = 64 * 1024 * 1024
MOST_REDIRECTS: Final = 5
READ_SECONDS: Final = 60.0
CHUNK: Final = 1024 * 1024
MEBIBYTE: Final = 1024 * 1024


@redacted
@dataclass(slots=True)
class MigrationClient:
    """Sends the requests of one migration within its remaining time and size."""

    app: App
    home: HttpUrl
    """The URL whose origin gets the credentials."""
    authorization: str
    deadline: float
    bytes_left: int
    """The remaining total size of downloaded files."""

    @classmethod
    def open(cls, app: App, home: HttpUrl, authorization: str, bytes_left: int | None = None) -> "MigrationClient":
        """Return a client with the limits of the settings, or with `bytes_left` of an earlier client."""
        deadline = time.monotonic() + app.settings.migration_timeout
        left = app.settings.migration_max_mb * MEBIBYTE if bytes_left is None else bytes_left
        return cls(app, home, authorization, deadline, left)

    def request(
        self, method: str, url: HttpUrl, headers: Mapping[str, str], body: bytes | None = None
    ) -> HttpRequest:
        """Build a request, with the credentials if it goes to their origin."""
        all_headers = dict(headers)
        has_own = any(name.lower() == "authorization" for name in all_headers)
        if self.authorization and not has_own and url.origin == self.home.origin:
            all_headers["Authorization"] = self.authorization
        return HttpRequest(method, HttpUrl(url.scheme, url.host, url.port, url.path), all_headers, body)

    @contextmanager
    def send(self, request: HttpRequest, subject: str) -> Iterator[sync.SyncResponse]:
        """Send a request, follow its redirects, and yield the successful response; raise `RemoteFailed`."""
        policy = remotes.allowed_hosts(self.app).allows
        for _ in range(MOST_REDIRECTS + 1):
            self.check_time()
            try:
                with sync.send(request, read_timeout=READ_SECONDS, policy=policy) as response:
                    if not response.is_redirect:
                        check_status(response.status, subject)
                        yield response
                        return
                    request = redirected(request, response.status, response.header("location"))
            except AddressNotAllowed as error:
                raise remotes.address_error(error.host, list(error.addresses)) from None
            except HttpClientError as error:
                raise RemoteFailed(f"{subject} cannot be read: {error}") from None
        raise RemoteFailed(f"{subject} redirects more than {MOST_REDIRECTS} times")

    def check_time(self) -> None:
        """Raise `RemoteFailed` after the deadline."""
        if time.monotonic() > self.deadline:
            raise RemoteFailed("it took longer than the setting migration_timeout allows")

    def read(self, request: HttpRequest) -> bytes:
        """Send a request to the API, and return the body of the response."""
        content = bytearray()
        with self.send(request, API) as response:
            while chunk := response.read(CHUNK):
                content += chunk
                if len(content) > MOST_BYTES or time.monotonic() > self.deadline:
                    raise RemoteFailed(f"{API} answered with too much, or too slowly")
        return bytes(content)

    def check_size(self, size: int, subject: str) -> None:
        """Raise `RemoteFailed` for a file over the limit per file, or over the remaining total."""
        if size > self.app.settings.max_lfs_mb * MEBIBYTE:
            raise RemoteFailed(f"{subject} is larger than the setting max_lfs_mb allows")
        if size > self.bytes_left:
            raise RemoteFailed(
                "the release files and LFS objects together are larger than the setting migration_max_mb allows"
            )

    def download(self, url: str, path: Path, *, subject: str, headers: Mapping[str, str]) -> int:
        """Download a URL to a new file, and return its size."""
        try:
            request = self.request("GET", HttpUrl.parse(url), headers)
        except InvalidUrl as error:
            raise RemoteFailed(f"{subject} has an invalid address: {error}") from None
        size = 0
        with self.send(request, subject) as response, path.open("xb") as file:
            while chunk := response.read(CHUNK):
                size += len(chunk)
                self.check_size(size, subject)
                self.check_time()
                file.write(chunk)
        self.bytes_left -= size
        return size


def check_status(status: int, subject: str) -> None:
    """Raise `RemoteFailed` for a status other than 200."""
    if status in {401, 403, 429}:
        raise RemoteFailed(f"{subject} was refused, or the rate is limited (status {status})")
    if status != 200:
        raise RemoteFailed(f"{subject} was answered with the status {status}")
