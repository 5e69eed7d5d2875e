"""The buttons of every repository page that watch or star the repository."""

import msgspec

from holdfast.hosting.access import RepositoryAccess
from holdfast.hosting.guards import in_repository, signed_in
from holdfast.hosting.http.endpoints import RawResponse, endpoint
from holdfast.hosting.request_context import RequestContext
from holdfast.hosting.services import subscriptions
from holdfast.hosting.store.subscriptions import Kind
from holdfast.web.pages import local_path, redirect_to
from holdfast.web.repository_frame import root_path

__all__ = ["submit_star", "submit_watch"]


class SubscriptionForm(msgspec.Struct, frozen=True):
    """Whether to add or to remove, and the page to return to."""

    add: str = ""
    next: str = ""


@endpoint("POST /{owner}/{repo}/watch", scope="repository", guards=(in_repository, signed_in), slow=True)
def submit_watch(request: RequestContext, target: RepositoryAccess, body: SubscriptionForm) -> RawResponse:
    """Watch a repository, or stop watching it."""
    return changed(request, target, body, "watch", "repository-watched" if body.add else "repository-unwatched")


@endpoint("POST /{owner}/{repo}/star", scope="repository", guards=(in_repository, signed_in), slow=True)
def submit_star(request: RequestContext, target: RepositoryAccess, body: SubscriptionForm) -> RawResponse:
    """Star a repository, or remove the star."""
    return changed(request, target, body, "star", "repository-starred" if body.add else "repository-unstarred")


def changed(
    request: RequestContext, target: RepositoryAccess, body: SubscriptionForm, kind: Kind, notice: str
) -> RawResponse:
    """Add or remove a watch or a star, and return to the page the button was on."""
    change = subscriptions.add if body.add else subscriptions.remove
    change(request.app, request.actor, target, kind)
    wanted = local_path(body.next)
    return redirect_to(root_path(target) if wanted == "/" else wanted, notice, target.repository.full_name)
