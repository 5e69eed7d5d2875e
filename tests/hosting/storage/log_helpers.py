"""A repository whose log tests write directly, without the checks of the services."""

import os
from contextlib import suppress
from pathlib import Path

from holdfast.hosting.app import App
from holdfast.hosting.git.commits import Signature, build_tree, commit_content
from holdfast.hosting.git.packs import PackedObject, object_id
from holdfast.hosting.git.program import run
from holdfast.hosting.git.repository import Kind
from holdfast.hosting.storage import pack_files
from holdfast.hosting.storage.compaction import Compactor
from holdfast.hosting.storage.local_copies import LocalCopies
from holdfast.hosting.store import repository_log
from holdfast.hosting.store.accounts import Account
from holdfast.hosting.store.ref_updates import RefUpdate
from holdfast.hosting.store.repositories import Repository, repository_by_id
from holdfast.hosting.store.repository_log import NewPack, PackRow
from tests.hosting.repository_helpers import make_repository

__all__ = ["ADA", "MAIN", "ZERO", "LogRepository", "snapshot"]

ADA = Signature("Ada", "ada@example.org", 1_700_000_000)
MAIN = "refs/heads/main"
ZERO = "0" * 40


class LogRepository:
    """A repository whose log a test writes."""

    def __init__(self, app: App, owner: Account, name: str = "ship") -> None:
        self.app = app
        self.id = make_repository(app.database, owner, name).id
        self.count = 0

    @property
    def row(self) -> Repository:
        """The repository as it is now."""
        return repository_by_id(self.app.database, self.id)

    def refs(self) -> dict[str, str]:
        """Return the refs of the log."""
        with self.app.database.read() as connection:
            return repository_log.read_refs(connection, self.id)

    def packs(self) -> list[PackRow]:
        """Return the packs that were not replaced."""
        with self.app.database.read() as connection:
            return repository_log.live_packs(connection, self.id, 0)

    def make_commit(self, files: dict[str, bytes], *parents: str) -> tuple[str, NewPack]:
        """Make a commit of some files and its pack; nothing is recorded."""
        objects: list[PackedObject] = []

        def add(kind: Kind, content: bytes) -> str:
            objects.append(PackedObject(kind, content))
            return object_id(kind, content)

        self.count += 1
        tree = build_tree(add, files)
        commit = add("commit", commit_content(tree, parents, ADA, ADA, f"{self.count}\n"))
        return commit, self.store(pack_files.new_pack(objects))

    def store(self, pack: NewPack) -> NewPack:
        """Put a pack that is larger than a row may be to the object store, as a push does."""
        if pack.size <= pack_files.INLINE_LIMIT:
            return pack
        assert pack.content is not None
        with self.app.store.incoming_path() as path:
            path.with_suffix(".pack").write_bytes(pack.content)
            run(None, "index-pack", str(path.with_suffix(".pack")))
            try:
                return pack_files.store_pack_file(self.app.store, path.with_suffix(".pack"))
            finally:
                for suffix in (".pack", ".idx", ".rev"):
                    with suppress(FileNotFoundError):
                        path.with_suffix(suffix).unlink()

    def set(self, *updates: RefUpdate, packs: tuple[NewPack, ...] = ()) -> list[RefUpdate]:
        """Append updates to the log, and return the rejected ones."""
        with self.app.database.write() as connection:
            rows = [(None, update) for update in updates]
            return repository_log.append(connection, self.id, rows, packs)[1]

    def commit(self, ref: str = MAIN, *, size: int = 10) -> str:
        """Commit a file of random bytes on top of a ref, and return the commit."""
        old = self.refs().get(ref, ZERO)
        files = {f"f{self.count % 7}": os.urandom(size), "kept": b"kept"}
        created, pack = self.make_commit(files, *([] if old == ZERO else [old]))
        assert self.set(RefUpdate(ref, old, created), packs=(pack,)) == []
        return created

    def node(self, folder: Path) -> tuple[LocalCopies, Compactor]:
        """Open another machine's folder of copies on the same database and store."""
        folder.mkdir(exist_ok=True)
        folders = type(self.app.folders)(folder / "repositories")
        copies = LocalCopies(folders, self.app.database, self.app.store)
        return copies, Compactor(self.app.database, self.app.store, copies, folder.name)


def snapshot(folder: Path) -> dict[str, str]:
    """Return the refs of a folder as git sees them, which must be whole and sound."""
    run(folder, "fsck", "--full", "--strict")
    listed = run(folder, "for-each-ref", "--format=%(refname) %(objectname)").decode().splitlines()
    results = dict(line.split(" ") for line in listed)
    run(folder, "rev-list", "--objects", "--all", "--quiet")
    return results
