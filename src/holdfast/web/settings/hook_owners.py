"""The URL paths, guards and layouts of webhook pages, for each kind of owner."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Final

from holdfast.hosting import guards
from holdfast.hosting.access import OrganizationAccess, RepositoryAccess
from holdfast.hosting.http.endpoints import Endpoint, endpoint
from holdfast.hosting.request_context import RequestContext
from holdfast.web.repository_frame import root_path
from holdfast.web.settings.settings_layout import (
    ACCOUNT,
    ADMIN,
    SettingsLayout,
    in_account,
    in_admin,
    in_organization_settings,
    in_repository_settings,
    organization_path,
)

__all__ = ["OWNERS", "WebhookPagesOwner"]


@dataclass(frozen=True, slots=True, kw_only=True)
class WebhookPagesOwner:
    """One kind of owner of webhooks: the paths of its pages, and their guards."""

    word: str
    pattern: str
    """The route pattern of the list."""
    root: Callable[[RequestContext], str]
    """The same path for one request."""
    api_path: str
    """The path of the list in the API."""
    frame: SettingsLayout
    events: str
    """The description of the events that its webhooks receive."""
    scope: str
    guards: tuple[Callable[[RequestContext], object], ...]
    """The guards of the API endpoints."""

    def declare(self, run: Callable[..., Any], method: str, path: str = "") -> Endpoint:
        """Declare a page of the webhooks of this kind of owner."""
        name = f"{self.word}_hooks_{run.__name__}"
        route = f"{method} {self.pattern}{path}"
        return endpoint(route, scope=self.scope, guards=self.guards, slow=True, name=name)(run)


OWNERS: Final = (
    WebhookPagesOwner(
        word="repository",
        pattern="/{owner}/{repo}/settings/hooks",
        root=lambda request: f"{root_path(request.resolved(RepositoryAccess))}/settings/hooks",
        api_path="/repos/{owner}/{repo}/hooks",
        frame=in_repository_settings,
        events="the events of this repository",
        scope="repository",
        guards=guards.REPOSITORY_WEBHOOKS,
    ),
    WebhookPagesOwner(
        word="organization",
        pattern="/-/orgs/{org}/settings/hooks",
        root=lambda request: f"{organization_path(request.resolved(OrganizationAccess))}/hooks",
        api_path="/orgs/{org}/hooks",
        frame=in_organization_settings,
        events="the events of all repositories of this organization",
        scope="organization",
        guards=guards.ORGANIZATION_WEBHOOKS,
    ),
    WebhookPagesOwner(
        word="user",
        pattern=f"{ACCOUNT}/hooks",
        root=lambda _request: f"{ACCOUNT}/hooks",
        api_path="/user/hooks",
        frame=in_account,
        events="the events of all repositories you own",
        scope="user",
        guards=guards.OWN_WEBHOOKS,
    ),
    WebhookPagesOwner(
        word="service",
        pattern=f"{ADMIN}/hooks",
        root=lambda _request: f"{ADMIN}/hooks",
        api_path="/admin/hooks",
        frame=in_admin,
        events="the events of all repositories, or are copied to new repositories,",
        scope="admin",
        guards=guards.SERVICE_WEBHOOKS,
    ),
)
