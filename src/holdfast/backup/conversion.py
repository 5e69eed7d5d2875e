"""Turns a backup of one form into another, frame by frame and byte for byte."""

from collections.abc import Callable
from contextlib import AbstractContextManager
from dataclasses import dataclass
from enum import StrEnum
from pathlib import Path
from typing import BinaryIO, Final

from holdfast.backup import writer
from holdfast.backup.apart import keep_apart
from holdfast.backup.container import KeyMaterial
from holdfast.backup.container.attachments import Attachment, content_path, encrypt_attachment
from holdfast.backup.container.folder import STORE
from holdfast.backup.container.media import Media
from holdfast.backup.container.metadata import ForwardSecrecy
from holdfast.backup.container.private import make_private_folder
from holdfast.backup.container.whole import write_whole
from holdfast.backup.errors import AttachmentError, UnreadableBackup
from holdfast.backup.media import kept
from holdfast.backup.opening import Backup
from holdfast.backup.wire import Names
from holdfast.backup.writer import BackupWriter
from holdfast.redacted_repr import redacted

__all__ = ["Conversion", "To", "convert", "form_of"]


class To(StrEnum):
    """The forms a backup can be written in."""

    STREAM = "stream"
    JSONL = "jsonl"
    JSON = "json"
    CONTAINER = "container"
    FOLDER = "folder"


EXTENSIONS: Final = {".binproto": To.STREAM, ".jsonl": To.JSONL, ".json": To.JSON, ".encrypted": To.CONTAINER}


@redacted
@dataclass(frozen=True, slots=True)
class Conversion:
    """What was written: how many frames, and for a folder how many attachments and which could not be copied."""

    frames: int
    attachments: int
    problems: tuple[str, ...]


def form_of(path: Path) -> To | None:
    """Tell the form to write from a file's extension."""
    return EXTENSIONS.get(path.suffix.lower())


def convert(
    source: Backup,
    target: Path | BinaryIO,
    to: To,
    *,
    keys: KeyMaterial | None = None,
    names: Names = "spec",
    forward_secrecy: ForwardSecrecy | None = None,
    replace: bool = False,
) -> Conversion:
    """Write a backup in another form. Frames are not judged: what is wrong with them is still there afterwards.

    `keys` are those to encrypt with, `names` is the spelling of JSON names. A folder also gets the attachments,
    where the source has them, an encrypted container `forward_secrecy`, if its keys have the token that is in it.
    With `replace` a file that is there already is replaced; the source never is.
    """
    if isinstance(target, Path):
        keep_apart(source, target)
    store = KeyMaterial() if keys is None else keys
    copied: list[str] = []
    problems: list[str] = []
    openers: dict[To, Callable[[], AbstractContextManager[BackupWriter]]] = {
        To.STREAM: lambda: writer.write_stream(target, source.header, unchecked=True, replace=replace),
        To.JSONL: lambda: writer.write_lines(target, source.header, names=names, unchecked=True, replace=replace),
        To.JSON: lambda: writer.write_array(target, source.header, names=names, unchecked=True, replace=replace),
        To.CONTAINER: lambda: writer.write_container(
            target, source.header, store, forward_secrecy=forward_secrecy, unchecked=True, replace=replace
        ),
        To.FOLDER: lambda: writer.write_snapshot(folder_of(target), source.header, store, copied, unchecked=True),
    }
    frames = 0
    with openers[to]() as out:
        for block in source.blocks():
            out.write_block(block)
            frames += block.count
        if to is To.FOLDER and source.media is not None:
            copy_media(source, source.media, folder_of(target) / STORE, copied, problems)
    return Conversion(frames, len(copied), tuple(problems))


def folder_of(target: Path | BinaryIO) -> Path:
    """Refuse to write a folder to anything but a path."""
    if not isinstance(target, Path):
        raise UnreadableBackup("a local folder cannot be written to standard output")
    return target


def copy_media(source: Backup, media: Media, store: Path, copied: list[str], problems: list[str]) -> None:
    """Write every attachment of the source into a content store, each once; what is there already is kept."""
    for _pointer, attachment in kept(source):
        try:
            copy_medium(media, attachment, content_path(store, attachment.name))
        except AttachmentError as error:
            problems.append(str(error))
        else:
            copied.append(attachment.name)


def copy_medium(media: Media, attachment: Attachment, path: Path) -> None:
    """Encrypt one attachment under its own key."""
    if path.is_file():
        return
    make_private_folder(path.parent)
    with media.open(attachment) as plain, write_whole(path) as target:
        encrypt_attachment(plain, target, attachment.local_key)
