"""The request context: queries, headers and results of guards."""

import pytest
from starlette.requests import empty_receive

from holdfast.hosting.http.context import EndpointRequest, NeedsThread


def make_request(**scope: object) -> EndpointRequest:
    """Make a request."""
    whole = {"type": "http", "method": "GET", "path": "/", "query_string": b"", "headers": [], **scope}
    return EndpointRequest(whole, empty_receive, {}, "https://git.example.org")


def test_a_query_is_read_in_order_and_keeps_what_is_empty() -> None:
    """A parameter may be repeated, and the first value counts where one is requested."""
    call = make_request(query_string=b"a=1&b=&a=2&c=%C3%A9")
    assert call.query_pairs() == [("a", "1"), ("b", ""), ("a", "2"), ("c", "é")]
    assert (call.query("a"), call.query("b"), call.query("z")) == ("1", "", None)


def test_the_first_of_several_headers_counts() -> None:
    """The first of several equal headers is returned, as Starlette does, and decoded as Latin-1."""
    request = make_request(headers=[(b"sudo", b"ada"), (b"x-name", b"\xe9"), (b"sudo", b"ben")])
    assert [request.header(name) for name in ("sudo", "x-name", "origin")] == ["ada", "é", None]
    assert request.headers["sudo"] == "ada"


def test_head_counts_as_get() -> None:
    """The method of HEAD is GET, and the address is that of the client or empty."""
    call = make_request(method="HEAD", client=("192.0.2.1", 1))
    assert (call.method, call.address) == ("GET", "192.0.2.1")
    assert make_request(client=None).address == ""


def test_a_handler_on_the_event_loop_can_ask_for_a_thread() -> None:
    """`require_thread` raises on the event loop and does nothing in a thread."""
    call = make_request()
    call.require_thread()
    call.on_loop = True
    with pytest.raises(NeedsThread):
        call.require_thread()


def test_results_of_guards_are_passed_by_type() -> None:
    """A value is found by its type, and a type without a value is a KeyError."""
    call = make_request()
    call.resolved_values[str] = "text"
    assert call.resolved(str) == "text"
    with pytest.raises(KeyError):
        call.resolved(int)
