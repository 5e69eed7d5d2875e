"""Pushes: branch protection before a ref moves, then the ref updates and their events."""

from dataclasses import dataclass
from typing import Final

import structlog

from holdfast.hosting.app import App
from holdfast.hosting.errors import GitError
from holdfast.hosting.git.quarantine import AcceptedPush, Push, PushRejection
from holdfast.hosting.git.ref_transaction import apply_moves, existing_deletes
from holdfast.hosting.git.repository import locked, open_repository
from holdfast.hosting.lfs.pushed_pointers import new_pointers, paths_of
from holdfast.hosting.services import branch_protection, ref_changes
from holdfast.hosting.store import lfs, pending_ref_updates
from holdfast.hosting.store.accounts import Account
from holdfast.hosting.store.faults import is_outage
from holdfast.hosting.store.pending_ref_updates import Move
from holdfast.hosting.store.repositories import Repository

__all__ = ["Pushing"]

# How many missing LFS objects are searched for, and how many are named.
MOST_MISSING: Final = 1000
PATHS_NAMED: Final = 5
log = structlog.get_logger(__name__)


@dataclass(slots=True)
class Pushing:
    """A push to a repository; `receive_pack` calls `judge` and `move` in a thread."""

    host: App
    repository: Repository
    actor: Account

    def judge(self, push: Push) -> list[PushRejection]:
        """Return the refused ref updates; a violation of branch protection refuses the whole push."""
        moves = push.changes
        default = self.repository.default_branch

        def about(move: Move) -> branch_protection.BranchChange:
            return branch_protection.BranchChange(
                move.ref.removeprefix(ref_changes.BRANCHES),
                move.deletes,
                lambda: not push.is_fast_forward(move),
                lambda: sorted(push.changed_paths(move, base=f"refs/heads/{default}")),
                # Public keys are not supported, so no signature is valid.
                lambda: next(iter(push.commits(move, most=1)), None),
            )

        refused = ref_changes.check_rules(self.host, self.repository, self.actor, moves, about)
        refusals = [PushRejection(move.ref, reason) for move, reason in refused]
        refusals += [
            PushRejection(move.ref, f"Branch {default} is the default branch and cannot be deleted", alone=True)
            for move in moves
            if move.deletes and move.ref == f"refs/heads/{default}"
        ]
        return refusals or self.missing_large_files(push)

    def missing_large_files(self, push: Push) -> list[PushRejection]:
        """Refuse a push with LFS pointers whose objects are missing."""
        if self.host.settings.allow_missing_lfs_objects:
            return []
        missing: set[str] = set()
        for some in new_pointers(push):
            oids = {pointer.oid for pointer in some.values()}
            there = lfs.linked_sizes(self.host.database, self.repository, oids)
            missing |= {blob for blob, pointer in some.items() if pointer.size and pointer.oid not in there}
            if len(missing) > MOST_MISSING:
                break
        paths = paths_of(push, missing, most=PATHS_NAMED + 1) if missing else []
        if not paths:
            return []
        named = ", ".join(paths[:PATHS_NAMED]) + (" and others" if len(paths) > PATHS_NAMED else "")
        reason = f"the LFS objects of {named} are missing; run `git lfs push --all <remote>` first, and push again"
        return [PushRejection(change.ref, reason) for change in push.changes[:1]]

    def move(self, pushed: AcceptedPush) -> list[PushRejection]:
        """Record the pending ref updates, move the refs and record the events; return the updates that failed."""
        host, repository = self.host, self.repository
        folder = host.folders.existing(repository.id)
        repo = open_repository(folder)
        with host.database.advisory_lock(repository.id), locked(folder):
            # Deleting a missing ref is no update, and no event is recorded.
            moves = existing_deletes(repo, pushed.changes)
            if not moves:
                return []
            numbers = pending_ref_updates.announce(host.database, repository, self.actor.id, moves)
            try:
                applied = apply_moves(repo, moves, atomic=pushed.atomic)
            except (GitError, OSError):
                # Updates made before the failure stay pending, for recovery to record.
                lost = [
                    number
                    for number, move in zip(numbers, moves, strict=True)
                    if not ref_changes.has_moved(repo, move)
                ]
                ref_changes.forget(host, lost)
                raise
        if not applied.moved:
            ref_changes.forget(host, numbers)
        else:
            try:
                ref_changes.settle(host, repository, self.actor.id, numbers, applied.moved, options=pushed.options)
            except Exception as error:  # the refs have moved, and recovery records them
                log.warning(
                    "push recording failed",
                    repository_id=repository.id,
                    exc_info=None if is_outage(error) else error,
                    error=type(error).__name__,
                )
            host.pushed.add(repository.id)
        return list(applied.refusals)
