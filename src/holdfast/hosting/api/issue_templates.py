"""The issue templates of a repository and their configuration."""

from typing import Final

import msgspec

from holdfast.hosting.access import RepositoryAccess, Unit
from holdfast.hosting.errors import InvalidYaml
from holdfast.hosting.guards import in_repository, reads
from holdfast.hosting.http.endpoints import endpoint
from holdfast.hosting.request_context import RequestContext
from holdfast.hosting.services import issue_templates
from holdfast.hosting.services.issue_templates import IssueConfig, IssueTemplate

__all__ = ["list_issue_templates", "show_issue_config", "validate_issue_config"]

READING: Final = (in_repository, reads(Unit.CODE))


class IssueConfigValidation(msgspec.Struct, frozen=True):
    """Whether the configuration is valid, and otherwise the error."""

    valid: bool
    message: str


@endpoint("GET /repos/{owner}/{repo}/issue_templates", scope="repository", guards=READING, slow=True)
def list_issue_templates(request: RequestContext, target: RepositoryAccess) -> list[IssueTemplate]:
    """List the issue templates of the default branch."""
    return issue_templates.templates_of(request.app, target)


@endpoint("GET /repos/{owner}/{repo}/issue_config", scope="repository", guards=READING, slow=True)
def show_issue_config(request: RequestContext, target: RepositoryAccess) -> IssueConfig:
    """Show the configuration of the issue templates; the default if the file is invalid."""
    return issue_templates.config_of(request.app, target)


@endpoint("GET /repos/{owner}/{repo}/issue_config/validate", scope="repository", guards=READING, slow=True)
def validate_issue_config(request: RequestContext, target: RepositoryAccess) -> IssueConfigValidation:
    """Validate the configuration of the issue templates."""
    try:
        issue_templates.validated_config(request.app, target)
    except InvalidYaml as error:
        return IssueConfigValidation(valid=False, message=str(error))
    return IssueConfigValidation(valid=True, message="")
