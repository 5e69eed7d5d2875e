"""Other sites can neither frame a page nor send a form."""

import pytest

from tests.conftest import Service


def test_every_response_has_security_headers(service: Service) -> None:
    """Pages, files, the API and errors alike."""
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
    """The browser stays logged in when another site tells it to log out."""
    with service.logged_in() as client:
        assert client.post("/logout", headers=headers).status_code == 403
        assert "Log out" in client.get("/").text


@pytest.mark.parametrize("headers", [{"Sec-Fetch-Site": "same-origin"}, {"Sec-Fetch-Site": "none"}, {}])
def test_forms_of_the_same_site_are_accepted(service: Service, headers: dict[str, str]) -> None:
    """Browsers that say nothing, and those that say it is ours."""
    with service.logged_in() as client:
        assert client.post("/logout", headers=headers).status_code == 303
        assert "Log out" not in client.get("/").text


def test_the_origin_of_an_old_browser_is_compared_with_the_host(service: Service) -> None:
    """Without Sec-Fetch-Site, Origin must be this very host and port."""
    with service.logged_in() as client:
        assert client.post("/logout", headers={"Origin": service.url}).status_code == 303
