"""The table of pages."""

from holdfast.web.routes import endpoints


def test_endpoints_shared_with_the_api_are_not_pages() -> None:
    """They act through its endpoints, which have their own addresses; every page has a name of its own."""
    pages = endpoints()
    assert not [page.path for page in pages if page.path.startswith("/repos/")]
    assert len({page.name for page in pages}) == len(pages)
