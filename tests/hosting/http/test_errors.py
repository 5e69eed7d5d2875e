"""Messages of HTTP errors."""

import pytest

from holdfast.hosting.http.errors import ApiError, no_route, replace_surrogates


def test_not_found_has_its_own_message() -> None:
    """A 404 has a default message, which a given message replaces."""
    assert ApiError(404).message == "not found"
    assert ApiError(404, "gone").message == "gone"


@pytest.mark.parametrize(
    ("text", "shown"),
    [("plain", "plain"), ("é", "é"), ("a\udcff", "a\ufffd"), ("\udcc3\udca9", "é"), ("\ud800", "\ufffd" * 3)],
)
def test_undecodable_bytes_of_a_message_are_replaced(text: str, shown: str) -> None:
    """Surrogates are replaced, since a message may quote the path of a file, which is bytes in git."""
    assert replace_surrogates(text) == shown
    assert ApiError(422, text).message == shown


def test_a_missing_route_is_named_and_a_long_one_cut() -> None:
    """The message has the allowed methods if the path exists, and shortens a long path."""
    assert no_route("https://x", "GET", "/y").message == "no such route: GET /y"
    assert no_route("https://x", "PUT", "/y", "GET").message == "method not allowed: PUT /y; allowed are GET"
    assert no_route("https://x", "GET", "/" + "y" * 500).message.endswith("y...")
