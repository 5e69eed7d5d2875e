"""Static files are Starlette's, with the headers and the error page of all pages."""

import pytest

from tests.conftest import Service


def test_a_script_is_served_with_what_browsers_need_to_keep_it(service: Service) -> None:
    """It is protected as pages are, and not sent twice."""
    with service.client() as client:
        answer = client.get("/static/lines.js")
        assert answer.headers["content-type"].startswith("text/javascript")
        assert answer.headers["x-content-type-options"] == "nosniff"
        again = client.get("/static/lines.js", headers={"If-None-Match": answer.headers["etag"]})
    assert again.status_code == 304


@pytest.mark.parametrize(
    ("method", "path", "status"),
    [("GET", "/static/missing.js", 404), ("GET", "/static/", 404), ("POST", "/static/lines.js", 405)],
)
def test_a_missing_file_has_the_page_of_a_missing_address(
    service: Service, method: str, path: str, status: int
) -> None:
    """The status says whether it is the address or the method."""
    with service.client() as client:
        answer = client.request(method, path)
    assert answer.status_code == status
    assert "<title>Not found" in answer.text
