"""Common options of endpoints that change files: branches, message, author, committer, dates, idempotency key."""

import hashlib
import time
from datetime import datetime
from typing import Annotated, Final
from urllib.parse import quote, unquote_to_bytes

import msgspec
from msgspec import Meta

from holdfast.hosting import access
from holdfast.hosting.access import RepositoryAccess, Unit
from holdfast.hosting.api.ref_names import RefName
from holdfast.hosting.errors import InvalidValue
from holdfast.hosting.git.commits import Signature
from holdfast.hosting.git.identities import commit_email, commit_name, plain
from holdfast.hosting.guards import editable, in_repository, reads, signed_in
from holdfast.hosting.request_context import RequestContext
from holdfast.hosting.schemas.contents import WHOLE, CommitView, ContentsResponse, RefShown, contents_of
from holdfast.hosting.services import maintainer_edits
from holdfast.hosting.services.fields import due
from holdfast.hosting.services.file_changes import FileChange
from holdfast.hosting.services.file_commits import CommitResult, FileCommit
from holdfast.hosting.services.revisions import open_latest
from holdfast.hosting.store.accounts import Account
from holdfast.hosting.store.commit_keys import IdempotencyKey
from holdfast.settings import Settings

__all__ = [
    "REFUSES",
    "WRITING",
    "CommitDateOptions",
    "FileOptions",
    "Identity",
    "LongPath",
    "commit_request",
    "encode_files",
    "largest_body",
    "mode_given",
    "writes_branch",
]

WRITING: Final = (in_repository, reads(Unit.CODE), editable, signed_in)
REFUSES: Final = (401, 403, 404, 409, 413, 422, 423, 503)
MODES: Final = {"100644": 0o100644, "100755": 0o100755, "120000": 0o120000}
LONGEST_KEY: Final = 255
Branch = Annotated[str, Meta(max_length=100, title="BranchName"), RefName]
NewBranch = Annotated[str, Meta(max_length=100, title="NewBranchName"), RefName]
LongPath = Annotated[str, Meta(max_length=500)]


class Identity(msgspec.Struct, frozen=True):
    """The author or committer of a commit; each defaults to the other, then to the caller."""

    name: Annotated[str, Meta(max_length=100)] = ""
    email: Annotated[str, Meta(max_length=254)] = ""


class CommitDateOptions(msgspec.Struct, frozen=True):
    """The dates of a commit; the default is now."""

    author: datetime | None = None
    committer: datetime | None = None


NOBODY: Final = Identity()
NOW: Final = CommitDateOptions()


class FileOptions(msgspec.Struct, frozen=True, kw_only=True):
    """The options of all endpoints that change files."""

    message: str = ""
    branch: Branch = ""
    new_branch: NewBranch = ""
    force_push: bool = False
    author: Identity = NOBODY
    committer: Identity = NOBODY
    dates: CommitDateOptions = NOW
    signoff: bool = False
    expected_head: Annotated[str, Meta(description="The commit the branch must be at.")] = ""
    dry_run: Annotated[bool, Meta(description="Tell what would come of it, and change nothing.")] = False


def largest_body(settings: Settings) -> int:
    """Return the maximum body size, for a file encoded as base64 with or without line breaks."""
    return settings.max_file_mb * 2**20 * 3 // 2 + 2**20


def writes_branch(request: RequestContext) -> None:
    """Require write access to the branch; checked after the body was validated, as clients expect."""
    target = request.resolved(RepositoryAccess)
    if target.permissions.may_write(Unit.CODE):
        return
    # A maintainer of a pull request's base may write to some branches; the service checks which.
    if not maintainer_edits.editable_branches(request.app, request.actor, target.repository):
        access.require_branch_write(target)


def mode_given(text: str) -> int | None:
    """Parse a file mode; empty is None."""
    if text and text not in MODES:
        raise InvalidValue("Mode", f"must be one of {', '.join(MODES)}")
    return MODES.get(text)


def signature_at(name: str, email: str, date: datetime | None, now: int) -> Signature:
    """Return a signature with a date and its time zone; a missing or zero date is now."""
    when = due(date, "Dates")
    if date is None or not when:
        return Signature(name, email, now, 0)
    zone = date.utcoffset()
    return Signature(name, email, when, 0 if zone is None else int(zone.total_seconds()) // 60)


def signatures(user: Account, options: FileOptions) -> tuple[Signature, Signature]:
    """Return author and committer; each defaults to the other, then to the caller."""
    now = int(time.time())
    own_name, own_email = commit_name(user), commit_email(user)
    if options.author == options.committer == NOBODY and options.dates == NOW:
        alone = Signature(own_name, own_email, now, 0)
        return alone, alone
    names = plain(options.author.name), plain(options.committer.name)
    emails = plain(options.author.email), plain(options.committer.email)
    return (
        signature_at(
            names[0] or names[1] or own_name, emails[0] or emails[1] or own_email, options.dates.author, now
        ),
        signature_at(
            names[1] or names[0] or own_name, emails[1] or emails[0] or own_email, options.dates.committer, now
        ),
    )


def commit_request(
    request: RequestContext, options: FileOptions, changes: list[FileChange], fingerprint: bytes
) -> FileCommit:
    """Return the requested commit; `fingerprint` is a digest of the request for its idempotency key."""
    author, committer = signatures(request.user, options)
    return FileCommit(
        changes=changes,
        author=author,
        committer=committer,
        message=options.message,
        branch=options.branch,
        new_branch=options.new_branch,
        force=options.force_push,
        signoff=options.signoff,
        expected_head=options.expected_head,
        dry_run=options.dry_run,
        key=key_given(request, fingerprint),
    )


def key_given(request: RequestContext, fingerprint: bytes) -> IdempotencyKey | None:
    """Return the idempotency key of a request."""
    name = request.headers.get("idempotency-key", "").strip()
    if not name:
        return None
    if len(name) > LONGEST_KEY or not name.isprintable():
        raise InvalidValue("Idempotency-Key", f"must be at most {LONGEST_KEY} printable characters")
    sent: bytes = request.scope.get("raw_path") or quote(request.scope["path"]).encode()
    digest = hashlib.sha256(b"%s %s\n" % (request.method.encode(), unquote_to_bytes(sent)))
    digest.update(fingerprint)
    return IdempotencyKey(request.user.id, name, digest.hexdigest())


def encode_files(
    request: RequestContext, target: RepositoryAccess, result: CommitResult
) -> list[ContentsResponse | None]:
    """Encode the files of a commit, None for a deleted one; unchanged ones have an older last commit."""
    # The commit of a dry run does not exist; its parent does.
    at = result.commit.id if result.is_made else "".join(result.commit.parents[:1])
    # Objects that are not in memory are read from a copy that has the commit.
    reads = any(file and (not file.is_changed or file.entry.type == "submodule") for file in result.files)
    opened = open_latest(request.app, target) if reads else None
    view = CommitView(request, target, opened, at, RefShown("branch", result.branch, result.branch), result.known)
    return [
        None
        if file is None
        else contents_of(view, file.entry, WHOLE, last=result.commit if file.is_changed or not at else None)
        for file in result.files
    ]
