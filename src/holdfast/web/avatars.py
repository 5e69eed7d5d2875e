"""Avatars: the uploaded image, else the first letter of the name on a colour derived from the account id."""

from html import escape
from typing import Final

from holdfast.hosting.errors import NoSuchUser
from holdfast.hosting.http.endpoints import RawResponse, endpoint
from holdfast.hosting.http.errors import ApiError
from holdfast.hosting.request_context import RequestContext
from holdfast.hosting.services import avatars
from holdfast.hosting.store import accounts

__all__ = ["show_avatar", "show_repository_avatar"]

# Dark enough for white letters, and distinct enough to tell people apart.
COLOURS: Final = ("#14605a", "#7a3b69", "#3b5b92", "#8a4b21", "#4d6b2c", "#8c2f39", "#5b4b8a", "#2f6f8c")

LARGEST_ID: Final = 2**63 - 1
HEADERS: Final = {"Content-Security-Policy": "default-src 'none'", "X-Content-Type-Options": "nosniff"}
# Short, so that a new avatar is visible soon.
PUBLIC: Final = "public, max-age=300"


def picture(name: str, number: int) -> str:
    """Return the SVG of an avatar."""
    letter = escape(name[:1].upper())
    colour = COLOURS[number % len(COLOURS)]
    return (
        '<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 64 64" width="64" height="64">'
        f'<rect width="64" height="64" fill="{colour}"/>'
        '<text x="32" y="33" fill="#fff" font-family="system-ui, sans-serif" font-size="34" font-weight="600" '
        f'text-anchor="middle" dominant-baseline="central">{letter}</text></svg>'
    )


@endpoint("GET /avatars/{id}", anonymous=True)
def show_avatar(request: RequestContext, id: str) -> RawResponse:  # noqa: A002  # as in the API
    """Return the avatar of an account; an unknown id gets one too, so that ids cannot be enumerated."""
    if not (id.isascii() and id.isdigit()):
        raise ApiError(404)
    number = int(id) if len(id) < len(str(LARGEST_ID)) else LARGEST_ID
    uploaded = avatars.show_account_avatar(request.app, number)
    if uploaded is not None:
        return RawResponse(uploaded.content, uploaded.media_type, headers={**HEADERS, "Cache-Control": PUBLIC})
    try:
        name = accounts.find_account(request.app.database, number).name
    except NoSuchUser:
        name = "?"
    headers = {**HEADERS, "Cache-Control": PUBLIC}
    return RawResponse(picture(name, number).encode(), "image/svg+xml", headers=headers)


@endpoint("GET /repo-avatars/{id}")
def show_repository_avatar(request: RequestContext, id: str) -> RawResponse:  # noqa: A002  # as in the API
    """Return the uploaded avatar of a repository, if the caller may read the repository."""
    if not (id.isascii() and id.isdigit() and len(id) < len(str(LARGEST_ID))):
        raise ApiError(404)
    avatar = avatars.show_repository_avatar(request.app, request.actor, int(id))
    if avatar is None:
        raise ApiError(404)
    headers = {**HEADERS, "Cache-Control": "private, max-age=300"}
    return RawResponse(avatar.content, avatar.media_type, headers=headers)
