"""The keys that a user has given, and whether they suffice for a file."""

from dataclasses import dataclass, fields
from typing import Final
from uuid import UUID

from holdfast.backup.container.key_formats import read_uuid
from holdfast.backup.container.keys import BackupId, BackupKey, EntropyPool, ForwardSecrecyToken, MessageKeys
from holdfast.backup.container.metadata import LocalMetadata
from holdfast.backup.errors import KeyIncomplete, KeyRefused
from holdfast.backup.public import public

__all__ = ["KeyMaterial", "parse_aci"]

ROOT: Final = "the recovery key"
ACCOUNT: Final = "the account id"
TOKEN: Final = "the forward-secrecy token"  # noqa: S105  # its name, not its value


def parse_aci(text: str) -> UUID:
    """Parse an account id: a UUID, with or without hyphens."""
    return read_uuid(text, "an account id")


@public
@dataclass(frozen=True, slots=True, repr=False, kw_only=True)
class KeyMaterial:
    """The keys that a user has given. The repr names them, and never shows their values.

    The root is the recovery key (`pool`) or the backup key; with the container's own keys (`message`) no other key
    is needed.
    """

    pool: EntropyPool | None = None
    backup_key: BackupKey | None = None
    aci: UUID | None = None
    backup_id: BackupId | None = None
    token: ForwardSecrecyToken | None = None
    message: MessageKeys | None = None

    def __post_init__(self) -> None:
        names = self.given()
        if "message" in names and len(names) > 1:
            raise KeyRefused("give the HMAC and AES keys or the keys they are derived from, not both")
        if self.pool is not None and self.backup_key is not None:
            raise KeyRefused("give the recovery key or the backup key, not both")

    def given(self) -> tuple[str, ...]:
        """Return the names of the fields that are set."""
        return tuple(field.name for field in fields(self) if getattr(self, field.name) is not None)

    def root(self) -> BackupKey | None:
        """Return the key that all others are derived from."""
        return self.pool.backup_key() if self.pool is not None else self.backup_key

    def own_backup_id(self) -> BackupId | None:
        """Return the backup id, if it is known without the file."""
        root = self.root()
        return None if root is None else self._backup_id(root, None)

    def message_keys(self, *, modern: bool, local_metadata: LocalMetadata | None = None) -> MessageKeys:
        """Derive the keys of a container; raise `KeyIncomplete` if something is missing.

        `modern` is the container's layout. `local_metadata` is the metadata file of a local folder, with which the
        account id is not needed.
        """
        if self.message is not None:
            return self.message
        root = self.root()
        backup_id = None if root is None else self._backup_id(root, local_metadata)
        if root is None or backup_id is None or (modern and self.token is None):
            raise self._incomplete(modern=modern, local=local_metadata is not None)
        return root.message_keys(backup_id, self.token if modern else None)

    def _backup_id(self, root: BackupKey, local_metadata: LocalMetadata | None) -> BackupId | None:
        if self.backup_id is not None:
            return self.backup_id
        if local_metadata is not None:
            return local_metadata.backup_id(root.local_metadata_key())
        return None if self.aci is None else root.backup_id(self.aci)

    def _incomplete(self, *, modern: bool, local: bool) -> KeyIncomplete:
        root = ROOT if self.pool is not None else "the backup key" if self.backup_key is not None else None
        missing = []
        if root is None:
            missing.append(ROOT)
        if self.aci is None and self.backup_id is None and not local:
            missing.append(ACCOUNT)
        if modern and self.token is None:
            missing.append(TOKEN)
        backup_kind = "a remote backup" if modern else "a local backup" if local else "a backup without its folder"
        needs = f"besides {root} it needs" if root else "it needs"
        return KeyIncomplete(f"this is {backup_kind}: {needs} {_listed(missing)}", missing=tuple(missing))

    def __repr__(self) -> str:
        return f"KeyMaterial({', '.join(self.given())})"


def _listed(items: list[str]) -> str:
    return " and ".join([", ".join(items[:-1]), items[-1]] if len(items) > 1 else items)
