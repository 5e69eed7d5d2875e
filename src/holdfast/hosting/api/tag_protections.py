"""Tag protection rules: list, show, create, edit and delete them."""

from typing import Annotated, Final

import msgspec
from msgspec import UNSET, Meta, UnsetType

from holdfast.hosting.access import RepositoryAccess
from holdfast.hosting.error_responses import error_status
from holdfast.hosting.errors import ProtectionTaken
from holdfast.hosting.guards import administers, in_repository, not_archived
from holdfast.hosting.http.decoders import Required
from holdfast.hosting.http.endpoints import endpoint
from holdfast.hosting.request_context import RequestContext
from holdfast.hosting.schemas.times import Time, moment
from holdfast.hosting.services import tag_protection
from holdfast.hosting.services.branch_protection import LONGEST_RULE_NAME
from holdfast.hosting.services.tag_protection import TagProtectionEdit
from holdfast.hosting.store import accounts, organizations
from holdfast.hosting.store.tag_protections import TagProtection

__all__ = [
    "create_tag_protection",
    "delete_tag_protection",
    "edit_tag_protection",
    "list_tag_protections",
    "show_tag_protection",
]

GUARDS: Final = (in_repository, administers)
LIVE: Final = (in_repository, administers, not_archived)
NamePattern = Annotated[str, Meta(max_length=LONGEST_RULE_NAME)]


class TagProtectionSchema(msgspec.Struct, frozen=True):
    """A tag protection rule, with users and teams by name."""

    id: int
    name_pattern: str
    whitelist_usernames: list[str]
    whitelist_teams: list[str]
    created_at: Time
    updated_at: Time


class CreateTagProtectionOption(msgspec.Struct, frozen=True):
    """A new rule; the pattern is a glob, or a regular expression between slashes."""

    name_pattern: Annotated[NamePattern, Required] = ""
    whitelist_usernames: list[str] | UnsetType = UNSET
    whitelist_teams: list[str] | UnsetType = UNSET


class EditTagProtectionOption(msgspec.Struct, frozen=True):
    """Changes of a rule."""

    name_pattern: NamePattern | UnsetType = UNSET
    whitelist_usernames: list[str] | UnsetType = UNSET
    whitelist_teams: list[str] | UnsetType = UNSET


def encode(request: RequestContext, rules: list[TagProtection]) -> list[TagProtectionSchema]:
    """Encode rules, with one query for the names of users and one for those of teams."""
    users = accounts.names_of(request.app.database, {number for rule in rules for number in rule.users})
    teams = organizations.team_names(request.app.database, {number for rule in rules for number in rule.teams})
    return [
        TagProtectionSchema(
            id=rule.id,
            name_pattern=rule.name_pattern,
            whitelist_usernames=[users[number] for number in rule.users if number in users],
            whitelist_teams=[teams[number] for number in rule.teams if number in teams],
            created_at=moment(rule.created_at),
            updated_at=moment(rule.updated_at),
        )
        for rule in rules
    ]


@endpoint("GET /repos/{owner}/{repo}/tag_protections", scope="repository", guards=GUARDS, refuses=(401, 403))
def list_tag_protections(request: RequestContext, target: RepositoryAccess) -> list[TagProtectionSchema]:
    """List the tag protection rules."""
    return encode(request, tag_protection.list_all(request.app, request.actor, target))


@endpoint("GET /repos/{owner}/{repo}/tag_protections/{id}", scope="repository", guards=GUARDS, refuses=(401, 403))
def show_tag_protection(request: RequestContext, target: RepositoryAccess, id: int) -> TagProtectionSchema:  # noqa: A002  # the name in the path
    """Show a tag protection rule."""
    return encode(request, [tag_protection.find(request.app, request.actor, target, id)])[0]


@endpoint(
    "POST /repos/{owner}/{repo}/tag_protections",
    scope="repository",
    guards=LIVE,
    status=201,
    refuses=(401, 403, 422, 423),
)
def create_tag_protection(
    request: RequestContext, target: RepositoryAccess, body: CreateTagProtectionOption
) -> TagProtectionSchema:
    """Protect the tags that a pattern matches."""
    tag_protection_edit = TagProtectionEdit(body.name_pattern, body.whitelist_usernames, body.whitelist_teams)
    with error_status(403, ProtectionTaken):
        return encode(request, [tag_protection.create(request.app, request.actor, target, tag_protection_edit)])[0]


@endpoint(
    "PATCH /repos/{owner}/{repo}/tag_protections/{id}",
    scope="repository",
    guards=LIVE,
    refuses=(401, 403, 422, 423),
)
def edit_tag_protection(
    request: RequestContext,
    target: RepositoryAccess,
    id: int,  # noqa: A002  # the name in the path
    body: EditTagProtectionOption,
) -> TagProtectionSchema:
    """Edit a tag protection rule."""
    changes = TagProtectionEdit(body.name_pattern, body.whitelist_usernames, body.whitelist_teams)
    with error_status(422, ProtectionTaken):
        return encode(request, [tag_protection.edit(request.app, request.actor, target, id, changes)])[0]


@endpoint(
    "DELETE /repos/{owner}/{repo}/tag_protections/{id}",
    scope="repository",
    guards=GUARDS,
    refuses=(401, 403),
)
def delete_tag_protection(request: RequestContext, target: RepositoryAccess, id: int) -> None:  # noqa: A002  # the name in the path
    """Delete a tag protection rule."""
    tag_protection.delete(request.app, request.actor, target, id)
