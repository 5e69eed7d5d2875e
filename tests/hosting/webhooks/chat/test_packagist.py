"""Update requests to Packagist."""

import json

from tests.hosting.webhooks.chat.samples import EVERY, ROOT, hook, sample, wire


def test_only_code_changes_update_a_package() -> None:
    """Only pushes, and created and deleted refs, send a request."""
    received = {kind for kind, action in EVERY if wire(hook("packagist"), kind, sample(kind, action)) is not None}
    assert received == {"push", "create", "delete"}


def test_a_package_is_found_by_where_its_code_is() -> None:
    """The request names the clone URL, or the page of the package when the hook has one."""
    request = wire(hook("packagist"), "push", sample("push", ""))
    assert json.loads(request.body) == {"repository": {"url": f"{ROOT}/ada/ship.git"}}
    assert "Authorization" not in request.headers
    page = "https://packagist.org/packages/ada/ship"
    meta = json.dumps({"package_url": page, "username": "ada", "api_token": "t"})
    request = wire(hook("packagist", meta=meta), "push", sample("push", ""))
    assert json.loads(request.body) == {"repository": {"url": page}}
    assert request.headers["Authorization"] == "Bearer ada:t"


def test_a_deleted_repository_has_no_package() -> None:
    """A push without a repository in its payload sends no request."""
    gone = json.dumps({**json.loads(sample("push", "")), "repository": None})
    assert wire(hook("packagist"), "push", gone) is None
