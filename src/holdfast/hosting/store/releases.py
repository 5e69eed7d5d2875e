"""Releases of a repository, each for a tag."""

import time
from collections.abc import Sequence
from typing import Final

import msgspec
from sqlalchemy import ColumnElement, bindparam, delete, func, insert, select, update

from holdfast.hosting.errors import NoSuchRelease, Outdated, ReleaseTaken, StorageUnavailable
from holdfast.hosting.store import events, repository_log
from holdfast.hosting.store.accounts import Account
from holdfast.hosting.store.attachments import Attachment, AttachmentHolder, attachments_in
from holdfast.hosting.store.database import Database
from holdfast.hosting.store.hashed_versions import hashed_version
from holdfast.hosting.store.prepared_statements import Link, Statement
from holdfast.hosting.store.repositories import Repository
from holdfast.hosting.store.tables import releases, repositories

__all__ = [
    "Release",
    "ReleaseFields",
    "ReleaseSnapshot",
    "add_release",
    "change_release",
    "delete_release",
    "find_by_tag",
    "find_release",
    "holder_of",
    "latest_release",
    "release_by_id",
    "releases_of",
    "require_tag",
    "withdraw_tags",
]


class Release(msgspec.Struct, frozen=True):
    """A release; the fields are columns of the table, in this order."""

    id: int
    repository_id: int
    tag_name: str
    target: str
    name: str
    body: str
    is_draft: bool
    is_prerelease: bool
    author_id: int | None
    created_at: int
    published_at: int

    @property
    def version(self) -> str:
        """The version of what an edit can change, for optimistic locking."""
        return hashed_version(self.tag_name, self.target, self.name, self.body, self.is_draft, self.is_prerelease)


class ReleaseFields(msgspec.Struct, frozen=True, kw_only=True):
    """The fields of a release that users set."""

    tag_name: str
    target: str = ""
    name: str = ""
    body: str = ""
    is_draft: bool = False
    is_prerelease: bool = False


class ReleaseSnapshot(msgspec.Struct, frozen=True):
    """A release with its files, as included in its event."""

    release: Release
    assets: list[Attachment]


COLUMNS: Final = tuple(releases.c[name] for name in Release.__struct_fields__)
IN_REPOSITORY: Final = releases.c.repository_id == bindparam("repository")
BY_ID = Statement(select(*COLUMNS).where(releases.c.id == bindparam("id")))
BY_TAG = Statement(select(*COLUMNS).where(IN_REPOSITORY, releases.c.tag_name == bindparam("tag_name")))
LATEST = Statement(
    select(*COLUMNS)
    .where(IN_REPOSITORY, ~releases.c.is_draft, ~releases.c.is_prerelease)
    .order_by(releases.c.id.desc())
    .limit(1)
)
CHOSEN: Final = ReleaseFields.__struct_fields__
ADD = Statement(
    insert(releases)
    .values(
        repository_id=bindparam("repository"),
        author_id=bindparam("author_id"),
        created_at=bindparam("moment"),
        published_at=bindparam("moment"),
        **{name: bindparam(name) for name in CHOSEN},
    )
    .returning(*COLUMNS)
)
CHANGE = Statement(
    update(releases)
    .where(releases.c.id == bindparam("number"))
    .values(published_at=bindparam("moment"), **{name: bindparam(name) for name in CHOSEN})
    .returning(*COLUMNS)
)
DELETE = Statement(delete(releases).where(releases.c.id == bindparam("number")))
# Taken before the row of a release, as by updates of refs, which turn the releases of deleted tags into drafts.
LOCK_REPOSITORY = Statement(
    select(repositories.c.version)
    .where(repositories.c.id == bindparam("repository"))
    .with_for_update(key_share=True)
)
PUBLISHED: Final = select(func.count()).where(releases.c.repository_id == repositories.c.id, ~releases.c.is_draft)
RECOUNT = Statement(
    update(repositories)
    .where(repositories.c.id == bindparam("repository"))
    .values(release_count=PUBLISHED.scalar_subquery(), updated_at=bindparam("moment"))
)
WITHDRAW = Statement(
    update(releases)
    .where(IN_REPOSITORY, releases.c.tag_name == bindparam("tag"), ~releases.c.is_draft)
    .values(is_draft=True)
    .returning(*COLUMNS)
)


def holder_of(release: Release) -> AttachmentHolder:
    """Return a release as the holder of attachments."""
    return AttachmentHolder("release_id", release.id)


def release_by_id(database: Database, number: int) -> Release | None:
    """Return a release by id, or None."""
    row = database.row(BY_ID, id=number)
    return None if row is None else Release(*row)


def find_release(database: Database, repository: Repository, number: int) -> Release:
    """Return a release of a repository by id."""
    release = release_by_id(database, number)
    if release is None or release.repository_id != repository.id:
        raise NoSuchRelease(f"release does not exist [id: {number}]")
    return release


def find_by_tag(database: Database, repository: Repository, tag_name: str) -> Release | None:
    """Return the release of a tag, or None."""
    row = database.row(BY_TAG, repository=repository.id, tag_name=tag_name)
    return None if row is None else Release(*row)


def latest_release(database: Database, repository: Repository) -> Release | None:
    """Return the newest release that is neither a draft nor a pre-release, or None."""
    row = database.row(LATEST, repository=repository.id)
    return None if row is None else Release(*row)


def releases_of(
    database: Database,
    repository: Repository,
    *,
    is_draft: bool | None,
    is_prerelease: bool | None,
    skip: int,
    limit: int,
) -> tuple[list[Release], int]:
    """Return one page of a repository's releases, newest first, and the total."""
    conditions: list[ColumnElement[bool]] = [releases.c.repository_id == repository.id]
    if is_draft is not None:
        conditions.append(releases.c.is_draft == is_draft)
    if is_prerelease is not None:
        conditions.append(releases.c.is_prerelease == is_prerelease)
    statement = select(*COLUMNS).where(*conditions).order_by(releases.c.id.desc()).offset(skip).limit(limit)
    with database.read() as connection:
        rows = connection.execute(statement).all()
        total = connection.execute(select(func.count()).select_from(releases).where(*conditions)).scalar_one()
    return [Release(*row) for row in rows], total


def check_tag_free(link: Link, repository: Repository, tag_name: str, other_than: int = 0) -> None:
    """Raise `ReleaseTaken` if another release has the tag."""
    taken = BY_TAG.run(link, repository=repository.id, tag_name=tag_name)
    if taken and taken[0][0] != other_than:
        raise ReleaseTaken(f"release tag already exists [tag_name: {tag_name}]")


def add_release(link: Link, repository: Repository, author: Account, fields: ReleaseFields) -> Release:
    """Add a release in a transaction; it is published unless it is a draft."""
    check_tag_free(link, repository, fields.tag_name)
    now = int(time.time())
    (row,) = ADD.run(
        link, repository=repository.id, author_id=author.id, moment=now, **msgspec.structs.asdict(fields)
    )
    release = Release(*row)
    RECOUNT.run(link, repository=repository.id, moment=now)
    if not release.is_draft:
        record_event(link, repository, author, "published", release)
    return release


def change_release(
    link: Link, repository: Repository, actor: Account, release: Release, fields: ReleaseFields
) -> Release:
    """Change a release in a transaction; a draft that no longer is one is published.

    Raise `Outdated` if the release is no longer as it was read: `fields` has its other values too.
    """
    if locked_release(link, repository, release) != release:
        raise Outdated("the release was changed in the meantime")
    check_tag_free(link, repository, fields.tag_name, release.id)
    now = int(time.time())
    publishes = release.is_draft and not fields.is_draft
    rows = CHANGE.run(
        link,
        number=release.id,
        moment=now if publishes else release.published_at,
        **msgspec.structs.asdict(fields),
    )
    changed = Release(*rows[0])
    RECOUNT.run(link, repository=repository.id, moment=now)
    if not changed.is_draft:
        record_event(link, repository, actor, "published" if publishes else "updated", changed)
    return changed


def locked_release(link: Link, repository: Repository, release: Release) -> Release:
    """Lock the releases of a repository until the transaction ends, and return the current state of one."""
    LOCK_REPOSITORY.read(link, repository=repository.id)
    rows = BY_ID.run(link, id=release.id)
    if not rows:
        raise NoSuchRelease(f"release does not exist [id: {release.id}]")
    return Release(*rows[0])


def require_tag(link: Link, repository: Repository, tag_name: str) -> None:
    """Raise `Outdated` if a tag was deleted; with the repository locked, none is until the transaction ends."""
    versions = LOCK_REPOSITORY.run(link, repository=repository.id)
    if versions and versions[0][0] == repository_log.NOT_ADOPTED:
        # Its tags are not in the database.
        raise StorageUnavailable("the repository is not adopted yet; `holdfast admin doctor` says more")
    if repository_log.target_of(link, repository.id, f"refs/tags/{tag_name}") is None:
        raise Outdated("the tag was deleted in the meantime")


def delete_release(link: Link, repository: Repository, actor: Account, release: Release) -> None:
    """Delete a release in a transaction; its tag is kept, and the content of its files becomes garbage."""
    release = locked_release(link, repository, release)
    assets = attachments_in(link, holder_of(release))
    DELETE.run(link, number=release.id)
    RECOUNT.run(link, repository=repository.id, moment=int(time.time()))
    if not release.is_draft:
        record_event(link, repository, actor, "deleted", release, assets=assets)


def withdraw_tags(link: Link, repository: Repository, tags: Sequence[str]) -> None:
    """Turn the releases of deleted tags into drafts, in the transaction that deletes the tags."""
    withdrawn = [row for tag in tags for row in WITHDRAW.run(link, repository=repository.id, tag=tag)]
    if withdrawn:
        RECOUNT.run(link, repository=repository.id, moment=int(time.time()))


def record_event(
    link: Link,
    repository: Repository,
    actor: Account,
    action: str,
    release: Release,
    *,
    assets: Sequence[Attachment] | None = None,
) -> None:
    """Record an event of a release; `assets` are its files if they cannot be looked up any more."""
    attachments = attachments_in(link, holder_of(release)) if assets is None else assets
    events.record(
        link,
        "release",
        owner_id=repository.owner.id,
        repository_id=repository.id,
        actor_id=actor.id,
        details={
            "action": action,
            "release": msgspec.to_builtins(ReleaseSnapshot(release, list(attachments))),
        },
    )
