"""The location of a page in a repository: a branch, tag or commit, and a path; with the URLs of related pages."""

import re
from dataclasses import dataclass, replace
from typing import Final, Literal
from urllib.parse import quote, unquote

from holdfast.hosting.access import RepositoryAccess, Unit
from holdfast.hosting.errors import PathRefused
from holdfast.hosting.git import refs
from holdfast.hosting.git.encoding import display_name, raw
from holdfast.hosting.git.paths import requested_path
from holdfast.hosting.git.repository import Repo
from holdfast.hosting.guards import in_repository, reads
from holdfast.hosting.http.errors import ApiError
from holdfast.hosting.http.router import merge_slashes
from holdfast.hosting.request_context import RequestContext
from holdfast.hosting.services.revisions import open_git
from holdfast.web.repository_frame import root_path

__all__ = [
    "AFTER_KIND",
    "READING",
    "CodeLocation",
    "Crumb",
    "Kind",
    "commit_by_id",
    "find_location",
    "location_at",
    "path_suffix",
]

READING: Final = (in_repository, reads(Unit.CODE))
SHORTENED: Final = re.compile(r"[0-9a-f]{4,40}")
# The number of slashes before the ref and path in `/{owner}/{repo}/src/{kind}/...`.
AFTER_KIND: Final = 5

Kind = Literal["branch", "tag", "commit"]


@dataclass(frozen=True, slots=True)
class Crumb:
    """One element of the breadcrumbs of a path."""

    name: str
    address: str


@dataclass(frozen=True, slots=True)
class CodeLocation:
    """The ref, commit and path of a page; `path` is bytes, since names in git need not be UTF-8."""

    root: str
    repo: Repo
    kind: Kind
    ref: str
    commit: str
    path: bytes = b""

    @property
    def below(self) -> str:
        """The part of a URL that identifies the branch, tag or commit."""
        return f"{self.kind}/{quote(raw(self.ref))}"

    @property
    def name(self) -> str:
        """The branch, tag or abbreviated commit."""
        return self.commit[:10] if self.kind == "commit" else self.ref

    @property
    def title(self) -> str:
        """The path as text."""
        return display_name(self.path)

    @property
    def file_name(self) -> str:
        """The file name as text."""
        return display_name(self.path.rpartition(b"/")[2])

    def address(self, page: str, path: bytes | None = None) -> str:
        """Return the URL of another page of this location, or of another path in the same commit."""
        wanted = self.path if path is None else path
        return f"{self.root}/{page}/{self.below}{f'/{quote(wanted)}' if wanted else ''}"

    def top(self, page: str) -> str:
        """Return the URL of a page of the root directory."""
        return self.address(page, b"")

    def change(self, page: str, path: bytes | None = None) -> str:
        """Return the URL of a page that edits files on this branch."""
        wanted = self.path if path is None else path
        return f"{self.root}/{page}/{quote(raw(self.ref))}{f'/{quote(wanted)}' if wanted else ''}"

    @property
    def lasting(self) -> str:
        """The permalink of this page, with the commit id."""
        return replace(self, kind="commit", ref=self.commit).address("src")

    def crumbs(self, page: str = "src") -> list[Crumb]:
        """Return the breadcrumbs of this path; the last is the path itself."""
        crumbs: list[Crumb] = []
        at = b""
        for part in self.path.split(b"/") if self.path else ():
            at = at + b"/" + part if at else part
            crumbs.append(Crumb(display_name(part), self.address(page, at)))
        return crumbs


def path_suffix(request: RequestContext, before: int = AFTER_KIND) -> str:
    """Return the rest of the request path with its original bytes, which need not be UTF-8."""
    raw_path: bytes = request.scope.get("raw_path") or quote(request.scope["path"]).encode()
    parts = unquote(raw_path.decode("ascii", "replace"), errors="surrogateescape").split("/", before)
    return merge_slashes(parts[before].removesuffix("/")) if len(parts) > before else ""


def location_at(
    request: RequestContext, target: RepositoryAccess, kind: str, *, before: int = AFTER_KIND
) -> CodeLocation:
    """Return the location of a URL; raise a 404 error if the ref does not exist or the path is invalid."""
    repo = open_git(request.app, target)
    location = find_location(repo, root_path(target), kind, path_suffix(request, before))
    if location is None:
        raise ApiError(404)
    return location


def find_location(repo: Repo, root: str, kind: str, joined: str) -> CodeLocation | None:
    """Split a joined ref and path at the shortest prefix that is a ref of this kind; None if there is none."""
    if kind == "commit":
        name, _, rest = joined.partition("/")
        commit = commit_by_id(repo, name)
        return None if commit is None else at_path(CodeLocation(root, repo, "commit", name, commit), rest)
    ref_kind: Kind | None = "branch" if kind == "branch" else "tag" if kind == "tag" else None
    for name, rest in refs.split_points(joined) if ref_kind else ():
        ref = refs.branch(repo, name) if ref_kind == "branch" else refs.tag(repo, name)
        commit = None if ref is None else refs.commit_of(repo, ref.id)
        if commit is not None:
            return at_path(CodeLocation(root, repo, ref_kind or "commit", name, commit), rest)
    return None


def commit_by_id(repo: Repo, name: str) -> str | None:
    """Return the commit with a full or abbreviated id."""
    return refs.rev_parse(repo, name) if SHORTENED.fullmatch(name) else None


def at_path(location: CodeLocation, rest: str) -> CodeLocation | None:
    """Return a location with a path; None if the path is invalid."""
    try:
        return replace(location, path=raw(requested_path(rest)))
    except PathRefused:
        return None
