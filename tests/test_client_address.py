"""Parsing of client addresses and of the networks of trusted proxies."""

import pytest

from holdfast.client_address import TrustedProxies, network_of, parse_address


@pytest.mark.parametrize(
    ("address", "network"),
    [
        ("192.0.2.1", "192.0.2.1"),
        ("::ffff:192.0.2.1", "192.0.2.1"),
        ("2001:db8:1:2:3:4:5:6", "2001:db8:1:2::"),
        ("2001:db8:1:2:ffff::1%eth0", "2001:db8:1:2::"),
        ("", ""),
    ],
)
def test_a_customers_network_is_one_address(address: str, network: str) -> None:
    """A customer with an IPv6 network could evade rate limits by changing addresses."""
    assert network_of(address) == network


@pytest.mark.parametrize(
    ("text", "address"),
    [
        ("192.0.2.1:80", "192.0.2.1"),
        ("[::1]:80", "::1"),
        ("::ffff:10.0.0.1", "10.0.0.1"),
        ("fe80::1%eth0", "fe80::1"),
        ("192.0.2.1:", None),
        ("192.0.2.01", None),
        ("[192.0.2.1", None),
        ("localhost", None),
        ("1" * 100, None),
        ("١٩٢.0.2.1", None),
    ],
)
def test_an_address_is_read_or_refused(text: str, address: str | None) -> None:
    """An IP address is parsed with or without a port or zone, and other text is not an address."""
    parsed = parse_address(text)
    assert (None if parsed is None else str(parsed)) == address


def test_networks_are_trusted_whole() -> None:
    """All addresses of a trusted network are trusted, and other addresses and texts are not."""
    proxies = TrustedProxies("10.0.0.0/8, ::1")
    assert all(proxies.trusts(peer) for peer in ("10.1.2.3", "::ffff:10.1.2.3", "::1"))
    assert not any(proxies.trusts(peer) for peer in ("11.0.0.1", "::2", "", "unix:", "10.0.0.0/8"))
