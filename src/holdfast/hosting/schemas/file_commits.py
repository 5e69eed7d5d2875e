"""Responses to file changes: the changed files and the commit."""

import msgspec

from holdfast.hosting.access import RepositoryAccess
from holdfast.hosting.git.commits import Commit, Signature
from holdfast.hosting.schemas.contents import ContentsResponse
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
from holdfast.hosting.schemas.viewer import Viewer

__all__ = [
    "FileCommitResponse",
    "FileDeleteResponse",
    "FileResponse",
    "FilesResponse",
    "file_commit",
]


class FileCommitResponse(msgspec.Struct, frozen=True):
    """The commit of file changes."""

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
    """The changed files in the order of the request, and the commit; deleted ones are null."""

    files: list[ContentsResponse | None]
    commit: FileCommitResponse
    verification: Verification


class FileDeleteResponse(msgspec.Struct, frozen=True):
    """The commit that deleted a file."""

    content: None
    commit: FileCommitResponse
    verification: Verification


def in_utc(signature: Signature) -> CommitUser:
    """Encode a signature, with the time in UTC."""
    return CommitUser(signature.name, signature.email, git_time(signature.time, 0))


def file_commit(
    viewer: Viewer, target: RepositoryAccess, commit: Commit
) -> tuple[FileCommitResponse, Verification]:
    """Encode a commit that changed files, and its verification."""
    api = repository_api(viewer, target.repository)
    response = FileCommitResponse(
        url=f"{api}/git/commits/{commit.id}",
        sha=commit.id,
        created=NEVER,
        html_url=f"{repository_page(viewer, target.repository)}/commit/{commit.id}",
        author=in_utc(commit.author),
        committer=in_utc(commit.committer),
        parents=[commit_meta(api, parent) for parent in commit.parents],
        message=commit.message,
        tree=commit_meta(api, commit.tree, "trees"),
    )
    return response, verification(commit)
