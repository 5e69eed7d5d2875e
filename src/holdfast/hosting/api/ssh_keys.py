"""SSH keys of users, and deploy keys of repositories."""

from typing import Annotated, Final

import msgspec
from msgspec import Meta

from holdfast.hosting.access import RepositoryAccess
from holdfast.hosting.error_responses import error_status
from holdfast.hosting.errors import SshKeyTaken
from holdfast.hosting.guards import (
    UserFromPath,
    administers,
    in_repository,
    of_user,
    person,
    signed_in,
    site_admin,
)
from holdfast.hosting.http.decoders import Required
from holdfast.hosting.http.endpoints import endpoint
from holdfast.hosting.http.pagination import PagedList, PageParams
from holdfast.hosting.request_context import RequestContext
from holdfast.hosting.schemas.repositories import RepositorySchema, repository
from holdfast.hosting.schemas.times import Time, moment
from holdfast.hosting.schemas.users import UserSchema, user
from holdfast.hosting.services import ssh_keys
from holdfast.hosting.store.accounts import Account
from holdfast.hosting.store.ssh_keys import SshKey

__all__ = [
    "add_deploy_key",
    "add_key",
    "add_key_for_user",
    "delete_deploy_key",
    "delete_key",
    "delete_key_of_user",
    "list_deploy_keys",
    "list_keys",
    "list_own_keys",
    "show_deploy_key",
    "show_key",
]


class PublicKey(msgspec.Struct, frozen=True):
    """An SSH key of a user."""

    id: int
    key: str
    url: str
    title: str
    fingerprint: str
    created_at: Time
    last_used_at: Time
    """The time of the last use; the time when it was added if never used."""
    user: UserSchema
    read_only: bool
    key_type: str


class DeployKey(msgspec.Struct, frozen=True):
    """An SSH key of a repository."""

    id: int
    key_id: int
    key: str
    url: str
    title: str
    fingerprint: str
    created_at: Time
    read_only: bool
    repository: RepositorySchema


class CreateKeyOption(msgspec.Struct, frozen=True):
    """A key to add; only a deploy key can be read-only."""

    title: Annotated[str, Meta(max_length=ssh_keys.MAX_TITLE), Required] = ""
    key: Annotated[str, Required] = ""
    read_only: bool = False


class KeyQuery(msgspec.Struct, frozen=True):
    """Filters of keys."""

    fingerprint: str = ""


class DeployKeyQuery(msgspec.Struct, frozen=True):
    """Filters of deploy keys."""

    key_id: int = 0
    fingerprint: str = ""


def public_key(request: RequestContext, key: SshKey, owner: Account) -> PublicKey:
    """Encode a key of a user."""
    return PublicKey(
        id=key.id,
        key=key.content,
        url=f"{request.api}/user/keys/{key.id}",
        title=key.title,
        fingerprint=key.fingerprint,
        created_at=moment(key.created_at),
        last_used_at=moment(key.last_used_at or key.created_at),
        user=user(request, owner),
        read_only=False,
        key_type="user",
    )


def deploy_key(request: RequestContext, key: SshKey, target: RepositoryAccess) -> DeployKey:
    """Encode a key of a repository."""
    repository_schema = repository(request, target.repository, target.permissions)
    return DeployKey(
        id=key.id,
        key_id=key.id,
        key=key.content,
        url=f"{repository_schema.url}/keys/{key.id}",
        title=key.title,
        fingerprint=key.fingerprint,
        created_at=moment(key.created_at),
        read_only=key.is_read_only,
        repository=repository_schema,
    )


def new_key_from(body: CreateKeyOption) -> ssh_keys.NewSshKey:
    """Return the key to add."""
    return ssh_keys.NewSshKey(body.title, body.key, body.read_only)


def list_of(request: RequestContext, owner: Account, query: KeyQuery, page: PageParams) -> PagedList[PublicKey]:
    """List the keys of a user."""
    keys, total = ssh_keys.list_keys(
        request.app, request.actor, owner, skip=page.skip, limit=page.size, fingerprint=query.fingerprint
    )
    return PagedList([public_key(request, key, owner) for key in keys], total)


@endpoint("GET /user/keys", scope="user", guards=(signed_in,), refuses=(401, 403))
def list_own_keys(request: RequestContext, query: KeyQuery, page: PageParams) -> PagedList[PublicKey]:
    """List the SSH keys of the authenticated user."""
    return list_of(request, request.user, query, page)


@endpoint("POST /user/keys", scope="user", guards=(signed_in,), status=201, refuses=(401, 403, 422))
def add_key(request: RequestContext, body: CreateKeyOption) -> PublicKey:
    """Add an SSH key; a key that is already in use by anybody is rejected."""
    with error_status(422, SshKeyTaken):
        added = ssh_keys.add(request.app, request.actor, request.user, new_key_from(body))
    return public_key(request, added, request.user)


@endpoint("GET /user/keys/{id}", scope="user", guards=(signed_in,), refuses=(401, 403, 404))
def show_key(request: RequestContext, id: int) -> PublicKey:  # noqa: A002  # as it is in the path
    """Show an SSH key of the authenticated user."""
    return public_key(request, ssh_keys.find(request.app, request.actor, request.user, id), request.user)


@endpoint("DELETE /user/keys/{id}", scope="user", guards=(signed_in,), refuses=(401, 403, 404))
def delete_key(request: RequestContext, id: int) -> None:  # noqa: A002  # as it is in the path
    """Delete an SSH key of the authenticated user."""
    ssh_keys.delete(request.app, request.actor, request.user, id)


@endpoint("GET /users/{username}/keys", scope="user", guards=(of_user, person), refuses=(401, 403, 404))
def list_keys(
    request: RequestContext, subject: UserFromPath, query: KeyQuery, page: PageParams
) -> PagedList[PublicKey]:
    """List the SSH keys of a user."""
    return list_of(request, subject.account, query, page)


ADMIN: Final = (site_admin, of_user, person)


@endpoint(
    "POST /admin/users/{username}/keys", scope="admin", guards=ADMIN, status=201, refuses=(401, 403, 404, 422)
)
def add_key_for_user(request: RequestContext, subject: UserFromPath, body: CreateKeyOption) -> PublicKey:
    """Add an SSH key to a user, as a site administrator."""
    with error_status(422, SshKeyTaken):
        added = ssh_keys.add(request.app, request.actor, subject.account, new_key_from(body))
    return public_key(request, added, subject.account)


@endpoint("DELETE /admin/users/{username}/keys/{id}", scope="admin", guards=ADMIN, refuses=(401, 403, 404))
def delete_key_of_user(request: RequestContext, subject: UserFromPath, id: int) -> None:  # noqa: A002  # as it is in the path
    """Delete an SSH key of a user, as a site administrator."""
    ssh_keys.delete(request.app, request.actor, subject.account, id)


@endpoint(
    "GET /repos/{owner}/{repo}/keys",
    scope="repository",
    guards=(in_repository, administers),
    refuses=(401, 403, 404),
)
def list_deploy_keys(
    request: RequestContext, target: RepositoryAccess, query: DeployKeyQuery, page: PageParams
) -> PagedList[DeployKey]:
    """List the deploy keys of a repository."""
    keys, total = ssh_keys.list_deploy_keys(
        request.app,
        request.actor,
        target,
        skip=page.skip,
        limit=page.size,
        fingerprint=query.fingerprint,
        number=query.key_id,
    )
    return PagedList([deploy_key(request, key, target) for key in keys], total)


@endpoint(
    "POST /repos/{owner}/{repo}/keys",
    scope="repository",
    guards=(in_repository, administers),
    status=201,
    refuses=(401, 403, 404, 422),
)
def add_deploy_key(request: RequestContext, target: RepositoryAccess, body: CreateKeyOption) -> DeployKey:
    """Add a deploy key to a repository."""
    with error_status(422, SshKeyTaken):
        added = ssh_keys.add_deploy_key(request.app, request.actor, target, new_key_from(body))
    return deploy_key(request, added, target)


@endpoint(
    "GET /repos/{owner}/{repo}/keys/{id}",
    scope="repository",
    guards=(in_repository, administers),
    refuses=(401, 403, 404),
)
def show_deploy_key(request: RequestContext, target: RepositoryAccess, id: int) -> DeployKey:  # noqa: A002  # as it is in the path
    """Show a deploy key of a repository."""
    return deploy_key(request, ssh_keys.find_deploy_key(request.app, request.actor, target, id), target)


@endpoint(
    "DELETE /repos/{owner}/{repo}/keys/{id}",
    scope="repository",
    guards=(in_repository, administers),
    refuses=(401, 403, 404),
)
def delete_deploy_key(request: RequestContext, target: RepositoryAccess, id: int) -> None:  # noqa: A002  # as it is in the path
    """Delete a deploy key of a repository."""
    ssh_keys.delete_deploy_key(request.app, request.actor, target, id)
