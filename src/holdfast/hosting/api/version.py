"""The version of the server, and the limits and features of the API."""

from typing import Final

import msgspec

from holdfast import __version__
from holdfast.hosting.http.endpoints import RawResponse, endpoint
from holdfast.hosting.http.pagination import DEFAULT_SIZE, LARGEST_SIZE
from holdfast.hosting.request_context import RequestContext
from holdfast.hosting.services.attachments import MOST_FILES
from holdfast.hosting.services.reactions import ALLOWED

__all__ = ["ServerVersion", "show_version"]

# Clients enable features by Gitea's version; our own version follows as build metadata.
API_VERSION: Final = "1.27.2"


class ServerVersion(msgspec.Struct, frozen=True):
    """The version of the API, and after the plus sign the version of the server."""

    version: str


class ApiLimits(msgspec.Struct, frozen=True):
    """The limits of responses."""

    max_response_items: int
    default_paging_num: int
    default_git_trees_per_page: int
    default_max_blob_size: int
    default_max_response_size: int


class RepositoryFeatures(msgspec.Struct, frozen=True):
    """The supported features of repositories."""

    mirrors_disabled: bool
    http_git_disabled: bool
    migrations_disabled: bool
    stars_disabled: bool
    time_tracking_disabled: bool
    lfs_disabled: bool


class UiSettings(msgspec.Struct, frozen=True):
    """The default settings of the web interface."""

    default_theme: str
    allowed_reactions: list[str]
    custom_emojis: list[str]


class AttachmentSettings(msgspec.Struct, frozen=True):
    """The limits of attachments."""

    enabled: bool
    allowed_types: str
    max_files: int
    max_size: int


@endpoint("GET /version", tag="settings")
def show_version(_call: RequestContext) -> ServerVersion:
    """Show the version; no authentication is required."""
    return ServerVersion(f"{API_VERSION}+holdfast-{__version__}")


@endpoint("GET /settings/api", tag="settings")
def show_limits(_call: RequestContext) -> ApiLimits:
    """Show the limits of responses."""
    return ApiLimits(
        max_response_items=LARGEST_SIZE,
        default_paging_num=DEFAULT_SIZE,
        default_git_trees_per_page=1000,
        default_max_blob_size=10_485_760,
        default_max_response_size=104_857_600,
    )


@endpoint("GET /settings/repository", tag="settings")
def show_features(_call: RequestContext) -> RepositoryFeatures:
    """Show the supported features of repositories."""
    return RepositoryFeatures(
        mirrors_disabled=False,
        http_git_disabled=False,
        migrations_disabled=False,
        stars_disabled=False,
        time_tracking_disabled=True,
        lfs_disabled=False,
    )


@endpoint("GET /settings/ui", tag="settings")
def show_ui(_call: RequestContext) -> UiSettings:
    """Show the default settings of the web interface."""
    return UiSettings("holdfast", list(ALLOWED), [])


@endpoint("GET /settings/attachment", tag="settings")
def show_attachment_settings(request: RequestContext) -> AttachmentSettings:
    """Show the limits of attachments; the size is in megabytes."""
    return AttachmentSettings(
        enabled=True, allowed_types="*/*", max_files=MOST_FILES, max_size=request.app.settings.max_lfs_mb
    )


@endpoint("GET /swagger", tag="settings", status=303)
def go_to_description(request: RequestContext) -> RawResponse:
    """Redirect to the API documentation."""
    return RawResponse(b"", "text/plain;charset=utf-8", 303, {"Location": f"{request.root}/api/docs"})
