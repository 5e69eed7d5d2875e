"""Addresses that do not exist, and methods that are not allowed."""

from tests.conftest import Service


def test_an_unknown_route_is_a_plain_404(service: Service) -> None:
    """The API answers with text, not with a page."""
    with service.client() as client:
        answer = client.get("/api/v1/nothing")
    assert answer.status_code == 404
    assert answer.headers["content-type"].startswith("text/plain")


def test_a_wrong_method_is_a_405(service: Service) -> None:
    """The path exists, the method does not."""
    with service.client() as client:
        assert client.post("/api/v1/version").status_code == 405
