"""Forms of releases: create, edit and delete one, and add and delete its files."""

from typing import Final

import msgspec

from holdfast.hosting.access import RepositoryAccess, Unit
from holdfast.hosting.errors import HostingError, NoSuchAttachment, NoSuchRelease, Outdated
from holdfast.hosting.guards import not_archived, signed_in, writes
from holdfast.hosting.http.body import Upload
from holdfast.hosting.http.endpoints import RawResponse, endpoint
from holdfast.hosting.http.errors import ApiError
from holdfast.hosting.http.multipart import extract_file
from holdfast.hosting.request_context import RequestContext
from holdfast.hosting.services import ref_lists, release_assets, releases
from holdfast.hosting.services.releases import ReleaseEdit
from holdfast.hosting.store.releases import Release, ReleaseFields
from holdfast.settings import Settings
from holdfast.web.code.upload_page import plain_name
from holdfast.web.error_messages import message_for, status_for
from holdfast.web.pages import redirect_to
from holdfast.web.release_pages import READING, release_page, release_path, release_tab
from holdfast.web.repository_frame import root_path, show_in

__all__ = [
    "page_edit_release",
    "page_new_release",
    "submit_delete_release",
    "submit_delete_release_asset",
    "submit_edit_release",
    "submit_release",
    "submit_release_asset",
]

WRITING: Final = (*READING, signed_in, not_archived, writes(Unit.RELEASES))
LARGEST_TEXT: Final = 4 * 2**20
CHANGED: Final = (
    "This release was changed while you were editing. The current version is below, yours is in the form; saving "
    "replaces the current version."
)
# The number of tags and branches offered; any other can be typed.
OFFERED: Final = 100


class ReleaseForm(msgspec.Struct, frozen=True):
    """The fields of a release, and the version that is edited; `action` is the button that was pressed."""

    tag_name: str = ""
    target: str = ""
    name: str = ""
    body: str = ""
    prerelease: str = ""
    action: str = "publish"
    version: str = ""

    @property
    def fields(self) -> ReleaseFields:
        """The release to create."""
        return ReleaseFields(
            tag_name=self.tag_name.strip(),
            target=self.target.strip(),
            name=self.name.strip(),
            body=self.body,
            is_draft=self.action == "draft",
            is_prerelease=bool(self.prerelease),
        )

    @property
    def changes(self) -> ReleaseEdit:
        """The changes to a release; an empty target keeps it."""
        return ReleaseEdit(
            tag_name=self.tag_name.strip(),
            target=self.target.strip() or None,
            name=self.name.strip(),
            body=self.body,
            is_draft=self.action == "draft",
            is_prerelease=bool(self.prerelease),
            version=self.version,
        )


class NewReleaseQuery(msgspec.Struct, frozen=True):
    """The tag that the form is prefilled with."""

    tag: str = ""


def form_of_release(release: Release) -> ReleaseForm:
    """Return the form of a release with its values."""
    return ReleaseForm(
        tag_name=release.tag_name,
        target=release.target,
        name=release.name,
        body=release.body,
        prerelease="on" if release.is_prerelease else "",
        version=release.version,
    )


def form_page(
    request: RequestContext,
    target: RepositoryAccess,
    typed: ReleaseForm,
    release: Release | None = None,
    *,
    status: int = 200,
    problem: str = "",
    theirs: Release | None = None,
) -> RawResponse:
    """Render the form of a new release, or of one that exists.

    `theirs` is the release as somebody else changed it while it was edited.
    """
    root = root_path(target)
    return show_in(
        request,
        target,
        "releases/form.html",
        tab=release_tab(target),
        title=f"{'New release' if release is None else 'Edit release'} · {target.repository.full_name}",
        status=status,
        typed=typed,
        release=release,
        action=f"{root}/releases" if release is None else f"{root}/releases/{release.id}",
        back=f"{root}/releases" if release is None else release_path(target, release.tag_name),
        tags=[ref.name for ref in ref_lists.list_tags(request.app, target.repository, limit=OFFERED)[0]],
        branches=[ref.name for ref in ref_lists.list_branches(request.app, target.repository, limit=OFFERED)[0]],
        problem=problem,
        theirs=theirs,
    )


def found_release(request: RequestContext, target: RepositoryAccess, number: int) -> Release:
    """Return a release by id; raise a 404 error if there is none."""
    try:
        return releases.find(request.app, target, number)
    except NoSuchRelease:
        raise ApiError(404) from None


@endpoint("GET /{owner}/{repo}/releases/new", scope="repository", guards=WRITING, slow=True)
def page_new_release(request: RequestContext, target: RepositoryAccess, query: NewReleaseQuery) -> RawResponse:
    """Show the form of a new release."""
    typed = ReleaseForm(tag_name=query.tag, target=target.repository.default_branch)
    return form_page(request, target, typed)


@endpoint(
    "POST /{owner}/{repo}/releases", scope="repository", guards=WRITING, largest_body=LARGEST_TEXT, keeps_form=True
)
def submit_release(request: RequestContext, target: RepositoryAccess, body: ReleaseForm) -> RawResponse:
    """Create a release, or a draft of one."""
    try:
        release = releases.create(request.app, request.actor, target, body.fields)
    except HostingError as error:
        return form_page(request, target, body, status=status_for(error), problem=message_for(error))
    notice = "release-drafted" if release.is_draft else "release-published"
    return redirect_to(release_path(target, release.tag_name), notice, release.name or release.tag_name)


@endpoint("GET /{owner}/{repo}/releases/edit/{tag...}", scope="repository", guards=WRITING, slow=True)
def page_edit_release(request: RequestContext, target: RepositoryAccess, tag: str) -> RawResponse:
    """Show the form that edits a release."""
    try:
        release = releases.find_tagged(request.app, target, tag)
    except NoSuchRelease:
        raise ApiError(404) from None
    return form_page(request, target, form_of_release(release), release)


@endpoint(
    "POST /{owner}/{repo}/releases/{id}",
    scope="repository",
    guards=WRITING,
    largest_body=LARGEST_TEXT,
    keeps_form=True,
)
def submit_edit_release(
    request: RequestContext,
    target: RepositoryAccess,
    id: int,  # noqa: A002  # named in the path
    body: ReleaseForm,
) -> RawResponse:
    """Change a release; a draft can be published. One that changed in the meantime is not overwritten."""
    release = found_release(request, target, id)
    try:
        changed = releases.edit(request.app, request.actor, target, release, body.changes)
    except Outdated as error:
        # Submitting the form again overwrites the version that is shown now.
        now = found_release(request, target, id)
        again = msgspec.structs.replace(body, version=now.version)
        return form_page(request, target, again, now, status=status_for(error), problem=CHANGED, theirs=now)
    except HostingError as error:
        return form_page(request, target, body, release, status=status_for(error), problem=message_for(error))
    published = release.is_draft and not changed.is_draft
    notice = "release-published" if published else "release-saved"
    return redirect_to(release_path(target, changed.tag_name), notice, changed.name or changed.tag_name)


@endpoint("POST /{owner}/{repo}/releases/{id}/delete", scope="repository", guards=WRITING)
def submit_delete_release(request: RequestContext, target: RepositoryAccess, id: int) -> RawResponse:  # noqa: A002  # the path parameter's name
    """Delete a release with its files; its tag stays."""
    release = found_release(request, target, id)
    releases.delete(request.app, request.actor, target, release)
    return redirect_to(f"{root_path(target)}/releases", "release-deleted", release.name or release.tag_name)


def largest_asset(settings: Settings) -> int:
    """Return the maximum size of a form with one file."""
    return settings.max_lfs_mb * 2**20 + 65_536


@endpoint(
    "POST /{owner}/{repo}/releases/{id}/assets", scope="repository", guards=WRITING, largest_body=largest_asset
)
def submit_release_asset(
    request: RequestContext,
    target: RepositoryAccess,
    id: int,  # noqa: A002  # named in the path
    upload: Upload,
) -> RawResponse:
    """Add a file to a release."""
    release = found_release(request, target, id)
    path = upload.path.with_name("attachment")
    try:
        sent = extract_file(upload.path, request.headers.get("content-type", ""), "attachment", path)
        name = plain_name(sent)
        if not name:
            return release_page(request, target, release, status=422, problem="Choose a file.")
        limit = request.app.settings.max_lfs_mb
        if path.stat().st_size > limit * 2**20:
            return release_page(request, target, release, status=413, problem=f"A file has at most {limit} MB.")
        added = release_assets.add(request.app, request.actor, target, release, name=name, path=path)
    except (HostingError, ApiError) as error:
        return release_page(request, target, release, status=status_for(error), problem=message_for(error))
    return redirect_to(f"{release_path(target, release.tag_name)}#assets", "files-uploaded", added.name)


@endpoint("POST /{owner}/{repo}/releases/{id}/assets/{asset}/delete", scope="repository", guards=WRITING)
def submit_delete_release_asset(
    request: RequestContext,
    target: RepositoryAccess,
    id: int,  # noqa: A002  # named in the path
    asset: int,
) -> RawResponse:
    """Delete a file of a release."""
    release = found_release(request, target, id)
    try:
        file = release_assets.find(request.app, release, asset)
    except NoSuchAttachment:
        raise ApiError(404) from None
    release_assets.delete(request.app, request.actor, target, file)
    return redirect_to(f"{release_path(target, release.tag_name)}#assets", "file-deleted", file.name)
