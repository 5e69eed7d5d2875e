"""The identity of an instance: an id and a key fingerprint, in the database, the data folder and the bucket.

An instance is one installation. Its database holds the rows of repositories, and the object store (a data folder
or a bucket) their contents; neither is of use without the other. Starting with a store that belongs to another
database, or to none, is refused before anything is served or changed. With a bucket, the data folder contains only
copies: a new machine starts with an empty one.
"""

import os
import secrets
import tempfile
from dataclasses import dataclass
from itertools import islice
from pathlib import Path

import msgspec
from sqlalchemy import Connection, delete, insert, or_, select

from holdfast.hosting.errors import EncryptionError, KeyMissing, NoSuchStoredObject, WrongDataFolder
from holdfast.hosting.git.folders import Folders
from holdfast.hosting.storage.object_store import ObjectStore, open_object_store
from holdfast.hosting.store import migrate
from holdfast.hosting.store.database import Database
from holdfast.hosting.store.encryption import INSTANCE_FILE, KEY_FILE, SecretCipher, make_key_file
from holdfast.hosting.store.tables import hooks, instance, repositories, users
from holdfast.settings import Settings

__all__ = [
    "INSTANCE_FILE",
    "LEGACY_MARK",
    "LEGACY_MARK_FILE",
    "InstanceIdentity",
    "adopt",
    "check",
    "claim_bucket",
    "establish",
    "mismatch",
    "owns_store",
    "read_file",
    "read_row",
    "renew",
]

LOOKED_AT = 100
BUCKET_MARK = "instance"
# The marker of versions that kept only LFS objects in a bucket, and its counterpart in the data folder.
LEGACY_MARK = "lfs/owner"
LEGACY_MARK_FILE = "bucket-owner"
ADOPT = "`holdfast admin instance --adopt`"
ANOTHER = "set HOLDFAST_DATA or --data to the folder this database was used with, or restore a backup"


class InstanceIdentity(msgspec.Struct, frozen=True):
    """The identity that the database and the data folder of one instance share."""

    instance_id: str
    key_fingerprint: str = ""


@dataclass(frozen=True, slots=True)
class Contents:
    """The contents of a database and a folder, to decide whether they belong together."""

    has_users: bool
    has_rows: bool
    """Whether the database has repositories."""
    has_matching: bool
    """Whether the folder of at least one of them exists."""
    has_folders: bool
    """Whether the folder contains any repository."""


def read_file(data: Path) -> InstanceIdentity | None:
    """Return the identity in a data folder; None if it has none."""
    path = data / INSTANCE_FILE
    try:
        return msgspec.json.decode(path.read_bytes(), type=InstanceIdentity)
    except (FileNotFoundError, NotADirectoryError):
        return None
    except (OSError, msgspec.DecodeError) as error:
        raise WrongDataFolder(f"{path} cannot be read; restore it from a backup, or remove it") from error


def write_file(data: Path, identity: InstanceIdentity) -> None:
    """Write the identity file atomically, readable only by its owner."""
    descriptor, name = tempfile.mkstemp(prefix=f".{INSTANCE_FILE}-", dir=data)
    try:
        with os.fdopen(descriptor, "wb") as file:
            file.write(msgspec.json.encode(identity) + b"\n")
            file.flush()
            os.fsync(file.fileno())
        Path(name).replace(data / INSTANCE_FILE)
    except BaseException:
        Path(name).unlink(missing_ok=True)
        raise


def read_row(database: Database) -> InstanceIdentity | None:
    """Return the identity in the database; None if no service of this version has used it."""
    with database.read() as connection:
        row = connection.execute(select(instance.c.instance_id, instance.c.key_fingerprint)).first()
    return None if row is None else InstanceIdentity(*row)


def write_row(connection: Connection, identity: InstanceIdentity) -> None:
    """Replace the single row."""
    connection.execute(delete(instance))
    connection.execute(insert(instance), msgspec.structs.asdict(identity))


def establish(database: Database, settings: Settings) -> None:
    """Migrate a database; assign an identity to it and its data folder, or compare their identities.

    Of several processes starting at once, one does it.
    """
    refuse_blank(database, settings)
    migrate.upgrade(database)
    with database.write() as connection:
        migrate.lock(connection)
        row = connection.execute(select(instance.c.instance_id, instance.c.key_fingerprint)).first()
        identity = None if row is None else InstanceIdentity(*row)
        instance_identity = read_file(settings.data)
        contents = read_contents(connection, settings.data)
        if identity is None:
            refuse_strange(database, settings, contents)
            identity = InstanceIdentity(
                secrets.token_hex(16) if instance_identity is None else instance_identity.instance_id
            )
        elif instance_identity is not None or (
            settings.s3_bucket is None and (not database.is_sqlite or contents.has_rows)
        ):
            # Otherwise the folder is that of the database, or that of a new machine.
            refuse_different(database, settings, identity, instance_identity)
        if not identity.key_fingerprint and settings.secret_key is None and not has_sealed(connection):
            refuse_local_key(database, settings)
            make_key_file(settings.data / KEY_FILE)
        fingerprint = check_key(settings, identity)
        now = InstanceIdentity(identity.instance_id, fingerprint)
        # The file first: with the row alone, the folder would be treated as a foreign one.
        if instance_identity != now:
            write_file(settings.data, now)
        if row is None or identity != now:
            write_row(connection, now)


def claim_bucket(store: ObjectStore, settings: Settings, instance_id: str) -> None:
    """Write the id of an instance to its bucket; raise `WrongDataFolder` if the bucket has another id.

    Also raises `StorageUnavailable` if the bucket has no create-only PUT.
    """
    if store.folder is not None:
        return
    store.check()
    if store.size(LEGACY_MARK) is not None and store.size(BUCKET_MARK) is None:
        # The marker of earlier versions; its counterpart is in the data folder.
        try:
            mark = (settings.data / LEGACY_MARK_FILE).read_bytes()
        except OSError:
            mark = b""
        if store.read_bytes(LEGACY_MARK) != mark:
            raise WrongDataFolder(foreign_bucket(store))
    store.put(BUCKET_MARK, instance_id.encode())
    if bucket_owner(store) != instance_id:
        raise WrongDataFolder(foreign_bucket(store))


def bucket_owner(store: ObjectStore) -> str:
    """Return the id of the instance that a bucket belongs to; an empty string if it has none."""
    try:
        return store.read_bytes(BUCKET_MARK).decode(errors="replace")
    except NoSuchStoredObject:
        return ""


def owns_store(database: Database, store: ObjectStore) -> bool:
    """Return whether the object store belongs to this instance, so that unknown objects in it are garbage."""
    if store.folder is not None:
        return True
    identity = read_row(database)
    return identity is not None and bucket_owner(store) == identity.instance_id


def foreign_bucket(store: ObjectStore) -> str:
    """Return the message that a bucket belongs to another instance."""
    return (
        f"{store.name} belongs to another installation; set s3_bucket to another one; "
        f"if it is the right one after all, run {ADOPT}"
    )


def check(database: Database, settings: Settings) -> None:
    """Raise `WrongDataFolder` if the data folder does not belong to the database; changes neither."""
    problem = mismatch(database, settings)
    if problem:
        raise WrongDataFolder(problem)


def mismatch(database: Database, settings: Settings) -> str:
    """Return why the database and the data folder do not belong together; empty if they do.

    Also empty if no service of this version was started yet.
    """
    try:
        identity = read_row(database)
        if identity is None:
            return ""
        instance_identity = read_file(settings.data)
        if instance_identity is not None or settings.s3_bucket is None:
            refuse_different(database, settings, identity, instance_identity)
        if identity.key_fingerprint:
            check_key(settings, identity)
    except WrongDataFolder as error:
        return str(error)
    return ""


def adopt(database: Database, settings: Settings) -> InstanceIdentity:
    """Assign the same identity to a database, its data folder and its bucket, and return it."""
    with database.write() as connection:
        row = connection.execute(select(instance.c.instance_id)).first()
        if settings.secret_key is None:
            make_key_file(settings.data / KEY_FILE)
        identity = InstanceIdentity(
            secrets.token_hex(16) if row is None else row.instance_id, secret_cipher(settings).fingerprints()[0]
        )
        store = open_object_store(settings)
        if store.folder is None:
            store.replace(BUCKET_MARK, identity.instance_id.encode())
        write_file(settings.data, identity)
        write_row(connection, identity)
    return identity


def renew(database: Database, settings: Settings) -> None:
    """Assign a new id to a restored copy, so that it is not taken for the original.

    The encryption key stays the same.
    """
    with database.write() as connection:
        row = connection.execute(select(instance.c.key_fingerprint)).first()
        identity = InstanceIdentity(secrets.token_hex(16), "" if row is None else row.key_fingerprint)
        write_file(settings.data, identity)
        write_row(connection, identity)


def refuse_local_key(database: Database, settings: Settings) -> None:
    """Raise an error if a key file on this machine would be the only data that must not be lost with it."""
    if settings.s3_bucket is not None and not database.is_sqlite and not (settings.data / KEY_FILE).exists():
        raise WrongDataFolder(
            "secret_key is not set: with PostgreSQL and a bucket the machines have nothing of their own, "
            "so the key must be in the settings, the same on each machine"
        )


def refuse_blank(database: Database, settings: Settings) -> None:
    """Raise an error for an empty database with a folder in use: new repositories would overwrite old ones."""
    if migrate.revision(database) is None and (
        read_file(settings.data) is not None
        or any(True for _ in Folders(settings.data / "repositories").all_ids())
    ):
        raise WrongDataFolder(
            f"{database.name} is empty, but the data folder {settings.data} belongs to an installation; "
            "name its database, restore a backup, or choose an empty folder"
        )


def read_contents(connection: Connection, data: Path) -> Contents:
    """Read the contents of a database and a folder."""
    folders = Folders(data / "repositories")
    numbers = list(connection.execute(select(repositories.c.id).limit(LOOKED_AT)).scalars())
    return Contents(
        has_users=connection.execute(select(users.c.id).limit(1)).first() is not None,
        has_rows=bool(numbers),
        has_matching=any(folders.exists(number) for number in numbers),
        has_folders=bool(list(islice(folders.all_ids(), 1))),
    )


def refuse_strange(database: Database, settings: Settings, contents: Contents) -> None:
    """Raise an error for a folder that cannot belong to a database without an identity."""
    if contents.has_rows and not contents.has_matching:
        raise WrongDataFolder(
            f"{database.name} has repositories, but none of them is in the data folder {settings.data}; {ANOTHER}"
        )
    if contents.has_folders and not contents.has_users:
        raise WrongDataFolder(
            f"the data folder {settings.data} has repositories, but {database.name} knows none; {ANOTHER}"
        )


def refuse_different(
    database: Database, settings: Settings, identity: InstanceIdentity, instance_identity: InstanceIdentity | None
) -> None:
    """Raise an error for a folder with a different identity than the database, or with none."""
    if instance_identity is None:
        raise WrongDataFolder(
            f"the data folder {settings.data} is not the one of {database.name}: it has no {INSTANCE_FILE}; "
            f"{ANOTHER}; if it is the right one after all, run {ADOPT}"
        )
    if instance_identity.instance_id != identity.instance_id:
        raise WrongDataFolder(
            f"the data folder {settings.data} belongs to another database than {database.name}; "
            f"{ANOTHER}; if it is the right one after all, run {ADOPT}"
        )


def check_key(settings: Settings, identity: InstanceIdentity) -> str:
    """Return the fingerprint of the encrypting key; raise an error if the key in use is not among the keys."""
    try:
        fingerprints = secret_cipher(settings).fingerprints()
    except EncryptionError as error:
        if isinstance(error, KeyMissing):
            raise WrongDataFolder(
                f"{error}; set secret_key to that of the other machines, or, if it is lost, to a new one "
                f"and run {ADOPT}"
            ) from error
        raise WrongDataFolder(str(error)) from error
    if identity.key_fingerprint and identity.key_fingerprint not in fingerprints:
        raise WrongDataFolder(
            "the secrets in the database were encrypted with another key than those in "
            f"{settings.data / KEY_FILE} and secret_key; restore that key, or, if it is lost, "
            f"run {ADOPT} and set the secrets of the webhooks again"
        )
    return fingerprints[0]


def secret_cipher(settings: Settings) -> SecretCipher:
    """Return the cipher of the settings."""
    return SecretCipher(settings.data / KEY_FILE, settings.secret_key)


def has_sealed(connection: Connection) -> bool:
    """Return whether the database has encrypted secrets."""
    sealed = select(hooks.c.id).where(or_(hooks.c.secret != "", hooks.c.authorization != "")).limit(1)
    return connection.execute(sealed).first() is not None
