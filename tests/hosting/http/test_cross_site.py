"""Detection of cross-site requests by Sec-Fetch-Site and Origin."""

import pytest
from starlette.datastructures import Headers

from holdfast.hosting.http.cross_site import is_cross_site
from tests.conftest import Service

FOREIGN = [
    {"Sec-Fetch-Site": "cross-site"},
    {"Sec-Fetch-Site": "same-site"},
    {"Sec-Fetch-Site": "something new"},
    {"Sec-Fetch-Site": "cross-site", "Origin": "{url}"},
    {"Origin": "https://elsewhere.example"},
    {"Origin": "null"},
    {"Origin": "http://["},
]
OWN: list[dict[str, str]] = [
    {},
    {"Sec-Fetch-Site": "same-origin"},
    {"Sec-Fetch-Site": "none"},
    {"Sec-Fetch-Site": "same-origin", "Origin": "https://elsewhere.example"},
    {"Origin": "{url}"},
]
CASES = [*((headers, True) for headers in FOREIGN), *((headers, False) for headers in OWN)]


@pytest.mark.parametrize(("given", "foreign"), CASES)
def test_cross_site_requests_are_refused(given: dict[str, str], *, foreign: bool) -> None:
    """Sec-Fetch-Site decides, and Origin only if that header is absent."""
    raw = [(name.lower().encode(), value.format(url="http://here:80").encode()) for name, value in given.items()]
    assert is_cross_site(Headers(scope={"headers": [(b"host", b"here:80"), *raw]})) is foreign


@pytest.mark.parametrize(("given", "foreign"), CASES)
def test_the_api_and_pages_check_cross_site_requests(
    service: Service, given: dict[str, str], *, foreign: bool
) -> None:
    """The API ignores the session cookie of a cross-site request, and a page refuses its form."""
    headers = {name: value.format(url=service.url) for name, value in given.items()}
    with service.logged_in() as client:
        assert client.get("/api/v1/user", headers=headers).status_code == (401 if foreign else 200)
        assert client.post("/logout", headers=headers).status_code == (403 if foreign else 303)
