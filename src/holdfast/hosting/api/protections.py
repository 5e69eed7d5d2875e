"""Branch protection rules: list, show, create, edit and delete them."""

from typing import Annotated, Final

from msgspec import Meta

from holdfast.hosting.access import RepositoryAccess
from holdfast.hosting.error_responses import error_status
from holdfast.hosting.errors import ProtectionTaken
from holdfast.hosting.guards import administers, in_repository
from holdfast.hosting.http.endpoints import endpoint
from holdfast.hosting.request_context import RequestContext
from holdfast.hosting.schemas.protections import BranchProtection, encode_protections
from holdfast.hosting.services import branch_protection
from holdfast.hosting.services.branch_protection import LONGEST_RULE_NAME, ProtectionEdit
from holdfast.hosting.store.protections import Protection

__all__ = ["create_protection", "delete_protection", "edit_protection", "list_protections", "show_protection"]

GUARDS: Final = (in_repository, administers)
RuleName = Annotated[str, Meta(max_length=LONGEST_RULE_NAME)]


class EditBranchProtectionOption(ProtectionEdit, frozen=True):
    """Changes of a rule."""


class CreateBranchProtectionOption(ProtectionEdit, frozen=True):
    """A new rule, for a branch or for every branch a pattern matches."""

    branch_name: RuleName = ""
    rule_name: RuleName = ""


def encode(request: RequestContext, rule: Protection) -> BranchProtection:
    """Encode one rule."""
    return encode_protections(request, [rule])[0]


@endpoint("GET /repos/{owner}/{repo}/branch_protections", scope="repository", guards=GUARDS, refuses=(401, 403))
def list_protections(request: RequestContext, target: RepositoryAccess) -> list[BranchProtection]:
    """List the rules of a repository."""
    return encode_protections(request, branch_protection.list_all(request.app, request.actor, target))


@endpoint(
    "GET /repos/{owner}/{repo}/branch_protections/{name...}", scope="repository", guards=GUARDS, refuses=(401, 403)
)
def show_protection(request: RequestContext, target: RepositoryAccess, name: str) -> BranchProtection:
    """Show a rule."""
    return encode(request, branch_protection.find(request.app, request.actor, target, name))


@endpoint(
    "POST /repos/{owner}/{repo}/branch_protections",
    scope="repository",
    guards=GUARDS,
    status=201,
    refuses=(401, 403, 422),
)
def create_protection(
    request: RequestContext, target: RepositoryAccess, body: CreateBranchProtectionOption
) -> BranchProtection:
    """Protect a branch, or every branch a pattern matches."""
    name = body.rule_name or body.branch_name
    with error_status(403, ProtectionTaken):
        return encode(request, branch_protection.create(request.app, request.actor, target, name, body))


@endpoint(
    "PATCH /repos/{owner}/{repo}/branch_protections/{name...}",
    scope="repository",
    guards=GUARDS,
    refuses=(401, 403, 422),
)
def edit_protection(
    request: RequestContext, target: RepositoryAccess, name: str, body: EditBranchProtectionOption
) -> BranchProtection:
    """Change a rule."""
    return encode(request, branch_protection.edit(request.app, request.actor, target, name, body))


@endpoint(
    "DELETE /repos/{owner}/{repo}/branch_protections/{name...}",
    scope="repository",
    guards=GUARDS,
    refuses=(401, 403),
)
def delete_protection(request: RequestContext, target: RepositoryAccess, name: str) -> None:
    """Delete a rule."""
    branch_protection.delete(request.app, request.actor, target, name)
