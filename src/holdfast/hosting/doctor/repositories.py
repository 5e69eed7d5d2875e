"""Checks repositories: their rows against their refs, and their packs against the object store."""

import shutil
import time
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from sqlalchemy import Connection, func, select

from holdfast.hosting.app import App
from holdfast.hosting.doctor.findings import DoctorFinding, FindingKind
from holdfast.hosting.doctor.rows import FULL_NAME, set_repository
from holdfast.hosting.errors import HostingError
from holdfast.hosting.git.fsck import fsck
from holdfast.hosting.storage.pack_files import index_key
from holdfast.hosting.store import repository_log
from holdfast.hosting.store.repositories import change_repository, repository_by_id
from holdfast.hosting.store.tables import packs, repositories, users

__all__ = ["RepositoryRecord", "check_copies", "check_repository", "list_records"]

BRANCHES: Final = "refs/heads/"
LOST: Final = "lost-and-found"


@dataclass(frozen=True, slots=True)
class RepositoryRecord:
    """The columns of a repository that are derived from its refs and packs."""

    id: int
    full_name: str
    default_branch: str
    is_empty: bool
    branch_count: int
    size: int
    version: int


def list_records(app: App) -> list[RepositoryRecord]:
    """Return all repositories."""
    columns = (
        repositories.c.id,
        FULL_NAME,
        repositories.c.default_branch,
        repositories.c.is_empty,
        repositories.c.branch_count,
        repositories.c.size,
        repositories.c.version,
    )
    statement = select(*columns).join_from(repositories, users, users.c.id == repositories.c.owner_id)
    with app.database.read() as connection:
        return [RepositoryRecord(*row) for row in connection.execute(statement.order_by(repositories.c.id))]


def check_copies(app: App) -> Iterator[DoctorFinding]:
    """Find local copies of repositories that do not exist."""
    # In this order: a repository created concurrently must not be reported.
    copies = set(app.folders.all_ids())
    recorded_ids = {record.id for record in list_records(app)}
    for number in sorted(copies - recorded_ids):
        path = app.folders.path(number)

        def save(path: Path = path) -> None:
            move_to_lost_and_found(app, path)

        yield DoctorFinding(FindingKind.COPY_WITHOUT_ROW, str(path), "no repository has this id", save)


def move_to_lost_and_found(app: App, path: Path) -> Path:
    """Move an unknown folder to the lost and found: with the wrong database, it may be the only copy."""
    lost = app.settings.data / LOST
    lost.mkdir(mode=0o700, exist_ok=True)
    target = lost / f"{path.stem}-{time.time_ns()}.git"
    shutil.move(path, target)
    return target


def check_repository(app: App, record: RepositoryRecord, *, deep: bool) -> Iterator[DoctorFinding]:
    """Compare a repository's row with its refs and packs.

    With `deep`, a copy is built from the database and the object store alone, and git reads every object of it.
    """
    if record.version == repository_log.NOT_ADOPTED:
        problem = "its refs and objects are in its folder only, as before the repository log"
        yield DoctorFinding(FindingKind.NOT_ADOPTED, record.full_name, problem)
        return
    with app.database.snapshot() as connection:
        yield from check_row(app, connection, record)
        yield from check_packs(app, connection, record)
    if deep:
        yield from check_objects(app, record)


def check_row(app: App, connection: Connection, record: RepositoryRecord) -> Iterator[DoctorFinding]:
    """Compare the columns derived from refs and packs with these."""
    refs = repository_log.read_refs(connection, record.id)
    branches = [name for name in refs if name.startswith(BRANCHES)]
    where = record.full_name
    is_empty = not branches and not any(name.startswith("refs/tags/") for name in refs)
    if is_empty != record.is_empty:
        problem = (
            "is marked as empty, and is not" if record.is_empty else "is marked as not empty, and has no refs"
        )
        yield DoctorFinding(
            FindingKind.EMPTY, where, problem, lambda: set_repository(app, record.id, is_empty=is_empty)
        )
    if branches and BRANCHES + record.default_branch not in refs:
        first = min(branches).removeprefix(BRANCHES)
        problem = f"the default branch {record.default_branch} does not exist"
        yield DoctorFinding(
            FindingKind.DEFAULT_BRANCH, where, problem, lambda: set_default_branch(app, record.id, first)
        )
    count = len(branches)
    if count != record.branch_count:
        problem = f"has {count} branches, and counts {record.branch_count}"
        yield DoctorFinding(
            FindingKind.BRANCH_COUNT, where, problem, lambda: set_repository(app, record.id, branch_count=count)
        )
    sizes = select(func.coalesce(func.sum(packs.c.size), 0)).where(
        packs.c.repository_id == record.id, packs.c.superseded_at == 0
    )
    size = int(connection.execute(sizes).scalar_one())
    if size != record.size:
        problem = f"has {size} bytes, and counts {record.size}"
        yield DoctorFinding(FindingKind.SIZE, where, problem, lambda: set_repository(app, record.id, size=size))


def set_default_branch(app: App, repository_id: int, branch: str) -> None:
    """Set the default branch of a repository; HEAD of its copies is updated from it."""
    repository = repository_by_id(app.database, repository_id)
    with app.database.write() as connection:
        change_repository(connection, repository, default_branch=branch)


def check_packs(app: App, connection: Connection, record: RepositoryRecord) -> Iterator[DoctorFinding]:
    """Check that every pack exists where its row says."""
    for pack in repository_log.live_packs(connection, record.id, 0):
        if not pack.store_key:
            continue
        try:
            size = app.store.size(pack.store_key)
            has_index = app.store.size(index_key(pack.store_key)) is not None
        except HostingError as error:
            yield DoctorFinding(FindingKind.OBJECT_STORE, app.store.name, str(error))
            return
        if size != pack.size or not has_index:
            problem = f"its pack {pack.store_key} is missing or damaged in {app.store.name}"
            yield DoctorFinding(FindingKind.PACK_MISSING, record.full_name, problem)


def check_objects(app: App, record: RepositoryRecord) -> Iterator[DoctorFinding]:
    """Build a copy of a repository and check it with `git fsck`."""
    try:
        with app.folders.incoming() as folder:
            built = folder / "check.git"
            app.copies.build(record.id, built)
            result = fsck(built)
    except HostingError as error:
        yield DoctorFinding(FindingKind.UNREADABLE, record.full_name, str(error))
        return
    if not result.whole:
        more = f" (and {result.count - 1} more)" if result.count > 1 else ""
        yield DoctorFinding(FindingKind.DAMAGED, record.full_name, f"git fsck: {result.problems[0]}{more}")
