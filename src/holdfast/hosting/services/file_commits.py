"""Commits of file changes to a branch: authorization, idempotency keys and group commit.

Requests for one repository are committed in groups: one of the waiting threads makes the commits of all, one on
top of the other. Ref updates are in the database and all objects synced to disk before a ref moves, and the ref is
synced and the events recorded before any response is sent. If a push moved the branch first (compare-and-set
fails), the checks run again on the new commit.
"""

import sqlite3
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import partial
from typing import Final

import msgspec
from sqlalchemy.exc import IntegrityError

from holdfast.hosting import access
from holdfast.hosting.access import Actor, RepositoryAccess, Unit
from holdfast.hosting.app import App
from holdfast.hosting.errors import (
    FileRefused,
    GoneMeanwhile,
    HostingError,
    NoSuchRef,
    Outdated,
    PushRefused,
    RefBusy,
    RefMoved,
)
from holdfast.hosting.git import loose_objects, ref_store, refs
from holdfast.hosting.git.changes import Status, TreeChange, TreeChanges
from holdfast.hosting.git.commits import Commit, Signature, parse_commit, read_commit
from holdfast.hosting.git.encoding import raw
from holdfast.hosting.git.identities import commit_email, commit_name
from holdfast.hosting.git.repository import Repo, locked, open_repository
from holdfast.hosting.git.tree_entries import Folder
from holdfast.hosting.git.tree_writer import Draft, Nowhere, Spot
from holdfast.hosting.git.trees import SYMLINK, TreeEntry, type_of
from holdfast.hosting.lfs.pointer import LfsPointer
from holdfast.hosting.services import branch_protection, file_changes, ref_changes
from holdfast.hosting.services.fields import check_ref_field, check_required
from holdfast.hosting.services.file_changes import AppliedChanges, Base, FileChange
from holdfast.hosting.services.file_contents import FileContent, inflated, is_large
from holdfast.hosting.services.ref_changes import BRANCHES, Announced
from holdfast.hosting.storage.batch_queue import QueuedRequest
from holdfast.hosting.store import commit_keys, lfs, pending_ref_updates, protections
from holdfast.hosting.store.accounts import Account
from holdfast.hosting.store.commit_keys import IdempotencyKey
from holdfast.hosting.store.pending_ref_updates import Move
from holdfast.hosting.store.protections import Protection
from holdfast.hosting.store.repositories import Repository

__all__ = ["CommitRequest", "CommitResult", "FileCommit", "FileResult", "commit", "commit_files"]

# How many compare-and-set conflicts are retried before giving up.
MAX_ATTEMPTS: Final = 20


class CommitRequest(msgspec.Struct, frozen=True, kw_only=True):
    """A request for a commit; empty branches stand for the default branch and for `branch`."""

    repository: Repository
    actor: Account
    changes: Sequence[FileChange]
    author: Signature
    committer: Signature
    message: str = ""
    branch: str = ""
    new_branch: str = ""
    force: bool = False
    signoff: bool = False
    expected_head: str = ""
    dry_run: bool = False
    key: IdempotencyKey | None = None

    @property
    def source(self) -> str:
        """The branch it is based on."""
        return self.branch or self.repository.default_branch

    @property
    def target(self) -> str:
        """The branch that gets the commit."""
        return self.new_branch or self.branch or self.repository.default_branch


class FileCommit(msgspec.Struct, frozen=True, kw_only=True):
    """File changes to commit, with the options of the commit.

    Empty branches stand for the default branch and for `branch`; author and committer default to the actor.
    """

    changes: Sequence[FileChange]
    author: Signature | None = None
    committer: Signature | None = None
    message: str = ""
    branch: str = ""
    new_branch: str = ""
    force: bool = False
    signoff: bool = False
    expected_head: str = ""
    dry_run: bool = False
    key: IdempotencyKey | None = None
    """The idempotency key."""


class FileResult(msgspec.Struct, frozen=True):
    """The entry at a path after a commit, and its relation to the commit."""

    entry: TreeEntry
    is_new: bool
    is_changed: bool


@dataclass(frozen=True, slots=True)
class CommitResult:
    """A commit, or the preview of one in a dry run; a deleted file has no result."""

    commit: Commit
    branch: str
    files: tuple[FileResult | None, ...]
    known: Mapping[str, FileContent] = field(default_factory=dict, compare=False)
    """Contents of files by blob id, as far as they are in memory."""
    is_made: bool = True
    """Whether it was committed; False for a dry run."""


class PreparedCommit(msgspec.Struct, frozen=True):
    """A commit ready to be written: its ref update, and the LFS objects it points to."""

    move: Move
    committed: CommitResult
    pointers: tuple[LfsPointer, ...]


Waiting = QueuedRequest[CommitRequest, CommitResult]


class CommitBatch(msgspec.Struct):
    """A batch of commits: the branch tips including prepared commits, and the protections."""

    host: App
    repository: Repository
    repo: Repo
    draft: Draft
    rules: list[Protection]
    heads: dict[str, str | None] = msgspec.field(default_factory=dict)
    known: dict[str, FileContent] = msgspec.field(default_factory=dict)

    def head(self, branch: str) -> str | None:
        """Return the tip of a branch, including prepared commits."""
        if branch not in self.heads:
            self.heads[branch] = refs.target(self.repo, BRANCHES + branch)
        return self.heads[branch]

    def is_empty(self) -> bool:
        """Return whether there is no branch and no tag, including prepared commits."""
        return not any(self.heads.values()) and refs.is_empty(self.repo)


def commit(app: App, actor: Actor, target: RepositoryAccess, options: FileCommit) -> CommitResult:
    """Commit file changes to a branch for an actor, or preview them in a dry run."""
    access.require_read(target, Unit.CODE)
    access.require_editable(target)
    user = access.require_login(actor)
    access.require_branch_write(target)
    check_ref_field(options.branch, "BranchName")
    check_ref_field(options.new_branch, "NewBranchName")
    for change in options.changes:
        check_required(change.path, "Path")
    own = Signature(commit_name(user), commit_email(user), int(time.time()), 0)
    return commit_files(
        app,
        CommitRequest(
            repository=target.repository,
            actor=user,
            changes=options.changes,
            author=options.author or own,
            committer=options.committer or own,
            message=options.message,
            branch=options.branch,
            new_branch=options.new_branch,
            force=options.force,
            signoff=options.signoff,
            expected_head=options.expected_head,
            dry_run=options.dry_run,
            key=options.key,
        ),
    )


def commit_files(app: App, request: CommitRequest) -> CommitResult:
    """Commit file changes without authorization, or preview them in a dry run; `commit` is for users."""
    repository = request.repository
    changes = [file_changes.cleaned(change) for change in request.changes]
    wanted = msgspec.structs.replace(request, changes=changes)
    if request.dry_run:
        return prepare(open_batch(app, repository), wanted).committed
    # Small files are written with the trees; larger ones before queueing, so that the batch does not wait.
    large = [change for change in changes if change.content is not None and change.content.small is None]
    if large and (
        wanted.key is None or commit_keys.find_idempotency_key(app.database, repository, wanted.key) is None
    ):
        write_ahead(open_batch(app, repository), wanted, large)
    result: CommitResult = app.commit_queue.submit(repository.id, wanted, partial(commit_all, app))
    app.pushed.add(repository.id)
    return result


def write_ahead(batch: CommitBatch, request: CommitRequest, large: Sequence[FileChange]) -> None:
    """Write the contents of large files before queueing; nothing if the request is refused."""
    checked = check(batch, request, lambda _base, _change, _source: ref_changes.zero_id(request.repository))
    for change in large:
        keep(batch, checked.base, change, None, [], ahead=True)


def open_batch(app: App, repository: Repository) -> CommitBatch:
    """Start a batch on the current refs."""
    repo = open_repository(app.folders.path(repository.id))
    return CommitBatch(app, repository, repo, Draft(repo), protections.protections_of(app.database, repository))


def commit_all(app: App, jobs: Sequence[Waiting]) -> None:
    """Make the commits of all waiting requests of a repository (group commit).

    Other threads, processes and machines that share the database are excluded by the repository's lock.
    """
    repository = jobs[0].request.repository
    folder = app.folders.path(repository.id)
    with app.database.advisory_lock(repository.id), locked(folder):
        left = jobs
        for _ in range(MAX_ATTEMPTS):
            attempt(open_batch(app, repository), left)
            left = [job for job in left if not job.is_done]
            if not left:
                return
    for job in left:
        job.error = RefBusy(f"{BRANCHES}{job.request.target} is moved by others all the time; try again")


def attempt(batch: CommitBatch, jobs: Sequence[Waiting]) -> None:
    """Make as many of the commits as possible; those whose branch was moved concurrently stay undone."""
    ready: list[tuple[Waiting, PreparedCommit]] = []
    replayed: dict[tuple[int, str], Waiting] = {}
    for job in jobs:
        try:
            key = job.request.key
            if key is not None:
                done = replay(batch, job.request, key)
                if done is not None:
                    job.result = done
                    continue
                if (key.user_id, key.name) in replayed:
                    continue  # same key twice in one batch: the second replays the first next time
                replayed[key.user_id, key.name] = job
            prepared = prepare(batch, job.request)
        except HostingError as error:
            job.error = error
        else:
            batch.heads[prepared.committed.branch] = prepared.move.new
            ready.append((job, prepared))
    if ready:
        land(batch, ready)


class CheckedCommit(msgspec.Struct, frozen=True):
    """A request that can be committed: its base, the resulting tree, and the tip of its branch."""

    base: Base
    applied: AppliedChanges
    current: str | None


def check(
    batch: CommitBatch, request: CommitRequest, keep_file: Callable[[Base, FileChange, Spot | None], str]
) -> CheckedCommit:
    """Check a request against the current tip of the branch."""
    source, target = request.source, request.target
    head = batch.head(source)
    if head is None and not batch.is_empty():
        text = f"branch does not exist [repo_id: {request.repository.id} name: {source}]"
        raise NoSuchRef(text)
    if request.expected_head and request.expected_head != (head or ""):
        raise Outdated(f"the branch {source} is at {head or 'nothing'}, not at {request.expected_head}")
    is_new = target != source
    current = batch.head(target)
    if is_new and current is not None and not request.force:
        raise FileRefused(f"branch already exists [name: {target}]")
    if current is None:
        refs.check_new_branch(target)
    if not is_new and batch.rules:
        check_protected_files(batch, request)
    draft = batch.draft
    base = Base(head, draft.empty() if head is None else draft.root(head))
    applied = file_changes.apply(
        draft, base, request.changes, lambda change, source: keep_file(base, change, source)
    )
    return CheckedCommit(base, applied, current)


def prepare(batch: CommitBatch, request: CommitRequest) -> PreparedCommit:
    """Check a request, and add its trees and its commit to the draft."""
    draft = batch.draft
    pointers: list[LfsPointer] = []
    checked = check(
        batch,
        request,
        lambda base, change, source: keep(batch, base, change, source, pointers, dry=request.dry_run),
    )
    base, applied, current = checked.base, checked.applied, checked.current
    before = None if base.commit is None else base.root
    files = [
        None if spot is None else result_of(batch, before, change.path, spot)
        for change, spot in zip(request.changes, applied.spots, strict=True)
    ]
    made = draft.commit(
        draft.tree(applied.root),
        () if base.commit is None else (base.commit,),
        author=request.author,
        committer=request.committer,
        message=full_message(request),
    )
    target = request.target
    move = Move(BRANCHES + target, current or ref_changes.zero_id(request.repository), made)
    if batch.rules:
        check_rules(batch, request, move, base, current)
    commit = parse_commit(made, draft.content(made))
    committed = CommitResult(commit, target, tuple(files), batch.known, is_made=not request.dry_run)
    return PreparedCommit(move, committed, tuple(pointers))


def result_of(batch: CommitBatch, before: Folder | None, path: str, spot: Spot) -> FileResult:
    """Return the entry at a path, compared with the tree before."""
    old = Nowhere(path) if before is None else batch.draft.find(before, path)
    known = batch.known.get(spot.id)
    entry = (
        batch.draft.entry(path, spot) if known is None else TreeEntry(raw(path), spot.mode, spot.id, known.size)
    )
    return FileResult(entry, isinstance(old, Nowhere), old != spot)


def full_message(request: CommitRequest) -> str:
    """Return the commit message as stored."""
    message = (request.message or file_changes.default_message(request.changes)).strip() + "\n"
    if request.signoff:
        message += f"\nSigned-off-by: {request.committer.name} <{request.committer.email}>"
    return message


def keep(
    batch: CommitBatch,
    base: Base,
    change: FileChange,
    source: Spot | None,
    pointers: list[LfsPointer],
    *,
    ahead: bool = False,
    dry: bool = False,
) -> str:
    """Store the content of a file and return its blob id; `.gitattributes` may send it to LFS.

    Small contents go with the trees unless `ahead` is set; a `dry` run writes nothing.
    """
    host, repo, durable = batch.host, batch.repo, batch.host.settings.durable_writes
    content = change.content or FileContent(b"")
    large = change.mode != SYMLINK and is_large(batch.draft, base.commit, base.root, change.path)
    if change.operation == "rename" and source is not None:
        was_large = is_large(batch.draft, base.commit, base.root, change.from_path)
        if type_of(source.mode) != "file" or change.mode == SYMLINK or large == was_large:
            return source.id
        found = inflated(host, batch.repository, repo, source.id) if was_large else None
        if was_large and found is None:
            return source.id
        content = found or FileContent(repo.read(source.id, "blob"))
    large = large and not content.is_pointer()
    if dry:
        stored = FileContent(content.described().format()) if large else content
        batch.known[stored.blob_id] = stored
        return stored.blob_id
    if large:
        blob, pointer = content.pointer(host, repo)
        pointers.append(pointer)
        return blob
    small = None if ahead else content.small
    if small is None:
        return content.blob(repo, durable=durable)
    blob = batch.draft.blob(small)
    batch.known[blob] = content
    return blob


def check_protected_files(batch: CommitBatch, request: CommitRequest) -> None:
    """Raise `PushRefused` if branch protection forbids changing one of the files."""
    rule = branch_protection.matching(batch.rules, request.target)
    if rule is None:
        return
    teams = ref_changes.teams_in(batch.host, request.actor, request.repository)
    for change in request.changes:
        reason = branch_protection.may_commit(rule, request.actor, teams, change.path)
        if reason is not None:
            raise PushRefused(reason)


def check_rules(batch: CommitBatch, request: CommitRequest, move: Move, base: Base, current: str | None) -> None:
    """Raise `PushRefused` if branch protection forbids the ref update, as for a push."""
    if branch_protection.matching(batch.rules, request.target) is None:
        return
    paths = sorted({path for change in request.changes for path in (change.path, change.from_path)})

    def about(one: Move) -> branch_protection.BranchChange:
        known = branch_protection.BranchChange(
            request.target, False, lambda: False, lambda: paths, lambda: one.new
        )
        if request.dry_run and base.commit is not None and base.commit != current:
            # git reads the base commit: the new one is not on disk yet.
            below = ref_changes.described(
                batch.repo, msgspec.structs.replace(one, new=base.commit), request.repository.default_branch
            )
            return replace(known, is_forced=below.is_forced, paths=lambda: [*below.paths(), *paths])
        if not request.dry_run and (one.creates or base.commit is None or base.commit != current):
            # Comparisons with another branch need objects on disk.
            batch.draft.write(durable=batch.host.settings.durable_writes)
            return ref_changes.described(batch.repo, one, request.repository.default_branch)
        return known

    refused = ref_changes.check_rules(batch.host, request.repository, request.actor, [move], about)
    if refused:
        raise PushRefused(refused[0][1])


def replay(batch: CommitBatch, request: CommitRequest, key: IdempotencyKey) -> CommitResult | None:
    """Return the result recorded under an idempotency key, or None."""
    used = commit_keys.find_idempotency_key(batch.host.database, request.repository, key)
    if used is None:
        return None
    if used.fingerprint != key.fingerprint:
        raise FileRefused("the Idempotency-Key was used for another request")
    if not used.is_done and not ref_changes.has_moved(batch.repo, used.move):
        with batch.host.database.write() as connection:
            pending_ref_updates.forget(connection, [used.update_id])
        return None
    commit = read_commit(batch.repo, used.move.new)
    root = batch.draft.folder(commit.tree)
    before = None if not commit.parents else batch.draft.folder(read_commit(batch.repo, commit.parents[0]).tree)
    files: list[FileResult | None] = []
    for change in request.changes:
        found = None if change.operation == "delete" else batch.draft.find(root, change.path)
        if found is None or isinstance(found, Nowhere):
            files.append(None)
        else:
            files.append(result_of(batch, before, change.path, found))
    return CommitResult(commit, used.move.ref.removeprefix(BRANCHES), tuple(files))


def land(batch: CommitBatch, ready: Sequence[tuple[Waiting, PreparedCommit]]) -> None:
    """Write the objects, record the pending updates, move the refs, and record the events."""
    host, repo, repository = batch.host, batch.repo, batch.repository
    durable = host.settings.durable_writes
    written = batch.draft.write(durable=durable)
    if durable:
        loose_objects.keep_before(written)
    numbers, linked = announce(host, repository, ready)
    landed: list[tuple[Waiting, PreparedCommit, int]] = []
    lost: list[int] = []
    names: list[str] = []
    try:
        by_ref: dict[str, list[tuple[Waiting, PreparedCommit, int]]] = {}
        for (job, prepared), number in zip(ready, numbers, strict=True):
            by_ref.setdefault(prepared.move.ref, []).append((job, prepared, number))
        for ref, group in by_ref.items():
            old, new = group[0][1].move.old, group[-1][1].move.new
            try:
                names.append(ref_store.replace(repo, ref, old if old.strip("0") else None, new))
            except RefMoved:
                lost += [number for _, _, number in group]
            except HostingError as error:
                lost += [number for _, _, number in group]
                for job, _, _ in group:
                    job.error = error
            else:
                landed += group
    except BaseException:
        # Refs that have moved stay pending, for recovery to record.
        lost = [number for number in numbers if all(number != landed_number for _, _, landed_number in landed)]
        raise
    finally:
        if lost:
            needed = {pointer.oid for _, prepared, _ in landed for pointer in prepared.pointers}
            forget(host, repository, lost, linked - needed)
    if not landed:
        return
    if durable:
        loose_objects.sync_names(names)
    landed.sort(key=lambda one: one[2])
    told = [
        Announced(job.request.actor.id, [number], [one.move], commits_of(one), files_of(job.request, one))
        for job, one, number in landed
    ]
    ref_changes.settle_all(host, repository, told, durable=False)
    for job, prepared, _ in landed:
        job.result = prepared.committed


def commits_of(prepared: PreparedCommit) -> tuple[Commit, ...] | None:
    """Return the new commits of a branch; None if the commit is based on another branch."""
    commit = prepared.committed.commit
    return (commit,) if commit.parents == (prepared.move.old,) else None


def files_of(request: CommitRequest, prepared: PreparedCommit) -> TreeChanges | None:
    """Return the changed files of a commit of one file; those of others are read on demand."""
    if commits_of(prepared) is None or len(request.changes) != 1:
        return None
    change, result = request.changes[0], prepared.committed.files[0]
    if change.operation == "rename" or change.moves:
        return None
    status: Status = "removed" if result is None else "added" if result.is_new else "modified"
    if result is not None and not result.is_changed:
        return TreeChanges(())
    return TreeChanges((TreeChange(raw(change.path), status, 0, 0, "", ""),))


def announce(
    app: App, repository: Repository, ready: Sequence[tuple[Waiting, PreparedCommit]]
) -> tuple[list[int], set[str]]:
    """Record pending ref updates, idempotency keys and LFS links.

    Returns the ids of the pending updates, and which LFS objects are new to the repository. Raises `GoneMeanwhile`
    if the repository or a user was deleted.
    """
    try:
        return write_down(app, repository, ready)
    except (IntegrityError, sqlite3.IntegrityError) as error:
        raise GoneMeanwhile(
            f"repository {repository.full_name} or its caller was deleted in the meantime"
        ) from error


def write_down(
    app: App, repository: Repository, ready: Sequence[tuple[Waiting, PreparedCommit]]
) -> tuple[list[int], set[str]]:
    """Do what `announce` does, without translating integrity errors."""
    pointers = {pointer.oid: pointer.size for _, prepared in ready for pointer in prepared.pointers}
    pending = [(job.request.actor.id, prepared.move) for job, prepared in ready]
    if not pointers and all(job.request.key is None for job, _ in ready):
        with app.database.quick_write() as link:
            return pending_ref_updates.add_moves(link, repository, pending, under_lock=True), set()
    with app.database.write() as connection:
        numbers = pending_ref_updates.add_moves(connection, repository, pending, under_lock=True)
        keys = [
            (job.request.key, number)
            for (job, _), number in zip(ready, numbers, strict=True)
            if job.request.key is not None
        ]
        if keys:
            commit_keys.delete_expired_keys(connection)
            commit_keys.add_idempotency_keys(connection, repository, keys)
        linked = lfs.add_links(connection, repository, pointers) if pointers else set()
    return numbers, linked


def forget(app: App, repository: Repository, numbers: Sequence[int], linked: set[str]) -> None:
    """Delete pending updates that did not happen, and the links of their LFS objects."""
    with app.database.write() as connection:
        pending_ref_updates.forget(connection, numbers)
        if linked:
            lfs.remove_links(connection, repository, linked)
