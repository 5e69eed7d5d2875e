"""A user's own webhooks: told of everything that happens in the repositories they own."""

from holdfast.hosting.api.hook_endpoints import hook_endpoints, webhooks_enabled
from holdfast.hosting.guards import signed_in
from holdfast.hosting.http.context import RequestContext
from holdfast.hosting.store.hooks import HookOwner

__all__ = [
    "cancel_user_hook_delivery",
    "create_user_hook",
    "delete_user_hook",
    "edit_user_hook",
    "list_user_hook_deliveries",
    "list_user_hooks",
    "redeliver_user_hook",
    "redeliver_user_hook_delivery",
    "resume_user_hook",
    "show_user_hook",
    "show_user_hook_delivery",
    "test_user_hook",
]


def of_caller(request: RequestContext) -> HookOwner:
    """Say that the hooks are the caller's."""
    return HookOwner("owner", request.user.id)


(
    list_user_hooks,
    create_user_hook,
    show_user_hook,
    edit_user_hook,
    delete_user_hook,
    test_user_hook,
    resume_user_hook,
    redeliver_user_hook,
    list_user_hook_deliveries,
    show_user_hook_delivery,
    cancel_user_hook_delivery,
    redeliver_user_hook_delivery,
) = hook_endpoints(
    "user",
    "/user/hooks",
    scope="user",
    guards=(signed_in, webhooks_enabled, of_caller),
)
