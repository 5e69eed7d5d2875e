"""Branches and tags: create, rename, move and delete them.

Every change of a ref is a compare-and-set against the commit the caller saw, and the rules of protected branches
apply as for a push.
"""

import time
from dataclasses import dataclass
from typing import Final

from sqlalchemy import Connection

from holdfast.hosting import access
from holdfast.hosting.access import Actor, RepositoryAccess, Unit
from holdfast.hosting.app import App
from holdfast.hosting.errors import (
    BranchExists,
    DefaultBranchRefused,
    NoSuchBranch,
    NoSuchObject,
    NoSuchTag,
    NotFastForward,
    RefMoved,
    RenameRefused,
    TagExists,
    TagInUse,
)
from holdfast.hosting.git import history, refs
from holdfast.hosting.git.commits import Signature, tag_content
from holdfast.hosting.git.identities import commit_email, commit_name
from holdfast.hosting.git.packs import PackedObject, object_id
from holdfast.hosting.git.refs import Ref
from holdfast.hosting.git.repository import Repo
from holdfast.hosting.services import ref_updates
from holdfast.hosting.services.fields import check_ref_field, check_required
from holdfast.hosting.services.revisions import open_latest, resolve_commit
from holdfast.hosting.storage.pack_files import new_pack
from holdfast.hosting.store import pulls, releases, repositories
from holdfast.hosting.store.accounts import Account
from holdfast.hosting.store.branch_renames import add_branch_rename
from holdfast.hosting.store.ref_updates import RefUpdate
from holdfast.hosting.store.repository_events import record_changed
from holdfast.hosting.store.repository_log import NewPack

__all__ = [
    "LONGEST_REF",
    "NewTag",
    "create",
    "create_tag",
    "delete",
    "delete_tag",
    "find",
    "find_tag",
    "rename",
    "update",
]

LONGEST_REF: Final = 100


def require_code_write(actor: Actor, target: RepositoryAccess) -> Account:
    """Return the acting user; raise an error unless they may change the repository's refs."""
    access.require_read(target, Unit.CODE)
    access.require_unarchived(target)
    user = access.require_login(actor)
    access.require_write(target, Unit.CODE)
    return user


def find(repo: Repo, target: RepositoryAccess, name: str) -> Ref:
    """Return a branch by name."""
    ref = refs.branch(repo, name) if refs.is_ref_name(name) else None
    if ref is None:
        raise NoSuchBranch(target.repository.id, name)
    return ref


def find_tag(repo: Repo, name: str) -> Ref:
    """Return a tag by name."""
    ref = refs.tag(repo, name) if refs.is_ref_name(name) else None
    if ref is None:
        raise NoSuchTag(name)
    return ref


def create(app: App, actor: Actor, target: RepositoryAccess, name: str, start: str = "") -> Ref:
    """Create a branch at a branch, a tag or a commit; empty is the default branch."""
    user = require_code_write(actor, target)
    check_required(name, "NewBranchName")
    check_ref_field(name, "NewBranchName", LONGEST_REF)
    repo = open_latest(app, target)
    at = resolve_commit(repo, target, start)
    refs.check_new_branch(name)
    if refs.branch(repo, name) is not None:
        raise BranchExists(name)
    if refs.tag(repo, name) is not None:
        raise TagExists(name, "The branch name is already used by a tag.")
    update = RefUpdate(f"refs/heads/{name}", ref_updates.zero_id(target.repository), at)
    ref_updates.update_refs(app, target.repository, user, [update])
    return find(open_latest(app, target), target, name)


def delete(app: App, actor: Actor, target: RepositoryAccess, name: str) -> None:
    """Delete a branch; the default branch and protected branches cannot be deleted."""
    user = require_code_write(actor, target)
    ref = find(open_latest(app, target), target, name)
    if name == target.repository.default_branch:
        raise DefaultBranchRefused("can not delete default branch")
    update = RefUpdate(f"refs/heads/{name}", ref.id, ref_updates.zero_id(target.repository))
    ref_updates.update_refs(app, target.repository, user, [update])


def rename(app: App, actor: Actor, target: RepositoryAccess, old: str, new: str) -> None:
    """Rename a branch; the old name still resolves when files are read."""
    user = require_code_write(actor, target)
    check_required(new, "Name")
    check_ref_field(new, "Name", LONGEST_REF)
    refs.check_new_branch(new)
    repository, repo = target.repository, open_latest(app, target)
    ref = find(repo, target, old)
    if refs.branch(repo, new) is not None:
        raise RenameRefused
    none = ref_updates.zero_id(repository)
    updates = [RefUpdate(f"refs/heads/{new}", none, ref.id), RefUpdate(f"refs/heads/{old}", ref.id, none)]

    def move_names(connection: Connection) -> None:
        """Update what names the branch, in the same transaction: no request must find one that is gone."""
        current = repositories.repositories_by_id(connection, [repository.id])[repository.id]
        pulls.retarget(connection, repository.id, old, new)
        add_branch_rename(connection, repository, old, new)
        if current.default_branch != old:
            return
        if not target.permissions.is_admin:
            raise DefaultBranchRefused("only an administrator of the repository may rename its default branch")
        columns = {"default_branch": new}
        repositories.change_repository(connection, current, **columns)
        record_changed(connection, current, user, columns)

    ref_updates.update_refs(app, repository, user, updates, locked=move_names, may_delete_default=True)


def update(
    app: App,
    actor: Actor,
    target: RepositoryAccess,
    name: str,
    commit: str,
    *,
    expected: str | None = None,
    force: bool = False,
) -> None:
    """Move a branch to another commit: a fast-forward unless `force`, and from `expected` if that is given."""
    user = require_code_write(actor, target)
    check_required(commit, "NewCommitID")
    repo = open_latest(app, target)
    ref = find(repo, target, name)
    if expected is not None and expected != ref.id:
        raise RefMoved("the branch is not at the old commit any more")
    if not refs.is_commit(repo, commit):
        raise NoSuchObject(f"object does not exist [id: {commit}, rel_path: ]")
    if not force and history.merge_base(repo, ref.id, commit) != ref.id:
        raise NotFastForward
    update = RefUpdate(f"refs/heads/{name}", ref.id, commit)
    ref_updates.update_refs(app, target.repository, user, [update])


@dataclass(frozen=True, slots=True, kw_only=True)
class NewTag:
    """A tag to create; with a message it is an annotated tag."""

    name: str
    message: str = ""
    revision: str = ""
    """A branch, a tag or a commit; empty is the default branch."""


def create_tag(app: App, actor: Actor, target: RepositoryAccess, new: NewTag) -> Ref:
    """Create a tag, annotated if it has a message."""
    user = require_code_write(actor, target)
    check_required(new.name, "TagName")
    check_ref_field(new.name, "TagName", LONGEST_REF)
    repo = open_latest(app, target)
    at = resolve_commit(repo, target, new.revision)
    if refs.tag(repo, new.name) is not None:
        raise TagExists(new.name, f"tag already exists [name: {new.name}]")
    refs.check_new_tag(new.name)
    packs: list[NewPack] = []
    parents = [at]
    if new.message.strip():
        tagger = Signature(commit_name(user), commit_email(user), int(time.time()), 0)
        content = tag_content(at, new.name, tagger, new.message.strip())
        at = object_id("tag", content)
        packs = [new_pack([PackedObject("tag", content)])]
    update = RefUpdate(f"refs/tags/{new.name}", ref_updates.zero_id(target.repository), at)
    ref_updates.update_refs(app, target.repository, user, [update], packs=packs, parents=parents)
    return find_tag(open_latest(app, target), new.name)


def delete_tag(app: App, actor: Actor, target: RepositoryAccess, name: str) -> None:
    """Delete a tag that has no release, not even a draft; raise `TagInUse` otherwise."""
    user = require_code_write(actor, target)
    if releases.find_by_tag(app.database, target.repository, name) is not None:
        raise TagInUse
    ref = find_tag(open_latest(app, target), name)
    update = RefUpdate(f"refs/tags/{name}", ref.id, ref_updates.zero_id(target.repository))
    ref_updates.update_refs(app, target.repository, user, [update])
