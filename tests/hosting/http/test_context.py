"""A request as handlers see it."""

import pytest
from starlette.datastructures import Headers

from holdfast.hosting.http.context import RequestContext


def made(**scope: object) -> RequestContext:
    """Make a request."""
    whole = {"type": "http", "method": "GET", "path": "/", "query_string": b"", "headers": [], **scope}
    return RequestContext(None, whole, Headers(scope=whole), {}, "https://git.example.org")  # type: ignore[arg-type]


def test_a_query_is_read_in_order_and_keeps_what_is_empty() -> None:
    """Names may come more than once; the first counts where one is asked for."""
    call = made(query_string=b"a=1&b=&a=2&c=%C3%A9")
    assert call.query_pairs() == [("a", "1"), ("b", ""), ("a", "2"), ("c", "é")]
    assert (call.query("a"), call.query("b"), call.query("z")) == ("1", "", None)


def test_head_counts_as_get_and_nobody_is_nobody() -> None:
    """A handler that needs somebody has a guard for it."""
    call = made(method="HEAD", client=("192.0.2.1", 1))
    assert (call.method, call.address, call.api) == ("GET", "192.0.2.1", "https://git.example.org/api/v1")
    assert made(client=None).address == ""
    with pytest.raises(LookupError):
        _ = call.user


def test_what_a_guard_found_is_given_by_its_type() -> None:
    """And only what was found."""
    call = made()
    call.resolved_values[str] = "text"
    assert call.resolved(str) == "text"
    with pytest.raises(KeyError):
        call.resolved(int)
