"""Webhooks of the whole service: told of everything, or copied to every new repository."""

from typing import Literal

import msgspec

from holdfast.hosting.api.hook_endpoints import hook_endpoints, webhooks_enabled
from holdfast.hosting.guards import site_admin
from holdfast.hosting.http.context import RequestContext
from holdfast.hosting.http.pagination import PagedList, PageParams
from holdfast.hosting.schemas import hooks as shapes
from holdfast.hosting.store import hooks as store
from holdfast.hosting.store.hooks import HookOwner

__all__ = [
    "cancel_admin_hook_delivery",
    "create_admin_hook",
    "delete_admin_hook",
    "edit_admin_hook",
    "list_admin_hook_deliveries",
    "list_admin_hooks",
    "redeliver_admin_hook",
    "redeliver_admin_hook_delivery",
    "resume_admin_hook",
    "show_admin_hook",
    "show_admin_hook_delivery",
    "test_admin_hook",
]


def of_service(request: RequestContext) -> HookOwner:  # noqa: ARG001  # asked like every guard
    """Say that the hooks are the service's."""
    return HookOwner("service")


class ServiceHookQuery(msgspec.Struct, frozen=True):
    """Which of the service's hooks to list."""

    type: Literal["all", "system", "default"] = "all"


def list_hooks(
    request: RequestContext, hook_owner: HookOwner, query: ServiceHookQuery, page: PageParams
) -> PagedList[shapes.HookSchema]:
    """List the webhooks that are told of everything, and those that new repositories get, oldest first."""
    scope = None if query.type == "all" else query.type
    found, total = store.hooks_of(request.app.database, hook_owner, skip=page.skip, limit=page.size, scope=scope)
    return PagedList([shapes.hook(kept) for kept in found], total)


(
    list_admin_hooks,
    create_admin_hook,
    show_admin_hook,
    edit_admin_hook,
    delete_admin_hook,
    test_admin_hook,
    resume_admin_hook,
    redeliver_admin_hook,
    list_admin_hook_deliveries,
    show_admin_hook_delivery,
    cancel_admin_hook_delivery,
    redeliver_admin_hook_delivery,
) = hook_endpoints(
    "admin",
    "/admin/hooks",
    scope="admin",
    guards=(site_admin, webhooks_enabled, of_service),
    lists=list_hooks,
)
