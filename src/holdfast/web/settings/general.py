"""The general settings of a repository: description, visibility and features."""

from typing import Final

import msgspec

from holdfast.hosting.access import RepositoryAccess
from holdfast.hosting.errors import HostingError, InvalidValue
from holdfast.hosting.guards import administers, in_repository
from holdfast.hosting.http.endpoints import RawResponse, endpoint
from holdfast.hosting.request_context import RequestContext
from holdfast.hosting.services import ref_lists, repositories
from holdfast.hosting.services.repositories import RepositoryEdit
from holdfast.hosting.store.repositories import Repository
from holdfast.web.pages import redirect_to
from holdfast.web.repository_frame import root_path
from holdfast.web.settings.settings_layout import in_repository_settings

__all__ = ["change_repository_settings", "show_repository_settings"]

GUARDS: Final = (in_repository, administers)
# The number of branches offered; any other can be typed.
BRANCHES_OFFERED: Final = 200
LONGEST_OFFERED: Final = 100


class GeneralForm(msgspec.Struct, frozen=True):
    """The fields of the form; an unchecked checkbox is empty."""

    description: str = ""
    website: str = ""
    default_branch: str = ""
    visibility: str = ""
    has_code: str = ""
    has_issues: str = ""
    has_dependencies: str = ""
    has_pull_requests: str = ""


def checkbox_value(value: object) -> str:
    """Return the value of a checkbox."""
    return "on" if value else ""


def form_of(repository: Repository) -> GeneralForm:
    """Return the form for a repository."""
    return GeneralForm(
        description=repository.description,
        website=repository.website,
        default_branch=repository.default_branch,
        visibility="private" if repository.is_private else "public",
        has_code=checkbox_value(repository.has_code),
        has_issues=checkbox_value(repository.has_issues),
        has_dependencies=checkbox_value(not repository.has_issues or repository.has_dependencies),
        has_pull_requests=checkbox_value(repository.has_pulls),
    )


def show_form(
    request: RequestContext, target: RepositoryAccess, form: GeneralForm, refusal: HostingError | None = None
) -> RawResponse:
    """Show the form."""
    refs, total = ref_lists.list_branches(request.app, target.repository, limit=BRANCHES_OFFERED)
    return in_repository_settings(
        request,
        "settings/general.html",
        at="General",
        title="Settings",
        refusal=refusal,
        form=form,
        branches=[ref.name for ref in refs if len(ref.name) <= LONGEST_OFFERED],
        more_branches=total - len(refs),
    )


@endpoint("GET /{owner}/{repo}/settings", scope="repository", guards=GUARDS, slow=True)
def show_repository_settings(request: RequestContext, target: RepositoryAccess) -> RawResponse:
    """Show a repository's general settings."""
    return show_form(request, target, form_of(target.repository))


def check_website(text: str) -> None:
    """Raise `InvalidValue` unless a URL is HTTP or HTTPS: a `javascript:` link would be XSS."""
    if text and not text.lower().startswith(("https://", "http://")):
        raise InvalidValue("Website", "must begin with https:// or http://")


@endpoint("POST /{owner}/{repo}/settings", scope="repository", guards=GUARDS)
def change_repository_settings(
    request: RequestContext, target: RepositoryAccess, body: GeneralForm
) -> RawResponse:
    """Change a repository's general settings."""
    changes = RepositoryEdit(
        description=body.description.strip(),
        website=body.website.strip(),
        default_branch=body.default_branch.strip(),
        has_code=bool(body.has_code),
        has_issues=bool(body.has_issues),
        has_pulls=bool(body.has_pull_requests),
    )
    if target.permissions.is_owner and body.visibility:
        changes = msgspec.structs.replace(changes, is_private=body.visibility == "private")
    if target.repository.has_issues and body.has_issues:
        changes = msgspec.structs.replace(changes, has_dependencies=bool(body.has_dependencies))
    try:
        check_website(body.website.strip())
        repositories.edit(request.app, request.actor, target, changes)
    except HostingError as error:
        return show_form(request, target, body, error)
    return redirect_to(f"{root_path(target)}/settings", "settings-saved", target.repository.full_name)
