"""Repositories: create, edit, rename, transfer, archive and delete them, and their topics.

A repository is a row in the database and a folder on disk, created and removed together.
"""

import re
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final

import msgspec
from msgspec import UNSET, UnsetType
from sqlalchemy import Connection

from holdfast.hosting import access
from holdfast.hosting.access import Actor, Mode, Permissions, RepositoryAccess
from holdfast.hosting.app import App
from holdfast.hosting.errors import (
    Forbidden,
    InvalidField,
    InvalidValue,
    NameRefused,
    NoSuchAccount,
    NoSuchRepository,
    NoSuchTemplate,
    NoSuchTopic,
    NoSuchUser,
    Outdated,
    Permission,
    Refused,
    UnknownDefaultBranch,
    Violation,
    VisibilityRefused,
)
from holdfast.hosting.git import refs
from holdfast.hosting.git.commits import Signature, build_tree, commit_content
from holdfast.hosting.git.folders import OBJECT_FORMATS, ObjectFormat
from holdfast.hosting.git.identities import commit_email, commit_name
from holdfast.hosting.git.packs import PackedObject, object_id
from holdfast.hosting.git.refs import check_new_branch
from holdfast.hosting.git.repository import Kind
from holdfast.hosting.services import durations, file_templates, users
from holdfast.hosting.services.fields import check_length, check_ref_field, check_required
from holdfast.hosting.storage.pack_files import new_pack
from holdfast.hosting.store import (
    accounts,
    dependencies,
    forks,
    hooks,
    labels,
    mirrors,
    organizations,
    push_mirrors,
    repository_log,
    subscriptions,
    teams,
)
from holdfast.hosting.store import repositories as store
from holdfast.hosting.store.accounts import Account
from holdfast.hosting.store.database import TransactionDatabase
from holdfast.hosting.store.protections import remove_teams
from holdfast.hosting.store.ref_updates import RefUpdate
from holdfast.hosting.store.repositories import DeclaredSettings
from holdfast.hosting.store.repository_events import (
    record_changed,
    record_created,
    record_deleted,
    record_renamed,
    record_transferred,
)
from holdfast.hosting.store.repository_log import NewPack
from holdfast.hosting.store.tag_protections import remove_tag_teams
from holdfast.hosting.webhooks.payloads import DeletedEntity, before_deleting

__all__ = [
    "LONGEST_DESCRIPTION",
    "LONGEST_NAME",
    "LONGEST_WEBSITE",
    "InitialContent",
    "InitialFiles",
    "NewRepository",
    "RepositoryEdit",
    "add_topic",
    "create",
    "create_for",
    "delete",
    "edit",
    "find_new_owner",
    "may_create_for",
    "move_to",
    "permissions_in",
    "remove",
    "remove_topic",
    "require_create_for",
    "set_topics",
    "show",
    "topics_of",
    "transfer",
]

LONGEST_NAME: Final = 100
LONGEST_DESCRIPTION: Final = 2048
LONGEST_WEBSITE: Final = 1024
# Of a setting that is only stored and returned, with every list of repositories.
LONGEST_SETTING: Final = 100
TOPIC: Final = re.compile(r"[a-z0-9][a-z0-9.-]{0,34}")
MOST_TOPICS: Final = 25
CREDENTIALS_REMOVED: Final = (
    "the repository was transferred, and the credentials of its former owner were removed: add the mirror again"
)


@dataclass(frozen=True, slots=True, kw_only=True)
class NewRepository:
    """The settings of a new repository."""

    name: str
    description: str = ""
    is_private: bool = False
    is_template: bool = False
    default_branch: str = "main"
    object_format: ObjectFormat = "sha1"


@dataclass(frozen=True, slots=True)
class InitialContent:
    """The initial commit of a repository, and the packs with its objects."""

    commit: str
    packs: tuple[NewPack, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class InitialFiles:
    """The files of the initial commit besides a README, and the initial labels."""

    license: str = ""
    gitignores: str = ""
    """Names of templates, separated by commas."""
    issue_labels: str = ""
    """The name of a label set."""


def create(
    app: App,
    owner: Account,
    actor: Account,
    new: NewRepository,
    files: Mapping[str, bytes] | None = None,
    *,
    content: InitialContent | None = None,
    within: Callable[[Connection, int], None] | None = None,
) -> store.Repository:
    """Create a repository without authorization; `create_for` is for users.

    The initial commit is created from `files`, or taken from `content`. `within` is called in the same transaction
    with the id of the repository.
    """
    check_new_branch(new.default_branch)
    if new.object_format not in OBJECT_FORMATS:
        raise Refused(f"this server does not support {new.object_format} repositories")
    author = Signature(commit_name(actor), commit_email(actor), int(time.time()), 0)
    initial_content = content
    if files:
        commit, pack = initial_commit(files, author)
        initial_content = InitialContent(commit, (pack,))
    with app.database.write() as connection:
        number = store.add_repository(
            connection,
            owner,
            new.name,
            description=new.description,
            is_private=new.is_private,
            is_template=new.is_template,
            default_branch=new.default_branch,
            object_format=new.object_format,
            is_empty=initial_content is None,
            branch_count=0 if initial_content is None else 1,
            size=0 if initial_content is None else sum(pack.size for pack in initial_content.packs),
        )
        if initial_content is not None:
            update = RefUpdate(
                f"refs/heads/{new.default_branch}", "0" * len(initial_content.commit), initial_content.commit
            )
            repository_log.append(connection, number, [(actor.id, update)], initial_content.packs)
        if within is not None:
            within(connection, number)
        hooks.copy_defaults(connection, number)
        subscriptions.watch_new(connection, number, actor)
        record_created(connection, number, owner, actor)
    return store.repository_by_id(app.database, number)


def initial_commit(files: Mapping[str, bytes], author: Signature) -> tuple[str, NewPack]:
    """Return a root commit of files, and the pack that contains it."""
    objects: list[PackedObject] = []

    def add(kind: Kind, content: bytes) -> str:
        objects.append(PackedObject(kind, content))
        return object_id(kind, content)

    tree = build_tree(add, files)
    return add("commit", commit_content(tree, (), author, author, "Initial commit\n")), new_pack(objects)


def remove(app: App, repository: store.Repository, actor: Account) -> None:
    """Delete a repository without authorization: the row first, then the folder; `delete` is for users."""
    settle = before_deleting(app, DeletedEntity(repository_id=repository.id))
    with app.database.write() as connection:
        dependencies.record_unblocked_by_deletion(connection, [repository.id], actor)
        store.lock_row(connection, repository)
        settle(connection)
        current = store.repository_by_id(TransactionDatabase(app.database, connection), repository.id)
        record_deleted(connection, current, actor)
        store.remove_row(connection, repository)
    app.copies.discard(repository.id)
    app.archives.discard(repository.id)
    app.fetches.discard(repository.id)


def permissions_in(app: App, actor: Actor, repository: store.Repository) -> Permissions:
    """Return an actor's permissions in a repository."""
    user = actor.user
    if user is None or user.is_admin or user.id == repository.owner.id:
        # Grants do not apply.
        return access.repository_access(actor, repository, ())
    return access.repository_access(actor, repository, store.grants_of(app.database, user, repository))


def show(app: App, actor: Actor, number: int) -> RepositoryAccess:
    """Return a repository by id; raise `NoSuchRepository` if the actor may not see it."""
    repository = store.repository_by_id(app.database, number)
    permissions = permissions_in(app, actor, repository)
    if permissions.mode == Mode.NONE:
        raise NoSuchRepository("")
    return RepositoryAccess(repository, permissions)


def may_create_for(app: App, actor: Actor, owner: Account) -> bool:
    """Return whether an actor may create repositories for an owner: themselves or an organization."""
    user = actor.user
    if user is None:
        return False
    if actor.is_admin or owner.id == user.id:
        return True
    if not owner.is_organization:
        return False
    modes = organizations.team_modes(app.database, owner, user)
    return access.organization_access(actor, owner, modes) >= Mode.OWNER or (
        organizations.may_create_repositories(app.database, owner, user)
    )


def require_create_for(app: App, actor: Actor, owner: Account) -> Account:
    """Return the acting user; raise `Forbidden` unless they may create repositories for the owner."""
    user = access.require_login(actor)
    if not may_create_for(app, actor, owner):
        raise Forbidden(Permission.CREATE_REPOSITORIES)
    return user


def find_new_owner(app: App, actor: Actor, name: str) -> Account:
    """Return the owner of a new repository by name: the actor, or an organization they can see."""
    user = access.require_login(actor)
    if name.casefold() == user.name.casefold():
        return user
    try:
        owner = accounts.find_account(app.database, name)
    except NoSuchUser:
        raise NoSuchAccount(name) from None
    modes = organizations.team_modes(app.database, owner, user) if owner.is_organization else ()
    if not owner.is_organization or access.organization_access(actor, owner, modes) == Mode.NONE:
        raise NoSuchAccount(name)
    return owner


def create_for(
    app: App,
    actor: Actor,
    owner: Account,
    new: NewRepository,
    *,
    auto_init: bool = False,
    initial: InitialFiles | None = None,
) -> store.Repository:
    """Create a repository for an owner; `auto_init` adds an initial commit with a README and the initial files."""
    user = require_create_for(app, actor, owner)
    check_required(new.name, "Name")
    check_length(new.name, "Name", LONGEST_NAME)
    check_length(new.description, "Description", LONGEST_DESCRIPTION)
    check_ref_field(new.default_branch, "DefaultBranch")
    initial = initial or InitialFiles()
    files = {}
    if initial.gitignores:
        files[".gitignore"] = file_templates.join_gitignores(initial.gitignores).encode()
    if initial.license:
        holder = owner.full_name or owner.name
        files["LICENSE"] = file_templates.fill_license(initial.license, holder, time.time()).encode()
    chosen = initial_labels(initial.issue_labels)
    if not auto_init:
        files = {}
    else:
        text = f"# {new.name}\n" + (f"\n{new.description}\n" if new.description else "")
        files["README.md"] = text.encode()
    return create(
        app,
        owner,
        user,
        new,
        files,
        within=lambda connection, number: labels.add_labels_to(connection, number, chosen),
    )


def initial_labels(name: str) -> list[tuple[str, str, str, bool]]:
    """Return the labels of a label set; none for an empty name."""
    try:
        chosen = file_templates.label_set(name) if name else ()
    except NoSuchTemplate:
        raise InvalidValue("IssueLabels", f"there is no set of labels {name[:100]}") from None
    return [
        (label_template.name, label_template.color, label_template.description, label_template.exclusive)
        for label_template in chosen
    ]


class RepositoryEdit(msgspec.Struct, frozen=True, kw_only=True):
    """Changes to a repository's settings; UNSET fields keep their value."""

    name: str | UnsetType = UNSET
    description: str | UnsetType = UNSET
    website: str | UnsetType = UNSET
    is_private: bool | UnsetType = UNSET
    is_template: bool | UnsetType = UNSET
    is_archived: bool | UnsetType = UNSET
    default_branch: str | UnsetType = UNSET
    has_code: bool | UnsetType = UNSET
    has_issues: bool | UnsetType = UNSET
    has_dependencies: bool | UnsetType = UNSET
    has_pulls: bool | UnsetType = UNSET
    has_releases: bool | UnsetType = UNSET
    has_wiki: bool | UnsetType = UNSET
    has_projects: bool | UnsetType = UNSET
    has_packages: bool | UnsetType = UNSET
    has_actions: bool | UnsetType = UNSET
    declared: Mapping[str, Any] = msgspec.field(default_factory=dict)
    """Settings that are stored and returned but have no effect, by their names in `DeclaredSettings`."""


# The fields of `RepositoryEdit` with a column of the same name.
COLUMNS: Final = tuple(
    name
    for name in RepositoryEdit.__struct_fields__
    if name not in {"name", "is_archived", "default_branch", "declared"}
)


def edit(app: App, actor: Actor, target: RepositoryAccess, changes: RepositoryEdit) -> store.Repository:
    """Change a repository's settings, including its name, and return the updated repository.

    What another request has changed meanwhile is kept.
    """
    user = access.require_repository_admin(actor, target)
    current = target.repository
    if changes.is_private not in {UNSET, current.is_private} and not target.permissions.is_owner:
        raise VisibilityRefused
    name = current.name if changes.name is UNSET else changes.name
    for field, text, limit in (
        ("Name", name, LONGEST_NAME),
        ("Description", changes.description, LONGEST_DESCRIPTION),
        ("Website", changes.website, LONGEST_WEBSITE),
    ):
        if text is not UNSET:
            check_length(text, field, limit)
    for declared_name, value in changes.declared.items():
        if isinstance(value, str):
            check_length(value, declared_name.title().replace("_", ""), LONGEST_SETTING)
    interval: int | None = None
    if current.is_mirror and "mirror_interval" in changes.declared:
        interval = durations.checked_interval(changes.declared["mirror_interval"], "MirrorInterval")
        shown = {**changes.declared, "mirror_interval": durations.format_duration(interval)}
        changes = msgspec.structs.replace(changes, declared=shown)
    columns = changed_columns(app, current, changes)
    with app.database.write() as connection:
        current = store.locked_repository(connection, current)
        # With the row locked: a parent that becomes private hides its forks, this one before or after this check.
        if changes.is_private is False and current.is_private and current.fork_of is not None:
            require_public_parent(connection, current.fork_of)
        if "default_branch" in columns:
            check_default_branch(connection, current, str(columns["default_branch"]))
        if interval is not None:
            mirrors.set_interval(connection, current.id, interval)
        if changes.declared:
            columns["declared"] = with_declared(current, changes.declared)
        if changes.name is not UNSET and changes.name and changes.name != current.name:
            rename(connection, current, changes.name, user)
        store.change_repository(connection, current, **columns)
        if columns.get("is_private"):
            forks.hide_forks(connection, current)
        record_changed(connection, current, user, columns)
    return store.repository_by_id(app.database, current.id)


def require_public_parent(connection: Connection, parent_id: int) -> None:
    """Raise `InvalidValue` if the parent of a fork is private, as the fork has the same content."""
    parent = store.repositories_by_id(connection, [parent_id]).get(parent_id)
    if parent is not None and (parent.is_private or parent.owner.visibility == "private"):
        raise InvalidValue("Private", "a fork of a private repository is private")


def changed_columns(
    app: App, repository: store.Repository, changes: RepositoryEdit
) -> dict[str, str | bool | int]:
    """Return the columns to update for a change of settings, except those that are stored as JSON."""
    columns: dict[str, str | bool | int] = {
        name: value for name in COLUMNS if (value := getattr(changes, name)) is not UNSET
    }
    if changes.is_archived is not UNSET and changes.is_archived != repository.is_archived:
        columns["archived_at"] = int(time.time()) if changes.is_archived else 0
    branch = changes.default_branch
    if branch is not UNSET and branch and branch != repository.default_branch:
        columns["default_branch"] = set_default_branch(app, repository, branch)
    return columns


def with_declared(repository: store.Repository, changes: Mapping[str, Any]) -> str:
    """Return the settings of a repository that are stored as JSON, with changes."""
    declared = msgspec.json.decode(repository.declared, type=DeclaredSettings)
    return msgspec.json.encode(msgspec.structs.replace(declared, **changes)).decode()


def set_default_branch(app: App, repository: store.Repository, branch: str) -> str:
    """Point HEAD to another branch; it must exist unless the repository is empty."""
    repo = app.copies.open(repository)
    if not repository.is_empty and refs.branch(repo, branch) is None:
        raise UnknownDefaultBranch(repository.id, branch)
    if not refs.is_ref_name(branch):
        raise InvalidField("DefaultBranch", Violation.REF_NAME)
    if repository.is_empty:
        check_new_branch(branch)
    return branch


def check_default_branch(connection: Connection, repository: store.Repository, branch: str) -> None:
    """Raise `UnknownDefaultBranch` if a branch was deleted meanwhile; the row of the repository is locked.

    The refs of a repository that is not adopted are not in the database; `change_repository` refuses it.
    """
    if repository.is_empty or repository.version == repository_log.NOT_ADOPTED:
        return
    if repository_log.target_of(connection, repository.id, f"refs/heads/{branch}") is None:
        raise UnknownDefaultBranch(repository.id, branch)


def rename(connection: Connection, repository: store.Repository, name: str, actor: Account) -> None:
    """Rename a repository; the old name redirects to it."""
    try:
        store.rename_repository(connection, repository, name)
    except NameRefused as error:
        raise InvalidValue("Name", str(error)) from None
    record_renamed(connection, repository, actor)


def transfer(
    app: App, actor: Actor, target: RepositoryAccess, new_owner: str, team_ids: Sequence[int] = ()
) -> store.Repository:
    """Transfer a repository to another owner, for whom the actor may create repositories.

    `team_ids` are the teams of the new owner that get access.
    """
    user = access.require_repository_owner(actor, target)
    check_required(new_owner, "NewOwner")
    try:
        owner = accounts.find_account(app.database, new_owner)
    except NoSuchUser:
        raise NoSuchAccount(new_owner) from None
    if not may_create_for(app, actor, owner):
        if not users.is_visible(app, actor, owner):
            raise NoSuchAccount(new_owner)
        raise Forbidden(Permission.NEW_OWNER)
    with app.database.write() as connection:
        move_to(connection, target.repository, owner, user, team_ids)
    return store.repository_by_id(app.database, target.repository.id)


def move_to(
    connection: Connection,
    repository: store.Repository,
    owner: Account,
    actor: Account,
    team_ids: Sequence[int],
) -> None:
    """Transfer a repository without authorization: the teams of the old owner lose access, also in its rules.

    The credentials of its webhooks and push mirrors are removed: they are the old owner's. Forks of what a hidden
    owner has are private. Raises `Outdated` if the repository has another owner by now, who did not agree.
    """
    current = store.locked_repository(connection, repository)
    if current.owner.id != repository.owner.id:
        raise Outdated("the repository was transferred in the meantime")
    repository = current
    store.transfer_repository(connection, repository, owner)
    if owner.visibility == "private":
        forks.hide_forks(connection, repository)
    if owner.id != repository.owner.id:
        remove_teams(connection, repository.id)
        remove_tag_teams(connection, repository.id)
        hooks.remove_authorizations(connection, repository.id)
        push_mirrors.remove_credentials(connection, repository.id, CREDENTIALS_REMOVED)
    teams.give_transferred(connection, owner, repository.id, team_ids)
    record_transferred(connection, repository, owner, actor)


def delete(app: App, actor: Actor, target: RepositoryAccess) -> None:
    """Delete a repository with everything in it."""
    remove(app, target.repository, access.require_repository_owner(actor, target))


def topics_of(repository: store.Repository) -> list[str]:
    """Return the topics of a repository."""
    return msgspec.json.decode(repository.topics, type=list[str])


def set_topics(app: App, actor: Actor, target: RepositoryAccess, topics: Sequence[str]) -> None:
    """Replace the topics of a repository; each is stored once, in lower case."""
    change_topics(app, actor, target, lambda _: topics)


def add_topic(app: App, actor: Actor, target: RepositoryAccess, topic: str) -> None:
    """Add a topic to a repository."""
    change_topics(app, actor, target, lambda topics: [*topics, topic])


def remove_topic(app: App, actor: Actor, target: RepositoryAccess, topic: str) -> None:
    """Remove a topic from a repository; raise `NoSuchTopic` if it does not have it."""

    def without(topics: Sequence[str]) -> list[str]:
        if topic.lower() not in topics:
            raise NoSuchTopic
        return [name for name in topics if name != topic.lower()]

    change_topics(app, actor, target, without)


def change_topics(
    app: App, actor: Actor, target: RepositoryAccess, change: Callable[[Sequence[str]], Sequence[str]]
) -> None:
    """Change the topics of a repository, given its current ones."""
    user = access.require_repository_admin(actor, target)
    access.require_unarchived(target)
    with app.database.write() as connection:
        current = store.locked_repository(connection, target.repository)
        topics = checked_topics(change(topics_of(current)))
        columns = {"topics": msgspec.json.encode(topics).decode()}
        store.change_repository(connection, current, **columns)
        record_changed(connection, current, user, columns)


def checked_topics(topics: Sequence[str]) -> list[str]:
    """Return topics in lower case, each once; raise `InvalidValue` for an invalid one, or for too many."""
    unique = list(dict.fromkeys(topic.strip().lower() for topic in topics))
    if not all(TOPIC.fullmatch(topic) for topic in unique):
        raise InvalidValue("Topics", "a topic is up to 35 lower-case letters, digits, dashes and dots")
    if len(unique) > MOST_TOPICS:
        raise InvalidValue("Topics", f"a repository has at most {MOST_TOPICS} topics")
    return unique
