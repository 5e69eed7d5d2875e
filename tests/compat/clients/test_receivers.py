"""Webhook receivers written with third-party libraries, which verify the signatures."""

from collections.abc import Iterator
from pathlib import Path

import msgspec
import pytest

from holdfast.hosting.store import accounts, tokens
from holdfast.hosting.store.database import Database
from holdfast.settings import Settings
from tests.compat.clients.conftest import Site
from tests.compat.clients.runtimes import javascript, python
from tests.conftest import run_service


@pytest.fixture
def calling(settings: Settings, database: Database, tmp_path: Path) -> Iterator[Site]:
    """Run a service that sends webhooks, also to this machine."""
    inwards = msgspec.structs.replace(settings, webhook_allowed_hosts="loopback")
    for service in run_service(inwards, database, delivers=True):
        _, value = tokens.create_token(database, accounts.find_user(database, "admin"), "clients", ("all",))
        folder = tmp_path / "client"
        folder.mkdir()
        yield Site(service, value.reveal(), folder)


def test_octokit_webhooks_verifies_our_signatures_only(calling: Site) -> None:
    """Octokit receives the events and refuses a wrong secret, and the delivery history has both results."""
    calling.run(javascript("webhooks.js"))


def test_gidgethub_verifies_our_signatures_only(calling: Site) -> None:
    """Gidgethub receives the events of the webhook and refuses those with a wrong secret."""
    calling.run(python("gidgethub_flow.py"))
