"""Security headers, and the refusal of cross-site forms."""

import pytest

from tests.conftest import Service


def test_every_response_has_security_headers(service: Service) -> None:
    """Pages, static files, the API and errors have the policy and `nosniff`."""
    with service.client() as client:
        for path in ("/", "/login", "/static/mark.svg", "/api/v1/version", "/nothing"):
            headers = client.get(path).headers
            assert "default-src 'none'" in headers["content-security-policy"], path
            assert "unsafe" not in headers["content-security-policy"]
            assert headers["x-content-type-options"] == "nosniff"


@pytest.mark.parametrize(
    "headers",
    [
        {"Sec-Fetch-Site": "cross-site"},
        {"Sec-Fetch-Site": "same-site"},
        {"Origin": "https://elsewhere.example"},
        {"Origin": "null"},
    ],
)
def test_a_form_of_another_site_is_refused(service: Service, headers: dict[str, str]) -> None:
    """A cross-site request to log out has status 403, and the session stays."""
    with service.logged_in() as client:
        assert client.post("/logout", headers=headers).status_code == 403
        assert "Log out" in client.get("/").text


@pytest.mark.parametrize("headers", [{"Sec-Fetch-Site": "same-origin"}, {"Sec-Fetch-Site": "none"}, {}])
def test_forms_of_the_same_site_are_accepted(service: Service, headers: dict[str, str]) -> None:
    """Requests with Sec-Fetch-Site of the same origin or none, or without the header, are accepted."""
    with service.logged_in() as client:
        assert client.post("/logout", headers=headers).status_code == 303
        assert "Log out" not in client.get("/").text


def test_the_origin_of_an_old_browser_is_compared_with_the_host(service: Service) -> None:
    """Without Sec-Fetch-Site, a form is accepted if its Origin is this host, and refused otherwise."""
    with service.logged_in() as client:
        assert client.post("/logout", headers={"Origin": "http://elsewhere.example"}).status_code == 403
        assert client.post("/logout", headers={"Origin": service.url}).status_code == 303
