"""Errors of requests that Holdfast sends.

HttpClientError
├── InvalidRequest         the request cannot be sent
│   └── InvalidUrl         its URL is invalid, or neither http nor https
├── AddressNotAllowed      every address of the host is refused by the address policy
├── ConnectError           the connection failed: name resolution, TCP, TLS or the proxy
├── ResponseTimeout        the server sent nothing within the timeout
└── ProtocolError          the response is not valid HTTP, or is truncated
"""

from collections.abc import Sequence
from ipaddress import IPv4Address, IPv6Address

from holdfast.errors import HoldfastError

__all__ = [
    "AddressNotAllowed",
    "ConnectError",
    "HttpClientError",
    "InvalidRequest",
    "InvalidUrl",
    "ProtocolError",
    "ResponseTimeout",
]


class HttpClientError(HoldfastError):
    """A request could not be sent, or its response could not be read."""


class InvalidRequest(HttpClientError):
    """The request cannot be sent."""


class InvalidUrl(InvalidRequest):
    """The URL is invalid, or neither http nor https."""


class AddressNotAllowed(HttpClientError):
    """Every address of the host is refused by the address policy."""

    def __init__(self, host: str, addresses: Sequence[IPv4Address | IPv6Address]) -> None:
        super().__init__(f"{host} may not be connected to")
        self.host = host
        self.addresses = list(addresses)


class ConnectError(HttpClientError):
    """The connection failed: name resolution, TCP, TLS or the proxy."""


class ResponseTimeout(HttpClientError):
    """The server sent nothing within the timeout."""


class ProtocolError(HttpClientError):
    """The response is not valid HTTP, or is truncated."""
