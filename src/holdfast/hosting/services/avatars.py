"""Uploaded avatars of users, organizations and repositories."""

from typing import Final

from holdfast.hosting import access
from holdfast.hosting.access import Actor, OrganizationAccess, RepositoryAccess
from holdfast.hosting.app import App
from holdfast.hosting.errors import InvalidValue, NoSuchRepository
from holdfast.hosting.services import repositories
from holdfast.hosting.store import avatars as store
from holdfast.hosting.store.avatars import Avatar

__all__ = [
    "MOST_BYTES",
    "set_organization_avatar",
    "set_own_avatar",
    "set_repository_avatar",
    "show_account_avatar",
    "show_repository_avatar",
]

MOST_BYTES: Final = 2**20
# Only formats that cannot contain scripts.
SIGNATURES: Final = (
    (b"\x89PNG\r\n\x1a\n", "image/png"),
    (b"\xff\xd8\xff", "image/jpeg"),
    (b"GIF87a", "image/gif"),
    (b"GIF89a", "image/gif"),
)


def check_image(content: bytes) -> Avatar:
    """Return an image with its media type, detected by its first bytes; raise `InvalidValue` for other content."""
    if len(content) > MOST_BYTES:
        raise InvalidValue("Image", f"may have {MOST_BYTES} bytes")
    for signature, media_type in SIGNATURES:
        if content.startswith(signature):
            return Avatar(media_type, content)
    if content.startswith(b"RIFF") and content[8:12] == b"WEBP":
        return Avatar("image/webp", content)
    raise InvalidValue("Image", "must be a PNG, JPEG, GIF or WebP image")


def set_own_avatar(app: App, actor: Actor, content: bytes | None) -> None:
    """Replace the avatar of the actor; None removes it."""
    user = access.require_login(actor)
    store.set_account_avatar(app.database, user, None if content is None else check_image(content))


def set_organization_avatar(
    app: App, actor: Actor, organization: OrganizationAccess, content: bytes | None
) -> None:
    """Replace the avatar of an organization, as one of its owners; None removes it."""
    access.require_organization_owner(actor, organization)
    avatar = None if content is None else check_image(content)
    store.set_account_avatar(app.database, organization.account, avatar)


def set_repository_avatar(app: App, actor: Actor, target: RepositoryAccess, content: bytes | None) -> None:
    """Replace the avatar of a repository, as one of its administrators; None removes it."""
    access.require_repository_admin(actor, target)
    access.require_unarchived(target)
    avatar = None if content is None else check_image(content)
    with app.database.write() as connection:
        store.set_repository_avatar(connection, target.repository, avatar)


def show_account_avatar(app: App, account_id: int) -> Avatar | None:
    """Return the uploaded avatar of a user or an organization, which is public; None without one."""
    return store.find_account_avatar(app.database, account_id)


def show_repository_avatar(app: App, actor: Actor, repository_id: int) -> Avatar | None:
    """Return the uploaded avatar of a repository; None without one, or if the actor may not see the repository."""
    try:
        repositories.show(app, actor, repository_id)
    except NoSuchRepository:
        return None
    return store.find_repository_avatar(app.database, repository_id)
