"""The shape a repaired backup is written in: that of the original, as far as nobody wants another."""

from dataclasses import dataclass, replace
from typing import BinaryIO, Final

from holdfast.backup.backup_reader import Backup, Form
from holdfast.backup.container import KeyMaterial, find_layout
from holdfast.backup.container.metadata import ForwardSecrecy
from holdfast.backup.conversion import OutputFormat
from holdfast.backup.errors import BackupError
from holdfast.backup.repairs.originals import open_source_file
from holdfast.redacted_repr import redacted

__all__ = ["TargetShape", "choose_shape"]

FORMS: Final = {
    Form.CONTAINER: OutputFormat.CONTAINER,
    Form.FOLDER: OutputFormat.CONTAINER,
    Form.LINES: OutputFormat.JSONL,
    Form.EXPORT: OutputFormat.JSONL,
    Form.ARRAY: OutputFormat.JSON,
}


@redacted
@dataclass(frozen=True, slots=True)
class TargetShape:
    """The form to write, the keys to encrypt with, and what an encrypted file says about its token."""

    to: OutputFormat
    keys: KeyMaterial | None
    forward_secrecy: ForwardSecrecy | None = None


def choose_shape(
    source: Backup, file: BinaryIO | None, to: OutputFormat | None, keys: KeyMaterial | None
) -> TargetShape:
    """Choose a shape: without `to` that of the original, which for a phone's folder is its encrypted file.

    An encrypted file stays of its layout, and keeps what it says about its token, which the keys still fit.
    """
    chosen = FORMS.get(source.form, OutputFormat.STREAM) if to is None else to
    if chosen is not OutputFormat.CONTAINER or keys is None or keys.message is not None:
        return TargetShape(chosen, keys)
    if source.form not in {Form.CONTAINER, Form.FOLDER}:
        return TargetShape(chosen, keys)
    try:
        with open_source_file(source, file) as opened:
            layout = find_layout(opened, on_fault=lambda _fault: None)
    except BackupError:
        return TargetShape(chosen, keys)
    if layout.modern:
        return TargetShape(chosen, keys, layout.forward_secrecy)
    return TargetShape(chosen, replace(add_backup_id(source, keys), token=None))


def add_backup_id(source: Backup, keys: KeyMaterial) -> KeyMaterial:
    """Add the backup id that lies beside a phone's backup, which then needs no account id."""
    root = keys.root()
    if source.snapshot is None or root is None or keys.own_backup_id() is not None:
        return keys
    try:
        return replace(keys, backup_id=source.snapshot.metadata().backup_id(root.local_metadata_key()))
    except BackupError:
        return keys
