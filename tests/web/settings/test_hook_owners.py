"""Permissions of webhook pages for every kind of owner, compared with those of the API."""

import pytest

from holdfast.hosting.api.routes import endpoints as api_endpoints
from holdfast.web.routes import endpoints as page_endpoints
from holdfast.web.settings.hook_owners import OWNERS, WebhookPagesOwner


@pytest.mark.parametrize("owner", OWNERS, ids=lambda owner: owner.word)
def test_the_pages_have_the_guards_and_the_scope_of_the_api(owner: WebhookPagesOwner) -> None:
    """The pages of webhooks require the same permissions as the API."""
    (api,) = [
        endpoint for endpoint in api_endpoints() if (endpoint.method, endpoint.path) == ("GET", owner.api_path)
    ]
    pages = [endpoint for endpoint in page_endpoints() if endpoint.path.startswith(owner.pattern)]
    assert len(pages) == 13
    assert {(page.guards, page.scope) for page in pages} == {(api.guards, api.scope)}
