"""The plain stream of an encrypted backup: layout, keys, decryption and decompression."""

from collections.abc import Callable
from typing import BinaryIO

from holdfast.backup.container.cipher import decrypt, find_layout
from holdfast.backup.container.faults import OnFault
from holdfast.backup.container.gunzip import GunzipLimits, gunzip
from holdfast.backup.container.material import KeyMaterial
from holdfast.backup.container.metadata import LocalMetadata
from holdfast.backup.errors import BackupError, DamagedContainer, FolderIncomplete

__all__ = ["open_decrypted"]


def open_decrypted(
    source: BinaryIO,
    keys: KeyMaterial | None,
    metadata: Callable[[], LocalMetadata | None],
    *,
    limits: GunzipLimits | None,
    on_fault: OnFault | None,
) -> BinaryIO:
    """Return the plain stream of a container; its MAC is verified before anything is decrypted.

    `metadata` reads the metadata file beside it, if there is one. With `on_fault`, faults are passed to it.
    """
    layout = find_layout(source, on_fault=on_fault)
    key_material = keys or KeyMaterial()
    try:
        beside = metadata()
    except BackupError as problem:
        # With the account id or the container's keys, the damaged file is not needed.
        if key_material.message is None and key_material.own_backup_id() is None:
            raise
        if on_fault is not None and isinstance(problem, DamagedContainer | FolderIncomplete):
            on_fault(problem)
        beside = None
    message_keys = key_material.message_keys(modern=layout.modern, local_metadata=beside)
    content = decrypt(source, layout, message_keys, on_fault=on_fault)
    return gunzip(content, limits=limits, on_fault=on_fault)
