"""Pictures of people."""

from tests.conftest import Service


def test_everybody_has_a_picture_and_nobody_too(service: Service) -> None:
    """It tells nothing about who exists, and runs nothing."""
    with service.client() as client:
        for number, letter in ((1, ">A<"), (999, ">?<"), (10**30, ">?<")):
            response = client.get(f"/avatars/{number}")
            assert response.status_code == 200
            assert response.headers["content-type"] == "image/svg+xml"
            assert letter in response.text
            assert "script" not in response.text
