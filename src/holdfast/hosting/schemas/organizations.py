"""Schemas of organizations and teams."""

from typing import Annotated, Final, Literal

import msgspec
from msgspec import Meta

from holdfast.hosting.access import Mode, Unit
from holdfast.hosting.schemas.viewer import Viewer
from holdfast.hosting.store.accounts import Account
from holdfast.hosting.store.teams import Team

__all__ = ["URL_PATTERN", "Link", "OrganizationSchema", "TeamSchema", "Visibility", "organization", "team"]

# Visibility; clients may send an empty value, which means no change.
Visibility = Literal["", "public", "limited", "private"]
# Only http and https URLs, never `javascript:`.
URL_PATTERN: Final = r"^(https?://[^\s]+)?$"
Link = Annotated[str, Meta(max_length=255, pattern=URL_PATTERN)]


class OrganizationSchema(msgspec.Struct, frozen=True):
    """An organization."""

    id: int
    name: str
    full_name: str
    email: str
    avatar_url: str
    description: str
    website: str
    location: str
    visibility: str
    repo_admin_change_team_access: bool
    username: str


class TeamSchema(msgspec.Struct, frozen=True):
    """A team of an organization."""

    id: int
    name: str
    description: str
    organization: OrganizationSchema | None
    includes_all_repositories: bool
    permission: str
    units: list[str]
    units_map: dict[str, str]
    can_create_org_repo: bool
    visibility: str


def organization(viewer: Viewer, account: Account) -> OrganizationSchema:
    """Encode an organization."""
    return OrganizationSchema(
        id=account.id,
        name=account.name,
        full_name=account.full_name,
        email=account.email,
        avatar_url=f"{viewer.root}/avatars/{account.id}",
        description=account.description,
        website=account.website,
        location=account.location,
        visibility=account.visibility,
        repo_admin_change_team_access=account.repository_admins_change_teams,
        username=account.name,
    )


def team(viewer: Viewer, stored: Team, account: Account) -> TeamSchema:
    """Encode a team; without modes per unit, its own mode applies to all units."""
    modes = stored.units or dict.fromkeys(Unit, stored.mode)
    return TeamSchema(
        id=stored.id,
        name=stored.name,
        description=stored.description,
        organization=organization(viewer, account),
        includes_all_repositories=stored.includes_all_repositories,
        permission=Mode(stored.mode).word,
        units=[str(unit) for unit, mode in modes.items() if mode > Mode.NONE],
        units_map={str(unit): Mode(mode).word for unit, mode in modes.items()},
        can_create_org_repo=stored.may_create_repositories,
        visibility=stored.visibility,
    )
