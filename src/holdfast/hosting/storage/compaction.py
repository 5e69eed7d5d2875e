"""Compaction: merges many small packs of a repository into few large ones, and deletes garbage.

Packs are merged in a geometric progression, as `git repack --geometric` does: each is at least twice as large as
all smaller ones together, so an object is rewritten a logarithmic number of times and a repository has few packs.
Merging keeps every object. `collect_garbage` keeps only objects reachable from refs, now or within the retention
time.

A superseded pack is kept for a grace period, for readers on other machines that are about to fetch it.
"""

import threading
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Final

import structlog
from sqlalchemy import func, literal, select, update

from holdfast.hosting.errors import GitDamaged, GoneMeanwhile
from holdfast.hosting.git.program import run
from holdfast.hosting.storage.backup_lease import is_backup_running
from holdfast.hosting.storage.local_copies import LocalCopies, create_repository
from holdfast.hosting.storage.object_store import ObjectStore
from holdfast.hosting.storage.pack_files import index_key, index_packs, merge_pack_files, pack_key, store_pack_file
from holdfast.hosting.store import repository_log
from holdfast.hosting.store.database import Database, current_time
from holdfast.hosting.store.leases import release_lease, take_lease
from holdfast.hosting.store.repository_log import NewPack, PackRow
from holdfast.hosting.store.tables import packs, repositories

__all__ = ["GRACE_SECONDS", "Compactor", "choose"]

# Compaction starts above this number of packs; a pack of one commit costs a reader next to nothing.
MOST_PACKS: Final = 64
MOST_INLINE_BYTES: Final = 16 * 1024 * 1024
GRACE_SECONDS: Final = 3600
# The maximum time from the PUT of a write to its transaction; an older object without a row is garbage.
ORPHAN_SECONDS: Final = 24 * 3600
# The lease only saves work: of two concurrent compactions, the second finds its packs superseded.
LEASE_SECONDS: Final = 900.0
SECONDS: Final = 4 * 3600.0
GEOMETRIC_FACTOR: Final = 2
log = structlog.get_logger(__name__)


def choose(pack_rows: Sequence[PackRow]) -> list[PackRow]:
    """Return the packs to be merged: all inline ones, and the smallest stored ones up to the progression."""
    stored = sorted((pack for pack in pack_rows if pack.store_key), key=lambda pack: pack.size)
    chosen = [pack for pack in pack_rows if not pack.store_key] or stored[:1]
    total = sum(pack.size for pack in chosen)
    for pack in stored:
        if pack not in chosen:
            if pack.size >= GEOMETRIC_FACTOR * total:
                break
            chosen.append(pack)
            total += pack.size
    return chosen


class Compactor:
    """Merges packs of repositories; a lease allows one thread of one machine at a time per repository."""

    def __init__(self, database: Database, store: ObjectStore, copies: LocalCopies, holder: str) -> None:
        self._database = database
        self._store = store
        self._copies = copies
        self._holder = holder

    def is_needed(self, repository_id: int) -> bool:
        """Return whether a repository has too many packs, or too many bytes in the database."""
        inline = func.coalesce(func.sum(packs.c.size).filter(packs.c.store_key == ""), 0)
        statement = select(func.count(), inline).where(
            packs.c.repository_id == repository_id, packs.c.superseded_at == 0
        )
        with self._database.read() as connection:
            count, size = connection.execute(statement).one()
        return bool(count > MOST_PACKS or size > MOST_INLINE_BYTES)

    def compact(self, repository_id: int) -> bool:
        """Merge the packs of a repository that need it; return false if another machine holds the lease."""
        with self._lease(repository_id) as is_held:
            if not is_held:
                return False
            with self._database.read() as connection:
                chosen = choose(repository_log.live_packs(connection, repository_id, 0))
            if len(chosen) < 2:
                return True
            is_done = self._replace(repository_id, chosen, lambda folder: self._merge(folder, chosen))
        self._copies.tidy(repository_id)
        return is_done

    def collect_garbage(self, repository_id: int, *, retention_seconds: int) -> bool:
        """Replace all packs by one pack of the objects reachable from refs, now or within the retention time.

        Returns false if another machine holds the lease, or a ref was updated meanwhile.
        """
        with self._lease(repository_id) as is_held:
            if not is_held:
                return False
            with self._database.snapshot() as connection:
                version = repository_log.current_version_in(connection, repository_id)
                pack_rows = repository_log.live_packs(connection, repository_id, 0)
                targets = set(repository_log.read_refs(connection, repository_id).values())
                since = int(time.time()) - retention_seconds
                former = repository_log.former_targets(connection, repository_id, since)
            return self._replace(
                repository_id,
                pack_rows,
                lambda _folder: self._pack_reachable(repository_id, targets, former - targets),
                expected=version,
            )

    def has_garbage(self, repository_id: int, *, since: int, until: int) -> bool:
        """Return whether ref updates in a time range left commits that no ref reaches afterwards.

        These are commits of deleted or force-pushed branches. It takes one `rev-list`, which stops at the refs.
        """
        with self._database.snapshot() as connection:
            former = repository_log.former_targets(connection, repository_id, since, until)
            later = repository_log.former_targets(connection, repository_id, until)
            targets = later.union(repository_log.read_refs(connection, repository_id).values())
        if not former - targets:
            return False
        repo = self._copies.update(repository_id)
        present = [oid for oid in former - targets if repo.header(oid) is not None]
        targets = {oid for oid in targets if repo.header(oid) is not None}
        output = run(
            repo.folder,
            "rev-list",
            "--max-count=1",
            "--stdin",
            input="".join(
                f"{revision}\n" for revision in [*present, *(f"^{target}" for target in targets)]
            ).encode(),
            timeout=SECONDS,
        )
        return bool(output.strip())

    def delete_superseded(self, *, now: float | None = None) -> int:
        """Delete packs superseded before the grace period; return how many."""
        moment = current_time(self._database) if now is None else literal(int(now))
        before = moment - GRACE_SECONDS
        old = select(packs.c.id, packs.c.store_key).where(
            packs.c.superseded_at > 0, packs.c.superseded_at < before
        )
        with self._database.write() as connection:
            rows = list(connection.execute(old))
            repository_log.delete_packs(connection, [row.id for row in rows])
            used = repository_log.used_keys(connection, [row.store_key for row in rows if row.store_key])
        for row in rows:
            if row.store_key and row.store_key not in used:
                self._delete_files(row.store_key)
        return len(rows)

    def delete_orphans(self, *, now: float | None = None) -> int:
        """Delete packs in the object store without a row: of failed writes, and of deleted repositories.

        None is deleted while a backup runs, which may read those of a repository that was deleted meanwhile.
        """
        before = (time.time() if now is None else now) - ORPHAN_SECONDS
        old = {pack_key(file.key) for file in self._store.list("packs/") if file.written_at < before}
        with self._database.read() as connection:
            used = repository_log.used_keys(connection, list(old))
        # Checked after the rows were read: a backup that begins later does not have the packs of these either.
        if is_backup_running(self._database):
            return 0
        orphans = sorted(old - used)
        for key in orphans:
            self._delete_files(key)
        return len(orphans)

    def _delete_files(self, key: str) -> None:
        self._store.delete(index_key(key))
        self._store.delete(key)

    def _replace(
        self,
        repository_id: int,
        old: Sequence[PackRow],
        make: Callable[[Path], NewPack | None],
        *,
        expected: int | None = None,
    ) -> bool:
        with self._copies.folders.incoming() as folder:
            new_pack = make(folder)
            return self._record(repository_id, old, new_pack, expected)

    @contextmanager
    def _lease(self, repository_id: int) -> Iterator[bool]:
        """Hold the lease of a repository; yields whether it was free. Packs are chosen while it is held."""
        name = f"compaction {repository_id}"
        # Two threads of a process may compact: after pushes, and all repositories at an interval.
        holder = f"{self._holder} {threading.get_ident()}"
        if not take_lease(self._database, name, holder, seconds=LEASE_SECONDS):
            yield False
            return
        try:
            yield True
        finally:
            release_lease(self._database, name, holder)

    def _record(
        self, repository_id: int, old: Sequence[PackRow], new_pack: NewPack | None, expected: int | None
    ) -> bool:
        """Replace rows of packs by a new one, unless one of them was superseded or a ref was updated meanwhile."""
        with self._database.write() as connection:
            changed = update(repositories).where(repositories.c.id == repository_id)
            if expected is not None:
                changed = changed.where(repositories.c.version == expected)
            change = (new_pack.size if new_pack else 0) - sum(pack.size for pack in old)
            values = {"compaction": repositories.c.compaction + 1, "size": repositories.c.size + change}
            if not connection.execute(changed.values(values)).rowcount:
                return False
            if repository_log.supersede_packs(connection, old, current_time(self._database)) != len(old):
                raise GoneMeanwhile("packs were replaced meanwhile")
            if new_pack is not None:
                repository_log.add_packs(connection, repository_id, max(pack.version for pack in old), [new_pack])
        log.info(
            "repository compacted",
            repository_id=repository_id,
            packs=len(old),
            bytes=new_pack.size if new_pack else 0,
        )
        return True

    def _merge(self, folder: Path, chosen: Sequence[PackRow]) -> NewPack:
        """Merge packs in a temporary repository, so that all objects are kept whatever the local copy has."""
        workspace = folder / "merge.git"
        create_repository(workspace, "main")
        place = workspace / "objects" / "pack"
        with self._database.read() as connection:
            inline = repository_log.pack_contents(connection, chosen)
        if inline:
            written = [f"pack-{name}.pack" for name in index_packs(workspace, inline)]
            if len(inline) < len(chosen):
                # git tries no deltas between objects of one pack, so these get deltas before they are merged with
                # the others. It reads an object from any pack that has it, so packs without deltas are deleted.
                merged = merge_pack_files(workspace, place, written, "--no-reuse-delta")
                for path in place.glob("pack-*"):
                    if path.stem != merged.stem:
                        path.unlink()
        # The same objects may have been pushed twice, as packs with the same name under two keys.
        for name, key in {pack.name: pack.store_key for pack in chosen if pack.store_key}.items():
            self._store.fetch(key, place / f"pack-{name}.pack")
            self._store.fetch(index_key(key), place / f"pack-{name}.idx")
        names = [path.name for path in place.glob("*.pack")]
        options = ("--no-reuse-delta",) if len(inline) == len(chosen) else ()
        return store_pack_file(self._store, merge_pack_files(workspace, folder, names, *options))

    def _pack_reachable(self, repository_id: int, targets: set[str], former: set[str]) -> NewPack | None:
        """Pack all objects reachable from targets of refs, and from former targets as far as they exist."""
        repo = self._copies.update(repository_id)
        missing = [target for target in targets if repo.header(target) is None]
        if missing:
            # A damaged copy must not determine what is garbage.
            raise GitDamaged(f"the local copy of repository {repository_id} lacks {missing[0]}")
        present = [*targets, *(oid for oid in former if repo.header(oid) is not None)]
        with self._copies.folders.incoming() as folder:
            output = run(
                repo.folder,
                "pack-objects",
                "--revs",
                "--non-empty",
                "--delta-base-offset",
                "-q",
                str(folder / "pack"),
                input="".join(f"{oid}\n" for oid in present).encode(),
                timeout=SECONDS,
                configuration=[("pack.threads", "1")],
            )
            name = output.decode().strip()
            return store_pack_file(self._store, folder / f"pack-{name}.pack") if name else None
