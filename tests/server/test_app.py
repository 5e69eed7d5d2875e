"""Static files served by the whole application."""

import httpx
import pytest

from holdfast.web.stylesheet import ADDRESS
from tests.conftest import Service


@pytest.mark.parametrize(
    ("path", "kind"),
    [(ADDRESS, "text/css"), ("/static/mark.svg", "image/svg+xml"), ("/", "text/html")],
)
def test_files_of_pages_are_served(service: Service, path: str, kind: str) -> None:
    """The stylesheet, the logo and the home page are served with their content types."""
    with service.client() as client:
        response = client.get(path)
    assert response.status_code == 200
    assert response.headers["content-type"].startswith(kind)


@pytest.mark.parametrize(
    "path", ["/static/../app.py", "/static/%2e%2e/app.py", "/static/", "/templates/home.html"]
)
def test_other_files_of_the_package_are_not_served(service: Service, path: str) -> None:
    """Paths that lead out of the static folder and the folder itself get 404."""
    request = httpx.Request("GET", service.url)
    request.url = request.url.copy_with(raw_path=path.encode())
    with httpx.Client() as client:
        assert client.send(request).status_code == 404
