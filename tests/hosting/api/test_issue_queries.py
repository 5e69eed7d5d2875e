"""Query parameters of the issue lists."""

import itertools

import httpx
import pytest

from holdfast.hosting.api.issue_queries import ListQuery, order_of, words
from holdfast.hosting.http.errors import ApiError
from holdfast.hosting.store.issue_lists import ORDERS
from tests.hosting.api_clients import ServiceClients

ISSUES = "/repos/ada/ship/issues"


BAD_QUERIES = [
    {"state": "ajar"},
    {"type": "x"},
    {"sort": "random"},
    {"since": "yesterday"},
    {"before": "99999999999999999999"},
    {"q": "\0"},
    {"labels": ",".join(str(number) for number in range(101))},
]


def test_invalid_queries_are_refused(clients: ServiceClients, ada: httpx.Client) -> None:
    """The error of an invalid query names the parameter, both for the list and for the search."""
    for query, path in itertools.product(BAD_QUERIES, (ISSUES, "/repos/issues/search")):
        response = clients.anonymous.get(path, params=query)
        assert response.status_code == 422
        assert response.json()["message"].lower().startswith(f"[{next(iter(query))}]")


def test_every_name_of_a_sort_order_is_accepted() -> None:
    """Every value of `sort` gives an order with both values of `direction`."""
    for sort in ListQuery.__annotations__["sort"].__args__:
        for direction in ("asc", "desc"):
            assert order_of(ListQuery(sort=sort, direction=direction)) in ORDERS
    assert order_of(ListQuery(sort="updated", direction="asc")) == "leastupdate"


def test_comma_separated_values_are_split() -> None:
    """Values are trimmed, duplicates are dropped, and more than 100 are refused."""
    assert words(" a, b c,,a ", "Labels") == ("a", "b c")
    with pytest.raises(ApiError, match=r"\[Labels\]: names more than 100"):
        words(",".join(map(str, range(101))), "Labels")
