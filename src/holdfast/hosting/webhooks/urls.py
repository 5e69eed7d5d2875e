"""Where a request goes: the parts of a webhook's address, as they are needed to connect and to ask."""

import base64
import ipaddress
from dataclasses import dataclass
from typing import Final, Self
from urllib.parse import SplitResult, quote, unquote, urljoin, urlsplit

from holdfast.hosting.errors import UrlRefused
from holdfast.redacted_repr import redacted

__all__ = ["UrlParts", "without_credentials"]

PORTS: Final = {"http": 80, "https": 443}
# What may stand in a path or a query as it is; everything else is written with a percent sign.
PATH_SAFE: Final = "/:@!$&'()*+,;=~-._%"
QUERY_SAFE: Final = PATH_SAFE + "?"


@redacted
@dataclass(frozen=True, slots=True)
class UrlParts:
    """The parts of an address; two targets of one `origin` can share a connection."""

    scheme: str
    host: str
    """In lower case, international names in their ASCII form, IPv6 without brackets."""
    port: int
    path: str
    """With the query, ready to be sent."""
    credentials: str = ""
    """What stands before the @, as an Authorization header has it."""

    @classmethod
    def parse(cls, url: str) -> Self:
        """Take an address apart, or say why nothing can be sent there."""
        try:
            parts = urlsplit(url.strip())
            port = parts.port
        except ValueError as error:
            raise UrlRefused(f"the address cannot be understood: {error}") from None
        scheme = parts.scheme.lower()
        if scheme not in PORTS:
            raise UrlRefused("the address must begin with http:// or https://")
        if port is not None and not 1 <= port <= 65535:
            raise UrlRefused(f"the address has the port {port}, which nobody can listen on")
        path = quote(parts.path or "/", safe=PATH_SAFE)
        if parts.query:
            path += f"?{quote(parts.query, safe=QUERY_SAFE)}"
        return cls(scheme, host_of(parts), port or PORTS[scheme], path, credentials_of(parts))

    @property
    def origin(self) -> tuple[str, str, int]:
        """Who answers: the scheme, the host and the port."""
        return self.scheme, self.host, self.port

    @property
    def authority(self) -> str:
        """The host and the port as the Host header has them."""
        name = f"[{self.host}]" if ":" in self.host else self.host
        return name if self.port == PORTS[self.scheme] else f"{name}:{self.port}"

    @property
    def url(self) -> str:
        """The whole address, without credentials."""
        return f"{self.scheme}://{self.authority}{self.path}"

    def redirected(self, location: str) -> "UrlParts":
        """Return where an answer's Location header points; credentials in it are nobody's we know."""
        try:
            joined = urljoin(self.url, location.strip())
        except ValueError as error:
            raise UrlRefused(f"it redirects to an address that cannot be understood: {error}") from None
        found = UrlParts.parse(joined)
        return UrlParts(found.scheme, found.host, found.port, found.path)


def host_of(parts: SplitResult) -> str:
    """Return the host of an address in the form that names are looked up by."""
    host = (parts.hostname or "").rstrip(".")
    if not host:
        raise UrlRefused("the address names no host")
    if host.isascii():
        if any(sign <= " " or sign in '\x7f"<>\\^`{|}' for sign in host):
            raise UrlRefused("the address names a host that cannot exist")
        if ":" in host:
            try:
                ipaddress.IPv6Address(host)
            except ValueError:
                raise UrlRefused("the address names a host that cannot exist") from None
        return host
    try:
        return host.encode("idna").decode().lower()
    except UnicodeError:
        raise UrlRefused("the address names a host that cannot exist") from None


def credentials_of(parts: SplitResult) -> str:
    """Return the name and password in an address as an Authorization header has them."""
    if not parts.username and not parts.password:
        return ""
    pair = f"{unquote(parts.username or '')}:{unquote(parts.password or '')}"
    return f"Basic {base64.b64encode(pair.encode()).decode()}"


def without_credentials(url: str) -> str:
    """Return an address without the name and password it may hold, for people to see."""
    try:
        parts = urlsplit(url)
    except ValueError:
        return url
    before, at, after = parts.netloc.rpartition("@")
    return parts._replace(netloc=after).geturl() if at and before else url
