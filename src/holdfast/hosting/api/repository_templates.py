"""Template repositories."""

from typing import Annotated
from urllib.parse import quote

import msgspec
from msgspec import Meta

from holdfast.hosting.access import RepositoryAccess, Unit
from holdfast.hosting.api.ref_names import RefName
from holdfast.hosting.api.repositories import Name, encode
from holdfast.hosting.guards import in_repository, reads, signed_in
from holdfast.hosting.http.decoders import Required
from holdfast.hosting.http.endpoints import endpoint
from holdfast.hosting.request_context import RequestContext
from holdfast.hosting.schemas.repositories import RepositorySchema, ssh_url
from holdfast.hosting.services import repository_templates
from holdfast.hosting.services.repositories import LONGEST_DESCRIPTION, NewRepository
from holdfast.hosting.services.repository_templates import TemplateParts
from holdfast.hosting.services.template_variables import RepositoryAddresses

__all__ = ["generate"]


class GenerateRepoOption(msgspec.Struct, frozen=True):
    """A new repository, and the parts to copy from the template."""

    owner: Annotated[str, Required] = ""
    name: Name = ""
    description: Annotated[str, Meta(max_length=LONGEST_DESCRIPTION)] = ""
    private: bool = False
    default_branch: Annotated[str, Meta(max_length=100, title="DefaultBranch"), RefName] = ""
    git_content: bool = False
    topics: bool = False
    labels: bool = False
    webhooks: bool = False
    protected_branch: bool = False
    git_hooks: bool = False
    avatar: bool = False


@endpoint(
    "POST /repos/{owner}/{repo}/generate",
    scope="repository",
    guards=(in_repository, reads(Unit.CODE), signed_in),
    status=201,
    refuses=(401, 403, 404, 409, 422),
    slow=True,
)
def generate(request: RequestContext, target: RepositoryAccess, body: GenerateRepoOption) -> RepositorySchema:
    """Create a repository from a template."""
    new = NewRepository(
        name=body.name,
        description=body.description,
        is_private=body.private,
        default_branch=body.default_branch or target.repository.default_branch,
    )
    parts = TemplateParts(
        git_content=body.git_content,
        topics=body.topics,
        labels=body.labels,
        webhooks=body.webhooks,
        protected_branch=body.protected_branch,
        avatar=body.avatar,
        unsupported=body.git_hooks,
    )
    repository = repository_templates.generate(
        request.app,
        request.actor,
        target,
        new,
        owner_name=body.owner,
        parts=parts,
        addresses=lambda full_name: addresses(request, full_name),
    )
    return encode(request, repository)


def addresses(request: RequestContext, full_name: str) -> RepositoryAddresses:
    """Return the URLs of a repository."""
    path = quote(full_name)
    link = f"{request.root}/{path}"
    return RepositoryAddresses(link, f"{link}.git", ssh_url(request.app.settings, request.root, path))
