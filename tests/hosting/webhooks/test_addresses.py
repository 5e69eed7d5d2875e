"""Classification of IP addresses, and the setting of allowed hosts."""

import ipaddress

import pytest
from hypothesis import given
from hypothesis import strategies as st

from holdfast.hosting.webhooks.addresses import AllowedHosts, kind_of, refusal

INWARDS = [
    ("127.0.0.1", "loopback"),
    ("127.255.255.254", "loopback"),
    ("0.0.0.0", "unspecified"),
    ("0.1.2.3", "unspecified"),
    ("10.1.2.3", "private"),
    ("172.16.0.1", "private"),
    ("172.31.255.255", "private"),
    ("192.168.1.1", "private"),
    ("100.64.0.1", "carrier-shared"),
    ("100.127.255.255", "carrier-shared"),
    ("168.63.129.16", "cloud-internal"),
    ("169.254.169.254", "link-local"),
    ("192.0.0.8", "reserved"),
    ("192.0.2.1", "documentation"),
    ("192.88.99.1", "reserved"),
    ("198.18.0.1", "benchmarking"),
    ("198.19.255.255", "benchmarking"),
    ("198.51.100.7", "documentation"),
    ("203.0.113.7", "documentation"),
    ("224.0.0.1", "multicast"),
    ("240.0.0.1", "reserved"),
    ("255.255.255.255", "reserved"),
    ("::", "unspecified"),
    ("::1", "loopback"),
    ("::7f00:1", "IPv4-in-IPv6"),
    ("::ffff:127.0.0.1", "IPv4-in-IPv6"),
    ("::ffff:8.8.8.8", "IPv4-in-IPv6"),
    ("::ffff:0:127.0.0.1", "IPv4-in-IPv6"),
    ("2606:4700:1:2:0:5efe:7f00:1", "IPv4-in-IPv6"),
    ("64:ff9b::7f00:1", "NAT64"),
    ("64:ff9b:1::a00:1", "NAT64"),
    ("100::1", "discard-only"),
    ("2001:0:1::1", "Teredo"),
    ("2001:10::1", "reserved"),
    ("2001:20::1", "reserved"),
    ("2001:db8::1", "documentation"),
    ("2002:7f00:1::1", "6to4"),
    ("3fff::1", "documentation"),
    ("4000::1", "reserved"),
    ("fc00::1", "private"),
    ("fd12:3456::1", "private"),
    ("fe80::1", "link-local"),
    ("fe80::1%eth0", "link-local"),
    ("::1%lo", "loopback"),
    ("fec0::1", "site-local"),
    ("ff02::1", "multicast"),
]
OUTWARDS = ["8.8.8.8", "1.1.1.1", "172.15.255.255", "172.32.0.1", "100.63.255.255", "100.128.0.1", "2606:4700::1"]


@pytest.mark.parametrize(("text", "kind"), INWARDS)
def test_internal_addresses_are_recognized_by_their_kind(text: str, kind: str) -> None:
    """An internal address has its kind, and is allowed by `*` but not by `external`."""
    address = ipaddress.ip_address(text)
    assert kind_of(address) == kind
    assert not AllowedHosts.parse("external").allows("x.example.org", address)
    assert AllowedHosts.parse("*").allows("x.example.org", address)


@pytest.mark.parametrize("text", OUTWARDS)
def test_the_public_internet_may_be_called(text: str) -> None:
    """A public address is allowed by `external`, and not where only other kinds are allowed."""
    address = ipaddress.ip_address(text)
    assert kind_of(address) == "public"
    assert AllowedHosts.parse("external").allows("x.example.org", address)
    assert not AllowedHosts.parse("private, loopback").allows("x.example.org", address)


@given(st.ip_addresses())
def test_nothing_is_public_that_python_takes_for_internal(
    address: ipaddress.IPv4Address | ipaddress.IPv6Address,
) -> None:
    """No address is public that Python's `ipaddress` classifies as internal."""
    if kind_of(address) == "public":
        words = ("private", "loopback", "link_local", "multicast", "reserved", "unspecified")
        assert not any(getattr(address, f"is_{word}") for word in words)


@given(st.ip_addresses(v=4), st.sampled_from(["::ffff:{}", "64:ff9b::{}", "::{}"]))
def test_no_ipv4_address_hides_in_ipv6(address: ipaddress.IPv4Address, form: str) -> None:
    """No IPv4 address embedded in an IPv6 address counts as public."""
    assert kind_of(ipaddress.ip_address(form.format(address))) != "public"


def test_the_setting_names_kinds_networks_and_hosts() -> None:
    """The setting allows kinds, networks and host patterns; a matching host may have any address.

    A network may be given by any address of it, and the scope of an address does not matter.
    """
    allowed = AllowedHosts.parse(" external, 10.1.0.0/16 ,fd00::5, *.internal.example.org ")
    inside = ipaddress.ip_address("192.168.0.9")
    assert allowed.allows("ci.internal.example.org", inside)
    assert not allowed.allows("ci.internal.example.org.evil.net", inside)
    assert allowed.allows("x", ipaddress.ip_address("10.1.255.1"))
    assert not allowed.allows("x", ipaddress.ip_address("10.2.0.1"))
    assert allowed.allows("x", ipaddress.ip_address("fd00::5"))
    assert allowed.allows("x", ipaddress.ip_address("9.9.9.9"))
    written_by_people = AllowedHosts.parse("10.1.2.3/16, fe80::7/10")
    assert written_by_people.allows("x", ipaddress.ip_address("10.1.255.1"))
    assert written_by_people.allows("x", ipaddress.ip_address("fe80::1%eth0"))
    assert not written_by_people.allows("x", ipaddress.ip_address("::1%eth0"))


def test_a_refusal_says_what_was_refused_and_what_would_allow_it() -> None:
    """The message has the host, its address and kind, and the setting's values that allow it."""
    assert refusal("ci.example.org", [ipaddress.ip_address("10.0.0.1")]) == (
        "webhooks may not be sent to ci.example.org, which is 10.0.0.1 (private); "
        "the setting webhook_allowed_hosts would allow it with private or 10.0.0.1 or ci.example.org"
    )
    bare = refusal("169.254.169.254", [ipaddress.ip_address("169.254.169.254")])
    assert bare.startswith("webhooks may not be sent to 169.254.169.254 (link-local); the setting")
