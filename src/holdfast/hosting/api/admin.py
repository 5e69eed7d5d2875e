"""Administration of user accounts, for site administrators."""

from typing import Annotated, Final

import msgspec
from msgspec import UNSET, Meta, UnsetType

from holdfast.hosting.error_responses import error_status
from holdfast.hosting.errors import LastOwner, PasswordRefused
from holdfast.hosting.guards import UserFromPath, of_user, person, site_admin
from holdfast.hosting.http.decoders import Required
from holdfast.hosting.http.endpoints import endpoint
from holdfast.hosting.http.pagination import PagedList, PageParams
from holdfast.hosting.request_context import RequestContext
from holdfast.hosting.schemas.organizations import Link, Visibility
from holdfast.hosting.schemas.users import UserSchema, user
from holdfast.hosting.services import users
from holdfast.redacted_repr import redacted
from holdfast.secret import Secret

__all__ = ["create_user", "delete_user", "edit_user", "list_users", "rename_user"]

Short = Annotated[str, Meta(max_length=255)]


@redacted
class CreateUserOption(msgspec.Struct, frozen=True):
    """A new user; fields about external authentication sources are accepted and ignored."""

    username: Annotated[str, Meta(max_length=40), Required] = ""
    email: Annotated[str, Meta(max_length=254), Required] = ""
    password: Short = ""
    must_change_password: bool = True
    full_name: Annotated[str, Meta(max_length=100)] = ""
    visibility: Visibility = ""
    restricted: bool = False
    login_name: str = ""
    source_id: int = 0
    send_notify: bool = False


@redacted
class EditUserOption(msgspec.Struct, frozen=True):
    """Changes; an absent key keeps the value."""

    email: Annotated[str, Meta(max_length=254)] | UnsetType = UNSET
    full_name: Annotated[str, Meta(max_length=100)] | UnsetType = UNSET
    password: Short | UnsetType = UNSET
    must_change_password: bool | UnsetType = UNSET
    website: Link | UnsetType = UNSET
    location: Annotated[str, Meta(max_length=50)] | UnsetType = UNSET
    description: Short | UnsetType = UNSET
    active: bool | UnsetType = UNSET
    admin: bool | UnsetType = UNSET
    prohibit_login: bool | UnsetType = UNSET
    allow_create_organization: bool | UnsetType = UNSET
    restricted: bool | UnsetType = UNSET
    visibility: Visibility | UnsetType = UNSET
    login_name: str = ""
    source_id: int = 0


class RenameUserOption(msgspec.Struct, frozen=True):
    """The new name of a user."""

    new_username: Annotated[str, Meta(max_length=40, title="NewName"), Required] = ""


class DeleteUserQuery(msgspec.Struct, frozen=True):
    """Whether the user's repositories are deleted too."""

    purge: bool = False


class UserQuery(msgspec.Struct, frozen=True):
    """The filters of a list of users."""

    q: str = ""


ABOUT_SOMEBODY: Final = (site_admin, of_user, person)


@endpoint("GET /admin/users", scope="admin", guards=(site_admin,), refuses=(401, 403), slow=True)
def list_users(request: RequestContext, query: UserQuery, page: PageParams) -> PagedList[UserSchema]:
    """List all users."""
    accounts, total = users.list_users(request.app, request.actor, query.q, skip=page.skip, limit=page.size)
    return PagedList([user(request, account) for account in accounts], total)


@endpoint("POST /admin/users", scope="admin", guards=(site_admin,), status=201, refuses=(400, 401, 403, 422))
def create_user(request: RequestContext, body: CreateUserOption) -> UserSchema:
    """Create a user."""
    new_user = users.NewUser(
        name=body.username,
        email=body.email,
        password=Secret(body.password),
        full_name=body.full_name,
        visibility=body.visibility,
        is_restricted=body.restricted,
        must_change_password=body.must_change_password,
    )
    with error_status(400, PasswordRefused):
        return user(request, users.create(request.app, request.actor, new_user))


@endpoint("PATCH /admin/users/{username}", scope="admin", guards=ABOUT_SOMEBODY, refuses=(400, 401, 403, 404, 422))
def edit_user(request: RequestContext, subject: UserFromPath, body: EditUserOption) -> UserSchema:
    """Edit a user; the last site administrator cannot be demoted."""
    changes = users.UserEdit(
        email=body.email,
        full_name=body.full_name,
        website=body.website,
        location=body.location,
        description=body.description,
        visibility=body.visibility,
        password=Secret(body.password) if body.password else UNSET,
        must_change_password=body.must_change_password,
        is_active=body.active,
        is_admin=body.admin,
        may_not_log_in=body.prohibit_login,
        may_create_organizations=body.allow_create_organization,
        is_restricted=body.restricted,
    )
    with error_status(400, PasswordRefused):
        return user(request, users.edit(request.app, request.actor, subject.account, changes))


@endpoint(
    "POST /admin/users/{username}/rename",
    scope="admin",
    guards=ABOUT_SOMEBODY,
    status=204,
    refuses=(401, 403, 404, 422),
)
def rename_user(request: RequestContext, subject: UserFromPath, body: RenameUserOption) -> None:
    """Rename a user; the old name redirects to the new one until it is taken."""
    users.rename(request.app, request.actor, subject.account, body.new_username)


@endpoint("DELETE /admin/users/{username}", scope="admin", guards=ABOUT_SOMEBODY, refuses=(401, 403, 404, 422))
def delete_user(request: RequestContext, subject: UserFromPath, query: DeleteUserQuery) -> None:
    """Delete a user; issues and comments they wrote are kept without an author."""
    with error_status(422, LastOwner):
        users.delete(request.app, request.actor, subject.account, purge=query.purge)
