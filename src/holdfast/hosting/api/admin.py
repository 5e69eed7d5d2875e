"""What administrators of the service do: look after everybody's accounts."""

from typing import Annotated, Final

import msgspec
from msgspec import UNSET, Meta, UnsetType

from holdfast.hosting.api.organizations import name_taken
from holdfast.hosting.errors import EmailTaken, NameTaken, PasswordRefused
from holdfast.hosting.guards import UserFromPath, of_user, person, site_admin
from holdfast.hosting.http.context import RequestContext
from holdfast.hosting.http.decoders import Required
from holdfast.hosting.http.endpoints import endpoint
from holdfast.hosting.http.errors import ApiError, answering
from holdfast.hosting.http.pagination import PagedList, PageParams
from holdfast.hosting.schemas.organizations import Link, Visibility
from holdfast.hosting.schemas.users import UserSchema, user
from holdfast.hosting.store import account_administration as store
from holdfast.hosting.store import accounts
from holdfast.hosting.webhooks.payloads import DeletedEntity, before_deleting
from holdfast.redacted_repr import redacted
from holdfast.secret import Secret

__all__ = ["create_user", "delete_user", "edit_user", "list_users", "rename_user"]

Short = Annotated[str, Meta(max_length=255)]


@redacted
class CreateUserOption(msgspec.Struct, frozen=True):
    """A new user; what a directory elsewhere would need is accepted and means nothing here."""

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
    """What to change; a key that is absent keeps its value."""

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
    """Another name."""

    new_username: Annotated[str, Meta(max_length=40, title="NewName"), Required] = ""


class DeleteUserQuery(msgspec.Struct, frozen=True):
    """Whether what the user owns goes too."""

    purge: bool = False


class UserQuery(msgspec.Struct, frozen=True):
    """Whom to list."""

    q: str = ""


COLUMNS: Final = {
    "email": "email",
    "full_name": "full_name",
    "must_change_password": "must_change_password",
    "website": "website",
    "location": "location",
    "description": "description",
    "active": "is_active",
    "admin": "is_admin",
    "prohibit_login": "may_not_log_in",
    "allow_create_organization": "may_create_organizations",
    "restricted": "is_restricted",
    "visibility": "visibility",
}
EVERYBODY: Final = ("public", "limited", "private")
ABOUT_SOMEBODY: Final = (site_admin, of_user, person)


@endpoint("GET /admin/users", scope="admin", guards=(site_admin,), refuses=(401, 403), slow=True)
def list_users(request: RequestContext, query: UserQuery, page: PageParams) -> PagedList[UserSchema]:
    """List everybody."""
    found, total = accounts.search_accounts(
        request.app.database,
        query.q,
        organizations=False,
        visibilities=("public",) if request.actor.public_only else EVERYBODY,
        skip=page.skip,
        limit=page.size,
    )
    return PagedList([user(request, account) for account in found], total)


@endpoint("POST /admin/users", scope="admin", guards=(site_admin,), status=201, refuses=(400, 401, 403, 422))
def create_user(request: RequestContext, body: CreateUserOption) -> UserSchema:
    """Make an account for somebody."""
    accounts.check_name(body.username)
    try:
        with answering(400, PasswordRefused), answering(422, EmailTaken):
            made = store.register(
                request.app.database,
                body.username,
                Secret(body.password),
                email=body.email,
                full_name=body.full_name,
                visibility=body.visibility or "public",
                is_restricted=body.restricted,
                must_change_password=body.must_change_password,
            )
    except NameTaken:
        raise name_taken(body.username) from None
    return user(request, made)


@endpoint("PATCH /admin/users/{username}", scope="admin", guards=ABOUT_SOMEBODY, refuses=(400, 401, 403, 404, 422))
def edit_user(request: RequestContext, subject: UserFromPath, body: EditUserOption) -> UserSchema:
    """Change somebody's account; the last administrator stays one."""
    columns: dict[str, str | bool] = {
        column: value for field, column in COLUMNS.items() if (value := getattr(body, field)) is not UNSET
    }
    if not columns.get("visibility"):
        columns.pop("visibility", None)
    if columns.get("email") == "":
        raise ApiError(422, "[Email]: Required")
    password = None if body.password is UNSET or not body.password else Secret(body.password)
    with answering(400, PasswordRefused), answering(422, EmailTaken):
        return user(
            request, store.change_user(request.app.database, subject.account, password=password, **columns)
        )


@endpoint(
    "POST /admin/users/{username}/rename",
    scope="admin",
    guards=ABOUT_SOMEBODY,
    status=204,
    refuses=(401, 403, 404, 422),
)
def rename_user(request: RequestContext, subject: UserFromPath, body: RenameUserOption) -> None:
    """Give somebody another name; the old one leads to them until somebody takes it."""
    try:
        accounts.rename_account(request.app.database, subject.account, body.new_username)
    except NameTaken:
        raise name_taken(body.new_username) from None


@endpoint("DELETE /admin/users/{username}", scope="admin", guards=ABOUT_SOMEBODY, refuses=(401, 403, 404, 422))
def delete_user(request: RequestContext, subject: UserFromPath, query: DeleteUserQuery) -> None:
    """Remove somebody's account; what they wrote stays, without its author."""
    if subject.account.id == request.user.id:
        raise ApiError(422, "administrators cannot delete themselves")
    first = before_deleting(request.app, DeletedEntity(owner_id=subject.account.id))
    gone = store.delete_user(
        request.app.database, subject.account, actor=request.user, purge=query.purge, first=first
    )
    for number in gone:
        request.app.folders.delete(number)
