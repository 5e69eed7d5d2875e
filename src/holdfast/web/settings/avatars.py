"""The pages that upload and remove the avatar of the user, of an organization and of a repository."""

import time
from collections.abc import Callable
from functools import partial
from typing import Final

import msgspec

from holdfast.hosting.access import OrganizationAccess, RepositoryAccess
from holdfast.hosting.errors import HostingError, InvalidField, Violation
from holdfast.hosting.guards import administers, in_organization, in_repository, owns_organization, signed_in
from holdfast.hosting.http.decoders import SentFile
from holdfast.hosting.http.endpoints import RawResponse, endpoint
from holdfast.hosting.request_context import RequestContext
from holdfast.hosting.services import avatars
from holdfast.web.pages import redirect_to
from holdfast.web.repository_frame import root_path
from holdfast.web.settings.settings_layout import (
    ACCOUNT,
    SettingsLayout,
    in_account,
    in_organization_settings,
    in_repository_settings,
    organization_path,
)

__all__ = [
    "change_organization_avatar",
    "change_own_avatar",
    "change_repository_avatar",
    "show_organization_avatar",
    "show_own_avatar",
    "show_repository_avatar_page",
]

OF_ORGANIZATION: Final = (in_organization, owns_organization)
OF_REPOSITORY: Final = (in_repository, administers)
# An image of the maximum size, and the rest of the form.
LARGEST_FORM: Final = avatars.MOST_BYTES + 64 * 1024

SetAvatar = Callable[[bytes | None], None]


class AvatarForm(msgspec.Struct, frozen=True):
    """The new image, or the button that removes the current one."""

    image: list[SentFile] = msgspec.field(default_factory=list)
    remove: str = ""


def show_form(
    layout: SettingsLayout,
    request: RequestContext,
    action: str,
    picture: str,
    refusal: HostingError | None = None,
) -> RawResponse:
    """Render the form with the current avatar; an empty `picture` means none."""
    return layout(
        request,
        "settings/avatar.html",
        at="Avatar",
        title="Avatar",
        refusal=refusal,
        action=action,
        # Bypasses the cached avatar of the browser.
        picture=f"{picture}?v={time.time_ns()}" if picture else "",
        most=avatars.MOST_BYTES // 2**20,
    )


def submitted(
    body: AvatarForm, change: SetAvatar, show: Callable[[HostingError], RawResponse], action: str
) -> RawResponse:
    """Change an avatar; show the form again with an error if it is rejected."""
    try:
        if body.remove:
            change(None)
            return redirect_to(action, "avatar-removed")
        if not body.image:
            raise InvalidField("Image", Violation.REQUIRED)
        change(body.image[0].content)
    except HostingError as error:
        return show(error)
    return redirect_to(action, "avatar-saved")


def own_form(request: RequestContext, refusal: HostingError | None = None) -> RawResponse:
    """Render the form of the user."""
    return show_form(in_account, request, f"{ACCOUNT}/avatar", f"/avatars/{request.user.id}", refusal)


@endpoint(f"GET {ACCOUNT}/avatar", scope="user", guards=(signed_in,), slow=True)
def show_own_avatar(request: RequestContext) -> RawResponse:
    """Show the avatar of the user."""
    return own_form(request)


@endpoint(f"POST {ACCOUNT}/avatar", scope="user", guards=(signed_in,), largest_body=LARGEST_FORM)
def change_own_avatar(request: RequestContext, body: AvatarForm) -> RawResponse:
    """Replace or remove the avatar of the user."""
    change = partial(avatars.set_own_avatar, request.app, request.actor)
    return submitted(body, change, partial(own_form, request), f"{ACCOUNT}/avatar")


def organization_form(
    request: RequestContext, organization: OrganizationAccess, refusal: HostingError | None = None
) -> RawResponse:
    """Render the form of an organization."""
    action = f"{organization_path(organization)}/avatar"
    picture = f"/avatars/{organization.account.id}"
    return show_form(in_organization_settings, request, action, picture, refusal)


@endpoint("GET /-/orgs/{org}/settings/avatar", scope="organization", guards=OF_ORGANIZATION, slow=True)
def show_organization_avatar(request: RequestContext, organization: OrganizationAccess) -> RawResponse:
    """Show the avatar of an organization."""
    return organization_form(request, organization)


@endpoint(
    "POST /-/orgs/{org}/settings/avatar",
    scope="organization",
    guards=OF_ORGANIZATION,
    largest_body=LARGEST_FORM,
)
def change_organization_avatar(
    request: RequestContext, organization: OrganizationAccess, body: AvatarForm
) -> RawResponse:
    """Replace or remove the avatar of an organization."""
    change = partial(avatars.set_organization_avatar, request.app, request.actor, organization)
    show = partial(organization_form, request, organization)
    return submitted(body, change, show, f"{organization_path(organization)}/avatar")


def repository_form(
    request: RequestContext, target: RepositoryAccess, refusal: HostingError | None = None
) -> RawResponse:
    """Render the form of a repository."""
    action = f"{root_path(target)}/settings/avatar"
    picture = f"/repo-avatars/{target.repository.id}" if target.repository.avatar else ""
    return show_form(in_repository_settings, request, action, picture, refusal)


@endpoint("GET /{owner}/{repo}/settings/avatar", scope="repository", guards=OF_REPOSITORY, slow=True)
def show_repository_avatar_page(request: RequestContext, target: RepositoryAccess) -> RawResponse:
    """Show the avatar of a repository."""
    return repository_form(request, target)


@endpoint(
    "POST /{owner}/{repo}/settings/avatar",
    scope="repository",
    guards=OF_REPOSITORY,
    largest_body=LARGEST_FORM,
)
def change_repository_avatar(request: RequestContext, target: RepositoryAccess, body: AvatarForm) -> RawResponse:
    """Replace or remove the avatar of a repository."""
    change = partial(avatars.set_repository_avatar, request.app, request.actor, target)
    show = partial(repository_form, request, target)
    return submitted(body, change, show, f"{root_path(target)}/settings/avatar")
