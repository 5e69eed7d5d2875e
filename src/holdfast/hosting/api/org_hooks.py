"""Organization webhooks: told of everything that happens in an organization's repositories."""

from holdfast.hosting.access import OrganizationAccess
from holdfast.hosting.api.hook_endpoints import hook_endpoints, webhooks_enabled
from holdfast.hosting.guards import in_organization, owns_organization
from holdfast.hosting.http.context import RequestContext
from holdfast.hosting.store.hooks import HookOwner

__all__ = [
    "cancel_org_hook_delivery",
    "create_org_hook",
    "delete_org_hook",
    "edit_org_hook",
    "list_org_hook_deliveries",
    "list_org_hooks",
    "redeliver_org_hook",
    "redeliver_org_hook_delivery",
    "resume_org_hook",
    "show_org_hook",
    "show_org_hook_delivery",
    "test_org_hook",
]


def of_organization(request: RequestContext) -> HookOwner:
    """Say that the hooks are the organization's."""
    return HookOwner("owner", request.resolved(OrganizationAccess).account.id)


(
    list_org_hooks,
    create_org_hook,
    show_org_hook,
    edit_org_hook,
    delete_org_hook,
    test_org_hook,
    resume_org_hook,
    redeliver_org_hook,
    list_org_hook_deliveries,
    show_org_hook_delivery,
    cancel_org_hook_delivery,
    redeliver_org_hook_delivery,
) = hook_endpoints(
    "org",
    "/orgs/{org}/hooks",
    scope="organization",
    guards=(in_organization, owns_organization, webhooks_enabled, of_organization),
)
