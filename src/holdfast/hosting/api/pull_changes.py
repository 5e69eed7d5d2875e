"""The API of a pull request's changes: files and commits."""

from typing import Annotated, Final
from urllib.parse import quote

import msgspec
from msgspec import Meta

from holdfast.hosting.access import RepositoryAccess, Unit
from holdfast.hosting.api.commits import several
from holdfast.hosting.api.pulls import pull_schemas
from holdfast.hosting.errors import NoSuchIssue
from holdfast.hosting.git.patches import FileDiff, Whitespace
from holdfast.hosting.guards import in_repository, reads, sees_pulls
from holdfast.hosting.http.endpoints import endpoint
from holdfast.hosting.http.pagination import PagedList, PageParams
from holdfast.hosting.request_context import RequestContext
from holdfast.hosting.schemas.git import CommitSchema, repository_api, repository_page
from holdfast.hosting.schemas.pulls import PullRequest
from holdfast.hosting.services import pull_changes, pulls
from holdfast.hosting.services.pull_changes import PullSpan

__all__ = ["list_pull_commits", "list_pull_files", "show_pull_of_commit"]

READING: Final = (in_repository, sees_pulls, reads(Unit.CODE))
STATUSES: Final = {"removed": "deleted", "modified": "changed"}


class PullFilesQuery(msgspec.Struct, frozen=True):
    """The first file to list, and how white space is compared."""

    skip_to: Annotated[str, Meta(max_length=4096)] = msgspec.field(default="", name="skip-to")
    whitespace: Whitespace = "show-all"


class PullCommitsQuery(msgspec.Struct, frozen=True):
    """Which fields of the commits to include."""

    verification: bool = True
    files: bool = True


class ChangedFile(msgspec.Struct, frozen=True):
    """A file that a pull request changes."""

    filename: str
    previous_filename: str
    status: str
    additions: int
    deletions: int
    changes: int
    html_url: str
    contents_url: str
    raw_url: str


def changed_file(request: RequestContext, target: RepositoryAccess, span: PullSpan, file: FileDiff) -> ChangedFile:
    """Encode a changed file; the URLs of a deleted file are at the merge base."""
    is_gone = file.status == "removed"
    path, commit = quote(file.new_path), span.merge_base if is_gone else span.head
    page, api = repository_page(request, target.repository), repository_api(request, target.repository)
    return ChangedFile(
        filename=file.path,
        previous_filename=file.old_path.decode(errors="replace") if file.status == "renamed" else "",
        status=STATUSES.get(file.status, file.status),
        additions=file.additions,
        deletions=file.deletions,
        changes=file.additions + file.deletions,
        html_url=f"{page}/src/commit/{commit}/{path}",
        contents_url=f"{api}/contents/{path}?ref={commit}",
        raw_url=f"{page}/raw/commit/{commit}/{path}",
    )


@endpoint("GET /repos/{owner}/{repo}/pulls/{index}/files", scope="repository", guards=READING, slow=True)
def list_pull_files(
    request: RequestContext, target: RepositoryAccess, index: int, query: PullFilesQuery, page: PageParams
) -> PagedList[ChangedFile]:
    """List the files that a pull request changes."""
    span = pull_changes.open_span(request.app, target, pulls.find(request.app, target, index))
    files = pull_changes.changed_files(span, whitespace=query.whitespace, skip_to=query.skip_to)
    file_diffs = files[page.skip : page.skip + page.size]
    return PagedList([changed_file(request, target, span, file) for file in file_diffs], len(files))


@endpoint("GET /repos/{owner}/{repo}/pulls/{index}/commits", scope="repository", guards=READING, slow=True)
def list_pull_commits(
    request: RequestContext, target: RepositoryAccess, index: int, query: PullCommitsQuery, page: PageParams
) -> PagedList[CommitSchema]:
    """List the commits of a pull request, newest first."""
    span = pull_changes.open_span(request.app, target, pulls.find(request.app, target, index))
    commits, total = pull_changes.commits(span, skip=page.skip, limit=page.size)
    return PagedList(several(request, target, span.repo, commits, files=query.files, stat=True), total)


@endpoint("GET /repos/{owner}/{repo}/commits/{sha}/pull", scope="repository", guards=READING)
def show_pull_of_commit(request: RequestContext, target: RepositoryAccess, sha: str) -> PullRequest:
    """Show the pull request whose merge created a commit."""
    issue = pulls.find_merged(request.app, target, sha)
    if issue is None:
        raise NoSuchIssue(f"pull request does not exist [merge_commit_id: {sha}]")
    return pull_schemas(request, target, [issue])[0]
