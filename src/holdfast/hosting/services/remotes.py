"""Remote repositories: the check of their address, and their credentials.

The address is chosen by users, so it is checked against SSRF as for webhooks. The first request is made here, by
the client that checks each address it connects to; it follows redirects, so that git does not have to.
"""

import base64
import ipaddress
import socket
from dataclasses import dataclass
from typing import Final, Literal

from holdfast.hosting.app import App
from holdfast.hosting.errors import InvalidValue, RemoteFailed
from holdfast.hosting.git.remotes import GitRemote, RemoteLimits
from holdfast.hosting.webhooks.addresses import AllowedHosts, refusal
from holdfast.http_client import sync
from holdfast.http_client.connector import look_up
from holdfast.http_client.errors import AddressNotAllowed, HttpClientError, InvalidUrl
from holdfast.http_client.requests import HttpRequest, redirected
from holdfast.http_client.urls import Address, HttpUrl
from holdfast.redacted_repr import redacted

__all__ = [
    "Credentials",
    "GitService",
    "address_error",
    "allowed_hosts",
    "checked_addresses",
    "credentials_for",
    "limits_of",
    "open_remote",
    "parse_address",
]

GitService = Literal["git-upload-pack", "git-receive-pack"]
LONGEST_ADDRESS: Final = 2048
MOST_REDIRECTS: Final = 5
READ_SECONDS: Final = 30.0
MOST_ADDRESSES: Final = 8


@redacted
@dataclass(frozen=True, slots=True)
class Credentials:
    """A user name, and a password or token; each may be empty."""

    username: str = ""
    password: str = ""

    @property
    def authorization(self) -> str:
        """The value of the Authorization header; empty without credentials."""
        if not self.username and not self.password:
            return ""
        # A token is sent as the password; the user name does not matter.
        pair = f"{self.username or 'oauth2'}:{self.password}"
        return f"Basic {base64.b64encode(pair.encode()).decode()}"


def credentials_for(url: HttpUrl, credentials: Credentials) -> Credentials:
    """Return the given credentials, or else those in the URL."""
    if credentials.authorization or not url.credentials:
        return credentials
    pair = base64.b64decode(url.credentials.removeprefix("Basic ")).decode(errors="replace")
    username, _, password = pair.partition(":")
    return Credentials(username, password)


def allowed_hosts(app: App) -> AllowedHosts:
    """Return the hosts that may be connected to, from the settings."""
    return AllowedHosts.parse(app.settings.migration_allowed_hosts)


def limits_of(app: App) -> RemoteLimits:
    """Return the limits of one git command, from the settings."""
    return RemoteLimits(app.settings.migration_timeout, app.settings.migration_max_mb * 1024 * 1024)


def parse_address(address: str, field: str) -> HttpUrl:
    """Parse the address of a repository; raise `InvalidValue` for anything but http and https."""
    if len(address) > LONGEST_ADDRESS:
        raise InvalidValue(field, f"the address must have at most {LONGEST_ADDRESS} characters")
    try:
        url = HttpUrl.parse(address)
    except InvalidUrl as error:
        raise InvalidValue(field, str(error)) from None
    if "?" in url.path:
        raise InvalidValue(field, "the address must not have a query")
    return HttpUrl(url.scheme, url.host, url.port, url.path.rstrip("/"), url.credentials)


def address_error(host: str, addresses: list[Address]) -> RemoteFailed:
    """Return the error for addresses that may not be connected to."""
    action = "repositories may not be migrated or mirrored with"
    return RemoteFailed(refusal(host, addresses, action=action, setting="migration_allowed_hosts"))


def open_remote(
    app: App,
    url: HttpUrl,
    credentials: Credentials,
    service: GitService = "git-upload-pack",
) -> GitRemote:
    """Check that a remote repository is reachable, and return it with the IP addresses git may connect to.

    Raises `RemoteFailed`. Credentials are not sent to the target of a redirect.
    """
    authorization = credentials.authorization
    headers = {"Authorization": authorization} if authorization else {}
    suffix = f"/info/refs?service={service}"
    plain = HttpUrl(url.scheme, url.host, url.port, f"{url.path}{suffix}")
    request = HttpRequest("GET", plain, headers)
    policy = allowed_hosts(app).allows
    for _ in range(MOST_REDIRECTS + 1):
        try:
            with sync.send(request, read_timeout=READ_SECONDS, policy=policy) as response:
                status, is_redirect = response.status, response.is_redirect
                location, kind = response.header("location"), response.header("content-type")
            if not is_redirect:
                break
            request = redirected(request, status, location)
        except AddressNotAllowed as error:
            raise address_error(error.host, list(error.addresses)) from None
        except HttpClientError as error:
            raise RemoteFailed(f"the remote repository cannot be reached: {error}") from None
    else:
        raise RemoteFailed(f"the address redirects more than {MOST_REDIRECTS} times")
    check_status(status)
    if not request.url.path.endswith(suffix) or kind.partition(";")[0] != f"application/x-{service}-advertisement":
        raise RemoteFailed("there is no git repository at this address")
    http_url = request.url
    return GitRemote(
        f"{http_url.scheme}://{http_url.authority}{http_url.path.removesuffix(suffix)}",
        http_url.host,
        http_url.port,
        checked_addresses(app, http_url),
        request.headers.get("Authorization", ""),
    )


def check_status(status: int) -> None:
    """Raise `RemoteFailed` for a status other than 200."""
    if status == 401:
        raise RemoteFailed("the remote repository needs credentials, or other ones")
    if status == 403:
        raise RemoteFailed("the remote repository may not be accessed with these credentials")
    if status in {404, 410}:
        raise RemoteFailed("there is no repository at this address")
    if status != 200:
        raise RemoteFailed(f"the remote server answered with the status {status}")


def checked_addresses(app: App, url: HttpUrl) -> tuple[str, ...]:
    """Resolve the host of a URL, and return the IP addresses that may be connected to."""
    allowed = allowed_hosts(app)
    try:
        addresses = [ipaddress.ip_address(url.host)]
    except ValueError:
        try:
            addresses = look_up(url.host, url.port)
        except (OSError, UnicodeError, socket.gaierror):
            raise RemoteFailed(f"the host {url.host} cannot be found") from None
    chosen = [address for address in addresses if allowed.allows(url.host, address) and "%" not in str(address)]
    if not chosen:
        raise address_error(url.host, addresses)
    return tuple(str(address) for address in chosen[:MOST_ADDRESSES])
