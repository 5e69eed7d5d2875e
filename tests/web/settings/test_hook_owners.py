"""Every home of webhooks has the API's endpoints for it."""

from dataclasses import fields

import pytest

from holdfast.hosting.http.endpoints import Endpoint
from holdfast.web.settings.hook_owners import HOMES, HookHome


@pytest.mark.parametrize("home", HOMES, ids=lambda home: home.word)
def test_each_endpoint_is_the_one_of_that_home_and_that_deed(home: HookHome) -> None:
    """Nobody is shown the hooks of another home: all endpoints share the path and the guards of the list."""
    root = home.list_hooks.path
    paths = {
        "list_hooks": ("GET", ""),
        "create": ("POST", ""),
        "show": ("GET", "/{id}"),
        "edit": ("PATCH", "/{id}"),
        "delete": ("DELETE", "/{id}"),
        "test": ("POST", "/{id}/tests"),
        "resume": ("POST", "/{id}/resume"),
        "redeliver_all": ("POST", "/{id}/redeliver"),
        "list_deliveries": ("GET", "/{id}/deliveries"),
        "show_delivery": ("GET", "/{id}/deliveries/{delivery}"),
        "cancel": ("DELETE", "/{id}/deliveries/{delivery}"),
        "redeliver": ("POST", "/{id}/deliveries/{delivery}/redeliver"),
    }
    found = {
        field.name: value for field in fields(home) if isinstance(value := getattr(home, field.name), Endpoint)
    }
    assert {name: (one.method, one.path.removeprefix(root)) for name, one in found.items()} == paths
    assert {one.guards for one in found.values()} == {home.list_hooks.guards}
