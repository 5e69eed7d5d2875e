"""What a change of files answers: what lies at the paths now, and the commit that put it there."""

import msgspec

from holdfast.hosting.access import RepositoryAccess
from holdfast.hosting.git.commits import Commit, Signature
from holdfast.hosting.http.context import RequestContext
from holdfast.hosting.schemas.contents import WHOLE, ContentsResponse, RefShown, View, contents_of
from holdfast.hosting.schemas.git import (
    CommitMeta,
    CommitUser,
    Verification,
    commit_meta,
    git_time,
    repository_api,
    repository_page,
    verification,
)
from holdfast.hosting.schemas.times import NEVER, Time
from holdfast.hosting.services.file_commits import Committed

__all__ = [
    "FileCommitResponse",
    "FileDeleteResponse",
    "FileResponse",
    "FilesResponse",
    "file_commit",
    "file_shapes",
]


class FileCommitResponse(msgspec.Struct, frozen=True):
    """The commit that changed some files."""

    url: str
    sha: str
    created: Time
    html_url: str
    author: CommitUser
    committer: CommitUser
    parents: list[CommitMeta]
    message: str
    tree: CommitMeta


class FileResponse(msgspec.Struct, frozen=True):
    """A file that was written, and the commit."""

    content: ContentsResponse | None
    commit: FileCommitResponse
    verification: Verification


class FilesResponse(msgspec.Struct, frozen=True):
    """The files that were written, in the order they were asked for, and the commit; deleted ones are null."""

    files: list[ContentsResponse | None]
    commit: FileCommitResponse
    verification: Verification


class FileDeleteResponse(msgspec.Struct, frozen=True):
    """The commit that deleted a file."""

    content: None
    commit: FileCommitResponse
    verification: Verification


def in_utc(signature: Signature) -> CommitUser:
    """Show who made a commit, with the time in UTC."""
    return CommitUser(signature.name, signature.email, git_time(signature.time, 0))


def file_commit(
    request: RequestContext, target: RepositoryAccess, commit: Commit
) -> tuple[FileCommitResponse, Verification]:
    """Make the shapes of a commit that changed files."""
    api = repository_api(request, target.repository)
    shape = FileCommitResponse(
        url=f"{api}/git/commits/{commit.id}",
        sha=commit.id,
        created=NEVER,
        html_url=f"{repository_page(request, target.repository)}/commit/{commit.id}",
        author=in_utc(commit.author),
        committer=in_utc(commit.committer),
        parents=[commit_meta(api, parent) for parent in commit.parents],
        message=commit.message,
        tree=commit_meta(api, commit.tree, "trees"),
    )
    return shape, verification(commit)


def file_shapes(
    request: RequestContext, target: RepositoryAccess, made: Committed
) -> list[ContentsResponse | None]:
    """Show what lies at the paths that were written; what the commit left as it was has an older last commit."""
    # A commit that was only tried out is not there to be looked at; what lies below its parent is.
    at = made.commit.id if made.is_made else "".join(made.commit.parents[:1])
    view = View(request, target, None, at, RefShown("branch", made.branch, made.branch), made.known)
    return [
        None
        if file is None
        else contents_of(view, file.entry, WHOLE, last=made.commit if file.is_changed or not at else None)
        for file in made.files
    ]
