"""The request context: the root URL, the user, and reads on the event loop."""

from collections.abc import Iterator

import msgspec
import pytest

from holdfast.hosting.access import Actor
from holdfast.hosting.app import App
from holdfast.hosting.request_context import RequestContext, serving_options
from holdfast.hosting.store import accounts
from holdfast.hosting.store.database import Database
from holdfast.settings import Settings

SCOPE = {"type": "http", "scheme": "https", "headers": [(b"host", b"git.example.org")]}


@pytest.fixture
def host(settings: Settings, database: Database) -> Iterator[App]:  # which is migrated
    """Open the application."""
    opened = App.open(settings)
    yield opened
    opened.close()


def test_the_url_of_the_service_is_that_of_the_settings_or_of_the_request(host: App) -> None:
    """The root URL of the settings has precedence over the host of the request."""
    assert RequestContext(host, SCOPE).api == "https://git.example.org/api/v1"
    host.settings = msgspec.structs.replace(host.settings, root_url="https://set.example.org")
    assert RequestContext(host, SCOPE).root == "https://set.example.org"


def test_a_user_is_there_only_when_somebody_is_signed_in(host: App, database: Database) -> None:
    """Reading the user of an anonymous request raises LookupError."""
    request = RequestContext(host, SCOPE)
    with pytest.raises(LookupError):
        _ = request.user
    request.actor = Actor(accounts.find_user(database, "admin"))
    assert request.user.name == "admin"


def test_short_reads_run_on_the_event_loop_of_an_embedded_database_only(host: App) -> None:
    """Reads run on the event loop with SQLite, and not with a database server."""
    assert serving_options(host).reads_on_loop == (host.settings.database_url is None)
