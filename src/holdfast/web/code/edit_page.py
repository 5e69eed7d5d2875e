"""Pages that create and edit a file, and resolve edit conflicts."""

import re
from contextlib import suppress
from dataclasses import dataclass, replace
from typing import Final

import msgspec
from markupsafe import Markup

from holdfast.hosting.access import RepositoryAccess, Unit
from holdfast.hosting.errors import HostingError
from holdfast.hosting.git import last_commits, paths, trees
from holdfast.hosting.git.commits import read_commit
from holdfast.hosting.git.encoding import is_id, raw
from holdfast.hosting.git.patches import hunks_between
from holdfast.hosting.git.repository import Repo
from holdfast.hosting.git.trees import TreeEntry
from holdfast.hosting.guards import editable, in_repository, reads, signed_in
from holdfast.hosting.http.endpoints import RawResponse, endpoint
from holdfast.hosting.http.errors import ApiError
from holdfast.hosting.lfs.pointer import LfsPointer
from holdfast.hosting.renderer.markdown import is_markdown
from holdfast.hosting.request_context import RequestContext
from holdfast.hosting.services.file_changes import FileChange
from holdfast.hosting.services.file_contents import FileContent
from holdfast.hosting.services.revisions import open_git
from holdfast.hosting.store import forks, repositories, repository_log
from holdfast.web.code.change_forms import (
    CHANGING,
    CommitForm,
    barrier,
    branch_location,
    commit_changes,
    entry_at,
    new_commit_form,
    url_after,
)
from holdfast.web.code.commit_rows import CommitRow, lines_of
from holdfast.web.code.diff_colors import HighlightedHunk, highlight_versions
from holdfast.web.code.location import CodeLocation, find_location
from holdfast.web.code.readme import rendered
from holdfast.web.error_messages import message_for, status_for
from holdfast.web.pages import redirect_to
from holdfast.web.repository_frame import CODE, root_path, show_in

__all__ = ["page_edit", "page_new", "page_save", "page_save_new"]

# Without write access the page offers a fork.
EDITING: Final = (in_repository, reads(Unit.CODE), signed_in, editable)
# The largest file that can be edited in a form; larger files are changed with git or uploaded again.
LARGEST: Final = 96 * 1024
LINES_SHOWN: Final = 600
LINE_BREAK: Final = re.compile(r"[\r\n]")
TOO_LARGE: Final = "This file is too large to be changed in a browser. Upload a new version, or use git."
NOT_TEXT: Final = "This file is not text in UTF-8, so it cannot be changed in a browser. Upload a new version."
CONFLICTS: Final = {False: "Somebody else changed {}", True: "The branch was deleted"}
STORED_APART: Final = "This is a large file that lies outside of git. Upload a new version to change it."


class NewQuery(msgspec.Struct, frozen=True):
    """The prefilled name of a new file."""

    path: str = ""


class EditFileForm(CommitForm, frozen=True, kw_only=True):
    """The form of a file; `sha` is the version it is based on."""

    path: str = ""
    content: str = ""
    sha: str = ""
    lines_end: str = ""
    action: str = ""


@dataclass(frozen=True, slots=True)
class Preview:
    """The preview of a file: rendered, or the diff."""

    html: Markup | None
    hunks: list[HighlightedHunk]


def text_of(written: EditFileForm) -> bytes:
    """Return the content of a form as bytes, with the line endings of the file: browsers submit CRLF."""
    plain = written.content.replace("\r\n", "\n").replace("\r", "\n")
    return (plain.replace("\n", "\r\n") if written.lines_end == "crlf" else plain).encode(errors="replace")


def line_ends(content: bytes) -> str:
    """Return the line ending of a file."""
    return "crlf" if b"\r\n" in content and content.count(b"\r\n") == content.count(b"\n") else ""


def reason_not_editable(entry: TreeEntry, content: bytes) -> str:
    """Return why a file cannot be edited in a form; empty if it can."""
    if entry.size > LARGEST:
        return TOO_LARGE
    if LfsPointer.parse(content) is not None:
        return STORED_APART
    try:
        text = content.decode()
    except UnicodeDecodeError:
        return NOT_TEXT
    return NOT_TEXT if "\0" in text or entry.type != "file" else ""


def form_page(
    request: RequestContext,
    target: RepositoryAccess,
    location: CodeLocation,
    written: EditFileForm,
    *,
    is_new: bool,
    status: int = 200,
    problem: str = "",
    preview: Preview | None = None,
) -> RawResponse:
    """Render the form with the typed values."""
    remark = barrier(request, target, location.ref, written.path)
    return show_in(
        request,
        target,
        "code/edit.html",
        tab=CODE,
        title=f"{'New file' if is_new else f'Edit {location.title}'} · {target.repository.full_name}",
        status=status,
        location=location,
        typed=written,
        is_new=is_new,
        is_first=not location.commit,
        action=location.change("_new" if is_new else "_edit"),
        back=location.address("src") if location.commit else location.root,
        problem=problem,
        remark=remark,
        preview=preview,
    )


def preview_of(location: CodeLocation, written: EditFileForm, before: bytes) -> Preview:
    """Return the preview of a text: rendered like the page of the file, or the diff."""
    content = text_of(written)
    if is_markdown(written.path):
        return Preview(rendered(location, raw(paths.clean(written.path)), content), [])
    return Preview(None, changes_between(written.path, before, content))


def changes_between(path: str, before: bytes | None, after: bytes | None) -> list[HighlightedHunk]:
    """Return the diff between two versions of a file; empty if one of them does not exist."""
    if before is None or after is None:
        return []
    return highlight_versions(path, before, after, hunks_between(before, after, most=LINES_SHOWN)[0])


@endpoint("GET /{owner}/{repo}/_new/{filepath...}", scope="repository", guards=CHANGING, slow=True)
def page_new(request: RequestContext, target: RepositoryAccess, filepath: str, query: NewQuery) -> RawResponse:  # noqa: ARG001  # part of the route; a guard reads it
    """Show the form to create a file."""
    location = branch_location(request, target)
    folder = f"{location.title}/" if location.path else ""
    form = new_commit_form(request, location, barrier(request, target, location.ref, ""))
    written = EditFileForm(path=f"{folder}{query.path}", target=form.target, new_branch=form.new_branch)
    return form_page(request, target, location, written, is_new=True)


@endpoint("POST /{owner}/{repo}/_new/{filepath...}", scope="repository", guards=CHANGING, keeps_form=True)
def page_save_new(
    request: RequestContext,
    target: RepositoryAccess,
    filepath: str,  # noqa: ARG001  # part of the route; a guard reads it
    body: EditFileForm,
) -> RawResponse:
    """Create a file."""
    try:
        location = branch_location(request, target)
    except ApiError as error:
        return deleted_branch_page(request, target, body, error)
    if body.action == "preview":
        return form_page(request, target, location, body, is_new=True, preview=preview_of(location, body, b""))
    change = FileChange(operation="create", path=body.path, content=FileContent(text_of(body)))
    try:
        commit_changes(request, target, location, body, [change])
    except HostingError as error:
        problem = message_for(error)
        return form_page(request, target, location, body, is_new=True, status=status_for(error), problem=problem)
    path = paths.clean(body.path)
    return redirect_to(url_after(location, body, path), "file-created", path)


def fork_page(request: RequestContext, target: RepositoryAccess, location: CodeLocation) -> RawResponse:
    """Offer a user without write access to edit a file in a fork: their own, or a new one."""
    app = request.app
    with app.database.read() as connection:
        fork = forks.find_fork(connection, target.repository, request.user)
    has_branch = False
    if fork is not None:
        own = repositories.find_repository(app.database, request.user.name, fork)
        has_branch = repository_log.find_ref(app.database, own.id, f"refs/heads/{location.ref}") is not None
    return show_in(
        request,
        target,
        "code/fork_to_edit.html",
        tab=CODE,
        title=f"Edit {location.title} · {target.repository.full_name}",
        location=location,
        owner=request.user.name,
        fork="" if fork is None else f"{request.user.name}/{fork}",
        has_branch=has_branch,
        edit=f"{location.ref}/{location.title}",
    )


@endpoint("GET /{owner}/{repo}/_edit/{filepath...}", scope="repository", guards=EDITING, slow=True)
def page_edit(request: RequestContext, target: RepositoryAccess, filepath: str) -> RawResponse:  # noqa: ARG001  # part of the route; a guard reads it
    """Show the form to edit a file; without write access, the offer to do so in a fork."""
    location = branch_location(request, target)
    entry = entry_at(location)
    if not target.permissions.may_write(Unit.CODE):
        return fork_page(request, target, location)
    content = trees.read_blob(location.repo, entry.id) if entry.size <= LARGEST else b""
    reason = reason_not_editable(entry, content)
    if reason:
        return show_in(
            request,
            target,
            "code/not_editable.html",
            tab=CODE,
            title=location.title,
            location=location,
            reason=reason,
            upload_at=location.change("_upload", location.path.rpartition(b"/")[0]),
        )
    form = new_commit_form(request, location, barrier(request, target, location.ref, location.title))
    written = EditFileForm(
        path=location.title,
        content=content.decode(),
        sha=entry.id,
        lines_end=line_ends(content),
        target=form.target,
        new_branch=form.new_branch,
    )
    return form_page(request, target, location, written, is_new=False)


@endpoint("POST /{owner}/{repo}/_edit/{filepath...}", scope="repository", guards=CHANGING, keeps_form=True)
def page_save(request: RequestContext, target: RepositoryAccess, filepath: str, body: EditFileForm) -> RawResponse:  # noqa: ARG001  # part of the route; a guard reads it
    """Commit an edited file, or show the conflict if it changed in the meantime."""
    try:
        location = branch_location(request, target)
    except ApiError as error:
        return deleted_branch_page(request, target, body, error)
    if body.path == LINE_BREAK.sub("", location.title):
        # Browsers strip line breaks from a text field: the file was not renamed.
        body = msgspec.structs.replace(body, path=location.title)
    if body.action == "preview":
        before = known_version(location.repo, body.sha) or b""
        return form_page(request, target, location, body, is_new=False, preview=preview_of(location, body, before))
    change = FileChange(
        operation="update",
        path=body.path,
        from_path=location.title,
        content=FileContent(text_of(body)),
        sha=body.sha,
    )
    try:
        commit_changes(request, target, location, body, [change])
    except HostingError as error:
        fresh = branch_location(request, target)
        now = trees.find(fresh.repo, read_commit(fresh.repo, fresh.commit).tree, fresh.path)
        if not isinstance(now, TreeEntry) or now.id != body.sha:
            return conflict_page(request, target, fresh, body, now if isinstance(now, TreeEntry) else None)
        problem = message_for(error)
        return form_page(request, target, location, body, is_new=False, status=status_for(error), problem=problem)
    path = paths.clean(body.path)
    return redirect_to(url_after(location, body, path), "file-saved", path)


def known_version(repo: Repo, blob: str) -> bytes | None:
    """Return the version of a file that a form is based on, if it exists."""
    header = repo.header(blob) if is_id(blob) else None
    if header is None or header[0] != "blob" or header[1] > LARGEST:
        return None
    return trees.read_blob(repo, blob)


def deleted_branch_page(
    request: RequestContext, target: RepositoryAccess, written: EditFileForm, error: ApiError
) -> RawResponse:
    """Show a text whose branch was deleted in the meantime, to be committed to a new branch or the default one."""
    repo, default = open_git(request.app, target), target.repository.default_branch
    location = find_location(repo, root_path(target), "branch", default)
    if location is None:
        raise error
    # An invalid path is refused when the form is submitted again.
    with suppress(HostingError):
        location = replace(location, path=raw(paths.clean(written.path)))
    now = trees.find(repo, read_commit(repo, location.commit).tree, location.path) if location.path else None
    is_file = isinstance(now, TreeEntry) and now.type not in {"dir", "submodule"}
    entry = now if isinstance(now, TreeEntry) and is_file else None
    return conflict_page(request, target, location, written, entry, is_branch_deleted=True)


def conflict_page(
    request: RequestContext,
    target: RepositoryAccess,
    location: CodeLocation,
    written: EditFileForm,
    now: TreeEntry | None,
    *,
    is_branch_deleted: bool = False,
) -> RawResponse:
    """Render an edit conflict: both changes, the typed text and the choices."""
    own_text = text_of(written)
    before = known_version(location.repo, written.sha)
    after = None if now is None else known_version(location.repo, now.id)
    path = b"" if is_branch_deleted else location.path
    last = last_commits.of_path(location.repo, location.commit, path) if path else None
    last_commit: CommitRow | None = None if last is None else lines_of(request, [last])[0]
    theirs = [] if is_branch_deleted else changes_between(written.path, before, after)
    ours = changes_between(written.path, after, own_text)
    suggested = new_commit_form(request, location, "").new_branch
    retained = replace_writing(
        written, sha="" if now is None else now.id, new_branch=written.new_branch or suggested
    )
    return show_in(
        request,
        target,
        "code/conflict.html",
        tab=CODE,
        title=f"{CONFLICTS[is_branch_deleted].format(location.title)} · {target.repository.full_name}",
        status=409,
        location=location,
        typed=retained,
        is_gone=now is None,
        is_branch_deleted=is_branch_deleted,
        last=last_commit,
        theirs=theirs,
        ours=ours,
        action=location.change("_new", b"") if now is None else location.change("_edit"),
        again=location.change("_edit"),
        remark=barrier(request, target, location.ref, location.title),
    )


def replace_writing(written: EditFileForm, *, sha: str, new_branch: str) -> EditFileForm:
    """Return the typed form based on another version of the file."""
    return msgspec.structs.replace(written, sha=sha, new_branch=new_branch, action="")
