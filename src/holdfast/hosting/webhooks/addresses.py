"""Address check of webhook targets, against server-side request forgery (SSRF).

A webhook's URL is chosen by users, but the service connects to it from inside a network, next to other services
and cloud metadata endpoints. So by default only public internet addresses are allowed. The check is made on the
address a connection is made to, not only on the host name.
"""

import ipaddress
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final, Self

from holdfast.hosting.store.globs import Glob, compile_glob
from holdfast.http_client.urls import Address

__all__ = ["AllowedHosts", "kind_of", "refusal"]

Network = ipaddress.IPv4Network | ipaddress.IPv6Network

PUBLIC: Final = "public"
LOOPBACK: Final = "loopback"
PRIVATE: Final = "private"
# The first matching network decides. Python's `is_global` differs between versions.
KINDS: Final[tuple[tuple[Network, str], ...]] = tuple(
    (ipaddress.ip_network(network), kind)
    for network, kind in (
        ("0.0.0.0/8", "unspecified"),
        ("10.0.0.0/8", PRIVATE),
        ("100.64.0.0/10", "carrier-shared"),
        ("127.0.0.0/8", LOOPBACK),
        ("168.63.129.16/32", "cloud-internal"),
        ("169.254.0.0/16", "link-local"),
        ("172.16.0.0/12", PRIVATE),
        ("192.0.0.0/24", "reserved"),
        ("192.0.2.0/24", "documentation"),
        ("192.31.196.0/24", "reserved"),
        ("192.52.193.0/24", "reserved"),
        ("192.88.99.0/24", "reserved"),
        ("192.168.0.0/16", PRIVATE),
        ("192.175.48.0/24", "reserved"),
        ("198.18.0.0/15", "benchmarking"),
        ("198.51.100.0/24", "documentation"),
        ("203.0.113.0/24", "documentation"),
        ("224.0.0.0/4", "multicast"),
        ("240.0.0.0/4", "reserved"),
        ("::/128", "unspecified"),
        ("::1/128", LOOPBACK),
        ("::ffff:0:0/96", "IPv4-in-IPv6"),
        ("::ffff:0:0:0/96", "IPv4-in-IPv6"),
        ("::/96", "IPv4-in-IPv6"),
        ("64:ff9b::/96", "NAT64"),
        ("64:ff9b:1::/48", "NAT64"),
        ("100::/64", "discard-only"),
        ("2001::/32", "Teredo"),
        ("2001:db8::/32", "documentation"),
        ("2001::/23", "reserved"),
        ("2002::/16", "6to4"),
        ("3fff::/20", "documentation"),
        ("5f00::/16", "reserved"),
        ("fc00::/7", PRIVATE),
        ("fe80::/10", "link-local"),
        ("fec0::/10", "site-local"),
        ("ff00::/8", "multicast"),
    )
)
# The allocated global unicast range; the rest of IPv6 is reserved.
GLOBAL_IPV6: Final = ipaddress.IPv6Network("2000::/3")
# The low 64 bits of an ISATAP address, which carry an IPv4 address.
ISATAP: Final = (0x00005EFE, 0x02005EFE)


def kind_of(address: Address) -> str:
    """Return the kind of an address: `public`, or why it is not; its scope does not matter."""
    for network, kind in KINDS:
        if address.version == network.version and address in network:
            return kind
    if isinstance(address, ipaddress.IPv6Address):
        if address not in GLOBAL_IPV6:
            return "reserved"
        if (int(address) >> 32) & 0xFFFF_FFFF in ISATAP:
            return "IPv4-in-IPv6"
    return PUBLIC


@dataclass(frozen=True, slots=True)
class AllowedHosts:
    """The parsed setting `webhook_allowed_hosts` or `migration_allowed_hosts`."""

    kinds: frozenset[str]
    everything: bool
    networks: tuple[Network, ...]
    hosts: tuple[Glob, ...]

    @classmethod
    def parse(cls, text: str) -> Self:
        """Parse the setting: address kinds, networks and host name patterns, separated by commas."""
        kinds, networks, hosts = set(), [], []
        parts = [part.strip().lower() for part in text.split(",") if part.strip()]
        for part in parts:
            if part in {"external", PRIVATE, LOOPBACK}:
                kinds.add(PUBLIC if part == "external" else part)
                continue
            try:
                networks.append(ipaddress.ip_network(part, strict=False))
            except ValueError:
                hosts.append(compile_glob(part))
        return cls(frozenset(kinds), "*" in parts, tuple(networks), tuple(hosts))

    def allows(self, host: str, address: Address) -> bool:
        """Return whether a connection to an address is allowed, given the host name of the URL."""
        if self.everything:
            return True
        return (
            kind_of(address) in self.kinds
            or any(address.version == network.version and address in network for network in self.networks)
            or any(pattern.matches(host) for pattern in self.hosts)
        )


def refusal(
    host: str,
    addresses: Sequence[Address],
    *,
    action: str = "webhooks may not be sent to",
    setting: str = "webhook_allowed_hosts",
) -> str:
    """Return the message that names the refused addresses and the setting that would allow them."""
    distinct = list(dict.fromkeys(addresses))
    which = ", ".join(f"{address} ({kind_of(address)})" for address in distinct[:4])
    kinds = {kind_of(address) for address in distinct} & {PRIVATE, LOOPBACK}
    hints = [*sorted(kinds), str(distinct[0]).partition("%")[0]]
    if host.strip("[]") not in {str(address) for address in distinct}:
        hints.append(host)
        which = f"{host}, which is {which}"
    return f"{action} {which}; the setting {setting} would allow it with {' or '.join(hints)}"
