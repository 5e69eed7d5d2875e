"""Client IP addresses: parsing, trusted proxies, and the networks by which rate limits count."""

import hashlib
import ipaddress
from collections.abc import Iterable
from functools import lru_cache
from typing import Final

__all__ = ["Address", "TrustedProxies", "network_of", "parse_address"]

Address = ipaddress.IPv4Address | ipaddress.IPv6Address
# The maximum length of an address with its port, and the maximum number of proxies of a request.
LONGEST: Final = 64
MOST_PROXIES: Final = 32
IPV6_NETWORK_BITS: Final = 64


def parse_address(text: str) -> Address | None:
    """Parse an IP address, optionally with a port or in brackets; IPv4-mapped IPv6 is returned as IPv4."""
    text = text.strip().strip('"')
    if not text or len(text) > LONGEST or not text.isascii():
        return None
    if text.startswith("["):
        host, bracket, port = text[1:].partition("]")
        if not bracket or (port and not is_port(port.removeprefix(":"))):
            return None
        text = host
    elif text.count(":") == 1:
        text, _, port = text.partition(":")
        if not is_port(port):
            return None
    try:
        parsed = ipaddress.ip_address(text.partition("%")[0])
    except ValueError:
        return None
    mapped = parsed.ipv4_mapped if isinstance(parsed, ipaddress.IPv6Address) else None
    return mapped or parsed


def is_port(text: str) -> bool:
    """Return whether a text is a port number."""
    return text.isascii() and text.isdigit() and len(text) <= 5


class TrustedProxies:
    """The trusted proxies, as addresses and networks; `*` trusts all."""

    def __init__(self, setting: str) -> None:
        parts = [part.strip() for part in setting.split(",")]
        self._all = "*" in parts
        self._networks = [ipaddress.ip_network(part, strict=False) for part in parts if part != "*"]
        # Nearly all requests come from the same few proxies.
        self.trusts = lru_cache(maxsize=4096)(self._trusts)

    def _trusts(self, text: str) -> bool:
        """Return whether a peer is trusted."""
        address = parse_address(text)
        return address is not None and self.trusts_address(address)

    def trusts_address(self, address: Address) -> bool:
        """Return whether an address is that of a trusted proxy."""
        return self._all or any(address in network for network in self._networks)

    def client_of(self, values: Iterable[bytes]) -> Address | None:
        """Return the client in the header of a trusted peer: the last address that is not a trusted proxy's.

        Every proxy appends the address of its client, so everything before an untrusted address, or before an
        invalid one, may be forged and is ignored.
        """
        found = None
        parts = b",".join(values).split(b",")
        for part in reversed(parts[-MOST_PROXIES:]):
            address = parse_address(part.decode("latin-1"))
            if address is None:
                break
            found = address
            if not self.trusts_address(address):
                break
        return found


def network_of(address: str) -> str:
    """Return the key for counting an address: IPv4 address, IPv6 /64 network, or a digest of any other text."""
    try:
        parsed = ipaddress.ip_address(address.partition("%")[0])
    except ValueError:
        # Not the text itself, which may be of any length: this is part of a key.
        return hashlib.sha256(address.encode("utf-8", "replace")).hexdigest()[:32] if address else ""
    if isinstance(parsed, ipaddress.IPv6Address):
        if parsed.ipv4_mapped is not None:
            return str(parsed.ipv4_mapped)
        return str(ipaddress.ip_network((int(parsed), IPV6_NETWORK_BITS), strict=False).network_address)
    return str(parsed)
