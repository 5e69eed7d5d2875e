"""The schema of a user, with the fields the viewer may see."""

from typing import Final

import msgspec

from holdfast.hosting.access import Actor
from holdfast.hosting.git.identities import noreply_address
from holdfast.hosting.schemas.times import EPOCH, NEVER, Time, moment
from holdfast.hosting.schemas.viewer import Viewer
from holdfast.hosting.store.accounts import Account

__all__ = ["GHOST", "UserSchema", "shown_email", "user"]


class UserSchema(msgspec.Struct, frozen=True):
    """A user, or an organization as the owner of something."""

    id: int
    login: str
    login_name: str
    source_id: int
    full_name: str
    email: str
    avatar_url: str
    html_url: str
    language: str
    is_admin: bool
    last_login: Time
    created: Time
    restricted: bool
    active: bool
    prohibit_login: bool
    location: str
    website: str
    description: str
    visibility: str
    followers_count: int
    following_count: int
    starred_repos_count: int
    username: str


# The placeholder for deleted users.
GHOST: Final = UserSchema(
    id=-1,
    login="Ghost",
    login_name="",
    source_id=0,
    full_name="",
    email="",
    avatar_url="",
    html_url="",
    language="",
    is_admin=False,
    last_login=NEVER,
    created=EPOCH,
    restricted=False,
    active=False,
    prohibit_login=False,
    location="",
    website="",
    description="",
    visibility="public",
    followers_count=0,
    following_count=0,
    starred_repos_count=0,
    username="Ghost",
)


def shown_email(actor: Actor, account: Account) -> str:
    """Return the e-mail address that the viewer may see."""
    # Clients recognize an organization by its empty e-mail address.
    if account.is_organization:
        return account.email
    asking = actor.user
    if asking is not None and account.email:
        if asking.id == account.id or asking.is_admin:
            return account.email
        if not account.hides_email:
            return account.email
    return noreply_address(account)


def user(viewer: Viewer, account: Account | None) -> UserSchema:
    """Encode a user; some fields are only for the user and for administrators."""
    if account is None:
        return GHOST
    asking = viewer.actor.user
    inside = asking is not None and (asking.id == account.id or asking.is_admin)
    return UserSchema(
        id=account.id,
        login=account.name,
        login_name="",
        source_id=0,
        full_name=account.full_name,
        email=shown_email(viewer.actor, account),
        avatar_url=f"{viewer.root}/avatars/{account.id}",
        html_url=f"{viewer.root}/{account.name}",
        language=account.language if inside else "",
        is_admin=account.is_admin and inside,
        last_login=moment(account.last_login_at) if inside else NEVER,
        created=moment(account.created_at),
        restricted=account.is_restricted,
        active=account.is_active and inside,
        prohibit_login=account.may_not_log_in,
        location=account.location,
        website=account.website,
        description=account.description,
        visibility=account.visibility,
        followers_count=0,
        following_count=0,
        starred_repos_count=0,
        username=account.name,
    )
