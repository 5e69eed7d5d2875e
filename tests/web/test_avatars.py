"""Pictures of people."""

from tests.conftest import Service


def test_every_user_has_an_avatar_and_a_ghost_has_one(service: Service) -> None:
    """It tells nothing about who exists, and runs nothing."""
    with service.client() as client:
        for number, letter in ((1, ">A<"), (999, ">?<"), (10**30, ">?<")):
            response = client.get(f"/avatars/{number}")
            assert response.status_code == 200
            assert response.headers["content-type"] == "image/svg+xml"
            assert letter in response.text
            assert "script" not in response.text
