"""The version endpoint."""

import re

from tests.conftest import Service


def test_the_version_is_public(service: Service) -> None:
    """The version can be parsed by clients, and has the version of Holdfast after the plus sign."""
    with service.client() as client:
        response = client.get("/api/v1/version")
    assert response.status_code == 200
    assert response.headers["content-type"] == "application/json;charset=utf-8"
    assert set(response.json()) == {"version"}
    assert re.fullmatch(r"1\.\d+\.\d+\+holdfast-\d+\.\d+\.\d+", response.json()["version"])


def test_head_gives_the_same_headers_without_a_body(service: Service) -> None:
    """HEAD returns the length of the GET response and no body."""
    with service.client() as client:
        head, get = client.head("/api/v1/version"), client.get("/api/v1/version")
    assert (head.status_code, head.content) == (200, b"")
    assert head.headers["content-length"] == get.headers["content-length"]
