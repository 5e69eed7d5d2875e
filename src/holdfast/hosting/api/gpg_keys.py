"""GPG keys of users: lists are always empty and keys cannot be added, as signatures are not verified."""

import msgspec

from holdfast.hosting.guards import UserFromPath, of_user, person, signed_in
from holdfast.hosting.http.endpoints import endpoint
from holdfast.hosting.http.errors import ApiError
from holdfast.hosting.http.pagination import PagedList, PageParams
from holdfast.hosting.request_context import RequestContext
from holdfast.hosting.schemas.times import Time

__all__ = ["add_gpg_key", "list_gpg_keys", "list_own_gpg_keys"]


class GPGKeyEmail(msgspec.Struct, frozen=True):
    """An address in a GPG key."""

    email: str
    verified: bool


class GPGKey(msgspec.Struct, frozen=True):
    """A GPG key."""

    id: int
    primary_key_id: str
    key_id: str
    public_key: str
    emails: list[GPGKeyEmail]
    can_sign: bool
    can_encrypt_comms: bool
    can_encrypt_storage: bool
    can_certify: bool
    verified: bool
    created_at: Time
    expires_at: Time


@endpoint("GET /user/gpg_keys", scope="user", guards=(signed_in,), refuses=(401,))
def list_own_gpg_keys(request: RequestContext, page: PageParams) -> PagedList[GPGKey]:
    """List the GPG keys of the authenticated user; always empty, as keys cannot be added."""
    del request, page
    return PagedList([], 0)


@endpoint("POST /user/gpg_keys", scope="user", guards=(signed_in,), status=201, refuses=(401, 404))
def add_gpg_key(request: RequestContext) -> GPGKey:
    """Respond with 404: GPG keys cannot be added."""
    del request
    raise ApiError(404, "GPG keys cannot be added: signatures of commits are shown and not checked")


@endpoint("GET /users/{username}/gpg_keys", scope="user", guards=(of_user, person), refuses=(401, 403, 404))
def list_gpg_keys(request: RequestContext, subject: UserFromPath, page: PageParams) -> PagedList[GPGKey]:
    """List the GPG keys of a user; always empty, as keys cannot be added."""
    del request, subject, page
    return PagedList([], 0)
