"""Whoever receives what webhooks send."""

from dataclasses import replace

import msgspec

from holdfast.hosting.app import Host
from holdfast.hosting.schemas.users import user
from holdfast.hosting.store.accounts import Account
from holdfast.hosting.webhooks.recipient import Receiver
from tests.hosting.places import make_repository


def test_addresses_are_those_of_the_settings(host: Host) -> None:
    """Nobody asked, so nobody named an address; without a setting it is this machine's."""
    assert Receiver(host).root == "http://localhost:3000"
    named = replace(host, settings=msgspec.structs.replace(host.settings, root_url="https://git.example.org/h"))
    assert (Receiver(named).root, Receiver(named).api) == (
        "https://git.example.org/h",
        "https://git.example.org/h/api/v1",
    )


def test_nobody_outside_is_told_an_address(host: Host, ada: Account) -> None:
    """Not that of an administrator either."""
    assert user(Receiver(host), ada).email == f"{ada.id}+ada@noreply.localhost"


def test_a_receiver_sees_a_repository_as_its_owner(host: Host, ada: Account) -> None:
    """Whoever made the hook looks after what it tells of."""
    closed = make_repository(host.database, ada, is_private=True)
    assert Receiver(host).access_to(closed).is_owner
