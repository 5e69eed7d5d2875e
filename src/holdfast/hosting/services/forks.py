"""Forks of repositories: create them, list them, and update their branches from the parent."""

import time
from typing import Final, Literal

from holdfast.hosting import access
from holdfast.hosting.access import Actor, RepositoryAccess, Unit
from holdfast.hosting.app import App
from holdfast.hosting.errors import (
    ForkExists,
    InvalidValue,
    NoSuchAccount,
    NoSuchBranch,
    NotAFork,
    NotFastForward,
)
from holdfast.hosting.git import refs
from holdfast.hosting.git.commits import Signature
from holdfast.hosting.git.history import merge_base
from holdfast.hosting.git.identities import commit_email, commit_name
from holdfast.hosting.git.merges import add_merge_commit
from holdfast.hosting.git.program import run
from holdfast.hosting.git.repository import Repo, open_repository
from holdfast.hosting.git.tree_writer import Draft
from holdfast.hosting.services import lfs_objects, ref_updates, repositories, repository_search
from holdfast.hosting.services.fields import check_length
from holdfast.hosting.services.repository_search import RepositoryPage
from holdfast.hosting.storage.pack_files import pack_draft
from holdfast.hosting.store import forks as store
from holdfast.hosting.store import hooks, lfs, subscriptions
from holdfast.hosting.store.accounts import Account
from holdfast.hosting.store.database import TransactionDatabase
from holdfast.hosting.store.prepared_statements import Link
from holdfast.hosting.store.ref_updates import RefUpdate
from holdfast.hosting.store.repositories import Repository, add_repository, grants_of, repository_by_id
from holdfast.hosting.store.repository_events import record_created
from holdfast.hosting.store.tables import repositories as table

__all__ = ["MergeType", "add_objects", "fork", "list_forks", "merge_upstream"]

MergeType = Literal["up-to-date", "fast-forward", "merge"]
PACK_SECONDS: Final = 600.0


def fork(
    app: App, actor: Actor, target: RepositoryAccess, *, organization: str = "", name: str = ""
) -> Repository:
    """Fork a repository into the actor's account, or into an organization; no objects are copied.

    A fork of a private repository is private, and users with access to the repository have the same access to the
    fork. Raises `ForkExists` if the owner already has a fork of it.
    """
    user = access.require_login(actor)
    access.require_read(target, Unit.CODE)
    owner = find_owner(app, actor, organization) if organization else user
    repositories.require_create_for(app, actor, owner)
    name = name or target.repository.name
    check_length(name, "Name", repositories.LONGEST_NAME)
    with app.database.write() as connection:
        # It may have been pushed to or made private since the request began; the fork has its current content.
        parent = store.lock_parent(connection, target.repository)
        grants = grants_of(TransactionDatabase(app.database, connection), user, parent)
        access.require_read(RepositoryAccess(parent, access.repository_access(actor, parent, grants)), Unit.CODE)
        is_private = parent.is_private or parent.owner.visibility == "private"
        existing = store.find_fork(connection, parent, owner)
        if existing is not None:
            raise ForkExists(parent.full_name, f"{owner.name}/{existing}")
        number = add_repository(
            connection,
            owner,
            name,
            description=parent.description,
            website=parent.website,
            default_branch=parent.default_branch,
            object_format=parent.object_format,
            is_private=is_private,
            is_empty=parent.is_empty,
            branch_count=parent.branch_count,
            fork_of=parent.id,
            # Issues are discussed in the parent.
            has_issues=False,
        )
        store.copy_content(connection, parent, number, user)
        if is_private:
            store.copy_collaborators(connection, parent, number, owner)
        hooks.copy_defaults(connection, number)
        subscriptions.watch_new(connection, number, user)
        record_created(connection, number, owner, user)
        store.record_fork(connection, parent, number, user)
    return repository_by_id(app.database, number)


def find_owner(app: App, actor: Actor, organization: str) -> Account:
    """Return the organization to own a fork, by name; raise `InvalidValue` if it does not exist."""
    try:
        return repositories.find_new_owner(app, actor, organization)
    except NoSuchAccount:
        raise InvalidValue("Organization", f"there is no organization {organization}") from None


def list_forks(app: App, actor: Actor, target: RepositoryAccess, *, skip: int, limit: int) -> RepositoryPage:
    """List the forks of a repository that the actor may see."""
    is_fork = table.c.fork_of == target.repository.id
    return repository_search.list_visible(app, actor, (is_fork,), skip=skip, limit=limit)


def merge_upstream(
    app: App, actor: Actor, target: RepositoryAccess, branch: str, *, ff_only: bool = False
) -> MergeType:
    """Update a branch of a fork from its parent, by fast-forward or a merge commit.

    The parent's branch of the same name is merged; if it does not exist, the default branch of the fork is updated
    from the parent's default branch. The LFS objects of the new files are linked to the fork. Raises `NotAFork`,
    `MergeRefused`, and `NotFastForward` with `ff_only`.
    """
    user = access.require_login(actor)
    access.require_editable(target)
    access.require_branch_write(target)
    repository = target.repository
    if repository.fork_of is None:
        raise NotAFork(repository.full_name)
    upstream = repositories.show(app, actor, repository.fork_of)
    access.require_read(upstream, Unit.CODE)
    branch = branch or repository.default_branch
    parent = app.copies.open(upstream.repository)
    ref = refs.branch(parent, branch)
    if ref is None and branch == repository.default_branch:
        ref = refs.branch(parent, upstream.repository.default_branch)
    if ref is None:
        raise NoSuchBranch(upstream.repository.id, branch)
    with app.copies.writing(repository.id) as copy:
        current = refs.branch(copy, branch)
        if current is None:
            raise NoSuchBranch(repository.id, branch)
        repo = add_objects(copy, parent, ref.id)
        base = merge_base(repo, current.id, ref.id)
        if base == ref.id:
            return "up-to-date"
        is_merge = base != current.id
        if is_merge and ff_only:
            raise NotFastForward
        new, packs = ref.id, []
        if is_merge:
            draft = Draft(repo)
            author = Signature(commit_name(user), commit_email(user), int(time.time()), 0)
            message = f"Merge branch '{branch}' of {upstream.repository.full_name} into {branch}\n"
            new = add_merge_commit(draft, current.id, ref.id, author=author, committer=author, message=message)
            # The rules of the branch and the payload of the push are read from the copy.
            packs = pack_draft(app.store, draft, to_copy=True)
        update = RefUpdate(f"refs/heads/{branch}", current.id, new)
        sizes = lfs_objects.new_objects(app, repo, upstream.repository, ref.id, current.id)

        def link_objects(link: Link) -> None:
            lfs.add_links(link, repository, sizes)

        ref_updates.update_refs(
            app, repository, user, [update], packs=packs, parents=[ref.id], within=link_objects
        )
    app.pushed.add(repository.id)
    return "merge" if is_merge else "fast-forward"


def add_objects(repo: Repo, source: Repo, commit: str) -> Repo:
    """Add the objects reachable from another repository's commit, but from no local ref, to a local copy."""
    existing_ids = run(repo.folder, "for-each-ref", "--format=%(objectname)")
    folder = repo.folder / "objects" / "pack"
    folder.mkdir(exist_ok=True)
    run(
        repo.folder,
        "pack-objects",
        *("-q", "--non-empty", "--revs", "--delta-base-offset"),
        str(folder / "pack"),
        input=f"{commit}\n--not\n".encode() + existing_ids,
        timeout=PACK_SECONDS,
        variables={"GIT_ALTERNATE_OBJECT_DIRECTORIES": str(source.folder / "objects")},
    )
    return open_repository(repo.folder)
