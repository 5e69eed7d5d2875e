"""A data folder of the last version before the repository log: refs and objects are in folders."""

import atexit
import random
import shutil
import tempfile
from dataclasses import dataclass
from functools import cache
from pathlib import Path

from sqlalchemy import text

from holdfast.hosting.git.folders import Folders, make_private_folder
from holdfast.hosting.store import accounts, migrate
from holdfast.hosting.store.accounts import Account
from holdfast.hosting.store.database import Database
from holdfast.secret import Secret
from holdfast.settings import Settings
from tests.hosting.git import oracle

__all__ = ["EMPTY", "LOOSE", "PACKED", "REVISION", "OldDataFolder", "make_old_data_folder", "refs_of"]

REVISION = "0011"
LOOSE, PACKED, EMPTY = 1, 2, 3


@dataclass(frozen=True, slots=True)
class OldDataFolder:
    """The owner, and the folders of three repositories."""

    database: Database
    owner: Account
    loose: Path
    """Loose refs and objects, a tag, and a branch whose name is no UTF-8."""
    packed: Path
    """Packed refs, one pack, and a commit that came after both."""
    empty: Path


def refs_of(folder: Path) -> dict[bytes, bytes]:
    """Return the refs of a folder, as git reads them."""
    lines = oracle.git(folder, "for-each-ref", "--format=%(objectname) %(refname)").splitlines()
    return {name: target for target, _, name in (line.partition(b" ") for line in lines)}


def make_old_data_folder(settings: Settings, database: Database) -> OldDataFolder:
    """Create such a folder in the data folder of the settings, with rows in an empty database."""
    migrate.upgrade(database, to=REVISION)
    ada = accounts.create_user(database, "ada", Secret("a-password-for-tests"))
    folders = Folders(settings.data / "repositories")
    created = [add_repository(database, ada, folders, number) for number in (LOOSE, PACKED, EMPTY)]
    loose, packed, empty = created
    return OldDataFolder(database, ada, loose, packed, empty)


@cache
def written_repositories() -> Path:
    """Write the three repositories with git, once per process, and return the folder that has them by number."""
    parent = Path(tempfile.mkdtemp(prefix="holdfast-old-"))
    atexit.register(shutil.rmtree, parent, ignore_errors=True)
    loose, packed, _empty = [oracle.new_repository(parent / str(number)) for number in (LOOSE, PACKED, EMPTY)]
    for number in range(3):
        oracle.commit(loose, {b"a.txt": b"%d\n" % number})
    head = oracle.line(loose, "rev-parse", "main")
    oracle.git(loose, "update-ref", "refs/heads/fix", head)
    oracle.git(loose, b"update-ref", b"refs/heads/caf\xe9", head.encode())
    oracle.git(loose, "tag", "-a", "-m", "one", "v1", head)
    oracle.commit(packed, {b"big": random.Random(1).randbytes(400_000), b"b.txt": b"b\n"})
    oracle.git(packed, "gc", "-q")
    oracle.commit(packed, {b"b.txt": b"c\n"})
    return parent


def add_repository(database: Database, owner: Account, folders: Folders, number: int) -> Path:
    """Add a repository's row and its folder."""
    with database.write() as connection:
        connection.execute(
            text(
                "INSERT INTO repositories (owner_id, name, folded_name, default_branch, is_empty) "
                f"VALUES (:owner, 'r{number}', 'r{number}', 'main', :is_empty)"
            ),
            {"owner": owner.id, "is_empty": number == EMPTY},
        )
    folder = folders.path(number)
    make_private_folder(folder.parent)
    shutil.copytree(written_repositories() / str(number), folder)
    return folder
