"""Requests: headers that are refused, and the request that follows a redirect."""

import pytest

from holdfast.http_client.errors import InvalidRequest, InvalidUrl
from holdfast.http_client.requests import HttpRequest, check_headers, redirected
from holdfast.http_client.urls import HttpUrl

HEADERS = {
    "Authorization": "Bearer t",
    "Cookie": "a=b",
    "X-Hub-Signature-256": "sha256=1",
    "Content-Type": "text/plain",
    "Accept": "*/*",
}


def request(method: str = "POST") -> HttpRequest:
    """Make a request with credentials, a signature and a body."""
    return HttpRequest(method, HttpUrl.parse("https://a.example/x/y"), HEADERS, b"body")


@pytest.mark.parametrize(
    ("name", "value"),
    [("X-A", "a\r\nX-B: b"), ("X-A", "a\nb"), ("X-A", "\0"), ("X-A", "\x7f"), ("X A", "a"), ("", "a"), ("X:", "")],
)
def test_header_injection_is_refused(name: str, value: str) -> None:
    """A control character in a value, or a name that is no token, raises `InvalidRequest`."""
    with pytest.raises(InvalidRequest, match="contains an invalid character"):
        check_headers({"Accept": "*/*", name: value})


def test_the_message_names_the_header_and_not_its_value() -> None:
    """The message has the first 40 characters of the name and not the value, which may be secret."""
    with pytest.raises(InvalidRequest) as excinfo:
        check_headers({"X" * 60: "secret\n"})
    assert "secret" not in str(excinfo.value)
    assert f"'{'X' * 40}'" in str(excinfo.value)


def test_headers_with_tabs_and_other_languages_are_sent() -> None:
    """Tabs and non-ASCII characters are valid in header values."""
    check_headers({"X-A": "a\tb", "X-B": "é", "X-C!#$%&'*+.^_`|~": ""})


@pytest.mark.parametrize("status", [301, 302, 303])
def test_a_post_that_is_redirected_becomes_a_get_without_its_body(status: int) -> None:
    """A POST redirected with 301, 302 or 303 becomes a GET without body and Content-Type."""
    got = redirected(request(), status, "/z")
    assert (got.method, got.body, got.url.url) == ("GET", None, "https://a.example/z")
    assert dict(got.headers) == {name: value for name, value in HEADERS.items() if name != "Content-Type"}


@pytest.mark.parametrize(("method", "status"), [("POST", 307), ("POST", 308), ("GET", 301), ("HEAD", 303)])
def test_other_redirects_repeat_the_request(method: str, status: int) -> None:
    """A 307 or 308, and any redirect of GET or HEAD, keeps the method, body and headers."""
    got = redirected(request(method), status, "z")
    assert (got.method, got.body, dict(got.headers)) == (method, b"body", HEADERS)
    assert got.url.url == "https://a.example/x/z"


@pytest.mark.parametrize(
    "location", ["https://b.example/", "http://a.example/", "https://a.example:444/", "//b.example"]
)
def test_credentials_and_signatures_stay_with_their_origin(location: str) -> None:
    """A redirect to another host, scheme or port drops the headers with credentials and signatures."""
    assert dict(redirected(request(), 307, location).headers) == {"Content-Type": "text/plain", "Accept": "*/*"}


def test_a_redirect_to_something_else_than_http_is_refused() -> None:
    """A redirect to FTP, to a file or to an invalid URL raises `InvalidUrl`."""
    for location in ("ftp://a.example/", "file:///etc/passwd", "http://[::1"):
        with pytest.raises(InvalidUrl):
            redirected(request(), 302, location)


def test_a_request_is_shown_without_its_secrets() -> None:
    """The repr of a request has no header value, host or body, since it may appear in a log or traceback."""
    shown = repr(request())
    assert not any(secret in shown for secret in ("Bearer", "sha256", "a.example", "b'"))
