"""Webhooks of a repository."""

from holdfast.hosting.access import RepositoryAccess
from holdfast.hosting.api.hook_endpoints import hook_endpoints, webhooks_enabled
from holdfast.hosting.guards import administers, in_repository
from holdfast.hosting.http.context import RequestContext
from holdfast.hosting.store.hooks import HookOwner

__all__ = [
    "cancel_repository_hook_delivery",
    "create_repository_hook",
    "delete_repository_hook",
    "edit_repository_hook",
    "list_repository_hook_deliveries",
    "list_repository_hooks",
    "redeliver_repository_hook",
    "redeliver_repository_hook_delivery",
    "resume_repository_hook",
    "show_repository_hook",
    "show_repository_hook_delivery",
    "test_repository_hook",
]


def of_repository(request: RequestContext) -> HookOwner:
    """Say that the hooks are the repository's."""
    return HookOwner("repository", request.resolved(RepositoryAccess).repository.id)


(
    list_repository_hooks,
    create_repository_hook,
    show_repository_hook,
    edit_repository_hook,
    delete_repository_hook,
    test_repository_hook,
    resume_repository_hook,
    redeliver_repository_hook,
    list_repository_hook_deliveries,
    show_repository_hook_delivery,
    cancel_repository_hook_delivery,
    redeliver_repository_hook_delivery,
) = hook_endpoints(
    "repository",
    "/repos/{owner}/{repo}/hooks",
    scope="repository",
    guards=(in_repository, administers, webhooks_enabled, of_repository),
)
