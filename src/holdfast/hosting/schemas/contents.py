"""Schemas of repository contents: a file with its content, or an entry of a directory."""

import base64
from collections.abc import Mapping
from dataclasses import dataclass
from functools import lru_cache
from typing import Final, Literal, Protocol
from urllib.parse import quote, quote_plus

import msgspec
from msgspec import UNSET, UnsetType

from holdfast.hosting.access import RepositoryAccess
from holdfast.hosting.git import last_commits, trees
from holdfast.hosting.git.commits import Commit, read_commit
from holdfast.hosting.git.encoding import display_name
from holdfast.hosting.git.refs import ResolvedRef
from holdfast.hosting.git.repository import Repo
from holdfast.hosting.git.trees import TreeEntry
from holdfast.hosting.lfs import pointer
from holdfast.hosting.schemas.git import git_time, repository_api, repository_page
from holdfast.hosting.schemas.times import Time
from holdfast.hosting.schemas.viewer import Viewer

__all__ = [
    "LARGEST_BLOB",
    "WHOLE",
    "CommitView",
    "ContentsOptions",
    "ContentsResponse",
    "RefShown",
    "contents_of",
    "ref_shown",
]

LARGEST_BLOB: Final = 10 * 2**20
LONGEST_TARGET: Final = 1024
# Characters that are not percent-encoded in paths, besides letters and digits.
PLAIN: Final = "/$&+=:@~"


class FileLinks(msgspec.Struct, frozen=True):
    """URLs of an entry."""

    itself: str | None = msgspec.field(name="self")
    git: str | None
    html: str | None


class ContentsResponse(msgspec.Struct, frozen=True, kw_only=True):
    """A file, a directory, a symbolic link or a submodule."""

    name: str
    path: str
    sha: str
    last_commit_sha: str | UnsetType = UNSET
    last_committer_date: Time | UnsetType = UNSET
    last_author_date: Time | UnsetType = UNSET
    last_commit_message: str | UnsetType = UNSET
    type: Literal["file", "dir", "symlink", "submodule"]
    mode: str
    size: int
    encoding: str | None
    content: str | None
    target: str | None
    url: str | None
    html_url: str | None
    git_url: str | None
    download_url: str | None
    submodule_git_url: str | None
    links: FileLinks = msgspec.field(name="_links")
    lfs_oid: str | UnsetType = UNSET
    lfs_size: int | UnsetType = UNSET


class RefShown(msgspec.Struct, frozen=True):
    """A resolved ref: its kind, its short name, and the name as requested."""

    kind: Literal["branch", "tag", "commit"]
    name: str
    given: str


@dataclass(frozen=True, slots=True)
class ContentsOptions:
    """The optional fields of an entry."""

    content: bool = False
    lfs: bool = False
    commit_metadata: bool = False
    commit_message: bool = False

    @property
    def history(self) -> bool:
        """Whether the last commit of the entry is needed."""
        return self.commit_metadata or self.commit_message


# The default fields of a single file.
WHOLE: Final = ContentsOptions(content=True, lfs=True, commit_metadata=True)


def ref_shown(resolved: ResolvedRef, requested: str) -> RefShown:
    """Return a resolved ref; an empty name stands for the default branch."""
    return RefShown(resolved.kind, resolved.name, requested or resolved.name)


class BlobContent(Protocol):
    """The content of a blob that is in memory."""

    def beginning(self, most: int) -> bytes:
        """Return at most `most` bytes from the start."""


class CommitView(msgspec.Struct, frozen=True):
    """A repository at one commit, and the viewer."""

    viewer: Viewer
    target: RepositoryAccess
    opened: Repo | None
    commit: str
    ref: RefShown
    known: Mapping[str, BlobContent] = msgspec.field(default_factory=dict)
    """The blobs written by the commit, or by its dry run, by id."""

    @property
    def repo(self) -> Repo:
        """The git repository, opened on first use."""
        if self.opened is not None:
            return self.opened
        return self.viewer.app.copies.open(self.target.repository)

    def blob(self, entry: TreeEntry) -> bytes:
        """Return the content of a file of at most `LARGEST_BLOB` bytes."""
        blob_content = self.known.get(entry.id)
        return (
            trees.read_blob(self.repo, entry.id) if blob_content is None else blob_content.beginning(LARGEST_BLOB)
        )

    def beginning(self, entry: TreeEntry, most: int) -> bytes:
        """Return at most `most` bytes from the start of a blob of any size, such as a symbolic link's target."""
        blob_content = self.known.get(entry.id)
        if blob_content is None:
            return b"".join(trees.stream_blob(self.repo, entry.id, 0, most))
        return blob_content.beginning(most)


@lru_cache(maxsize=1024)
def escaped_ref(name: str) -> str:
    """Percent-encode a ref name for a path."""
    return quote(name, safe=PLAIN)


@lru_cache(maxsize=1024)
def escaped_value(text: str) -> str:
    """Percent-encode a text for a query."""
    return quote_plus(text)


def contents_of(
    view: CommitView, entry: TreeEntry, options: ContentsOptions, *, last: Commit | None = None
) -> ContentsResponse:
    """Encode the entry at a path; `last` is the last commit that changed it, if loaded."""
    ref, repository = view.ref, view.target.repository
    kind = entry.type
    path = display_name(entry.raw_path)
    escaped = quote(entry.raw_path, safe=PLAIN)
    api, page = repository_api(view.viewer, repository), repository_page(view.viewer, repository)
    below = f"{ref.kind}/{escaped_ref(ref.name)}/{escaped}"
    url = f"{api}/contents/{escaped}?ref={escaped_value(ref.given)}"
    is_blob = kind in {"file", "symlink"}
    html_url = None if kind == "submodule" else f"{page}/src/{below}"
    git_url = None if kind == "submodule" else f"{api}/git/blobs/{entry.id}"
    encoding = content = target = submodule = None
    lfs_oid: str | UnsetType = UNSET
    lfs_size: int | UnsetType = UNSET
    if kind == "file" and (options.content or (options.lfs and entry.size <= pointer.MOST_BYTES)):
        if entry.size <= LARGEST_BLOB:
            stored = view.blob(entry)
            if options.content:
                encoding, content = "base64", base64.b64encode(stored).decode()
            lfs_pointer = pointer.LfsPointer.parse(stored)
            if lfs_pointer is not None:
                lfs_oid, lfs_size = lfs_pointer.oid, lfs_pointer.size
    elif kind == "symlink":
        target = display_name(view.beginning(entry, LONGEST_TARGET))
    elif kind == "submodule":
        tree = read_commit(view.repo, view.commit).tree
        submodule = trees.submodule_urls(view.repo, tree).get(entry.raw_path) or None
    if options.history and last is None:
        last = last_commits.of_path(view.repo, view.commit, entry.raw_path)
    dated = last if options.commit_metadata else None
    return ContentsResponse(
        name=entry.name,
        path=path,
        sha=entry.id,
        last_commit_sha=UNSET if dated is None else dated.id,
        last_committer_date=UNSET if dated is None else git_time(dated.committer.time, dated.committer.offset),
        last_author_date=UNSET if dated is None else git_time(dated.author.time, dated.author.offset),
        last_commit_message=UNSET if last is None or not options.commit_message else last.message,
        type=kind,
        mode=f"{entry.mode:o}",
        size=entry.size,
        encoding=encoding,
        content=content,
        target=target,
        url=url,
        html_url=html_url,
        git_url=git_url,
        download_url=f"{page}/raw/{below}" if is_blob else None,
        submodule_git_url=submodule,
        links=FileLinks(url, git_url, html_url),
        lfs_oid=lfs_oid,
        lfs_size=lfs_size,
    )
