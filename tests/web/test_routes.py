"""The routes of pages."""

from holdfast.web.routes import endpoints


def test_endpoints_shared_with_the_api_are_not_pages() -> None:
    """No page has a path of the API, and every page has a unique name."""
    pages = endpoints()
    assert not [page.path for page in pages if page.path.startswith("/repos/")]
    assert len({page.name for page in pages}) == len(pages)
