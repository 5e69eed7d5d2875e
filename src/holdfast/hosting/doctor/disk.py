"""Checks files on disk against the database: repositories, LFS objects, and permissions."""

import shutil
import time
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from sqlalchemy import func, select

from holdfast.hosting.app import App
from holdfast.hosting.data_folder import paths_open_to_others
from holdfast.hosting.doctor.findings import Finding, FindingKind
from holdfast.hosting.doctor.rows import FULL_NAME, set_repository
from holdfast.hosting.errors import GitError, LfsError
from holdfast.hosting.git import gc, refs
from holdfast.hosting.git.ref_store import set_head
from holdfast.hosting.git.repository import Repo, open_repository
from holdfast.hosting.services import lfs_objects
from holdfast.hosting.storage import instance
from holdfast.hosting.store.tables import lfs_links, repositories, users

__all__ = [
    "RepositoryRecord",
    "check_identity",
    "check_lfs_objects",
    "check_permissions",
    "check_repository",
    "match_rows_and_folders",
]

LOST: Final = "lost-and-found"
# The folder of a repository is created shortly before its row is visible.
NEW_SECONDS: Final = 600
# Sizes are measured shortly after a push.
SIZE_SLACK: Final = 1 << 20


@dataclass(frozen=True, slots=True)
class RepositoryRecord:
    """The columns of a repository row that are compared with git."""

    id: int
    full_name: str
    default_branch: str
    object_format: str
    is_empty: bool
    branch_count: int
    size: int
    is_measured: bool
    """Whether the size was measured after the last push."""


def check_permissions(app: App) -> Iterator[Finding]:
    """Check that other users of the machine cannot read the data folder, the database or the key."""
    for path in paths_open_to_others(app.settings.data):

        def close(path: Path = path) -> None:
            path.chmod(path.stat().st_mode & ~0o077)

        mode = path.stat().st_mode & 0o777
        yield Finding(FindingKind.PERMISSIONS, str(path), f"is open to others (mode {mode:03o})", close)


def check_identity(app: App) -> Iterator[Finding]:
    """Check that the data folder and its key belong to the database."""
    problem = instance.mismatch(app.database, app.settings)
    if problem:
        yield Finding(FindingKind.INSTANCE, str(app.settings.data), problem)


def match_rows_and_folders(app: App, *, now: float | None = None) -> tuple[list[RepositoryRecord], list[Finding]]:
    """Match rows with folders; return the repositories that have both, and findings for the others."""
    moment = time.time() if now is None else now
    # In this order: a repository created concurrently must not be reported.
    folders = set(app.folders.all_ids())
    columns = (
        repositories.c.id,
        FULL_NAME,
        repositories.c.default_branch,
        repositories.c.object_format,
        repositories.c.is_empty,
        repositories.c.branch_count,
        repositories.c.size,
        (repositories.c.measured_at > repositories.c.pushed_at) | (repositories.c.pushed_at == 0),
    )
    statement = select(*columns).join_from(repositories, users, users.c.id == repositories.c.owner_id)
    with app.database.read() as connection:
        rows = [RepositoryRecord(*row) for row in connection.execute(statement.order_by(repositories.c.id))]
    found = []
    for number in sorted(folders - {record.id for record in rows}):
        path = app.folders.path(number)
        try:
            is_new = path.stat().st_mtime > moment - NEW_SECONDS
        except FileNotFoundError:
            continue
        if not is_new:

            def save(path: Path = path) -> None:
                move_to_lost_and_found(app, path)

            found.append(Finding(FindingKind.FOLDER_WITHOUT_ROW, str(path), "no repository has this id", save))
    both = []
    for record in rows:
        if record.id in folders or app.folders.exists(record.id):
            both.append(record)
        else:
            where = str(app.folders.path(record.id))
            found.append(Finding(FindingKind.FOLDER_MISSING, record.full_name, f"its folder {where} is missing"))
    return both, found


def move_to_lost_and_found(app: App, path: Path) -> Path:
    """Move an unknown folder to the lost and found."""
    lost = app.settings.data / LOST
    lost.mkdir(mode=0o700, exist_ok=True)
    target = lost / f"{path.stem}-{time.time_ns()}.git"
    shutil.move(path, target)
    return target


def check_repository(app: App, record: RepositoryRecord, *, deep: bool) -> Iterator[Finding]:
    """Compare a repository's row with its folder; with `deep`, read every object."""
    try:
        repo = open_repository(app.folders.existing(record.id))
        yield from check_row(app, record, repo)
    except GitError as error:
        yield Finding(FindingKind.UNREADABLE, record.full_name, str(error))
        return
    if deep:
        checked = gc.fsck(repo.folder)
        if not checked.whole:
            more = f" (and {checked.count - 1} more)" if checked.count > 1 else ""
            yield Finding(FindingKind.DAMAGED, record.full_name, f"git says: {checked.problems[0]}{more}")


def check_row(app: App, record: RepositoryRecord, repo: Repo) -> Iterator[Finding]:
    """Compare the columns of a row with git."""
    where = record.full_name
    settings = repo.git.config
    name = "extensions.objectformat"
    object_format = settings[name] if name in settings else "sha1"  # noqa: SIM401  # it has no get
    if object_format != record.object_format:
        yield Finding(
            FindingKind.OBJECT_FORMAT, where, f"is recorded as {record.object_format}, but is {object_format}"
        )
    head = refs.head(repo)
    if head != record.default_branch:
        default_exists = refs.branch(repo, record.default_branch) is not None
        if not default_exists and head is not None and refs.branch(repo, head) is not None:
            problem = f"the default branch {record.default_branch} does not exist, but HEAD points to {head}"

            def follow(branch: str = head) -> None:
                set_repository(app, record.id, default_branch=branch)

            yield Finding(FindingKind.DEFAULT_BRANCH, where, problem, follow)
        else:
            problem = f"HEAD names {head or 'no branch'}, the default branch is {record.default_branch}"
            yield Finding(FindingKind.HEAD, where, problem, lambda: set_head(repo, record.default_branch))
    is_empty = refs.is_empty(repo)
    if is_empty != record.is_empty:
        problem = (
            "is marked as empty, but has branches"
            if record.is_empty
            else "is marked as having branches, but has none"
        )
        yield Finding(FindingKind.EMPTY, where, problem, lambda: set_repository(app, record.id, is_empty=is_empty))
    count = refs.branches(repo, limit=0)[1]
    if count != record.branch_count:
        problem = f"says {record.branch_count} branches, has {count}"
        yield Finding(
            FindingKind.BRANCH_COUNT, where, problem, lambda: set_repository(app, record.id, branch_count=count)
        )
    moment = int(time.time())
    size = app.folders.size(record.id)
    if abs(size - record.size) > max(SIZE_SLACK, size // 5):
        if not record.is_measured:
            # Not a finding: it had not been measured yet.
            set_repository(app, record.id, size=size, measured_at=moment)
            return
        problem = f"says {record.size} bytes, takes {size}"
        yield Finding(
            FindingKind.SIZE, where, problem, lambda: set_repository(app, record.id, size=size, measured_at=moment)
        )


def check_lfs_objects(app: App, *, now: float | None = None) -> Iterator[Finding]:
    """Match LFS objects with their links, in the data folder or in a bucket."""
    moment = time.time() if now is None else now
    # In this order: an object is stored before it is linked.
    statement = select(lfs_links.c.oid, func.max(lfs_links.c.size), func.min(lfs_links.c.repository_id))
    with app.database.read() as connection:
        links = list(connection.execute(statement.group_by(lfs_links.c.oid)).all())
    try:
        stored = lfs_objects.stored(app)
    except LfsError as error:
        yield Finding(FindingKind.LFS_STORE, str(app.settings.s3_bucket or "lfs"), str(error))
        return
    for oid, size, number in links:
        found = stored.get(oid)
        if found is None:
            problem = f"is not in the store, but repository {number} has it"
            yield Finding(FindingKind.LFS_MISSING, oid, problem)
        elif found.size != size:
            yield Finding(FindingKind.LFS_SIZE, oid, f"has {found.size} bytes, not {size}")
    linked = {oid for oid, _, _ in links}
    for oid, found in stored.items():
        if oid not in linked and found.written_at < moment - lfs_objects.GRACE:
            yield Finding(FindingKind.LFS_UNLINKED, oid, "is in the store, but no repository has it")
