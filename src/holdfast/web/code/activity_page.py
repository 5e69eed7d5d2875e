"""The activity page of a repository (reflog): every update of a branch or tag, and restoring an earlier commit."""

import re
from dataclasses import dataclass
from typing import Final
from urllib.parse import urlencode

import msgspec

from holdfast.hosting.access import RepositoryAccess, Unit
from holdfast.hosting.errors import HostingError
from holdfast.hosting.git.encoding import well_formed
from holdfast.hosting.guards import signed_in
from holdfast.hosting.http.endpoints import RawResponse, endpoint
from holdfast.hosting.request_context import RequestContext
from holdfast.hosting.services import ref_log
from holdfast.hosting.services.ref_log import RefLogEntry
from holdfast.hosting.store.accounts import Account
from holdfast.web.code.location import READING
from holdfast.web.code.repository_pages import may_change, number
from holdfast.web.error_messages import message_for, status_for
from holdfast.web.pages import redirect_to
from holdfast.web.repository_frame import CODE, root_path, show_in

__all__ = ["ActivityRow", "page_activity", "page_restore"]

PER_PAGE: Final = 30
PULL_HEAD: Final = re.compile(r"refs/pull/(\d+)/head")
ACTIONS: Final = {
    "create": "created",
    "update": "pushed to",
    "force-update": "force-pushed",
    "delete": "deleted",
}


class ActivityQuery(msgspec.Struct, frozen=True):
    """The ref to filter by, and the page number."""

    ref: str = ""
    page: str = ""


class RestoreForm(msgspec.Struct, frozen=True):
    """The entry whose old commit is to be restored."""

    version: str = ""


@dataclass(frozen=True, slots=True)
class ActivityRow:
    """An update of a ref in the list."""

    version: int
    action: str
    ref: str
    name: str
    """The name without `refs/heads/` or `refs/tags/`; the head of a pull request by its number."""
    is_tag: bool
    actor: Account | None
    time: int
    old: str
    new: str
    """Abbreviated ids; empty for none."""
    compare: str
    is_restorable: bool


def short_name(ref: str) -> str:
    """Return the short name of a ref."""
    if match := PULL_HEAD.fullmatch(ref):
        return f"pull request #{match[1]}"
    return ref.removeprefix("refs/heads/").removeprefix("refs/tags/")


def row_of(entry: RefLogEntry, root: str) -> ActivityRow:
    """Return the row of a reflog entry."""
    update, ref = entry.update, well_formed(entry.update.ref)
    is_branch = ref.startswith("refs/heads/")
    return ActivityRow(
        version=entry.version,
        action=ACTIONS[entry.kind],
        ref=ref,
        name=short_name(ref),
        is_tag=ref.startswith("refs/tags/"),
        actor=entry.actor,
        time=entry.created_at,
        old="" if update.creates else update.old[:10],
        new="" if update.deletes else update.new[:10],
        compare=f"{root}/compare/{update.old}...{update.new}" if is_branch and entry.kind == "update" else "",
        # A fast-forward push is not offered to be undone with one click.
        is_restorable=entry.is_restorable and entry.kind != "update",
    )


def list_page(
    request: RequestContext,
    target: RepositoryAccess,
    query: ActivityQuery,
    *,
    status: int = 200,
    problem: str = "",
) -> RawResponse:
    """Show a page of the activity."""
    page, root = number(query.page), root_path(target)
    ref = query.ref.strip()
    if ref and not ref.startswith("refs/"):
        ref = f"refs/heads/{ref}"
    entries, total = ref_log.list_entries(request.app, target, ref=ref, skip=(page - 1) * PER_PAGE, limit=PER_PAGE)
    return show_in(
        request,
        target,
        "code/activity.html",
        tab=CODE,
        title=f"Activity · {target.repository.full_name}",
        status=status,
        rows=[row_of(entry, root) for entry in entries],
        total=total,
        number=page,
        size=PER_PAGE,
        ref=query.ref,
        list_at=f"{root}/activity?" + (f"{urlencode({'ref': query.ref})}&" if query.ref else "") + "page=",
        may_write=may_change(target),
        reads_releases=target.permissions.may_read(Unit.RELEASES),
        retention_days=request.app.settings.ref_retention_days,
        problem=problem,
    )


@endpoint("GET /{owner}/{repo}/activity", scope="repository", guards=READING, slow=True)
def page_activity(request: RequestContext, target: RepositoryAccess, query: ActivityQuery) -> RawResponse:
    """List the updates of branches and tags, the newest first."""
    return list_page(request, target, query)


@endpoint("POST /{owner}/{repo}/activity/restore", scope="repository", guards=(*READING, signed_in))
def page_restore(request: RequestContext, target: RepositoryAccess, body: RestoreForm) -> RawResponse:
    """Reset a branch or tag to the commit before an update."""
    try:
        restored = ref_log.restore(request.app, request.actor, target, number(body.version))
    except HostingError as error:
        return list_page(request, target, ActivityQuery(), status=status_for(error), problem=message_for(error))
    name = well_formed(restored.ref)
    for prefix, kind in (("refs/heads/", "Branch"), ("refs/tags/", "Tag")):
        if name.startswith(prefix):
            name = f"{kind} {name.removeprefix(prefix)}"
    return redirect_to(f"{root_path(target)}/activity", "ref-restored", name)
