"""Avatars of users."""

from tests.conftest import Service


def test_every_user_has_an_avatar_and_a_ghost_has_one(service: Service) -> None:
    """An unknown user id has a placeholder with status 200, and no avatar has a script."""
    with service.client() as client:
        for number, letter in ((1, ">A<"), (999, ">?<"), (10**30, ">?<")):
            response = client.get(f"/avatars/{number}")
            assert response.status_code == 200
            assert response.headers["content-type"] == "image/svg+xml"
            assert letter in response.text
            assert "script" not in response.text
