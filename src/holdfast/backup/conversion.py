"""Converts a backup to another form; the bytes of each frame are preserved."""

from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from enum import StrEnum
from os import PathLike
from pathlib import Path
from typing import BinaryIO, Final, TypeAlias

from holdfast.backup import writer
from holdfast.backup.backup_reader import Backup, BackupSource, opened
from holdfast.backup.container.atomic_write import write_atomically
from holdfast.backup.container.attachments import AttachmentKey, content_path, encrypt_attachment
from holdfast.backup.container.folder import STORE
from holdfast.backup.container.key_formats import pool_weakness
from holdfast.backup.container.material import KeyMaterial
from holdfast.backup.container.media import AttachmentStore
from holdfast.backup.container.metadata import ForwardSecrecy
from holdfast.backup.container.private import make_private_folder
from holdfast.backup.errors import AttachmentError, KeyRefused, UnreadableBackup, UnwritableBackup
from holdfast.backup.media import kept
from holdfast.backup.public import public
from holdfast.backup.schema import BackupInfo
from holdfast.backup.target_check import check_target
from holdfast.backup.wire import Names
from holdfast.backup.writer import BackupWriter
from holdfast.redacted_repr import redacted

__all__ = [
    "BackupTarget",
    "Conversion",
    "OutputFormat",
    "chosen_form",
    "convert",
    "form_of",
    "path_or_file",
    "refuse_weak_key",
    "write",
]

# The argument of functions that write a backup: a path, or an open binary file.
BackupTarget: TypeAlias = str | PathLike[str] | BinaryIO


@public
class OutputFormat(StrEnum):
    """The forms a backup can be written in."""

    STREAM = "stream"
    JSONL = "jsonl"
    JSON = "json"
    CONTAINER = "container"
    FOLDER = "folder"


ENCRYPTED: Final = frozenset({OutputFormat.CONTAINER, OutputFormat.FOLDER})
EXTENSIONS: Final = {
    ".binproto": OutputFormat.STREAM,
    ".jsonl": OutputFormat.JSONL,
    ".json": OutputFormat.JSON,
    ".encrypted": OutputFormat.CONTAINER,
}


@public
@redacted
@dataclass(frozen=True, slots=True)
class Conversion:
    """The result of a conversion: the number of frames and, for a folder, of attachments, with failed ones."""

    frames: int
    attachments: int
    problems: tuple[str, ...]


def form_of(path: Path) -> OutputFormat | None:
    """Return the output format for a file extension."""
    return EXTENSIONS.get(path.suffix.lower())


def path_or_file(target: BackupTarget) -> Path | BinaryIO:
    """Convert a file name to a path."""
    return Path(target) if isinstance(target, str | PathLike) else target


def chosen_form(target: Path | BinaryIO, to: OutputFormat | str | None) -> OutputFormat:
    """Return the output format: the one given, else that of the file extension."""
    if to is not None:
        return OutputFormat(to)
    form = form_of(target) if isinstance(target, Path) else None
    if form is None:
        raise UnwritableBackup(
            f"the form to write is not known; give `to`, or a name that ends with {', '.join(EXTENSIONS)}"
        )
    return form


def refuse_weak_key(form: OutputFormat, keys: KeyMaterial | None, sources: Iterable[Backup] = ()) -> None:
    """Raise `KeyRefused` for a weak recovery key, unless a source is already encrypted with it."""
    if form not in ENCRYPTED or keys is None or keys.pool is None:
        return
    reason = pool_weakness(keys.pool.reveal().decode())
    if reason and not any(keys.pool in source.recovery_keys for source in sources):
        raise KeyRefused(
            f"this recovery key is weak, {reason}, and nothing is encrypted with it; "
            "`holdfast backup key new` makes one"
        )


@public
@contextmanager
def write(
    target: BackupTarget,
    header: bytes | BackupInfo,
    *,
    to: OutputFormat | str | None = None,
    keys: KeyMaterial | None = None,
    names: Names = "spec",
    forward_secrecy: ForwardSecrecy | None = None,
    unchecked: bool = False,
    replace: bool = False,
) -> Iterator[BackupWriter]:
    """Write a backup record by record, in any form but a folder; a context manager that returns a `BackupWriter`.

    `to` is the form, by default that of the extension of `target`. `keys` are the keys for encryption, `names` is
    the spelling of JSON names; `forward_secrecy` is written to an encrypted container whose keys have its token. A
    weak recovery key raises `KeyRefused`. The order of frames is checked, unless `unchecked` is set. The file
    appears when the block ends without an error; with `replace`, an existing file is replaced.

    >>> with hb.open("chats.binproto") as source, hb.write("copy.jsonl", source.header) as writer:
    ...     for frame in source:
    ...         writer.write(frame.raw)
    """
    place = path_or_file(target)
    form = chosen_form(place, to)
    refuse_weak_key(form, keys)
    with open_writer(
        place,
        header,
        form,
        keys=keys,
        names=names,
        forward_secrecy=forward_secrecy,
        unchecked=unchecked,
        replace=replace,
    ) as out:
        yield out


@contextmanager
def open_writer(
    place: Path | BinaryIO,
    header: bytes | BackupInfo,
    form: OutputFormat,
    *,
    keys: KeyMaterial | None,
    names: Names,
    forward_secrecy: ForwardSecrecy | None,
    unchecked: bool,
    replace: bool,
) -> Iterator[BackupWriter]:
    """Return the writer of a form, without checking the strength of the key."""
    if form is OutputFormat.STREAM:
        opener = writer.write_stream(place, header, unchecked=unchecked, replace=replace)
    elif form is OutputFormat.JSONL:
        opener = writer.write_lines(place, header, names=names, unchecked=unchecked, replace=replace)
    elif form is OutputFormat.JSON:
        opener = writer.write_array(place, header, names=names, unchecked=unchecked, replace=replace)
    elif form is OutputFormat.CONTAINER:
        opener = writer.write_container(
            place,
            header,
            keys or KeyMaterial(),
            forward_secrecy=forward_secrecy,
            unchecked=unchecked,
            replace=replace,
        )
    else:
        raise UnwritableBackup("a folder holds attachments too, so it is written by `convert`")
    with opener as out:
        yield out


@public
def convert(
    source: BackupSource,
    target: BackupTarget,
    key: KeyMaterial | str | None = None,
    *,
    to: OutputFormat | str | None = None,
    keys: KeyMaterial | None = None,
    names: Names = "spec",
    forward_secrecy: ForwardSecrecy | None = None,
    replace: bool = False,
) -> Conversion:
    """Convert a backup to another form. Frames are copied without validation.

    `key` decrypts the source; `to` is the output form, by default that of the extension of `target`. `keys` are
    the keys for encryption, `names` is the spelling of JSON names. Attachments are copied to a folder, if the
    source has them; `forward_secrecy` is written to an encrypted container whose keys have its token. A weak
    recovery key raises `KeyRefused`, unless the source is encrypted with it. With `replace`, an existing file is
    replaced; the source never is.

    >>> hb.convert("chats.binproto", "chats.jsonl").frames
    255
    """
    place = path_or_file(target)
    form = chosen_form(place, to)
    with opened(source, key) as backup:
        if isinstance(place, Path):
            check_target(backup, place)
        refuse_weak_key(form, keys, [backup])
        if form is OutputFormat.FOLDER:
            return convert_to_folder(backup, folder_of(place), keys or KeyMaterial())
        frames = 0
        with open_writer(
            place,
            backup.header,
            form,
            keys=keys,
            names=names,
            forward_secrecy=forward_secrecy,
            unchecked=True,
            replace=replace,
        ) as out:
            for block in backup.blocks():
                out.write_block(block)
                frames += block.count
    return Conversion(frames, 0, ())


def convert_to_folder(source: Backup, folder: Path, keys: KeyMaterial) -> Conversion:
    """Write a snapshot of a local folder, with the attachments of the source."""
    copied: list[str] = []
    problems: list[str] = []
    frames = 0
    with writer.write_snapshot(folder, source.header, keys, copied, unchecked=True) as out:
        for block in source.blocks():
            out.write_block(block)
            frames += block.count
        if source.media is not None:
            copy_media(source, source.media, folder / STORE, copied, problems)
    return Conversion(frames, len(copied), tuple(problems))


def folder_of(target: Path | BinaryIO) -> Path:
    """Return the target as a path; raise an error for an open file."""
    if not isinstance(target, Path):
        raise UnreadableBackup("a local folder cannot be written to standard output")
    return target


def copy_media(
    source: Backup, media: AttachmentStore, store: Path, copied: list[str], problems: list[str]
) -> None:
    """Write every attachment of the source to a content store, each once; existing files are kept."""
    for _pointer, attachment in kept(source):
        try:
            copy_medium(media, attachment, content_path(store, attachment.name))
        except AttachmentError as error:
            problems.append(str(error))
        else:
            copied.append(attachment.name)


def copy_medium(media: AttachmentStore, attachment: AttachmentKey, path: Path) -> None:
    """Encrypt one attachment with its own key."""
    if path.is_file():
        return
    make_private_folder(path.parent)
    with media.open(attachment) as plain, write_atomically(path) as target:
        encrypt_attachment(plain, target, attachment.local_key)
