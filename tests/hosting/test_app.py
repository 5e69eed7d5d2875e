"""The root URL of an opened application."""

import msgspec

from holdfast.hosting.app import App
from holdfast.hosting.store.database import Database
from holdfast.settings import Settings


def test_a_service_has_a_url_without_a_request(settings: Settings, database: Database) -> None:
    """The root URL is that of the settings, or that of localhost."""
    for given, address in ((None, "http://localhost:3000"), ("https://a.example", "https://a.example")):
        host = App.open(msgspec.structs.replace(settings, root_url=given))
        assert host.root == address
        host.close()
