"""The schema of a repository."""

from collections.abc import Sequence
from typing import Final
from urllib.parse import quote, urlsplit

import msgspec
from msgspec import UNSET, UnsetType

from holdfast.hosting import access
from holdfast.hosting.access import Mode, Permissions, Unit
from holdfast.hosting.schemas.organizations import TeamSchema
from holdfast.hosting.schemas.times import EPOCH, Time, moment
from holdfast.hosting.schemas.users import UserSchema, user
from holdfast.hosting.schemas.viewer import Viewer
from holdfast.hosting.store import repositories as store
from holdfast.hosting.store.repositories import DeclaredSettings
from holdfast.settings import Settings

__all__ = [
    "InternalTracker",
    "PermissionSchema",
    "RepositorySchema",
    "permission",
    "repository",
    "repository_list",
    "ssh_url",
]

SSH_PORT: Final = 22


class PermissionSchema(msgspec.Struct, frozen=True):
    """The caller's permissions."""

    admin: bool
    push: bool
    pull: bool


class InternalTracker(msgspec.Struct, frozen=True):
    """The settings of the issue tracker."""

    enable_time_tracker: bool = True
    allow_only_contributors_to_track_time: bool = True
    enable_issue_dependencies: bool = True


class RepoTransfer(msgspec.Struct, frozen=True):
    """A pending transfer."""

    doer: UserSchema
    recipient: UserSchema
    teams: list[TeamSchema]


class RepositorySchema(msgspec.Struct, frozen=True):
    """A repository."""

    id: int
    owner: UserSchema
    name: str
    full_name: str
    description: str
    empty: bool
    private: bool
    fork: bool
    template: bool
    mirror: bool
    size: int
    language: str
    languages_url: str
    html_url: str
    url: str
    link: str
    ssh_url: str
    clone_url: str
    original_url: str
    website: str
    stars_count: int
    forks_count: int
    watchers_count: int
    branch_count: int
    open_issues_count: int
    open_pr_counter: int
    release_counter: int
    default_branch: str
    archived: bool
    created_at: Time
    updated_at: Time
    archived_at: Time
    permissions: PermissionSchema
    has_code: bool
    has_issues: bool
    has_wiki: bool
    has_pull_requests: bool
    has_projects: bool
    projects_mode: str
    has_releases: bool
    has_packages: bool
    has_actions: bool
    ignore_whitespace_conflicts: bool
    allow_merge_commits: bool
    allow_rebase: bool
    allow_rebase_explicit: bool
    allow_squash_merge: bool
    allow_fast_forward_only_merge: bool
    allow_merge_update: bool
    allow_rebase_update: bool
    allow_manual_merge: bool
    autodetect_manual_merge: bool
    default_delete_branch_after_merge: bool
    default_merge_style: str
    default_update_style: str
    default_allow_maintainer_edit: bool
    avatar_url: str
    internal: bool
    mirror_interval: str
    object_format_name: str
    mirror_updated: Time
    mirror_last_sync_at: Time
    topics: list[str]
    licenses: list[str]
    internal_tracker: InternalTracker | UnsetType = UNSET
    repo_transfer: RepoTransfer | UnsetType = UNSET
    parent: "RepositorySchema | UnsetType" = UNSET


def permission(may: Permissions) -> PermissionSchema:
    """Encode permissions."""
    return PermissionSchema(admin=may.is_admin, push=may.may_write(Unit.CODE), pull=may.may_read(Unit.CODE))


def repository(viewer: Viewer, stored: store.Repository, may: Permissions) -> RepositorySchema:
    """Encode a repository; a fork with its parent."""
    if stored.fork_of is None:
        return encode(viewer, stored, may)
    parent = store.find_by_id(viewer.app.database, stored.fork_of)
    if parent is None:
        return encode(viewer, stored, may)
    asking = viewer.actor.user
    grants = () if asking is None else store.grants_of(viewer.app.database, asking, parent)
    return encode(viewer, stored, may, parent_schema(viewer, parent, grants))


def parent_schema(
    viewer: Viewer, parent: store.Repository, grants: tuple[store.Grant, ...]
) -> RepositorySchema | UnsetType:
    """Encode the parent of a fork, if the viewer may see it."""
    may = access.repository_access(viewer.actor, parent, grants)
    return UNSET if may.mode == Mode.NONE else encode(viewer, parent, may)


def ssh_url(settings: Settings, root: str, path: str) -> str:
    """Return the SSH clone URL of a repository; for the standard port in the short form `git@host:path`."""
    host = urlsplit(root).hostname or "localhost"
    host = f"[{host}]" if ":" in host else host
    port = (settings.ssh_url_port or settings.ssh_port) if settings.ssh else SSH_PORT
    if port in {0, SSH_PORT}:
        return f"{settings.ssh_user}@{host}:{path}.git"
    return f"ssh://{settings.ssh_user}@{host}:{port}/{path}.git"


def encode(
    viewer: Viewer,
    stored: store.Repository,
    may: Permissions,
    parent: RepositorySchema | UnsetType = UNSET,
) -> RepositorySchema:
    """Encode the columns of a repository."""
    declared = msgspec.json.decode(stored.declared, type=DeclaredSettings)
    path = f"{quote(stored.owner.name)}/{quote(stored.name)}"
    mirrored = moment(stored.mirrored_at) if stored.mirrored_at else EPOCH
    tracker: InternalTracker | UnsetType = UNSET
    if stored.has_issues:
        tracker = InternalTracker(
            declared.enable_time_tracker,
            declared.allow_only_contributors_to_track_time,
            stored.has_dependencies,
        )
    return RepositorySchema(
        id=stored.id,
        owner=user(viewer, stored.owner),
        name=stored.name,
        full_name=stored.full_name,
        description=stored.description,
        empty=stored.is_empty,
        private=stored.is_private,
        fork=stored.fork_of is not None,
        template=stored.is_template,
        mirror=stored.is_mirror,
        size=stored.size // 1024 if may.may_read(Unit.CODE) else 0,
        language=stored.language if may.may_read(Unit.CODE) else "",
        languages_url=f"{viewer.api}/repos/{path}/languages",
        html_url=f"{viewer.root}/{path}",
        url=f"{viewer.api}/repos/{path}",
        link="",
        ssh_url=ssh_url(viewer.app.settings, viewer.root, path),
        clone_url=f"{viewer.root}/{path}.git",
        original_url=declared.original_url,
        website=stored.website,
        stars_count=stored.star_count,
        forks_count=stored.fork_count,
        watchers_count=stored.watch_count,
        branch_count=stored.branch_count if may.may_read(Unit.CODE) else 0,
        open_issues_count=stored.open_issues if may.may_read(Unit.ISSUES) else 0,
        open_pr_counter=stored.open_pulls if may.may_read(Unit.PULLS) else 0,
        release_counter=stored.release_count,
        default_branch=stored.default_branch,
        archived=stored.is_archived,
        created_at=moment(stored.created_at),
        updated_at=moment(stored.updated_at),
        archived_at=moment(stored.archived_at) if stored.is_archived else EPOCH,
        permissions=permission(may),
        has_code=stored.has_code,
        has_issues=stored.has_issues,
        internal_tracker=tracker,
        has_wiki=stored.has_wiki,
        has_pull_requests=stored.has_pulls,
        has_projects=stored.has_projects,
        projects_mode=declared.projects_mode,
        has_releases=stored.has_releases,
        has_packages=stored.has_packages,
        has_actions=stored.has_actions,
        ignore_whitespace_conflicts=declared.ignore_whitespace_conflicts,
        allow_merge_commits=declared.allow_merge_commits,
        allow_rebase=declared.allow_rebase,
        allow_rebase_explicit=declared.allow_rebase_explicit,
        allow_squash_merge=declared.allow_squash_merge,
        allow_fast_forward_only_merge=declared.allow_fast_forward_only_merge,
        allow_merge_update=declared.allow_merge_update,
        allow_rebase_update=declared.allow_rebase_update,
        allow_manual_merge=declared.allow_manual_merge,
        autodetect_manual_merge=declared.autodetect_manual_merge,
        default_delete_branch_after_merge=declared.default_delete_branch_after_merge,
        default_merge_style=declared.default_merge_style,
        default_update_style=declared.default_update_style,
        default_allow_maintainer_edit=declared.default_allow_maintainer_edit,
        avatar_url=f"{viewer.root}/repo-avatars/{stored.id}?v={stored.avatar}" if stored.avatar else "",
        internal=not stored.is_private and stored.owner.visibility == "private",
        mirror_interval=declared.mirror_interval,
        object_format_name=stored.object_format,
        mirror_updated=mirrored,
        mirror_last_sync_at=mirrored,
        topics=msgspec.json.decode(stored.topics, type=list[str]),
        licenses=[],
        parent=parent,
    )


def repository_list(viewer: Viewer, page: Sequence[store.Repository]) -> list[RepositorySchema]:
    """Encode a page of repositories, loading all parents of forks and all grants in one query each."""
    database, asking = viewer.app.database, viewer.actor.user
    ids = {stored.fork_of for stored in page if stored.fork_of is not None}
    parents: dict[int, store.Repository] = {}
    if ids:
        with database.read() as connection:
            parents = store.repositories_by_id(connection, ids)
    both = [*page, *parents.values()]
    grants = {} if asking is None or not both else store.grants_in(database, asking, both)
    shown = {number: parent_schema(viewer, parent, grants.get(number, ())) for number, parent in parents.items()}
    return [
        encode(
            viewer,
            stored,
            access.repository_access(viewer.actor, stored, grants.get(stored.id, ())),
            shown.get(stored.fork_of or 0, UNSET),
        )
        for stored in page
    ]
