"""Adoption: import repositories that exist only as git folders, from before the repository log, into the log.

Each repository is adopted in one transaction: its packs are stored, its refs and the first version of its log are
recorded, and the columns derived from them are set. After an interruption, the next start resumes.
"""

from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Final

import structlog
from sqlalchemy import Connection, select, update

from holdfast.hosting.errors import GitError
from holdfast.hosting.git import refs
from holdfast.hosting.git.encoding import argument
from holdfast.hosting.git.program import run
from holdfast.hosting.git.repository import Repo, open_repository
from holdfast.hosting.storage.local_copies import LocalCopies
from holdfast.hosting.storage.object_store import ObjectStore
from holdfast.hosting.storage.pack_files import store_pack_file
from holdfast.hosting.store import repository_log
from holdfast.hosting.store.database import Database
from holdfast.hosting.store.repository_log import NOT_ADOPTED, NewPack
from holdfast.hosting.store.tables import repositories

__all__ = ["adopt_all", "adopt_repository", "pack_files"]

SECONDS: Final = 4 * 3600.0
BRANCHES: Final = "refs/heads/"
TAGS: Final = "refs/tags/"
log = structlog.get_logger(__name__)


def adopt_all(
    database: Database, store: ObjectStore, copies: LocalCopies, progress: Callable[[int, int], None]
) -> int:
    """Adopt every repository that is not adopted yet; return how many there were.

    A damaged repository is left as it is, readable as far as possible, and the doctor reports it. `progress` is
    called after each repository with the number done and the total.
    """
    with database.read() as connection:
        statement = select(repositories.c.id).where(repositories.c.version == NOT_ADOPTED)
        numbers = list(connection.execute(statement.order_by(repositories.c.id)).scalars())
    for count, number in enumerate(numbers, 1):
        try:
            adopt_repository(database, store, copies, number)
        except GitError as error:
            log.error("repository not adopted", repository_id=number, reason=str(error))  # noqa: TRY400  # not a bug
        progress(count, len(numbers))
    return len(numbers)


def adopt_repository(database: Database, store: ObjectStore, copies: LocalCopies, repository_id: int) -> None:
    """Record the refs and packs of a repository's folder.

    Raises `GitError` if the folder is missing or damaged: an empty log would replace data that may be recoverable.
    """
    folder = copies.folders.existing(repository_id)
    with copies.locked(repository_id):
        # Lock files left by a process that was killed; nothing else writes here any more.
        for path in stale_locks(folder):
            path.unlink(missing_ok=True)
        # Write all loose objects to one more pack. Nothing is deleted: until the transaction commits, the folder
        # is the only copy. (Such a pack cannot have a bitmap, which the configuration enables.)
        run(folder, "repack", "-q", "--no-write-bitmap-index", timeout=SECONDS)
        repo = open_repository(folder)
        targets = dict(all_targets(repo))
        packs = [store_pack_file(store, path) for path in pack_files(folder)]
        with database.write() as connection:
            is_recorded = record(connection, repository_id, targets, packs, refs.head(repo))
        if is_recorded:
            copies.mark(repository_id, 1)


def record(
    connection: Connection, repository_id: int, targets: dict[str, str], packs: list[NewPack], head: str | None
) -> bool:
    """Record refs and packs as the first version of a log; return False if it has one already."""
    branches = {ref.removeprefix(BRANCHES) for ref in targets if ref.startswith(BRANCHES)}
    values: dict[str, object] = {
        "version": 1,
        "branch_count": len(branches),
        "is_empty": not branches and not any(ref.startswith(TAGS) for ref in targets),
        "size": sum(pack.size for pack in packs),
    }
    update_statement = update(repositories).where(repositories.c.id == repository_id)
    if not connection.execute(
        update_statement.where(repositories.c.version == NOT_ADOPTED).values(**values)
    ).rowcount:
        return False
    statement = select(repositories.c.default_branch).where(repositories.c.id == repository_id)
    default_branch = connection.execute(statement).scalar_one()
    if BRANCHES + default_branch not in targets and head in branches:
        connection.execute(update_statement.values(default_branch=head))
    repository_log.set_refs(connection, repository_id, targets)
    repository_log.add_packs(connection, repository_id, 1, packs)
    return True


def stale_locks(folder: Path) -> list[Path]:
    """Return the lock files of refs in a repository."""
    return [*folder.glob("*.lock"), *(folder / "refs").rglob("*.lock")]


def all_targets(repo: Repo) -> Iterator[tuple[str, str]]:
    """Yield the refs of a repository and the ids of their targets."""
    for name in refs.all_refs(repo):
        target = refs.target(repo, name)
        if target is not None:
            yield argument(name), target


def pack_files(folder: Path) -> list[Path]:
    """Return the packs of a folder that have an index."""
    packs = sorted((folder / "objects" / "pack").glob("pack-*.pack"))
    return [path for path in packs if path.with_suffix(".idx").exists()]
