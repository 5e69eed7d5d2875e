"""Avatars of the authenticated user, of organizations and of repositories."""

from typing import Annotated, Final

import msgspec
from msgspec import Meta

from holdfast.hosting.access import OrganizationAccess, RepositoryAccess
from holdfast.hosting.api import base64_strict
from holdfast.hosting.guards import (
    administers,
    in_organization,
    in_repository,
    not_archived,
    owns_organization,
    signed_in,
)
from holdfast.hosting.http.endpoints import endpoint
from holdfast.hosting.request_context import RequestContext
from holdfast.hosting.services import avatars

__all__ = [
    "delete_organization_avatar",
    "delete_own_avatar",
    "delete_repository_avatar",
    "set_organization_avatar",
    "set_own_avatar",
    "set_repository_avatar",
]

OF_ORGANIZATION: Final = (in_organization, owns_organization)
OF_REPOSITORY: Final = (in_repository, administers, not_archived)
# An image of the maximum size as base64, and the rest of the body.
LARGEST: Final = avatars.MOST_BYTES * 3 // 2 + 4096
Image = Annotated[str, Meta(description="A PNG, JPEG, GIF or WebP image of at most 1 MiB, as base64.")]


class UpdateUserAvatarOption(msgspec.Struct, frozen=True):
    """The new avatar of a user or an organization."""

    image: Image = ""


class UpdateRepoAvatarOption(msgspec.Struct, frozen=True):
    """The new avatar of a repository."""

    image: Image = ""


@endpoint(
    "POST /user/avatar", scope="user", guards=(signed_in,), status=204, refuses=(401, 422), largest_body=LARGEST
)
def set_own_avatar(request: RequestContext, body: UpdateUserAvatarOption) -> None:
    """Replace the avatar of the authenticated user."""
    avatars.set_own_avatar(request.app, request.actor, base64_strict.decode(body.image))


@endpoint("DELETE /user/avatar", scope="user", guards=(signed_in,), refuses=(401,))
def delete_own_avatar(request: RequestContext) -> None:
    """Delete the avatar of the authenticated user; a generated one is shown again."""
    avatars.set_own_avatar(request.app, request.actor, None)


@endpoint(
    "POST /orgs/{org}/avatar",
    scope="organization",
    guards=OF_ORGANIZATION,
    status=204,
    refuses=(401, 403, 404, 422),
    largest_body=LARGEST,
)
def set_organization_avatar(
    request: RequestContext, organization: OrganizationAccess, body: UpdateUserAvatarOption
) -> None:
    """Replace the avatar of an organization."""
    avatars.set_organization_avatar(request.app, request.actor, organization, base64_strict.decode(body.image))


@endpoint("DELETE /orgs/{org}/avatar", scope="organization", guards=OF_ORGANIZATION, refuses=(401, 403, 404))
def delete_organization_avatar(request: RequestContext, organization: OrganizationAccess) -> None:
    """Delete the avatar of an organization; a generated one is shown again."""
    avatars.set_organization_avatar(request.app, request.actor, organization, None)


@endpoint(
    "POST /repos/{owner}/{repo}/avatar",
    scope="repository",
    guards=OF_REPOSITORY,
    status=204,
    refuses=(401, 403, 404, 422, 423),
    largest_body=LARGEST,
)
def set_repository_avatar(request: RequestContext, target: RepositoryAccess, body: UpdateRepoAvatarOption) -> None:
    """Replace the avatar of a repository."""
    avatars.set_repository_avatar(request.app, request.actor, target, base64_strict.decode(body.image))


@endpoint(
    "DELETE /repos/{owner}/{repo}/avatar", scope="repository", guards=OF_REPOSITORY, refuses=(401, 403, 404, 423)
)
def delete_repository_avatar(request: RequestContext, target: RepositoryAccess) -> None:
    """Delete the avatar of a repository."""
    avatars.set_repository_avatar(request.app, request.actor, target, None)
