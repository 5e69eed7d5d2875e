"""Schemas of commits, branches, tags, trees and blobs."""

from collections.abc import Iterable
from datetime import UTC, datetime, timedelta, timezone
from functools import lru_cache
from typing import Final
from urllib.parse import quote

import msgspec
from msgspec import UNSET, UnsetType

from holdfast.hosting.git.changes import DiffStats, TreeChanges
from holdfast.hosting.git.commits import Commit, Signature
from holdfast.hosting.schemas.times import NEVER, Time
from holdfast.hosting.schemas.users import UserSchema, user
from holdfast.hosting.schemas.viewer import Viewer
from holdfast.hosting.store import accounts
from holdfast.hosting.store.accounts import Account
from holdfast.hosting.store.repositories import Repository

__all__ = [
    "CommitMeta",
    "CommitSchema",
    "CommitUser",
    "PayloadCommit",
    "Verification",
    "commit_meta",
    "commit_shape",
    "git_time",
    "payload_commit",
    "people_of",
    "repository_api",
    "repository_page",
    "verification",
]

EPOCH: Final = datetime(1970, 1, 1, tzinfo=UTC)


class CommitUser(msgspec.Struct, frozen=True):
    """The author or committer of a commit."""

    name: str
    email: str
    date: str


class CommitMeta(msgspec.Struct, frozen=True):
    """A reference to a commit or tree."""

    url: str
    sha: str
    created: Time


class Signer(msgspec.Struct, frozen=True):
    """The signer of a commit."""

    name: str
    email: str
    username: str


class Verification(msgspec.Struct, frozen=True):
    """Whether a commit is signed; signatures are shown, not verified."""

    verified: bool
    reason: str
    signature: str
    signer: Signer | None
    payload: str


class RepoCommit(msgspec.Struct, frozen=True):
    """The content of a commit."""

    url: str
    author: CommitUser
    committer: CommitUser
    message: str
    tree: CommitMeta
    verification: Verification | None


class AffectedFile(msgspec.Struct, frozen=True):
    """A file a commit changed."""

    filename: str
    status: str


class CommitStats(msgspec.Struct, frozen=True):
    """The number of changed lines."""

    total: int
    additions: int
    deletions: int


class CommitSchema(msgspec.Struct, frozen=True):
    """A commit, with the accounts of its author and committer."""

    url: str
    sha: str
    created: Time
    html_url: str
    commit: RepoCommit
    author: UserSchema | None
    committer: UserSchema | None
    parents: list[CommitMeta]
    files: list[AffectedFile] | UnsetType = UNSET
    stats: CommitStats | UnsetType = UNSET


class PayloadUser(msgspec.Struct, frozen=True):
    """The author or committer of a commit, with their account name."""

    name: str
    email: str
    username: str


class PayloadCommit(msgspec.Struct, frozen=True):
    """A commit in branches and events."""

    id: str
    message: str
    url: str
    author: PayloadUser
    committer: PayloadUser
    verification: Verification | None
    timestamp: str
    added: list[str] | None
    removed: list[str] | None
    modified: list[str] | None


@lru_cache(maxsize=1024)
def git_time(seconds: int, offset: int) -> str:
    """Format a time with its UTC offset; an invalid one is the Unix epoch."""
    try:
        moment = EPOCH + timedelta(seconds=seconds)
        if offset == 0:
            return moment.isoformat()[:19] + "Z"
        return moment.astimezone(timezone(timedelta(minutes=offset))).isoformat()
    except (OverflowError, ValueError):
        return EPOCH.isoformat()[:19] + "Z"


@lru_cache(maxsize=1024)
def full_name(owner: str, name: str) -> str:
    """Return the full name of a repository, as in URLs."""
    return f"{quote(owner)}/{quote(name)}"


def repository_api(viewer: Viewer, repository: Repository) -> str:
    """Return the API URL of a repository."""
    return f"{viewer.api}/repos/{full_name(repository.owner.name, repository.name)}"


def repository_page(viewer: Viewer, repository: Repository) -> str:
    """Return the web URL of a repository."""
    return f"{viewer.root}/{full_name(repository.owner.name, repository.name)}"


def people_of(viewer: Viewer, commits: Iterable[Commit]) -> dict[str, Account]:
    """Return the accounts of the e-mail addresses in commits, in one query."""
    emails = {signature.email for commit in commits for signature in (commit.author, commit.committer)}
    return accounts.by_emails(viewer.app.database, emails)


def commit_user(signature: Signature) -> CommitUser:
    """Encode a signature."""
    return CommitUser(signature.name, signature.email, git_time(signature.time, signature.offset))


def verification(commit: Commit) -> Verification:
    """Encode whether a commit is signed; signatures are not verified."""
    reason = "gpg.error.no_gpg_keys_found" if commit.signature else "gpg.error.not_signed_commit"
    return Verification(False, reason, commit.signature, None, commit.payload)


def commit_meta(api: str, sha: str, kind: str = "commits", created: Time = NEVER) -> CommitMeta:
    """Encode a reference to a commit or a tree."""
    return CommitMeta(f"{api}/git/{kind}/{sha}", sha, created)


def commit_shape(
    viewer: Viewer,
    repository: Repository,
    commit: Commit,
    people: dict[str, Account],
    *,
    changes: TreeChanges | None = None,
    stats: DiffStats | None = None,
) -> CommitSchema:
    """Encode a commit; files and statistics are included if given."""
    api = repository_api(viewer, repository)
    created = git_time(commit.committer.time, commit.committer.offset)
    author, committer = people.get(commit.author.email), people.get(commit.committer.email)
    files: list[AffectedFile] | UnsetType = UNSET
    if changes is not None:
        files = [AffectedFile(change.path, change.status) for change in changes.files]
    counted: CommitStats | UnsetType = UNSET
    if stats is not None:
        counted = CommitStats(stats.total, stats.additions, stats.deletions)
    return CommitSchema(
        url=f"{api}/git/commits/{commit.id}",
        sha=commit.id,
        created=created,
        html_url=f"{repository_page(viewer, repository)}/commit/{commit.id}",
        commit=RepoCommit(
            url=f"{api}/git/commits/{commit.id}",
            author=commit_user(commit.author),
            committer=commit_user(commit.committer),
            message=commit.message,
            tree=commit_meta(api, commit.tree, "trees", created),
            verification=verification(commit),
        ),
        author=None if author is None else user(viewer, author),
        committer=None if committer is None else user(viewer, committer),
        parents=[commit_meta(api, parent) for parent in commit.parents],
        files=files,
        stats=counted,
    )


def payload_user(signature: Signature, people: dict[str, Account]) -> PayloadUser:
    """Encode a signature with its account."""
    account = people.get(signature.email)
    return PayloadUser(signature.name, signature.email, "" if account is None else account.name)


def payload_commit(
    viewer: Viewer,
    repository: Repository,
    commit: Commit,
    people: dict[str, Account],
    changes: TreeChanges | None = None,
) -> PayloadCommit:
    """Encode a commit as in branches and events."""
    return PayloadCommit(
        id=commit.id,
        message=commit.message,
        url=f"{repository_page(viewer, repository)}/commit/{commit.id}",
        author=payload_user(commit.author, people),
        committer=payload_user(commit.committer, people),
        verification=verification(commit),
        timestamp=git_time(commit.author.time, commit.author.offset),
        added=None if changes is None else changes.paths("added"),
        removed=None if changes is None else changes.paths("removed"),
        modified=None if changes is None else changes.paths("modified"),
    )
