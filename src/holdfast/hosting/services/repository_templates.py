"""Template repositories: a new repository with the files and settings of another one, without its history."""

import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass

from sqlalchemy import Connection

from holdfast.hosting import access
from holdfast.hosting.access import Actor, RepositoryAccess, Unit
from holdfast.hosting.app import App
from holdfast.hosting.errors import InvalidValue, NotATemplate
from holdfast.hosting.git import refs
from holdfast.hosting.git.commits import Signature, commit_content, read_commit
from holdfast.hosting.git.identities import commit_email, commit_name
from holdfast.hosting.git.packs import PackedObject, object_id
from holdfast.hosting.services import repositories
from holdfast.hosting.services.fields import check_length, check_ref_field, check_required
from holdfast.hosting.services.repositories import InitialContent, NewRepository
from holdfast.hosting.services.template_variables import RepositoryAddresses, expand_tree, variables
from holdfast.hosting.storage.pack_files import new_pack, pack_tree
from holdfast.hosting.store import avatars, forks, hooks, labels, protections
from holdfast.hosting.store.accounts import Account
from holdfast.hosting.store.repositories import (
    Repository,
    change_repository,
    locked_repository,
    repositories_by_id,
)

__all__ = ["TemplateParts", "generate"]


@dataclass(frozen=True, slots=True, kw_only=True)
class TemplateParts:
    """The parts to copy from a template."""

    git_content: bool = False
    topics: bool = False
    labels: bool = False
    webhooks: bool = False
    protected_branch: bool = False
    avatar: bool = False
    unsupported: bool = False
    """Git hooks, which are not supported."""


def generate(
    app: App,
    actor: Actor,
    template: RepositoryAccess,
    new: NewRepository,
    *,
    owner_name: str,
    parts: TemplateParts,
    addresses: Callable[[str], RepositoryAddresses],
) -> Repository:
    """Create a repository from a template: its files in one initial commit, and the requested parts.

    Variables are expanded in the files that the template names; `addresses` returns the URLs of a repository by
    its full name.

    Webhooks and branch protection rules are copied only for administrators of the template, who may read them.
    Raises `NoSuchRepository` if the template is deleted meanwhile.
    """
    user = access.require_login(actor)
    access.require_read(template, Unit.CODE)
    source = template.repository
    if not source.is_template:
        raise NotATemplate(source.full_name)
    if parts == TemplateParts():
        raise InvalidValue("GitContent", "must select at least one template item")
    if parts.webhooks or parts.protected_branch:
        access.require_repository_admin(actor, template)
    owner = repositories.find_new_owner(app, actor, owner_name)
    repositories.require_create_for(app, actor, owner)
    check_required(new.name, "Name")
    check_length(new.name, "Name", repositories.LONGEST_NAME)
    check_length(new.description, "Description", repositories.LONGEST_DESCRIPTION)
    check_ref_field(new.default_branch, "DefaultBranch")
    values = {
        **variables(
            "TEMPLATE",
            name=source.name,
            owner=source.owner.name,
            description=source.description,
            addresses=addresses(source.full_name),
        ),
        **variables(
            "REPO",
            name=new.name,
            owner=owner.name,
            description=new.description,
            addresses=addresses(f"{owner.name}/{new.name}"),
        ),
    }
    content = initial_content(app, source, user, values) if parts.git_content else None

    def copy_parts(connection: Connection, number: int) -> None:
        # Locked, so that its LFS objects are not deleted with it before they are linked here.
        current = locked_repository(connection, source)
        if content is not None:
            forks.copy_lfs_links(connection, current, number)
        if parts.labels:
            labels.copy_labels(connection, current.id, number)
        if parts.webhooks:
            hooks.copy_hooks(connection, current.id, number)
        if parts.protected_branch:
            protections.copy_protections(connection, current.id, number)
            if owner.id != current.owner.id:
                protections.remove_teams(connection, number)
        if parts.avatar and current.avatar:
            avatars.copy_avatar(connection, current, number)
        if parts.topics:
            repository = repositories_by_id(connection, [number])[number]
            change_repository(connection, repository, topics=current.topics)

    return repositories.create(app, owner, user, new, content=content, within=copy_parts)


def initial_content(
    app: App, source: Repository, user: Account, values: Mapping[str, str]
) -> InitialContent | None:
    """Return an initial commit with the files of a repository's default branch; None if it has no commit."""
    repo = app.copies.open(source)
    branch = refs.branch(repo, source.default_branch)
    if branch is None:
        return None
    old = read_commit(repo, branch.id).tree
    tree, expanded = expand_tree(repo, old, values)
    author = Signature(commit_name(user), commit_email(user), int(time.time()), 0)
    commit = commit_content(tree, (), author, author, "Initial commit\n")
    files = pack_tree(app.store, repo, old)
    packs = (new_pack([*expanded, PackedObject("commit", commit)]),) + (() if files is None else (files,))
    return InitialContent(object_id("commit", commit), packs)
