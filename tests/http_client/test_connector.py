"""Connections: name resolution in threads, and the check of every address before connecting."""

import asyncio
import ipaddress
import socket

import pytest
from aiohttp import ClientConnectorError, ClientSession

from holdfast.http_client.client import tls_context
from holdfast.http_client.connector import (
    MOST_ADDRESSES,
    AddressPolicy,
    ConnectAttempt,
    ThreadResolver,
    current_attempt,
    new_connector,
)
from holdfast.http_client.urls import Address
from tests.hosting.webhooks.receivers import receiving


def connect(port: int, addresses: list[str], policy: AddressPolicy | None) -> tuple[ConnectAttempt, int | None]:
    """Request a host that has some addresses; return the attempt, and the status if there was a response."""

    async def resolve(_host: str, _port: int) -> list[Address]:
        return [ipaddress.ip_address(address) for address in addresses]

    async def run() -> tuple[ConnectAttempt, int | None]:
        resolver = ThreadResolver(resolve, threads=1)
        attempt = ConnectAttempt("hooks.example.org")
        current_attempt.set(attempt)
        connector = new_connector(policy, resolver, keep_alive=False, tls=tls_context())
        try:
            async with ClientSession(connector=connector) as session:
                response = await session.get(f"http://hooks.example.org:{port}/")
                response.close()
                return attempt, response.status
        except ClientConnectorError:
            return attempt, None
        finally:
            await resolver.close()

    return asyncio.run(run())


def test_only_an_allowed_address_is_connected_to() -> None:
    """Refused addresses of a host are skipped and recorded as refused."""
    asked = []

    def policy(host: str, address: Address) -> bool:
        asked.append(host)
        return str(address) == "127.0.0.1"

    with receiving() as receiver:
        attempt, status = connect(receiver.port, ["127.0.0.2", "127.0.0.1"], policy)
    assert status == 200
    assert [str(item) for item in attempt.refused] == ["127.0.0.2"]
    assert [str(item) for item in attempt.tried] == ["127.0.0.1"]
    assert set(asked) == {"hooks.example.org"}


def test_a_host_without_an_allowed_address_is_not_connected_to() -> None:
    """No connection is opened to a host whose addresses are all refused."""
    with receiving() as receiver:
        attempt, status = connect(receiver.port, ["127.0.0.1"], lambda _host, _address: False)
        assert receiver.connections == 0
    assert (status, attempt.tried) == (None, [])
    assert {str(item) for item in attempt.refused} == {"127.0.0.1"}


def test_a_host_with_many_addresses_is_tried_at_a_few() -> None:
    """Only the first addresses count, so that a name server cannot cause hundreds of connections."""
    many = [f"127.0.1.{number}" for number in range(1, 40)]
    attempt, status = connect(9, many, lambda _host, _address: False)
    assert status is None
    assert {str(item) for item in attempt.refused} == set(many[:MOST_ADDRESSES])


def test_the_system_resolves_names_to_addresses_once_each() -> None:
    """Each address is returned once, and an invalid name fails like an unknown one."""

    async def run() -> None:
        resolver = ThreadResolver(None, threads=1)
        try:
            result = await resolver.resolve("127.0.0.1", 80)
            assert [(item["host"], item["port"], item["family"]) for item in result] == [
                ("127.0.0.1", 80, socket.AF_INET)
            ]
            (six,) = await resolver.resolve("::1", 80)
            assert six["family"] == socket.AF_INET6
            for name in ("nobody.invalid", f"{'a' * 70}.example", "a..b"):
                with pytest.raises(socket.gaierror):
                    await resolver.resolve(name, 80)
        finally:
            await resolver.close()

    asyncio.run(run())
