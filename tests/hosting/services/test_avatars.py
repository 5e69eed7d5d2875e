"""Avatars: permissions, and recognition of image formats."""

import pytest

from holdfast.hosting.access import ANONYMOUS, Actor, Mode, OrganizationAccess
from holdfast.hosting.app import App
from holdfast.hosting.errors import Forbidden, InvalidValue, LoginRequired, RepositoryArchived
from holdfast.hosting.services import avatars
from holdfast.hosting.store import organizations
from holdfast.hosting.store.avatars import Avatar
from tests.hosting.services.scenario import Scenario, make_scenario

PNG = b"\x89PNG\r\n\x1a\n" + bytes(range(256))


@pytest.fixture
def scenario(app: App) -> Scenario:
    """Create the users and the repository."""
    return make_scenario(app)


def test_only_an_administrator_sets_the_avatar_of_a_repository(scenario: Scenario) -> None:
    """Writers and readers do not set the avatar, and nobody does in an archived repository."""
    for user in (scenario.writer, scenario.reader):
        with pytest.raises(Forbidden):
            avatars.set_repository_avatar(*scenario.caller(user), PNG)
    with pytest.raises(RepositoryArchived):
        avatars.set_repository_avatar(*scenario.caller(scenario.owner, scenario.archived()), PNG)
    reader = Actor(scenario.reader)
    assert avatars.show_repository_avatar(scenario.app, reader, scenario.repository.id) is None
    avatars.set_repository_avatar(*scenario.caller(scenario.owner), PNG)
    shown = avatars.show_repository_avatar(scenario.app, reader, scenario.repository.id)
    assert shown == Avatar("image/png", PNG)
    assert avatars.show_repository_avatar(scenario.app, ANONYMOUS, scenario.repository.id) is None
    avatars.set_repository_avatar(*scenario.caller(scenario.owner), None)
    assert avatars.show_repository_avatar(scenario.app, reader, scenario.repository.id) is None


def test_only_an_owner_sets_the_avatar_of_an_organization(scenario: Scenario) -> None:
    """A member does not set the avatar, and an owner sets and removes it."""
    fleet = organizations.create_organization(scenario.app.database, scenario.owner, "fleet")
    with pytest.raises(Forbidden):
        avatars.set_organization_avatar(
            scenario.app, Actor(scenario.writer), OrganizationAccess(fleet, Mode.WRITE), PNG
        )
    assert avatars.show_account_avatar(scenario.app, fleet.id) is None
    owned = OrganizationAccess(fleet, Mode.OWNER)
    avatars.set_organization_avatar(scenario.app, Actor(scenario.owner), owned, PNG)
    assert avatars.show_account_avatar(scenario.app, fleet.id) == Avatar("image/png", PNG)
    avatars.set_organization_avatar(scenario.app, Actor(scenario.owner), owned, None)
    assert avatars.show_account_avatar(scenario.app, fleet.id) is None


def test_users_set_their_own_avatar(scenario: Scenario) -> None:
    """An avatar has at most one mebibyte, and an anonymous user has to log in."""
    largest = PNG + bytes(avatars.MOST_BYTES - len(PNG))
    with pytest.raises(LoginRequired):
        avatars.set_own_avatar(scenario.app, ANONYMOUS, PNG)
    with pytest.raises(InvalidValue, match="1048576 bytes"):
        avatars.set_own_avatar(scenario.app, Actor(scenario.reader), largest + b"\0")
    avatars.set_own_avatar(scenario.app, Actor(scenario.reader), largest)
    assert avatars.show_account_avatar(scenario.app, scenario.reader.id) == Avatar("image/png", largest)
    avatars.set_own_avatar(scenario.app, Actor(scenario.reader), None)
    assert avatars.show_account_avatar(scenario.app, scenario.reader.id) is None


@pytest.mark.parametrize(
    ("content", "media_type"),
    [
        (b"\xff\xd8\xff\xe0", "image/jpeg"),
        (b"GIF87a", "image/gif"),
        (b"GIF89a", "image/gif"),
        (b"RIFF\x04\0\0\0WEBPVP8 ", "image/webp"),
    ],
)
def test_pictures_are_known_by_their_first_bytes(scenario: Scenario, content: bytes, media_type: str) -> None:
    """The media type is determined from the content, not from what the client says."""
    avatars.set_own_avatar(scenario.app, Actor(scenario.owner), content)
    assert avatars.show_account_avatar(scenario.app, scenario.owner.id) == Avatar(media_type, content)


@pytest.mark.parametrize("content", [b"", b"RIFF\x04\0\0\0WAVEfmt ", b"AAAA\x04\0\0\0WEBPVP8 ", b"<svg/>"])
def test_a_file_that_is_not_an_image_is_refused(scenario: Scenario, content: bytes) -> None:
    """Empty files, SVG and audio files, which begin like WebP, are refused."""
    with pytest.raises(InvalidValue, match="PNG, JPEG, GIF or WebP"):
        avatars.set_own_avatar(scenario.app, Actor(scenario.owner), content)
