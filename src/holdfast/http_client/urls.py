"""URLs of requests: parsed, normalized and percent-encoded, but never decoded.

Paths and queries are sent as written: a presigned URL that is encoded again does not match its signature.
"""

import base64
import functools
import ipaddress
import socket
from dataclasses import dataclass
from typing import Final
from urllib.parse import SplitResult, quote, unquote, urljoin, urlsplit

from holdfast.http_client.errors import InvalidUrl
from holdfast.redacted_repr import redacted

__all__ = ["Address", "HttpUrl", "without_credentials"]

Address = ipaddress.IPv4Address | ipaddress.IPv6Address

PORTS: Final = {"http": 80, "https": 443}
# Characters that are not percent-encoded in a path or a query.
PATH_SAFE: Final = "/:@!$&'()*+,;=~-._%"
QUERY_SAFE: Final = PATH_SAFE + "?"


@redacted
@dataclass(frozen=True, slots=True)
class HttpUrl:
    """An absolute http or https URL."""

    scheme: str
    host: str
    """In lower case; international names in ASCII (IDNA), IPv4 in four decimal parts, IPv6 without brackets."""
    port: int
    path: str
    """The request target: path and query, percent-encoded."""
    credentials: str = ""
    """The user information of the URL as the value of an Authorization header (Basic)."""

    @classmethod
    def parse(cls, url: str) -> "HttpUrl":
        """Parse a URL; raises `InvalidUrl`."""
        return parse_url(url)

    @property
    def origin(self) -> tuple[str, str, int]:
        """Scheme, host and port (RFC 6454)."""
        return self.scheme, self.host, self.port

    @property
    def authority(self) -> str:
        """Host and port as in the Host header, without the default port of the scheme."""
        name = f"[{self.host}]" if ":" in self.host else self.host
        return name if self.port == PORTS[self.scheme] else f"{name}:{self.port}"

    @property
    def url(self) -> str:
        """The whole URL, without user information."""
        return f"{self.scheme}://{self.authority}{self.path}"

    def redirected(self, location: str) -> "HttpUrl":
        """Resolve the Location header of a redirect; user information in it is dropped."""
        try:
            joined = urljoin(self.url, location.strip())
        except ValueError as error:
            raise InvalidUrl(f"it redirects to an address that is invalid: {error}") from None
        http_url = HttpUrl.parse(joined)
        return HttpUrl(http_url.scheme, http_url.host, http_url.port, http_url.path)


@functools.lru_cache(maxsize=1024)
def parse_url(url: str) -> HttpUrl:
    """Parse a URL; cached, since webhooks repeat the same URLs."""
    try:
        parts = urlsplit(url.strip())
        port = parts.port
    except ValueError as error:
        raise InvalidUrl(f"the address is invalid: {error}") from None
    scheme = parts.scheme.lower()
    if scheme not in PORTS:
        raise InvalidUrl("the address must begin with http:// or https://")
    if port is not None and not 1 <= port <= 65535:
        raise InvalidUrl(f"the address has the port {port}, which is invalid")
    path = quote(parts.path or "/", safe=PATH_SAFE)
    if parts.query:
        path += f"?{quote(parts.query, safe=QUERY_SAFE)}"
    return HttpUrl(scheme, host_of(parts), port or PORTS[scheme], path, credentials_of(parts))


def host_of(parts: SplitResult) -> str:
    """Return the host in the form in which it is resolved."""
    host = (parts.hostname or "").rstrip(".")
    if not host:
        raise InvalidUrl("the address has no host")
    if host.isascii():
        if any(sign <= " " or sign in '\x7f"<>\\^`{|}' for sign in host):
            raise InvalidUrl("the address has an invalid host")
        if ":" in host:
            try:
                ipaddress.IPv6Address(host)
            except ValueError:
                raise InvalidUrl("the address has an invalid host") from None
        if host.replace(".", "").isdigit():
            return ipv4_of(host)
        return host
    try:
        return host.encode("idna").decode().lower()
    except UnicodeError:
        raise InvalidUrl("the address has an invalid host") from None


def ipv4_of(host: str) -> str:
    """Return an IPv4 address in its canonical form: 127.1 and 2130706433 are 127.0.0.1."""
    try:
        return socket.inet_ntoa(socket.inet_aton(host))
    except OSError:
        raise InvalidUrl("the address has an invalid host") from None


def credentials_of(parts: SplitResult) -> str:
    """Return the user information as the value of an Authorization header."""
    if not parts.username and not parts.password:
        return ""
    pair = f"{unquote(parts.username or '')}:{unquote(parts.password or '')}"
    return f"Basic {base64.b64encode(pair.encode()).decode()}"


def without_credentials(url: str) -> str:
    """Return a URL without its user information, for display."""
    if "@" not in url:
        return url
    try:
        parts = urlsplit(url)
    except ValueError:
        return url
    before, at, after = parts.netloc.rpartition("@")
    return parts._replace(netloc=after).geturl() if at and before else url
