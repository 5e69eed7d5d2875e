"""Ref updates: branch protection, then one transaction with the refs, their objects and their events.

Every write to a repository ends here: commits through the API, pushes, branches and tags. The objects are in a
pack before the transaction begins. The transaction does the compare-and-set of the refs and records the packs, the
log, the webhook events (outbox), the idempotency keys and the issues that closing keywords close; when it has
committed, the write is acknowledged.
"""

from collections.abc import Callable, Iterable, Mapping, Sequence
from pathlib import Path
from typing import Final

import msgspec
from sqlalchemy import Connection

from holdfast.hosting.app import App
from holdfast.hosting.errors import DefaultBranchRefused, PushRefused, RefMoved, RefRefused
from holdfast.hosting.git import history, refs
from holdfast.hosting.git.changes import TreeChanges, changes_between
from holdfast.hosting.git.commits import Commit, read_commit
from holdfast.hosting.git.encoding import well_formed
from holdfast.hosting.git.repository import Repo
from holdfast.hosting.services import branch_protection, commit_references, pull_heads, tag_protection
from holdfast.hosting.services.commit_references import CommitReference
from holdfast.hosting.storage.pack_files import pack_omitted, pack_unreachable
from holdfast.hosting.store import (
    hook_subscriptions,
    protections,
    pulls,
    ref_events,
    releases,
    repositories,
    repository_log,
    tag_protections,
)
from holdfast.hosting.store.accounts import Account
from holdfast.hosting.store.issue_transactions import lock_graph, lock_repository_rows
from holdfast.hosting.store.prepared_statements import Link
from holdfast.hosting.store.ref_updates import RefUpdate
from holdfast.hosting.store.repositories import Repository
from holdfast.hosting.store.repository_log import NewPack
from holdfast.hosting.webhooks.payloads.pushes import PushedCommits, read_push

__all__ = [
    "ActorUpdates",
    "branch_change_of",
    "check_rules",
    "read_pushes",
    "record",
    "teams_in",
    "update_refs",
    "zero_id",
]

BRANCHES: Final = "refs/heads/"
TAGS: Final = "refs/tags/"
# Maximum refs of one push whose webhook payload has the commits; each needs a git command.
DETAILED_REFS: Final = 50


class ActorUpdates(msgspec.Struct, frozen=True):
    """Ref updates by one user."""

    actor_id: int | None
    updates: Sequence[RefUpdate]
    commits: Sequence[Commit] | None = None
    """All commits that the updates add, oldest first, if they are in memory."""
    files: TreeChanges | None = None
    """The changes of the commit, if there is only one and they are in memory."""
    options: Sequence[str] = ()
    """The options of the push (`git push -o`)."""


def zero_id(repository: Repository) -> str:
    """Return the null object id (all zeros)."""
    return "0" * (64 if repository.object_format == "sha256" else 40)


def teams_in(app: App, user: Account, repository: Repository) -> frozenset[int]:
    """Return the teams of the repository's organization that a user is a member of."""
    if not repository.owner.is_organization:
        return frozenset()
    grants = repositories.grants_of(app.database, user, repository)
    return frozenset(grant.team_id for grant in grants if grant.team_id is not None)


def check_rules(
    app: App,
    repository: Repository,
    actor: Account,
    updates: Sequence[RefUpdate],
    describe: Callable[[RefUpdate], branch_protection.BranchChange],
    *,
    by_deploy_key: bool = False,
) -> list[tuple[RefUpdate, str]]:
    """Return the updates that branch and tag protection reject, each with the reason."""
    rejected = check_tags(app, repository, actor, updates, by_deploy_key=by_deploy_key)
    branches = [update for update in updates if update.ref.startswith(BRANCHES)]
    rules = protections.protections_of(app.database, repository) if branches else []
    if not rules:
        return rejected
    teams = frozenset[int]() if by_deploy_key else teams_in(app, actor, repository)
    for update in branches:
        rule = branch_protection.rule_for(rules, update.ref.removeprefix(BRANCHES))
        if rule is None:
            continue
        change = describe(update)
        try:
            reason = branch_protection.refusal_of(rule, change, actor, teams, by_deploy_key=by_deploy_key)
        except PushRefused as error:
            reason = str(error)
        if reason is not None:
            rejected.append((update, reason))
    return rejected


def check_tags(
    app: App, repository: Repository, actor: Account, updates: Sequence[RefUpdate], *, by_deploy_key: bool
) -> list[tuple[RefUpdate, str]]:
    """Return the tag updates that tag protection rejects, each with the reason."""
    tags = [update for update in updates if update.ref.startswith(TAGS)]
    rules = tag_protections.tag_protections_of(app.database, repository) if tags else []
    if not rules:
        return []
    teams = frozenset[int]() if by_deploy_key else teams_in(app, actor, repository)
    names = ((update, update.ref.removeprefix(TAGS)) for update in tags)
    return [
        (update, f"Tag {well_formed(name)} is protected")
        for update, name in names
        if not tag_protection.is_allowed(rules, name, actor, teams, by_deploy_key=by_deploy_key)
    ]


def branch_change_of(repo: Repo, update: RefUpdate, default_branch: str) -> branch_protection.BranchChange:
    """Describe an update between commits that are already in the repository."""

    def before() -> str | None:
        if not update.creates:
            return update.old
        default = refs.branch(repo, default_branch)
        return None if default is None else history.merge_base(repo, default.id, update.new)

    def is_forced() -> bool:
        return not update.creates and history.merge_base(repo, update.old, update.new) != update.old

    def paths() -> list[str]:
        base = before()
        old = None if base is None else read_commit(repo, base).tree
        changed = changes_between(repo, old, read_commit(repo, update.new).tree)
        if changed.truncated:
            branch = well_formed(update.ref.removeprefix(BRANCHES))
            raise PushRefused(f"Branch {branch} has file patterns, and too many files are changed to check them")
        return [change.path for change in changed.files]

    def unsigned() -> str | None:
        base = before()
        new = history.commit_range(repo, update.new, exclude=[] if base is None else [base])
        # No user's keys are known here, so no signature is valid.
        return next(iter(history.commit_ids(repo, new, limit=1)), None)

    return branch_protection.BranchChange(
        update.ref.removeprefix(BRANCHES), update.deletes, is_forced, paths, unsigned
    )


def update_refs(
    app: App,
    repository: Repository,
    actor: Account,
    updates: Sequence[RefUpdate],
    *,
    packs: Sequence[NewPack] = (),
    parents: Sequence[str] = (),
    within: Callable[[Link], None] | None = None,
    locked: Callable[[Connection], None] | None = None,
    may_delete_default: bool = False,
) -> None:
    """Update refs to objects that are in the repository or in `packs`, all of them or none.

    `parents` are the objects of the repository that objects in `packs` refer to. `within` and `locked` run in the
    same transaction, and the default branch is kept, as in `record`. Raises `RefMoved` when the compare-and-set of
    one of the refs fails.
    """
    with app.copies.writing(repository.id) as repo:
        rejected = check_rules(
            app,
            repository,
            actor,
            updates,
            lambda update: branch_change_of(repo, update, repository.default_branch),
        )
        if rejected:
            raise PushRefused(rejected[0][1])
        if not any(update.has_effect for update in updates):
            return
        check_names(app, repository, updates)
        targets = parents if packs else [update.new for update in updates if not update.deletes]
        packs = [*packs, *pack_targets(app, repository, repo, targets)]
        record(
            app,
            repository,
            [ActorUpdates(actor.id, updates)],
            packs,
            within=within,
            locked=locked,
            may_delete_default=may_delete_default,
        )
        # The caller reads the ref from the copy for its response.
        app.copies.update(repository.id)


def check_names(app: App, repository: Repository, updates: Sequence[RefUpdate]) -> None:
    """Raise `RefRefused` for a new ref whose name conflicts with a remaining one (`a` and `a/b`)."""
    deleted = {update.ref for update in updates if update.deletes}
    with app.database.read() as connection:
        for update in updates:
            existing_ref = (
                repository_log.conflicting_ref(connection, repository.id, update.ref) if update.creates else None
            )
            if existing_ref is not None and existing_ref not in deleted:
                raise name_conflict(update.ref, existing_ref)


def name_conflict(ref: str, existing_ref: str) -> RefRefused:
    """Return the error for a ref whose name conflicts with an existing one."""
    return RefRefused(f"{well_formed(ref)} cannot be there beside {well_formed(existing_ref)}")


def pack_targets(
    app: App, repository: Repository, repo: Repo, targets: Iterable[str], files: Sequence[Path] = ()
) -> list[NewPack]:
    """Pack objects reachable from new targets that are neither reachable from a ref nor in the packs `files`."""
    objects = sorted(set(targets))
    with app.database.read() as connection:
        recorded_targets = repository_log.known_targets(connection, repository.id, objects)
    missing = [object_id for object_id in objects if object_id not in recorded_targets]
    if not missing:
        return []
    new_pack = (
        pack_omitted(app.store, repo, missing, files) if files else pack_unreachable(app.store, repo, missing)
    )
    return [] if new_pack is None else [new_pack]


def record(
    app: App,
    repository: Repository,
    batches: Sequence[ActorUpdates],
    packs: Sequence[NewPack],
    *,
    atomic: bool = True,
    durable: bool = True,
    within: Callable[[Link], None] | None = None,
    locked: Callable[[Connection], None] | None = None,
    mentioned: Sequence[CommitReference] = (),
    own_number: int = 0,
    may_delete_default: bool = False,
) -> list[RefUpdate]:
    """Record ref updates in order, in one transaction, and return those rejected because their ref has moved.

    The deletion of the default branch, as it is in the transaction, is rejected too unless `may_delete_default`.
    With `atomic`, the default, one rejected update raises `RefMoved` or `DefaultBranchRefused`, and nothing is
    committed. Pull requests from and into a deleted branch are closed. Without `durable` the commit does not wait
    for the disk (fsync). The caller holds the lock of the local copy. `within` and `locked` run in the same
    transaction, `locked` with the dependency graph and the repository locked. `mentioned` are issue references
    besides those of the commits; `own_number` is the pull request that a merge commit itself names.
    """
    updates = [update for batch in batches for update in batch.updates]
    references = [
        (update, reference)
        for batch in batches
        if batch.actor_id is not None
        for update in batch.updates
        for reference in commit_references.find_references(app, repository, batch.actor_id, update, batch.commits)
        if not own_number or (reference.repository, reference.reference.number) != (("", ""), own_number)
    ]
    default_branch = new_default_branch(repository, updates)
    pushes = read_pushes(app, repository, batches, default_branch)
    ranges = read_ranges(app, repository, batches)
    rejected: list[RefUpdate] = []

    def write(link: Link) -> None:
        nonlocal rejected
        kept = [] if may_delete_default else refused_deletions(link, repository, updates, atomic=atomic)
        rows = [(batch.actor_id, update) for batch in batches for update in batch.updates if update not in kept]
        _, moved = repository_log.append(link, repository.id, rows, packs)
        rejected = [*kept, *moved]
        if rejected and atomic:
            raise RefMoved(f"{well_formed(rejected[0].ref)} was updated by another request")
        lost = set(rejected)
        landed = [update for update in updates if update not in lost]
        # Before the events, whose payloads show the repository after the push.
        note_refs(link, repository, landed, sum(pack.size for pack in packs))
        deleted = [update.ref for update in landed if update.deletes and update.ref.startswith(TAGS)]
        if deleted:
            releases.withdraw_tags(link, repository, [ref.removeprefix(TAGS) for ref in deleted])
        for actor_updates in batches:
            ref_events.record_updates(
                link,
                repository,
                actor_updates.actor_id,
                [update for update in actor_updates.updates if update not in lost],
                options=actor_updates.options,
                preloaded=pushes,
            )
            pull_heads.record_moves(
                link,
                repository,
                actor_updates.actor_id,
                [update for update in actor_updates.updates if update not in lost],
                ranges,
            )
        if within is not None:
            within(link)

    deletions = [
        (batch.actor_id, [update.ref.removeprefix(BRANCHES) for update in batch.updates if deletes_branch(update)])
        for batch in batches
        # A pull request is closed by somebody.
        if batch.actor_id is not None and any(map(deletes_branch, batch.updates))
    ]
    # The first branch of an empty repository may become its default branch.
    is_plain = not repository.is_empty and not (references or ranges or mentioned or deletions)
    # The payload of a pull request needs queries that are not prepared statements.
    if not is_plain or locked is not None:
        with app.database.write() as connection:
            if locked is not None or deletions:
                lock_graph(connection)
                lock_repository_rows(connection, {repository.id})
            named = [*(reference for _, reference in references), *mentioned]
            places = (
                commit_references.lock_repositories(app.database, connection, repository, named) if named else {}
            )
            if repository.is_empty:
                set_first_branch(connection, repository, updates)
            write(connection)
            if locked is not None:
                locked(connection)
            for actor_id, branches in deletions:
                pull_heads.close_orphans(app.database, connection, repository, actor_id, branches)
            lost = set(rejected)
            landed = [*(reference for update, reference in references if update not in lost), *mentioned]
            if landed:
                newest = commit_references.newest(landed)
                commit_references.apply(app.database, connection, repository, places, newest)
    else:
        with app.database.quick_write(durable=durable) as link:
            write(link)
    app.moved.add(repository.id)
    return rejected


def deletes_branch(update: RefUpdate) -> bool:
    """Return whether an update deletes a branch."""
    is_named = update.ref.startswith(BRANCHES) and well_formed(update.ref) == update.ref
    return update.deletes and update.has_effect and is_named


def read_ranges(
    app: App, repository: Repository, actor_updates: Sequence[ActorUpdates]
) -> dict[RefUpdate, pull_heads.PushedRange]:
    """Read the commits of updated branches that are heads of open pull requests, for their timelines."""
    if not repository.open_pulls:
        return {}
    moved = [
        (batch, update)
        for batch in actor_updates
        for update in batch.updates
        if update.keeps_ref and update.ref.startswith(BRANCHES) and well_formed(update.ref) == update.ref
    ]
    return {
        update: pull_heads.pushed_range(app, repository, update, actor_updates.commits)
        for actor_updates, update in moved[:DETAILED_REFS]
        if pulls.is_open_head(app.database, repository.id, update.ref.removeprefix(BRANCHES))
    }


def note_refs(link: Link, repository: Repository, updates: Sequence[RefUpdate], bytes_added: int) -> None:
    """Update the columns of a repository that are derived from its refs: branch count, emptiness, last push."""
    branches = [update for update in updates if update.ref.startswith(BRANCHES)]
    change = sum(update.creates for update in branches) - sum(update.deletes for update in branches)
    repositories.set_refs_changed(
        link,
        repository,
        branch_change=change,
        pushed=any(not update.deletes for update in updates),
        bytes_added=bytes_added,
    )


def new_default_branch(repository: Repository, updates: Sequence[RefUpdate]) -> str:
    """Return the default branch after an update: the first branch pushed to an empty repository becomes it."""
    if not repository.is_empty:
        return repository.default_branch
    new_branches = [
        update.ref.removeprefix(BRANCHES)
        for update in updates
        # A branch name that is not valid UTF-8 cannot be the default branch.
        if update.ref.startswith(BRANCHES) and not update.deletes and well_formed(update.ref) == update.ref
    ]
    return (
        new_branches[0]
        if new_branches and repository.default_branch not in new_branches
        else repository.default_branch
    )


def set_first_branch(connection: Connection, repository: Repository, updates: Sequence[RefUpdate]) -> None:
    """Change the default branch of a repository that was empty, unless another request has created it by now."""
    current = repository_log.lock_default_branch(connection, repository.id)
    if repository_log.target_of(connection, repository.id, BRANCHES + current) is not None:
        return
    first = new_default_branch(msgspec.structs.replace(repository, default_branch=current), updates)
    if first != current:
        repositories.change_repository(connection, repository, default_branch=first)


def refused_deletions(
    link: Link, repository: Repository, updates: Sequence[RefUpdate], *, atomic: bool
) -> list[RefUpdate]:
    """Return the updates that delete the default branch; with `atomic`, raise `DefaultBranchRefused` for one.

    No other request can change the default branch until the transaction ends.
    """
    deletions = [update for update in updates if deletes_branch(update)]
    if not deletions:
        return []
    ref = BRANCHES + repository_log.lock_default_branch(link, repository.id)
    refused = [update for update in deletions if update.ref == ref]
    if refused and atomic:
        raise DefaultBranchRefused("can not delete default branch")
    return refused


def read_pushes(
    app: App, repository: Repository, actor_updates: Sequence[ActorUpdates], default_branch: str
) -> Mapping[RefUpdate, PushedCommits]:
    """Read the commits of a push for webhook payloads before the transaction, so that it does not wait for git."""
    names = [update.ref for batch in actor_updates for update in batch.updates]
    if not hook_subscriptions.has_push_subscribers(
        app.database, owner_id=repository.owner.id, repository_id=repository.id, refs=names
    ):
        # A webhook added meanwhile gets the commits that are in memory; no copy has the objects before the
        # transaction.
        batches = [(batch, in_memory(batch)) for batch in actor_updates]
        return {update: pushed for batch, pushed in batches if pushed is not None for update in batch.updates}
    now = msgspec.structs.replace(repository, default_branch=default_branch)
    pushes: dict[RefUpdate, PushedCommits] = {}
    for batch in actor_updates:
        pushed = in_memory(batch)
        for update in batch.updates:
            brief = len(pushes) >= DETAILED_REFS
            pushes[update] = read_push(app, now, update, briefly=brief) if pushed is None else pushed
    return pushes


def in_memory(actor_updates: ActorUpdates) -> PushedCommits | None:
    """Return the pushed commits without reading from git: only for one commit on top of the old one."""
    if actor_updates.commits is None or actor_updates.files is None:
        return None
    ((commit,), (update,)) = actor_updates.commits, actor_updates.updates
    return PushedCommits(commit, [commit], 1, update.old, {commit.id: actor_updates.files})
