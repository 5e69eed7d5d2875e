"""Migration of repositories from other services."""

from typing import Annotated, Final, Literal

import msgspec
from msgspec import Meta

from holdfast.hosting.access import RepositoryAccess, Unit
from holdfast.hosting.api.repositories import encode
from holdfast.hosting.errors import InvalidValue, NoSuchAccount, NoSuchUser
from holdfast.hosting.guards import in_repository, reads, signed_in
from holdfast.hosting.http.decoders import Required
from holdfast.hosting.http.endpoints import endpoint
from holdfast.hosting.request_context import RequestContext
from holdfast.hosting.schemas.repositories import RepositorySchema
from holdfast.hosting.schemas.times import Time, moment
from holdfast.hosting.services import migrations, repositories
from holdfast.hosting.services.migration_imports import ImportParts
from holdfast.hosting.services.migration_sources import SourceService
from holdfast.hosting.services.migrations import NewMigration
from holdfast.hosting.services.remotes import Credentials
from holdfast.hosting.services.repositories import LONGEST_DESCRIPTION, LONGEST_NAME
from holdfast.hosting.store import accounts
from holdfast.hosting.store.accounts import Account
from holdfast.redacted_repr import redacted

__all__ = ["migrate", "show_migration"]

Service = Literal[
    "", "git", "github", "gitea", "forgejo", "gitlab", "gogs", "onedev", "gitbucket", "codebase", "codecommit"
]
SERVICES: Final[dict[str, SourceService]] = {"gitea": "gitea", "forgejo": "gitea", "github": "github"}


@redacted
class MigrateRepoOptions(msgspec.Struct, frozen=True):
    """The source of a migration, and the settings of the new repository."""

    clone_addr: Annotated[str, Required] = ""
    repo_name: Annotated[str, Meta(max_length=LONGEST_NAME), Required] = ""
    repo_owner: str = ""
    uid: int = 0
    service: Service = ""
    auth_username: str = ""
    auth_password: str = ""
    auth_token: str = ""
    description: Annotated[str, Meta(max_length=LONGEST_DESCRIPTION)] = ""
    private: bool = False
    mirror: bool = False
    mirror_interval: str = ""
    labels: bool = False
    milestones: bool = False
    issues: bool = False
    pull_requests: bool = False
    releases: bool = False
    wiki: bool = False
    lfs: bool = False
    lfs_endpoint: str = ""
    aws_access_key_id: str = ""
    aws_secret_access_key: str = ""


class MigrationProgress(msgspec.Struct, frozen=True):
    """The progress of a migration: `done` of `total` items of the current phase."""

    status: str
    phase: str
    done: int
    total: int
    started_at: Time
    updated_at: Time


def owner_of(request: RequestContext, body: MigrateRepoOptions) -> Account:
    """Return the owner of the new repository: the caller, unless another is named."""
    name = body.repo_owner
    if not name and not body.uid:
        return request.user
    missing = InvalidValue("RepoOwner", f"there is no owner {name[:100]} you can see")
    if not name:
        missing = InvalidValue("UID", f"there is no user or organization with the id {body.uid} you can see")
    try:
        # The name that belongs to an id must not be revealed.
        name = name or accounts.find_account(request.app.database, body.uid).name
        return repositories.find_new_owner(request.app, request.actor, name)
    except (NoSuchAccount, NoSuchUser):
        raise missing from None


def service_of(body: MigrateRepoOptions, parts: ImportParts) -> SourceService | None:
    """Return the kind of API to import from; None for plain git; raise an error for unsupported services."""
    if body.service in {"", "git"} or parts == ImportParts():
        return None
    source_service = SERVICES.get(body.service)
    if source_service is None:
        raise InvalidValue("Service", f"issues and releases cannot be migrated from {body.service}")
    return source_service


@endpoint(
    "POST /repos/migrate",
    scope="repository",
    guards=(signed_in,),
    status=201,
    refuses=(401, 403, 409, 422, 503),
    tag="repositories",
)
def migrate(request: RequestContext, body: MigrateRepoOptions) -> RepositorySchema:
    """Migrate a repository from another server; the response is sent when the migration is complete."""
    if body.wiki:
        raise InvalidValue("Wiki", "cannot be migrated yet")
    parts = ImportParts(
        labels=body.labels,
        milestones=body.milestones,
        issues=body.issues,
        pull_requests=body.pull_requests,
        releases=body.releases,
    )
    new = NewMigration(
        address=body.clone_addr,
        name=body.repo_name,
        description=body.description,
        is_private=body.private,
        credentials=Credentials(body.auth_username, body.auth_token or body.auth_password),
        token=body.auth_token,
        is_mirror=body.mirror,
        mirror_interval=body.mirror_interval,
        service=service_of(body, parts),
        parts=parts,
        with_lfs=body.lfs,
        lfs_address=body.lfs_endpoint,
    )
    return encode(request, migrations.migrate(request.app, request.actor, owner_of(request, body), new))


@endpoint("GET /repos/{owner}/{repo}/migration", scope="repository", guards=(in_repository, reads(Unit.CODE)))
def show_migration(request: RequestContext, target: RepositoryAccess) -> MigrationProgress:
    """Show the progress of a repository's migration."""
    migration = migrations.show_progress(request.app, target)
    return MigrationProgress(
        migration.status,
        migration.phase,
        migration.done,
        migration.total,
        moment(migration.started_at),
        moment(migration.updated_at),
    )
