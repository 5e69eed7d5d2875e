"""Restore of a snapshot to an empty data folder and an empty database.

The whole backup is verified first. Everything is prepared in a staging folder inside the data folder, and renamed
into place when it is complete, the database last.
"""

import os
import re
import shutil
from pathlib import Path
from typing import Final

import msgspec
from sqlalchemy import bindparam, text

from holdfast.hosting.app import App
from holdfast.hosting.data_folder import DATABASE, restrict_permissions
from holdfast.hosting.errors import SnapshotDamaged, SnapshotError, SnapshotRefused
from holdfast.hosting.git.folders import Folders, make_private_folder
from holdfast.hosting.services.adoption import adopt
from holdfast.hosting.snapshot import rows
from holdfast.hosting.snapshot.archive import (
    PLACES,
    ArchiveMember,
    Progress,
    SnapshotManifest,
    read_members,
    verify,
)
from holdfast.hosting.snapshot.create import LEFT_OUT
from holdfast.hosting.snapshot.folders import check_head, is_member
from holdfast.hosting.storage import instance
from holdfast.hosting.storage.local_copies import create_repository
from holdfast.hosting.storage.object_store import ObjectStore
from holdfast.hosting.store import migrate
from holdfast.hosting.store.database import Database
from holdfast.settings import Settings

__all__ = ["restore"]

STAGE: Final = ".restoring"
TABLES: Final = ".tables"
TEMPLATE: Final = ".template"
# Names that must not be restored as plain files, because they are created here.
NOT_FILES: Final = LEFT_OUT | {TABLES, TEMPLATE}
REPOSITORY: Final = re.compile(r"repositories/([1-9][0-9]{0,18})/(.+)")
CHUNK: Final = 1 << 20


def restore(settings: Settings, source: Path, progress: Progress = lambda done: done) -> SnapshotManifest:
    """Restore a backup to the data folder and database of the settings; both must be empty."""
    manifest = verify(source, progress)
    if not migrate.knows(manifest.revision):
        raise SnapshotRefused(
            f"{source} was made by a newer Holdfast ({manifest.version}); upgrade this one first"
        )
    check_empty(settings, manifest)
    stage = settings.data / STAGE
    try:
        shutil.rmtree(stage, ignore_errors=True)
        stage.mkdir(mode=0o700, parents=True)
        extract(source, stage, manifest, progress)
        fill(msgspec.structs.replace(settings, data=stage), stage, manifest)
        put_in_place(stage, settings.data)
    except OSError as error:
        raise SnapshotError(f"the backup cannot be restored: {error.strerror or error}") from error
    finally:
        shutil.rmtree(stage, ignore_errors=True)
    return manifest


def check_empty(settings: Settings, manifest: SnapshotManifest) -> None:
    """Raise `SnapshotRefused` if the target is not empty or does not have enough space."""
    data = settings.data
    if data.exists() and (not data.is_dir() or any(path.name != STAGE for path in data.iterdir())):
        raise SnapshotRefused(f"{data} is not empty; a backup is restored to a new folder")
    if settings.database_url is not None:
        database = Database.at(settings.database_url)
        try:
            if not rows.is_blank(database):
                raise SnapshotRefused(f"{database.name} is not empty; a backup is restored to a new database")
        finally:
            database.close()
    try:
        data.mkdir(mode=0o700, parents=True, exist_ok=True)
    except OSError as error:
        raise SnapshotRefused(f"{data} cannot be used: {error.strerror}") from error
    restrict_permissions(data)
    free = shutil.disk_usage(data).free
    if free < manifest.size:
        raise SnapshotRefused(f"the backup needs {manifest.size} bytes, but {data} has {free} free")


def extract(source: Path, stage: Path, manifest: SnapshotManifest, progress: Progress) -> None:
    """Write the members to their paths; repositories get a new configuration."""
    folders = Folders(stage / "repositories")
    template = RepositoryTemplate(stage)
    deleted = frozenset(manifest.deleted)
    extracted = 0
    for member in read_members(source):
        place, _, rest = member.name.partition("/")
        if place == "tables" or member.name == "sequences.json":
            write_member(member, stage / TABLES / Path(member.name).name)
        elif place == "files" and rest.partition("/")[0] not in NOT_FILES:
            write_member(member, stage / rest)
        elif match := REPOSITORY.fullmatch(member.name):
            number = int(match[1])
            if number >= 2**63 or not is_member(match[2]):
                raise unexpected_member(source, member)
            if number not in deleted:
                template.place(folders, number, match[2], member)
        elif place in PLACES:
            raise unexpected_member(source, member)
        extracted += member.size
        progress(extracted)


def unexpected_member(source: Path, member: ArchiveMember) -> SnapshotDamaged:
    """Return the error for an unexpected member."""
    return SnapshotDamaged(f"{source} holds {member.name!r}, which a backup never contains")


class RepositoryTemplate:
    """The configuration of a new repository; a snapshot contains neither configuration nor hooks."""

    def __init__(self, stage: Path) -> None:
        folder = stage / TEMPLATE
        create_repository(folder, "main")
        self._config = (folder / "config").read_bytes()
        shutil.rmtree(folder)

    def place(self, folders: Folders, number: int, name: str, member: ArchiveMember) -> None:
        """Write a file of a repository; HEAD comes first."""
        folder = folders.path(number)
        if name != "HEAD":
            write_member(member, folder / name)
            return
        for inner in ("objects/info", "objects/pack", "refs/heads", "refs/tags"):
            make_private_folder(folder / inner)
        (folder / "config").write_bytes(self._config)
        branch = check_head(member.content.read(CHUNK), number)
        (folder / "HEAD").write_bytes(b"ref: refs/heads/" + os.fsencode(branch) + b"\n")


def write_member(member: ArchiveMember, path: Path) -> None:
    """Write a member to a new file; a duplicate name is an error."""
    make_private_folder(path.parent)
    try:
        descriptor = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW, 0o600)
    except FileExistsError:
        raise SnapshotDamaged(f"the backup holds {member.name!r} twice") from None
    with os.fdopen(descriptor, "wb") as file:
        shutil.copyfileobj(member.content, file, CHUNK)


def fill(settings: Settings, stage: Path, manifest: SnapshotManifest) -> None:
    """Create the database, adopt repositories of an earlier version, and upload objects if there is a bucket."""
    tables = stage / TABLES
    host = App.open(settings)
    try:
        migrate.upgrade(host.database, manifest.revision)
        sequences = msgspec.json.decode((tables / "sequences.json").read_bytes(), type=dict[str, int])
        with host.database.write() as connection:
            rows.load(connection, tables)
            rows.write_sequences(connection, sequences)
            gone = [{"id": number} for number in manifest.deleted]
            if gone:
                connection.execute(
                    text("DELETE FROM repositories WHERE id = :id").bindparams(bindparam("id")), gone
                )
        migrate.upgrade(host.database)
        instance.renew(host.database, settings)
        shutil.rmtree(tables)
        adopt(host)
        if host.store.folder is None:
            upload(host.store, stage)
    except BaseException:
        if not host.database.is_sqlite:
            rows.wipe(host.database)
        raise
    finally:
        host.close()


def upload(store: ObjectStore, stage: Path) -> None:
    """Move the packs, LFS objects, attachments and chat backups of a backup to the bucket."""
    for name in ("packs", "lfs", "attachments", "chats"):
        for path in sorted((stage / name).rglob("*")):
            if path.is_file():
                store.put_file(path.relative_to(stage).as_posix(), path)
        shutil.rmtree(stage / name, ignore_errors=True)


def put_in_place(stage: Path, data: Path) -> None:
    """Flush all files to disk (`sync`) and rename them into place, the database last."""
    os.sync()
    entries = sorted(stage.iterdir(), key=lambda path: path.name.startswith(DATABASE))
    for path in entries:
        path.rename(data / path.name)
    os.sync()
