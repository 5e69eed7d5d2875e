"""What Packagist is told."""

import json

from tests.hosting.webhooks.chat.samples import EVERY, ROOT, hook, sample, wire


def test_only_code_changes_update_a_package() -> None:
    """Pushes with commits, and branches and tags that come and go."""
    received = {kind for kind, action in EVERY if wire(hook("packagist"), kind, sample(kind, action)) is not None}
    assert received == {"push", "create", "delete"}


def test_a_package_is_found_by_where_its_code_is() -> None:
    """Or by its page, when the hook knows it."""
    request = wire(hook("packagist"), "push", sample("push", ""))
    assert json.loads(request.body) == {"repository": {"url": f"{ROOT}/ada/ship.git"}}
    assert "Authorization" not in request.headers
    page = "https://packagist.org/packages/ada/ship"
    meta = json.dumps({"package_url": page, "username": "ada", "api_token": "t"})
    request = wire(hook("packagist", meta=meta), "push", sample("push", ""))
    assert json.loads(request.body) == {"repository": {"url": page}}
    assert request.headers["Authorization"] == "Bearer ada:t"


def test_a_deleted_repository_has_no_package() -> None:
    """There is nothing to look at again."""
    gone = json.dumps({**json.loads(sample("push", "")), "repository": None})
    assert wire(hook("packagist"), "push", gone) is None
