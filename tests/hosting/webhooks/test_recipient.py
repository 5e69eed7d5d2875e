"""Whoever receives what webhooks send."""

from dataclasses import replace

import msgspec

from holdfast.hosting.app import App
from holdfast.hosting.schemas.users import user
from holdfast.hosting.store.accounts import Account
from holdfast.hosting.webhooks.recipient import Receiver
from tests.hosting.repository_helpers import make_repository


def test_addresses_are_those_of_the_settings(app: App) -> None:
    """Nobody asked, so nobody named an address; without a setting it is this machine's."""
    assert Receiver(app).root == "http://localhost:3000"
    named = replace(app, settings=msgspec.structs.replace(app.settings, root_url="https://git.example.org/h"))
    assert (Receiver(named).root, Receiver(named).api) == (
        "https://git.example.org/h",
        "https://git.example.org/h/api/v1",
    )


def test_nobody_outside_is_told_an_address(app: App, ada: Account) -> None:
    """Not that of an administrator either."""
    assert user(Receiver(app), ada).email == f"{ada.id}+ada@noreply.localhost"


def test_a_receiver_sees_a_repository_as_its_owner(app: App, ada: Account) -> None:
    """Whoever made the hook looks after what it tells of."""
    closed = make_repository(app.database, ada, is_private=True)
    assert Receiver(app).access_to(closed).is_owner
