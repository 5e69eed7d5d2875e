"""Pagination: parameters and Link headers."""

import pytest
from starlette.requests import empty_receive

from holdfast.hosting.http.context import EndpointRequest
from holdfast.hosting.http.pagination import PageParams, link_header, page_of, paging_headers


def make_request(query: str) -> EndpointRequest:
    """Make a request with a query string."""
    scope = {"type": "http", "method": "GET", "path": "/api/v1/x", "query_string": query.encode(), "headers": []}
    return EndpointRequest(scope, empty_receive, {}, "https://git.example.org")


@pytest.mark.parametrize(
    ("query", "number", "size"),
    [
        ("", 1, 30),
        ("page=3&limit=7", 3, 7),
        ("page=0&limit=0", 1, 30),
        ("page=-5&limit=-5", 1, 30),
        ("page=x&limit=y", 1, 30),
        ("limit=51", 1, 50),
        ("per_page=5", 1, 5),
        ("page=99999999999999999999&limit=99999999999999999999", 2**40, 50),
    ],
)
def test_invalid_parameters_give_the_first_page_of_the_default_size(query: str, number: int, size: int) -> None:
    """Invalid values mean the defaults, and values that are too large are reduced to the limits."""
    assert page_of(make_request(query)) == PageParams(number, size)


def test_links_keep_the_sorted_query_and_point_to_existing_pages() -> None:
    """The header links to the next, the last, the first and the previous page."""
    call = make_request("state=open&page=2&limit=10&labels=b&labels=a")
    address = "https://git.example.org/api/v1/x?labels=a&labels=b&limit=10&page={}&state=open"
    expected = {"next": 3, "last": 4, "first": 1, "prev": 1}
    links = [f'<{address.format(page)}>; rel="{rel}"' for rel, page in expected.items()]
    assert link_header(call, page_of(call), 35) == ",".join(links)


def test_a_client_that_splits_at_a_space_gets_one() -> None:
    """Links for PyGithub are separated by a comma and a space, without which it finds no next page."""
    call = make_request("")
    call.scope["headers"].append((b"user-agent", b"PyGithub/Python"))
    assert '>; rel="next", <https://' in link_header(call, PageParams(1, 30), 100)


def test_a_single_page_has_no_links() -> None:
    """The headers of a single page have the total and no links."""
    assert "Link" not in paging_headers(make_request(""), PageParams(1, 30), 30)
    assert paging_headers(make_request(""), PageParams(1, 30), 30)["X-Total-Count"] == "30"


def test_a_page_beyond_the_last_points_back_to_it() -> None:
    """A page beyond the last has a link to a previous page, and none to a next page."""
    header = link_header(make_request("page=9&limit=10"), PageParams(9, 10), 35)
    assert 'page=3>; rel="prev"' in header
    assert "next" not in header
