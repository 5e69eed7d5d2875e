"""Push mirrors of repositories."""

from typing import Annotated, Final

import msgspec

from holdfast.hosting.access import RepositoryAccess
from holdfast.hosting.guards import administers, in_repository
from holdfast.hosting.http.decoders import Required
from holdfast.hosting.http.endpoints import endpoint
from holdfast.hosting.http.pagination import PagedList, PageParams
from holdfast.hosting.http.responses import RawResponse
from holdfast.hosting.request_context import RequestContext
from holdfast.hosting.schemas.times import Time, moment, moment_or_none
from holdfast.hosting.services import push_mirrors
from holdfast.hosting.services.durations import format_duration
from holdfast.hosting.services.remotes import Credentials
from holdfast.hosting.store.push_mirrors import PushMirror
from holdfast.hosting.store.repositories import Repository
from holdfast.redacted_repr import redacted

__all__ = [
    "create_push_mirror",
    "delete_push_mirror",
    "list_push_mirrors",
    "show_push_mirror",
    "sync_push_mirrors",
]

GUARDS: Final = (in_repository, administers)


@redacted
class CreatePushMirrorOption(msgspec.Struct, frozen=True):
    """The remote of a push mirror, its credentials and its interval."""

    remote_address: Annotated[str, Required] = ""
    remote_username: str = ""
    remote_password: str = ""
    interval: str = ""
    sync_on_commit: bool = False


class PushMirrorSchema(msgspec.Struct, frozen=True):
    """A push mirror, without its credentials."""

    repo_name: str
    remote_name: str
    remote_address: str
    created: Time
    last_update: Time | None
    last_error: str
    interval: str
    sync_on_commit: bool


def encode(repository: Repository, mirror: PushMirror) -> PushMirrorSchema:
    """Encode a push mirror."""
    return PushMirrorSchema(
        repo_name=repository.name,
        remote_name=mirror.name,
        remote_address=mirror.remote_address,
        created=moment(mirror.created_at),
        last_update=moment_or_none(mirror.last_update),
        last_error=mirror.last_error,
        interval=format_duration(mirror.interval),
        sync_on_commit=mirror.sync_on_commit,
    )


@endpoint("GET /repos/{owner}/{repo}/push_mirrors", scope="repository", guards=GUARDS, refuses=(401, 403))
def list_push_mirrors(
    request: RequestContext, target: RepositoryAccess, page: PageParams
) -> PagedList[PushMirrorSchema]:
    """List the push mirrors of a repository."""
    mirrors, total = push_mirrors.list_push_mirrors(
        request.app, request.actor, target, skip=page.skip, limit=page.size
    )
    return PagedList([encode(target.repository, push_mirror) for push_mirror in mirrors], total)


@endpoint(
    "POST /repos/{owner}/{repo}/push_mirrors",
    scope="repository",
    guards=GUARDS,
    status=200,
    refuses=(401, 403, 422),
)
def create_push_mirror(
    request: RequestContext, target: RepositoryAccess, body: CreatePushMirrorOption
) -> PushMirrorSchema:
    """Add a push mirror; the first push starts within seconds."""
    push_mirror = push_mirrors.create(
        request.app,
        request.actor,
        target,
        address=body.remote_address,
        credentials=Credentials(body.remote_username, body.remote_password),
        interval=body.interval,
        sync_on_commit=body.sync_on_commit,
    )
    return encode(target.repository, push_mirror)


@endpoint(
    "POST /repos/{owner}/{repo}/push_mirrors-sync",
    scope="repository",
    guards=GUARDS,
    status=200,
    refuses=(401, 403),
)
def sync_push_mirrors(request: RequestContext, target: RepositoryAccess) -> RawResponse:
    """Schedule a push to all mirrors of a repository, which starts within seconds."""
    push_mirrors.request_push(request.app, request.actor, target)
    return RawResponse((), status=200)


@endpoint("GET /repos/{owner}/{repo}/push_mirrors/{name}", scope="repository", guards=GUARDS, refuses=(401, 403))
def show_push_mirror(request: RequestContext, target: RepositoryAccess, name: str) -> PushMirrorSchema:
    """Show a push mirror."""
    return encode(target.repository, push_mirrors.find(request.app, request.actor, target, name))


@endpoint(
    "DELETE /repos/{owner}/{repo}/push_mirrors/{name}", scope="repository", guards=GUARDS, refuses=(401, 403)
)
def delete_push_mirror(request: RequestContext, target: RepositoryAccess, name: str) -> None:
    """Delete a push mirror."""
    push_mirrors.delete(request.app, request.actor, target, name)
