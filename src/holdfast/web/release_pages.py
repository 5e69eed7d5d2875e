"""The pages of releases: the list, and one release by its tag."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final
from urllib.parse import quote

from markupsafe import Markup

from holdfast.hosting.access import RepositoryAccess, Unit, account_visible
from holdfast.hosting.errors import NoSuchRelease
from holdfast.hosting.guards import in_repository, reads
from holdfast.hosting.http.endpoints import RawResponse, endpoint
from holdfast.hosting.http.errors import ApiError
from holdfast.hosting.http.pagination import PageParams
from holdfast.hosting.request_context import RequestContext
from holdfast.hosting.services import releases as service
from holdfast.hosting.store import releases
from holdfast.hosting.store.accounts import Account, accounts_by_id
from holdfast.hosting.store.attachments import Attachment, stored_attachments
from holdfast.hosting.store.releases import Release
from holdfast.web.issues.issue_page import markdown_context
from holdfast.web.issues.timeline import TextBudget
from holdfast.web.repository_frame import CODE, RELEASES, root_path, show_in

__all__ = [
    "READING",
    "ReleaseRow",
    "may_change_releases",
    "page_release",
    "page_releases",
    "release_page",
    "release_path",
    "release_tab",
]

READING: Final = (in_repository, reads(Unit.RELEASES))
PER_PAGE: Final = 10
ASSETS_SHOWN: Final = 100


@dataclass(frozen=True, slots=True)
class ReleaseRow:
    """A release on a page, with its text as HTML; a long text is complete only on the page of the release."""

    release: Release
    address: str
    author: Account | None
    text: Markup
    is_whole: bool
    assets: list[Attachment]
    more_assets: int
    is_latest: bool

    @property
    def title(self) -> str:
        """The name of the release, or its tag."""
        return self.release.name or self.release.tag_name


def may_change_releases(request: RequestContext, target: RepositoryAccess) -> bool:
    """Return whether to show the forms of releases; the services check it again."""
    return (
        request.actor.user is not None
        and target.permissions.may_write(Unit.RELEASES)
        and not target.repository.is_archived
    )


def release_tab(target: RepositoryAccess) -> str:
    """Return the tab that releases belong to: that of the code if the viewer may read the code."""
    return CODE if target.permissions.may_read(Unit.CODE) else RELEASES


def release_path(target: RepositoryAccess, tag_name: str) -> str:
    """Return the path of the page of a release."""
    return f"{root_path(target)}/releases/tag/{quote(tag_name)}"


def rows_of_releases(
    request: RequestContext, target: RepositoryAccess, page: Sequence[Release], *, assets_shown: int
) -> list[ReleaseRow]:
    """Return the rows of releases; their authors and files are one query each."""
    database = request.app.database
    with database.read() as connection:
        authors = accounts_by_id(
            connection, {release.author_id for release in page if release.author_id is not None}
        )
        assets = stored_attachments(connection, "release_id", [release.id for release in page])
    latest = releases.latest_release(database, target.repository)
    budget = TextBudget(markdown_context(target))
    rows = []
    for release in page:
        text, is_whole = budget.show(release.body)
        author = authors.get(release.author_id or 0)
        rows.append(
            ReleaseRow(
                release=release,
                address=release_path(target, release.tag_name),
                author=author if author is not None and account_visible(request.actor, author) else None,
                text=text,
                is_whole=is_whole,
                assets=assets[release.id][:assets_shown],
                more_assets=max(0, len(assets[release.id]) - assets_shown),
                is_latest=latest is not None and latest.id == release.id,
            )
        )
    return rows


@endpoint("GET /{owner}/{repo}/releases", scope="repository", guards=READING, slow=True)
def page_releases(request: RequestContext, target: RepositoryAccess, page: PageParams) -> RawResponse:
    """List the releases, newest first; with drafts if the viewer may write releases."""
    params = PageParams(page.number, PER_PAGE)
    listed_releases, total = releases.releases_of(
        request.app.database,
        target.repository,
        is_draft=None if service.may_see_drafts(target) else False,
        is_prerelease=None,
        skip=params.skip,
        limit=PER_PAGE,
    )
    return show_in(
        request,
        target,
        "releases/list.html",
        tab=release_tab(target),
        title=f"Releases · {target.repository.full_name}",
        rows=rows_of_releases(request, target, listed_releases, assets_shown=ASSETS_SHOWN // PER_PAGE),
        total=total,
        number=params.number,
        size=PER_PAGE,
        reads_code=target.permissions.may_read(Unit.CODE),
        may_change=may_change_releases(request, target),
    )


@endpoint("GET /{owner}/{repo}/releases/tag/{tag...}", scope="repository", guards=READING, slow=True)
def page_release(request: RequestContext, target: RepositoryAccess, tag: str) -> RawResponse:
    """Show the release of a tag."""
    try:
        release = service.find_tagged(request.app, target, tag)
    except NoSuchRelease:
        raise ApiError(404) from None
    return release_page(request, target, release)


def release_page(
    request: RequestContext, target: RepositoryAccess, release: Release, *, status: int = 200, problem: str = ""
) -> RawResponse:
    """Render a release, with the error of a form."""
    (row,) = rows_of_releases(request, target, [release], assets_shown=1000)
    return show_in(
        request,
        target,
        "releases/release.html",
        tab=release_tab(target),
        title=f"{row.title} · {target.repository.full_name}",
        status=status,
        row=row,
        reads_code=target.permissions.may_read(Unit.CODE),
        may_change=may_change_releases(request, target),
        megabytes=request.app.settings.max_lfs_mb,
        problem=problem,
    )
