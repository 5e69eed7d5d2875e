"""Pushes: branch protection while the objects are in quarantine, then the ref updates and their events."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

from holdfast.hosting.access import Actor, Unit
from holdfast.hosting.app import App
from holdfast.hosting.errors import DefaultBranchRefused, GoneMeanwhile, RefMoved
from holdfast.hosting.git.encoding import well_formed
from holdfast.hosting.git.quarantine import AcceptedPush, Push, PushRejection
from holdfast.hosting.git.repository import Repo
from holdfast.hosting.lfs.pushed_pointers import new_pointers, paths_of
from holdfast.hosting.services import branch_protection, maintainer_edits, ref_updates
from holdfast.hosting.services.ref_updates import ActorUpdates
from holdfast.hosting.services.repositories import permissions_in
from holdfast.hosting.storage.pack_files import store_pack_file
from holdfast.hosting.store import lfs, repository_log, ssh_keys
from holdfast.hosting.store.accounts import Account, account_by_id
from holdfast.hosting.store.ref_updates import RefUpdate
from holdfast.hosting.store.repositories import Repository, find_by_id
from holdfast.hosting.store.ssh_keys import SshKey

__all__ = ["RepositoryPush"]

# Missing LFS objects: how many are searched for, and how many are named in the message.
MOST_MISSING: Final = 1000
PATHS_NAMED: Final = 5


@dataclass(slots=True)
class RepositoryPush:
    """A push to a repository; `receive_pack` calls `judge` and `update` in a thread."""

    host: App
    repository: Repository
    actor: Account
    deploy_key: SshKey | None = None
    """The deploy key with which the push was made; the actor is then the owner of the repository."""

    only_branches: frozenset[str] | None = None
    """The branches that a maintainer of a pull request's base may push to; None allows all refs."""

    def judge(self, push: Push) -> list[PushRejection]:
        """Return the rejected ref updates; one rejected by branch protection rejects the whole push."""
        updates = push.changes
        ended = self.reload()
        if ended:
            return [PushRejection(update.ref, ended) for update in updates]
        outside = self.outside(updates)
        if outside:
            return outside
        default = self.repository.default_branch

        def about(update: RefUpdate) -> branch_protection.BranchChange:
            return branch_protection.BranchChange(
                update.ref.removeprefix(ref_updates.BRANCHES),
                update.deletes,
                lambda: not push.is_fast_forward(update),
                lambda: sorted(push.changed_paths(update, base=f"refs/heads/{default}")),
                # No user's keys are known here, so no signature is valid.
                lambda: next(iter(push.commits(update, most=1)), None),
            )

        refused = ref_updates.check_rules(
            self.host, self.repository, self.actor, updates, about, by_deploy_key=self.deploy_key is not None
        )
        refusals = [PushRejection(update.ref, reason) for update, reason in refused]
        refusals += [
            PushRejection(update.ref, default_branch_kept(default), alone=True)
            for update in updates
            if update.deletes and update.ref == f"refs/heads/{default}"
        ]
        return refusals or self.missing_large_files(push)

    def reload(self) -> str:
        """Read the repository as it is when all objects have been received, which may take an hour.

        Returns why it cannot be pushed to any more, or an empty string.
        """
        app = self.host
        current = find_by_id(app.database, self.repository.id)
        if current is None:
            return "the repository was deleted"
        if current.is_archived or current.is_mirror:
            return (
                f"the repository is {'archived' if current.is_archived else 'a mirror'} and cannot be written to"
            )
        self.repository = current
        return "" if self.may_push() else "you may not write to this repository any more"

    def may_push(self) -> bool:
        """Return whether the user or the deploy key still has access, and limit it to what is left of it."""
        database = self.host.database
        if self.deploy_key is not None:
            self.actor = self.repository.owner
            return ssh_keys.has_key(database, self.repository, self.deploy_key)
        user = account_by_id(database, self.actor.id)
        if user is None or (user.may_not_log_in and not self.actor.may_not_log_in):
            return False
        may = permissions_in(self.host, Actor(user), self.repository)
        if may.may_write(Unit.CODE):
            return True
        editable = maintainer_edits.editable_branches(self.host, Actor(user), self.repository)
        self.only_branches = editable if self.only_branches is None else self.only_branches & editable
        return may.may_read(Unit.CODE) and bool(self.only_branches)

    def outside(self, updates: Sequence[RefUpdate]) -> list[PushRejection]:
        """Reject deletions, and updates of refs other than `only_branches`."""
        if self.only_branches is None:
            return []
        allowed = {ref_updates.BRANCHES + name for name in self.only_branches}
        reason = "you may push to the head branches of pull requests here, and to nothing else"
        return [
            PushRejection(update.ref, reason) for update in updates if update.deletes or update.ref not in allowed
        ]

    def missing_large_files(self, push: Push) -> list[PushRejection]:
        """Reject a push with LFS pointers whose objects are missing: it could not be cloned."""
        if self.host.settings.allow_missing_lfs_objects:
            return []
        missing: set[str] = set()
        repo = self.host.copies.open(self.repository)
        for some in new_pointers(push):
            oids = {pointer.oid for pointer in some.values()}
            there = lfs.linked_sizes(self.host.database, self.repository, oids)
            without = {blob for blob, pointer in some.items() if pointer.size and pointer.oid not in there}
            # The pack of an unrelated history also contains blobs that the repository already has.
            missing |= {blob for blob in without if repo.header(blob) is None}
            if len(missing) > MOST_MISSING:
                break
        paths = paths_of(push, missing, most=PATHS_NAMED + 1) if missing else []
        if not paths:
            return []
        named = ", ".join(paths[:PATHS_NAMED]) + (" and others" if len(paths) > PATHS_NAMED else "")
        reason = f"the LFS objects of {named} are missing; run `git lfs push --all <remote>` first, and push again"
        return [PushRejection(change.ref, reason) for change in push.changes[:1]]

    def update(self, pushed: AcceptedPush) -> list[PushRejection]:
        """Record the pack, the ref updates and their events in one transaction; return the rejected updates."""
        app, repository = self.host, self.repository
        with app.copies.writing(repository.id) as repo:
            updates = without_missing_deletions(app, repository, pushed.changes)
            refused = not_commits(repo, updates)
            if pushed.atomic and refused:
                return [PushRejection(update.ref, refused[0].reason) for update in updates]
            names = {push_rejection.ref for push_rejection in refused}
            updates = [update for update in updates if update.ref not in names]
            if not updates:
                return refused
            files = [repo.folder / "objects" / "pack" / name for name in pushed.packs]
            packs = [store_pack_file(app.store, path) for path in files]
            actor_updates = [ActorUpdates(self.actor.id, updates, options=pushed.options)]
            try:
                targets = [update.new for update in updates if not update.deletes]
                packs += ref_updates.pack_targets(app, repository, repo, targets, files)
                rejected = ref_updates.record(app, repository, actor_updates, packs, atomic=pushed.atomic)
            except (DefaultBranchRefused, RefMoved) as error:
                return self.rejections(updates, str(error))
            except GoneMeanwhile:
                return [PushRejection(update.ref, "the repository was deleted") for update in updates]
        app.pushed.add(repository.id)
        return refused + self.rejections(rejected, "it was updated by another request")

    def rejections(self, rejected: Sequence[RefUpdate], reason: str) -> list[PushRejection]:
        """Reject updates for a reason; new refs with a name conflict are rejected for the conflict."""
        push_rejections: list[PushRejection] = []
        default = repository_log.current_default_branch(self.host.database, self.repository.id)
        with self.host.database.read() as connection:
            for ref_update in rejected:
                existing_ref = repository_log.conflicting_ref(connection, self.repository.id, ref_update.ref)
                beside = (
                    f"it cannot be there beside {well_formed(existing_ref)}"
                    if existing_ref and ref_update.creates
                    else ""
                )
                if default is not None and ref_update.deletes and ref_update.ref == f"refs/heads/{default}":
                    beside = default_branch_kept(default)
                push_rejections.append(PushRejection(ref_update.ref, beside or reason))
        return push_rejections


def default_branch_kept(name: str) -> str:
    """Return the reason why a push cannot delete the default branch."""
    return f"Branch {name} is the default branch and cannot be deleted"


def not_commits(repo: Repo, updates: Sequence[RefUpdate]) -> list[PushRejection]:
    """Reject branches that would not point to a commit, as git does."""
    push_rejections: list[PushRejection] = []
    for update in updates:
        if update.deletes or not update.ref.startswith(ref_updates.BRANCHES):
            continue
        kind = (repo.header(update.new) or ("missing object", 0))[0]
        if kind != "commit":
            push_rejections.append(PushRejection(update.ref, f"a branch points at a commit, not at a {kind}"))
    return push_rejections


def without_missing_deletions(app: App, repository: Repository, updates: Sequence[RefUpdate]) -> list[RefUpdate]:
    """Drop deletions of missing refs: git clients expect them to succeed, without an event."""
    if not any(update.deletes for update in updates):
        return [update for update in updates if update.has_effect]
    with app.database.read() as connection:
        refs = repository_log.read_refs(connection, repository.id)
    return [update for update in updates if update.has_effect and not (update.deletes and update.ref not in refs)]
