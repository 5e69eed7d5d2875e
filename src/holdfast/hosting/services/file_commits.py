"""Commits of changed files to a branch: authorization, idempotency keys and group commit.

Requests for one repository are committed in groups: one of the waiting threads creates the commits of all waiting
requests, each on top of the previous one, as one pack in one transaction. When another machine or a push updated
the branch first (compare-and-set fails), the checks run again on the new commit.
"""

import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import partial
from typing import Final

import msgspec

from holdfast.hosting import access
from holdfast.hosting.access import Actor, RepositoryAccess, Unit
from holdfast.hosting.app import App
from holdfast.hosting.errors import (
    FileRefused,
    HostingError,
    NewBranchExists,
    NoSuchBranch,
    Outdated,
    PushRefused,
    RefBusy,
    RefMoved,
)
from holdfast.hosting.git import refs
from holdfast.hosting.git.changes import Status, TreeChange, TreeChanges
from holdfast.hosting.git.commits import Commit, Signature, parse_commit, read_commit
from holdfast.hosting.git.encoding import raw
from holdfast.hosting.git.identities import commit_email, commit_name
from holdfast.hosting.git.repository import Repo
from holdfast.hosting.git.tree_entries import Folder
from holdfast.hosting.git.tree_writer import Draft, Nowhere, PathEntry
from holdfast.hosting.git.trees import SYMLINK, TreeEntry, type_of
from holdfast.hosting.lfs.pointer import LfsPointer
from holdfast.hosting.services import branch_protection, file_changes, maintainer_edits, ref_updates
from holdfast.hosting.services.contention import contention_lock, note_contention
from holdfast.hosting.services.fields import check_ref_field, check_required
from holdfast.hosting.services.file_changes import AppliedChanges, Base, FileChange
from holdfast.hosting.services.file_contents import FileContent, inflated, is_large
from holdfast.hosting.services.ref_updates import BRANCHES, ActorUpdates
from holdfast.hosting.storage.batch_queue import QueuedRequest
from holdfast.hosting.storage.pack_files import INLINE_LIMIT, new_pack, pack_ids
from holdfast.hosting.store import commit_keys, lfs, protections, repository_log
from holdfast.hosting.store.accounts import Account
from holdfast.hosting.store.commit_keys import IdempotencyKey
from holdfast.hosting.store.prepared_statements import Link
from holdfast.hosting.store.protections import Protection
from holdfast.hosting.store.ref_updates import RefUpdate
from holdfast.hosting.store.repositories import Repository
from holdfast.hosting.store.repository_log import NewPack

__all__ = ["CommitRequest", "CommitResult", "FileCommit", "FileResult", "commit", "commit_files"]

# Maximum attempts when other writers update the branch between our read and our compare-and-set.
ATTEMPTS: Final = 20


class CommitRequest(msgspec.Struct, frozen=True, kw_only=True):
    """An authorized request to commit; `branch` defaults to the default branch and `new_branch` to `branch`."""

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
    packs: tuple[NewPack, ...] = ()
    """Packs with the contents that were too large to wait in memory."""
    packed: frozenset[str] = frozenset()
    """The ids of the blobs in these packs."""

    @property
    def source(self) -> str:
        """The branch whose tip is the parent commit."""
        return self.branch or self.repository.default_branch

    @property
    def target(self) -> str:
        """The branch that is updated to the commit."""
        return self.new_branch or self.branch or self.repository.default_branch


class FileCommit(msgspec.Struct, frozen=True, kw_only=True):
    """File changes to commit, and the options of the commit.

    An empty `branch` is the default branch, an empty `new_branch` is `branch`. Author and committer default to the
    actor.
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
    """The entry at a path after a commit, and how the commit changed it."""

    entry: TreeEntry
    is_new: bool
    is_changed: bool


@dataclass(frozen=True, slots=True)
class CommitResult:
    """A commit that was created, or would be by a dry run; a deleted file has no result."""

    commit: Commit
    branch: str
    files: tuple[FileResult | None, ...]
    known: Mapping[str, FileContent] = field(default_factory=dict, compare=False)
    """The file contents that are in memory, by blob id."""
    is_made: bool = True
    """Whether the commit exists; False for a dry run, which stores no objects."""


class PreparedCommit(msgspec.Struct, frozen=True):
    """A commit ready to be recorded: the update of its branch, and the LFS objects it refers to."""

    update: RefUpdate
    committed: CommitResult
    pointers: tuple[LfsPointer, ...]


Waiting = QueuedRequest[CommitRequest, CommitResult]


class CommitBatch(msgspec.Struct):
    """A group commit: the branch heads including prepared commits, and the protection rules."""

    host: App
    repository: Repository
    draft: Draft
    rules: list[Protection]
    heads: dict[str, str | None] = msgspec.field(default_factory=dict)
    known: dict[str, FileContent] = msgspec.field(default_factory=dict)

    @property
    def repo(self) -> Repo:
        """The local copy."""
        return self.draft.repo

    def head(self, branch: str) -> str | None:
        """Return the commit a branch points to, including prepared commits."""
        if branch not in self.heads:
            self.heads[branch] = repository_log.find_ref(self.host.database, self.repository.id, BRANCHES + branch)
        return self.heads[branch]

    def check_name(self, branch: str) -> None:
        """Raise `RefRefused` for a new branch whose name conflicts with another (`a` and `a/b`)."""
        ref = BRANCHES + branch
        with self.host.database.read() as connection:
            existing_ref = repository_log.conflicting_ref(connection, self.repository.id, ref)
        new_refs = (BRANCHES + name for name, head in self.heads.items() if head is not None)
        beside = (
            name for name in new_refs if f"{name}/".startswith(f"{ref}/") or f"{ref}/".startswith(f"{name}/")
        )
        conflict = existing_ref or next(beside, None)
        if conflict is not None:
            raise ref_updates.name_conflict(ref, conflict)

    def is_empty(self) -> bool:
        """Return whether there is no branch and no tag, including prepared commits."""
        return not any(self.heads.values()) and not repository_log.has_refs(self.host.database, self.repository.id)


def commit(app: App, actor: Actor, target: RepositoryAccess, file_commit: FileCommit) -> CommitResult:
    """Commit file changes to a branch for an actor, or return what a dry run would commit."""
    access.require_read(target, Unit.CODE)
    access.require_editable(target)
    user = access.require_login(actor)
    maintainer_edits.require_branch_write(
        app, actor, target, file_commit.new_branch or file_commit.branch or target.repository.default_branch
    )
    check_ref_field(file_commit.branch, "BranchName")
    check_ref_field(file_commit.new_branch, "NewBranchName")
    for change in file_commit.changes:
        check_required(change.path, "Path")
    own = Signature(commit_name(user), commit_email(user), int(time.time()), 0)
    return commit_files(
        app,
        CommitRequest(
            repository=target.repository,
            actor=user,
            changes=file_commit.changes,
            author=file_commit.author or own,
            committer=file_commit.committer or own,
            message=file_commit.message,
            branch=file_commit.branch,
            new_branch=file_commit.new_branch,
            force=file_commit.force,
            signoff=file_commit.signoff,
            expected_head=file_commit.expected_head,
            dry_run=file_commit.dry_run,
            key=file_commit.key,
        ),
    )


def commit_files(app: App, request: CommitRequest) -> CommitResult:
    """Commit file changes without authorization, or preview them in a dry run; `commit` is for users."""
    repository = request.repository
    changes = [file_changes.cleaned(change) for change in request.changes]
    commit_request = msgspec.structs.replace(request, changes=changes)
    if request.dry_run:
        return prepare(open_batch(app, repository), commit_request).committed
    large = large_contents(changes)
    if large and (
        commit_request.key is None or commit_keys.find_key(app.database, repository, commit_request.key) is None
    ):
        commit_request = pack_ahead(open_batch(app, repository), commit_request, large)
    commit_result: CommitResult = app.commit_queue.submit(repository.id, commit_request, partial(commit_all, app))
    app.pushed.add(repository.id)
    return commit_result


def large_contents(changes: Sequence[FileChange]) -> list[FileChange]:
    """Return the changes whose contents are packed before the batch, so that no other writer waits for them.

    Small contents go into the pack of the batch, which is stored in its row, unless they are too large together.
    """
    contents = [(change, change.content) for change in changes if change.content is not None]
    exceed_row = sum(content.size for _, content in contents) > INLINE_LIMIT
    return [change for change, content in contents if exceed_row or content.small is None]


def pack_ahead(batch: CommitBatch, request: CommitRequest, large: Sequence[FileChange]) -> CommitRequest:
    """Check the request, then pack and store the contents of large files; return the request with the packs."""
    checked = check(batch, request, lambda _base, _change, _source: ref_updates.zero_id(request.repository))
    blobs: list[str] = []
    for change in large:
        content = change.content or FileContent(b"")
        if is_lfs(batch, checked.base, change):
            content.pointer(batch.host)
        else:
            blobs.append(content.add_to_copy(batch.repo))
    pack = pack_ids(batch.host.store, batch.repo, blobs) if blobs else None
    return request if pack is None else msgspec.structs.replace(request, packs=(pack,), packed=frozenset(blobs))


def open_batch(app: App, repository: Repository) -> CommitBatch:
    """Start a batch on the current refs."""
    draft = Draft(app.copies.open_any(repository.id), lambda: app.copies.update(repository.id))
    return CommitBatch(app, repository, draft, protections.protections_of(app.database, repository))


def commit_all(app: App, jobs: Sequence[Waiting]) -> None:
    """Create the commits of all queued requests for a repository, with retries."""
    repository = jobs[0].request.repository
    queued_requests = jobs
    for _ in range(ATTEMPTS):
        with app.copies.locked(repository.id), contention_lock(app, repository.id):
            attempt(open_batch(app, repository), queued_requests)
        queued_requests = [job for job in queued_requests if not job.is_done]
        if not queued_requests:
            return
        note_contention(app, repository.id)
    for job in queued_requests:
        job.error = RefBusy(f"{BRANCHES}{job.request.target} is updated by others all the time; try again")


def attempt(batch: CommitBatch, jobs: Sequence[Waiting]) -> None:
    """Create the commits of all valid requests; none is recorded if another writer updated one of the branches."""
    ready: list[tuple[Waiting, PreparedCommit]] = []
    replayed: dict[tuple[int, str], Waiting] = {}
    for job in jobs:
        try:
            key = job.request.key
            if key is not None:
                commit_result = replay(batch, job.request, key)
                if commit_result is not None:
                    job.result = commit_result
                    continue
                if (key.user_id, key.name) in replayed:
                    continue  # the same key twice in one batch: the next attempt replays the first commit
                replayed[key.user_id, key.name] = job
            prepared = prepare(batch, job.request)
        except HostingError as error:
            job.error = error
        else:
            batch.heads[prepared.committed.branch] = prepared.update.new
            ready.append((job, prepared))
    if ready:
        land(batch, ready)


class CheckedCommit(msgspec.Struct, frozen=True):
    """A valid request: its parent commit, the resulting tree, and the current commit of its branch."""

    base: Base
    applied: AppliedChanges
    current: str | None


def check(
    batch: CommitBatch, request: CommitRequest, keep_file: Callable[[Base, FileChange, PathEntry | None], str]
) -> CheckedCommit:
    """Check a request against the current state of its branch."""
    source, target = request.source, request.target
    head = batch.head(source)
    if head is None and not batch.is_empty():
        raise NoSuchBranch(request.repository.id, source)
    if request.expected_head and request.expected_head != (head or ""):
        raise Outdated(f"the branch {source} is at {head or 'nothing'}, not at {request.expected_head}")
    is_new = target != source
    current = batch.head(target)
    if is_new and current is not None and not request.force:
        raise NewBranchExists(target)
    if current is None:
        refs.check_new_branch(target)
        batch.check_name(target)
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
        lambda base, change, source: keep(batch, request, base, change, source, pointers=pointers),
    )
    base, applied, current = checked.base, checked.applied, checked.current
    before = None if base.commit is None else base.root
    files = [
        None if spot is None else result_of(batch, before, change.path, spot)
        for change, spot in zip(request.changes, applied.spots, strict=True)
    ]
    commit_id = draft.commit(
        draft.tree(applied.root),
        () if base.commit is None else (base.commit,),
        author=request.author,
        committer=request.committer,
        message=full_message(request),
    )
    target = request.target
    update = RefUpdate(BRANCHES + target, current or ref_updates.zero_id(request.repository), commit_id)
    if batch.rules:
        check_rules(batch, request, update, base, current)
    commit = parse_commit(commit_id, draft.content(commit_id))
    committed = CommitResult(commit, target, tuple(files), batch.known, is_made=not request.dry_run)
    return PreparedCommit(update, committed, tuple(pointers))


def result_of(batch: CommitBatch, before: Folder | None, path: str, spot: PathEntry) -> FileResult:
    """Return the entry at a path, compared with the previous tree."""
    old = Nowhere(path) if before is None else batch.draft.find(before, path)
    file_content = batch.known.get(spot.id)
    entry = (
        batch.draft.entry(path, spot)
        if file_content is None
        else TreeEntry(raw(path), spot.mode, spot.id, file_content.size)
    )
    return FileResult(entry, isinstance(old, Nowhere), old != spot)


def full_message(request: CommitRequest) -> str:
    """Return the commit message to store, with the `Signed-off-by` trailer if requested."""
    message = (request.message or file_changes.default_message(request.changes)).strip() + "\n"
    if request.signoff:
        message += f"\nSigned-off-by: {request.committer.name} <{request.committer.email}>"
    return message


def is_lfs(batch: CommitBatch, base: Base, change: FileChange) -> bool:
    """Return whether `.gitattributes` stores a file in LFS; False for content that is already a pointer."""
    if change.mode == SYMLINK or not is_large(batch.draft, base.commit, base.root, change.path):
        return False
    return change.content is None or not change.content.is_pointer()


def keep(
    batch: CommitBatch,
    request: CommitRequest,
    base: Base,
    change: FileChange,
    source: PathEntry | None,
    *,
    pointers: list[LfsPointer],
) -> str:
    """Add the content of a file to the draft, or an LFS pointer if `.gitattributes` says so; return the blob id.

    Large contents were packed before the batch, unless `.gitattributes` changed since. A dry run stores nothing.
    """
    host, dry = batch.host, request.dry_run
    content = change.content or FileContent(b"")
    becomes_lfs = is_lfs(batch, base, change)
    if change.operation == "rename" and source is not None:
        was_lfs = is_large(batch.draft, base.commit, base.root, change.from_path)
        if type_of(source.mode) != "file" or change.mode == SYMLINK or becomes_lfs == was_lfs:
            return source.id
        batch.draft.require(source.id)
        file_content = inflated(host, batch.repository, batch.repo, source.id) if was_lfs else None
        if was_lfs and file_content is None:
            return source.id
        content = file_content or FileContent(batch.draft.read(source.id, "blob"))
    if becomes_lfs and not content.is_pointer():
        pointer = content.described() if dry else content.pointer(host)
        if not dry:
            pointers.append(pointer)
        content = FileContent(pointer.format())
    is_preview = dry and content.small is None and change.content is content
    is_packed = bool(request.packed) and content.blob_id in request.packed
    blob = content.blob_id if is_preview or is_packed else batch.draft.blob(content.whole())
    batch.known[blob] = content
    return blob


def check_protected_files(batch: CommitBatch, request: CommitRequest) -> None:
    """Check each file against the branch protection rule."""
    rule = branch_protection.rule_for(batch.rules, request.target)
    if rule is None:
        return
    teams = ref_updates.teams_in(batch.host, request.actor, request.repository)
    for change in request.changes:
        reason = branch_protection.may_commit(rule, request.actor, teams, change.path)
        if reason is not None:
            raise PushRefused(reason)


def check_rules(
    batch: CommitBatch, request: CommitRequest, update: RefUpdate, base: Base, current: str | None
) -> None:
    """Check the branch update against the branch protection rule, as for a push."""
    if branch_protection.rule_for(batch.rules, request.target) is None:
        return
    paths = sorted({path for change in request.changes for path in (change.path, change.from_path)})

    def about(ref_update: RefUpdate) -> branch_protection.BranchChange:
        branch_change = branch_protection.BranchChange(
            request.target, False, lambda: False, lambda: paths, lambda: ref_update.new
        )
        if base.commit is not None and base.commit != current:
            # Checked with the parent commit. The copy may lack it: commits write no local files.
            batch.draft.make_readable(base.commit)
            below = ref_updates.branch_change_of(
                batch.repo, msgspec.structs.replace(ref_update, new=base.commit), request.repository.default_branch
            )
            return replace(branch_change, is_forced=below.is_forced, paths=lambda: [*below.paths(), *paths])
        return branch_change

    refused = ref_updates.check_rules(batch.host, request.repository, request.actor, [update], about)
    if refused:
        raise PushRefused(refused[0][1])


def replay(batch: CommitBatch, request: CommitRequest, key: IdempotencyKey) -> CommitResult | None:
    """Return the stored result of an idempotency key; None if the key is new."""
    used = commit_keys.find_key(batch.host.database, request.repository, key)
    if used is None:
        return None
    if used.fingerprint != key.fingerprint:
        raise FileRefused("the Idempotency-Key was used for another request")
    batch.draft.require(used.commit_id)
    commit = read_commit(batch.repo, used.commit_id)
    root = batch.draft.folder(commit.tree)
    before = None if not commit.parents else batch.draft.folder(read_commit(batch.repo, commit.parents[0]).tree)
    files: list[FileResult | None] = []
    for change in request.changes:
        entry = None if change.operation == "delete" else batch.draft.find(root, change.path)
        if entry is None or isinstance(entry, Nowhere):
            files.append(None)
        else:
            files.append(result_of(batch, before, change.path, entry))
    return CommitResult(commit, used.ref.removeprefix(BRANCHES), tuple(files))


def land(batch: CommitBatch, ready: Sequence[tuple[Waiting, PreparedCommit]]) -> None:
    """Record the prepared commits in one transaction; none of them if a branch has moved meanwhile."""
    host, repository = batch.host, batch.repository
    packs = [new_pack(batch.draft.objects()), *(pack for job, _ in ready for pack in job.request.packs)]
    updates = [
        ActorUpdates(
            job.request.actor.id,
            [prepared_commit.update],
            commits_of(prepared_commit),
            files_of(job.request, prepared_commit),
        )
        for job, prepared_commit in ready
    ]
    if any(actor_updates.files is None for actor_updates in updates):
        # Webhook payloads read these objects from the local copy.
        batch.draft.add_to_copy()
    keys = [
        (job.request.key, prepared_commit.update) for job, prepared_commit in ready if job.request.key is not None
    ]
    pointers = {pointer.oid: pointer.size for _, prepared_commit in ready for pointer in prepared_commit.pointers}

    def within(link: Link) -> None:
        if keys:
            commit_keys.delete_old(link)
            commit_keys.add_keys(link, repository, keys)
        if pointers:
            lfs.add_links(link, repository, pointers)

    try:
        ref_updates.record(host, repository, updates, packs, durable=host.settings.durable_writes, within=within)
    except RefMoved:
        return  # the next attempt starts from the new branch heads
    batch.draft.keep_recent()
    for job, prepared in ready:
        job.result = prepared.committed


def commits_of(prepared: PreparedCommit) -> tuple[Commit, ...] | None:
    """Return the commits added to the branch: the new one, or None if it is based on another branch."""
    commit = prepared.committed.commit
    return (commit,) if commit.parents == (prepared.update.old,) else None


def files_of(request: CommitRequest, prepared: PreparedCommit) -> TreeChanges | None:
    """Return the changes of a commit of one file; else None: they are read on demand."""
    if commits_of(prepared) is None or len(request.changes) != 1:
        return None
    change, result = request.changes[0], prepared.committed.files[0]
    if change.operation == "rename" or change.moves:
        return None
    status: Status = "removed" if result is None else "added" if result.is_new else "modified"
    if result is not None and not result.is_changed:
        return TreeChanges(())
    return TreeChanges((TreeChange(raw(change.path), status, 0, 0, "", ""),))
