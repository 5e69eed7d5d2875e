"""The layouts of settings pages: heading and navigation."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Final, Protocol
from urllib.parse import quote

from holdfast.hosting.access import Mode, OrganizationAccess, RepositoryAccess
from holdfast.hosting.error_responses import refusal_for
from holdfast.hosting.errors import HostingError
from holdfast.hosting.http.endpoints import RawResponse
from holdfast.hosting.request_context import RequestContext
from holdfast.web.error_messages import message_for, status_for
from holdfast.web.pages import page
from holdfast.web.repository_frame import SETTINGS, root_path, show_in

__all__ = [
    "ACCOUNT",
    "ADMIN",
    "Section",
    "SettingsLayout",
    "in_account",
    "in_admin",
    "in_organization_settings",
    "in_repository_settings",
    "organization_path",
]

ACCOUNT: Final = "/-/account"
ADMIN: Final = "/-/admin"


@dataclass(frozen=True, slots=True)
class Section:
    """An entry of the navigation."""

    name: str
    path: str


class SettingsLayout(Protocol):
    """Renders a template inside the layout of a settings page; `at` is the name of the section.

    With a `refusal`, the page has its status and shows its message.
    """

    def __call__(
        self,
        request: RequestContext,
        template: str,
        *,
        at: str,
        title: str,
        refusal: HostingError | None = None,
        **values: object,
    ) -> RawResponse:
        """Render the page."""


REPOSITORY: Final = (
    ("General", ""),
    ("Avatar", "/avatar"),
    ("Collaborators", "/collaborators"),
    ("Branches", "/branches"),
    ("Webhooks", "/hooks"),
    ("Danger zone", "/danger"),
)
ORGANIZATION: Final = (
    ("Profile", ""),
    ("Avatar", "/avatar"),
    ("Members", "/members"),
    ("Teams", "/teams"),
    ("Webhooks", "/hooks"),
    ("Danger zone", "/danger"),
)
OWN: Final = (
    ("Profile", ""),
    ("Avatar", "/avatar"),
    ("Password", "/password"),
    ("Two-factor authentication", "/two-factor"),
    ("Tokens", "/tokens"),
    ("Sessions", "/sessions"),
    ("Webhooks", "/hooks"),
)
SERVICE: Final = (
    ("Health", ""),
    ("Users", "/users"),
    ("Organizations", "/organizations"),
    ("Chat backups", "/chat-backups"),
    ("Deliveries", "/deliveries"),
    ("Webhooks", "/hooks"),
    ("Settings", "/settings"),
)


def sections(root: str, named: tuple[tuple[str, str], ...], request: RequestContext) -> list[Section]:
    """Return the navigation; without webhooks if they are disabled."""
    without = () if request.app.settings.webhooks else ("Webhooks",)
    return [Section(name, root + path) for name, path in named if name not in without]


def with_error_headers(response: RawResponse, refusal: HostingError | None) -> RawResponse:
    """Add the headers of an error to a page, such as Retry-After."""
    error = refusal_for(refusal) if isinstance(refusal, HostingError) else refusal
    if error is not None:
        response.headers.update(error.headers)
    return response


def in_repository_settings(
    request: RequestContext,
    template: str,
    *,
    at: str,
    title: str,
    refusal: HostingError | None = None,
    **values: object,
) -> RawResponse:
    """Render a page of a repository's settings."""
    place = request.resolved(RepositoryAccess)
    response = show_in(
        request,
        place,
        template,
        tab=SETTINGS,
        title=f"{title} · {place.repository.full_name}",
        status=200 if refusal is None else status_for(refusal),
        problem="" if refusal is None else message_for(refusal),
        frame="settings/repository_layout.html",
        sections=sections(f"{root_path(place)}/settings", REPOSITORY, request),
        at=at,
        **values,
    )
    return with_error_headers(response, refusal)


def organization_path(organization: OrganizationAccess) -> str:
    """Return the path of an organization's settings."""
    return f"/-/orgs/{quote(organization.account.name)}/settings"


def in_organization_settings(
    request: RequestContext,
    template: str,
    *,
    at: str,
    title: str,
    refusal: HostingError | None = None,
    **values: object,
) -> RawResponse:
    """Render a page of an organization's settings; members who are not owners see their teams only."""
    organization = request.resolved(OrganizationAccess)
    owns = organization.mode >= Mode.OWNER
    account = organization.account
    response = page(
        request,
        template,
        title=f"{title} · {account.name}",
        status=200 if refusal is None else status_for(refusal),
        problem="" if refusal is None else message_for(refusal),
        frame="settings/layout.html",
        heading=account.name,
        heading_path=f"/{quote(account.name)}",
        sections=sections(organization_path(organization), ORGANIZATION, request)
        if owns
        else [Section("Teams", f"/{quote(account.name)}?show=teams")],
        at=at,
        organization=account,
        owns=owns,
        **values,
    )
    return with_error_headers(response, refusal)


def in_account(
    request: RequestContext,
    template: str,
    *,
    at: str,
    title: str,
    refusal: HostingError | None = None,
    **values: object,
) -> RawResponse:
    """Render a page of the user's settings."""
    return settings_pages(OWN, ACCOUNT, "Your account")(
        request, template, at=at, title=title, refusal=refusal, **values
    )


def in_admin(
    request: RequestContext,
    template: str,
    *,
    at: str,
    title: str,
    refusal: HostingError | None = None,
    **values: object,
) -> RawResponse:
    """Render a page of site administration."""
    return settings_pages(SERVICE, ADMIN, "Administration")(
        request, template, at=at, title=title, refusal=refusal, **values
    )


def settings_pages(named: tuple[tuple[str, str], ...], root: str, heading: str) -> Callable[..., RawResponse]:
    """Return the layout of settings with a fixed path."""

    def show(
        request: RequestContext,
        template: str,
        *,
        at: str,
        title: str,
        refusal: HostingError | None,
        **values: object,
    ) -> RawResponse:
        response = page(
            request,
            template,
            title=f"{title} · {heading}",
            status=200 if refusal is None else status_for(refusal),
            problem="" if refusal is None else message_for(refusal),
            frame="settings/layout.html",
            heading=heading,
            heading_path="",
            sections=sections(root, named, request),
            at=at,
            **values,
        )
        return with_error_headers(response, refusal)

    return show
