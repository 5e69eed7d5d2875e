"""Where webhooks are at home, with the endpoints of the API and the frame of the pages for each."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Final

from holdfast.hosting.access import OrganizationAccess, RepositoryAccess
from holdfast.hosting.api import admin_hooks, org_hooks, repository_hooks, user_hooks
from holdfast.hosting.http.context import RequestContext
from holdfast.hosting.http.endpoints import Endpoint
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

__all__ = ["HOMES", "HookHome"]


@dataclass(frozen=True, slots=True, kw_only=True)
class HookHome:
    """The hooks of one kind of home: what does things with them, and where people look at them."""

    word: str
    pattern: str
    """The address of the list, with the parameters a route has."""
    root: Callable[[RequestContext], str]
    """The same for one request."""
    frame: SettingsLayout
    told: str
    """What its hooks are told of."""
    list_hooks: Endpoint
    create: Endpoint
    show: Endpoint
    edit: Endpoint
    delete: Endpoint
    test: Endpoint
    resume: Endpoint
    redeliver_all: Endpoint
    list_deliveries: Endpoint
    show_delivery: Endpoint
    cancel: Endpoint
    redeliver: Endpoint


HOMES: Final = (
    HookHome(
        word="repository",
        pattern="/{owner}/{repo}/settings/hooks",
        root=lambda call: f"{root_path(call.resolved(RepositoryAccess))}/settings/hooks",
        frame=in_repository_settings,
        told="what happens in this repository",
        list_hooks=repository_hooks.list_repository_hooks,
        create=repository_hooks.create_repository_hook,
        show=repository_hooks.show_repository_hook,
        edit=repository_hooks.edit_repository_hook,
        delete=repository_hooks.delete_repository_hook,
        test=repository_hooks.test_repository_hook,
        resume=repository_hooks.resume_repository_hook,
        redeliver_all=repository_hooks.redeliver_repository_hook,
        list_deliveries=repository_hooks.list_repository_hook_deliveries,
        show_delivery=repository_hooks.show_repository_hook_delivery,
        cancel=repository_hooks.cancel_repository_hook_delivery,
        redeliver=repository_hooks.redeliver_repository_hook_delivery,
    ),
    HookHome(
        word="organization",
        pattern="/-/orgs/{org}/settings/hooks",
        root=lambda call: f"{organization_path(call.resolved(OrganizationAccess))}/hooks",
        frame=in_organization_settings,
        told="everything that happens in this organization's repositories",
        list_hooks=org_hooks.list_org_hooks,
        create=org_hooks.create_org_hook,
        show=org_hooks.show_org_hook,
        edit=org_hooks.edit_org_hook,
        delete=org_hooks.delete_org_hook,
        test=org_hooks.test_org_hook,
        resume=org_hooks.resume_org_hook,
        redeliver_all=org_hooks.redeliver_org_hook,
        list_deliveries=org_hooks.list_org_hook_deliveries,
        show_delivery=org_hooks.show_org_hook_delivery,
        cancel=org_hooks.cancel_org_hook_delivery,
        redeliver=org_hooks.redeliver_org_hook_delivery,
    ),
    HookHome(
        word="user",
        pattern=f"{ACCOUNT}/hooks",
        root=lambda _call: f"{ACCOUNT}/hooks",
        frame=in_account,
        told="everything that happens in the repositories you own",
        list_hooks=user_hooks.list_user_hooks,
        create=user_hooks.create_user_hook,
        show=user_hooks.show_user_hook,
        edit=user_hooks.edit_user_hook,
        delete=user_hooks.delete_user_hook,
        test=user_hooks.test_user_hook,
        resume=user_hooks.resume_user_hook,
        redeliver_all=user_hooks.redeliver_user_hook,
        list_deliveries=user_hooks.list_user_hook_deliveries,
        show_delivery=user_hooks.show_user_hook_delivery,
        cancel=user_hooks.cancel_user_hook_delivery,
        redeliver=user_hooks.redeliver_user_hook_delivery,
    ),
    HookHome(
        word="service",
        pattern=f"{ADMIN}/hooks",
        root=lambda _call: f"{ADMIN}/hooks",
        frame=in_admin,
        told="everything that happens on this service; or new repositories get a copy of it",
        list_hooks=admin_hooks.list_admin_hooks,
        create=admin_hooks.create_admin_hook,
        show=admin_hooks.show_admin_hook,
        edit=admin_hooks.edit_admin_hook,
        delete=admin_hooks.delete_admin_hook,
        test=admin_hooks.test_admin_hook,
        resume=admin_hooks.resume_admin_hook,
        redeliver_all=admin_hooks.redeliver_admin_hook,
        list_deliveries=admin_hooks.list_admin_hook_deliveries,
        show_delivery=admin_hooks.show_admin_hook_delivery,
        cancel=admin_hooks.cancel_admin_hook_delivery,
        redeliver=admin_hooks.redeliver_admin_hook_delivery,
    ),
)
