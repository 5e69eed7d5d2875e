"""A repository's general settings: what it says about itself, who sees it, and which of its parts are on."""

from typing import Final

import msgspec
from msgspec import UNSET

from holdfast.hosting.access import RepositoryAccess
from holdfast.hosting.api import repositories
from holdfast.hosting.git import refs
from holdfast.hosting.guards import administers, in_repository
from holdfast.hosting.http.context import RequestContext
from holdfast.hosting.http.endpoints import RawResponse, endpoint
from holdfast.hosting.http.errors import ApiError
from holdfast.hosting.schemas.repositories import InternalTracker, RepositorySchema
from holdfast.hosting.services.revisions import open_git
from holdfast.web.api_actions import act
from holdfast.web.pages import go
from holdfast.web.repository_frame import root_path
from holdfast.web.settings.settings_layout import in_repository_settings

__all__ = ["change_repository_settings", "show_repository_settings"]

GUARDS: Final = (in_repository, administers)
# So many branches are offered; another can be typed.
BRANCHES_OFFERED: Final = 200
LONGEST_OFFERED: Final = 100


class GeneralForm(msgspec.Struct, frozen=True):
    """What was typed; a checkbox that is not ticked is empty."""

    description: str = ""
    website: str = ""
    default_branch: str = ""
    visibility: str = ""
    has_code: str = ""
    has_issues: str = ""
    has_dependencies: str = ""
    has_pull_requests: str = ""


def ticked(value: object) -> str:
    """Return what a form has for a box."""
    return "on" if value else ""


def form_of(shape: RepositorySchema) -> GeneralForm:
    """Return the form of a repository as it is."""
    tracker = shape.internal_tracker
    return GeneralForm(
        description=shape.description,
        website=shape.website,
        default_branch=shape.default_branch,
        visibility="private" if shape.private else "public",
        has_code=ticked(shape.has_code),
        has_issues=ticked(shape.has_issues),
        has_dependencies=ticked(tracker is UNSET or tracker.enable_issue_dependencies),
        has_pull_requests=ticked(shape.has_pull_requests),
    )


def show_form(
    request: RequestContext, target: RepositoryAccess, form: GeneralForm, refusal: ApiError | None = None
) -> RawResponse:
    """Show the form."""
    found, total = refs.branches(open_git(request.app, target), limit=BRANCHES_OFFERED)
    return in_repository_settings(
        request,
        "settings/general.html",
        at="General",
        title="Settings",
        refusal=refusal,
        form=form,
        branches=[ref.name for ref in found if len(ref.name) <= LONGEST_OFFERED],
        more_branches=total - len(found),
    )


@endpoint("GET /{owner}/{repo}/settings", scope="repository", guards=GUARDS, slow=True)
def show_repository_settings(request: RequestContext, target: RepositoryAccess) -> RawResponse:
    """Show a repository's general settings."""
    return show_form(request, target, form_of(act(request, repositories.show)))


def checked_website(text: str) -> str:
    """Return an address people can follow; a script is none."""
    if text and not text.lower().startswith(("https://", "http://")):
        raise ApiError(422, "[Website]: must begin with https:// or http://")
    return text


@endpoint("POST /{owner}/{repo}/settings", scope="repository", guards=GUARDS)
def change_repository_settings(
    request: RequestContext, target: RepositoryAccess, body: GeneralForm
) -> RawResponse:
    """Change a repository's general settings."""
    try:
        website = checked_website(body.website.strip())
        before: RepositorySchema = act(request, repositories.show)
        tracker = before.internal_tracker
        wanted = {
            "description": body.description.strip(),
            "website": website,
            "default_branch": body.default_branch.strip(),
            "has_code": bool(body.has_code),
            "has_issues": bool(body.has_issues),
            "has_pull_requests": bool(body.has_pull_requests),
        }
        if target.permissions.is_owner and body.visibility:
            wanted["private"] = body.visibility == "private"
        if before.has_issues and body.has_issues:
            kept = InternalTracker() if tracker is UNSET else tracker
            wanted["internal_tracker"] = {
                **msgspec.structs.asdict(kept),
                "enable_issue_dependencies": bool(body.has_dependencies),
            }
        act(request, repositories.edit, body=wanted)
    except ApiError as refusal:
        return show_form(request, target, body, refusal)
    return go(f"{root_path(target)}/settings", "changed")
