"""The output format of a repaired backup: by default that of the original."""

from dataclasses import dataclass, replace
from typing import BinaryIO, Final

from holdfast.backup.backup_reader import Backup
from holdfast.backup.container.cipher import find_layout
from holdfast.backup.container.material import KeyMaterial
from holdfast.backup.container.metadata import ForwardSecrecy
from holdfast.backup.conversion import OutputFormat
from holdfast.backup.errors import BackupError
from holdfast.backup.form_detection import Form
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
    """The output format, the keys to encrypt with, and the forward secrecy metadata of an encrypted file."""

    to: OutputFormat
    keys: KeyMaterial | None
    forward_secrecy: ForwardSecrecy | None = None


def choose_shape(
    source: Backup, file: BinaryIO | None, to: OutputFormat | None, keys: KeyMaterial | None
) -> TargetShape:
    """Choose the output format: `to`, or that of the original; for a snapshot folder its encrypted file.

    An encrypted file keeps its layout and its forward secrecy metadata, which still match the keys.
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
    """Add the backup id from the metadata of a snapshot folder, so that no account id is needed."""
    root = keys.root()
    if source.snapshot is None or root is None or keys.own_backup_id() is not None:
        return keys
    try:
        return replace(keys, backup_id=source.snapshot.metadata().backup_id(root.local_metadata_key()))
    except BackupError:
        return keys
