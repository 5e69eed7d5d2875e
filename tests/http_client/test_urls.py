"""URLs of requests."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from holdfast.http_client.errors import InvalidUrl
from holdfast.http_client.urls import HttpUrl, without_credentials


@pytest.mark.parametrize(
    ("url", "origin", "path"),
    [
        ("http://example.org", ("http", "example.org", 80), "/"),
        ("HTTPS://Example.ORG:8443/a/b?c=d#e", ("https", "example.org", 8443), "/a/b?c=d"),
        ("https://bücher.example/ü?q=ö", ("https", "xn--bcher-kva.example", 443), "/%C3%BC?q=%C3%B6"),
        ("http://[::1]:99/x", ("http", "::1", 99), "/x"),
        ("http://example.org./%2e%20", ("http", "example.org", 80), "/%2e%20"),
        ("http://x.org/a b", ("http", "x.org", 80), "/a%20b"),
    ],
)
def test_a_url_is_parsed(url: str, origin: tuple[str, str, int], path: str) -> None:
    """Host names are in lower case and IDNA, and paths are percent-encoded without the fragment."""
    target = HttpUrl.parse(url)
    assert (target.origin, target.path) == (origin, path)


@pytest.mark.parametrize(
    "url",
    [
        "",
        "example.org/hook",
        "ftp://example.org/",
        "file:///etc/passwd",
        "http://",
        "http:///path",
        "http://x.org:0/",
        "http://x.org:99999/",
        "http://x.org:http/",
        "http://[::1/",
        "http://a b/",
        "http://" + "a" * 70 + "ü.org/",
    ],
)
def test_a_url_nothing_can_be_sent_to_is_refused(url: str) -> None:
    """A URL of another scheme, without a host or with an invalid port or host raises `InvalidUrl`."""
    with pytest.raises(InvalidUrl, match="the address"):
        HttpUrl.parse(url)


@given(st.text(), st.text())
def test_no_url_can_inject_a_header(path: str, query: str) -> None:
    """No path or query of a URL puts a space, a control or a non-ASCII character into the request line."""
    try:
        target = HttpUrl.parse(f"http://x.org/{path}?{query}")
    except InvalidUrl:
        return
    assert target.path.isascii()
    assert not any(sign <= " " or sign == "\x7f" for sign in target.path + target.authority)


def test_credentials_are_sent_as_a_header_and_not_shown() -> None:
    """Credentials of a URL become a Basic header and are removed from the URL."""
    url = "https://ada:se%3Acret@x.org:8443/hook"
    assert HttpUrl.parse(url).credentials == "Basic YWRhOnNlOmNyZXQ="
    assert HttpUrl.parse(url).url == "https://x.org:8443/hook"
    assert without_credentials(url) == "https://x.org:8443/hook"
    assert without_credentials("https://x.org/@a") == "https://x.org/@a"
    assert without_credentials("http://[") == "http://["


def test_a_redirect_is_relative_to_its_request() -> None:
    """A relative redirect is resolved against its request, and credentials in a redirect are dropped."""
    here = HttpUrl.parse("https://x.org/a/b")
    assert here.redirected("c").url == "https://x.org/a/c"
    assert here.redirected("//y.org/c").url == "https://y.org/c"
    assert here.redirected("http://u:p@y.org/").credentials == ""
    with pytest.raises(InvalidUrl):
        here.redirected("gopher://y.org/")
    with pytest.raises(InvalidUrl):
        here.redirected("http://[")
