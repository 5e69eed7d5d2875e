"""Attachments of folders, exports and ZIP files; an error concerns one attachment only."""

import hashlib
import io
import zipfile
from pathlib import Path

import pytest

from holdfast.backup.container.attachments import AttachmentKey, LocalKey, content_path, encrypt_attachment
from holdfast.backup.container.gunzip import GunzipLimits
from holdfast.backup.container.media import AttachmentStore, ExportMedia, FolderMedia
from holdfast.backup.container.takeout import FolderExport, ZipExport
from holdfast.backup.errors import (
    AttachmentDamaged,
    AttachmentError,
    AttachmentMismatch,
    AttachmentMissing,
    AttachmentTooShort,
    AttachmentTruncated,
)

CONTENT = b"hello world" * 1000
KEY = LocalKey(bytes(range(64)))
ATTACHMENT = AttachmentKey(KEY, hashlib.sha256(CONTENT).digest(), len(CONTENT))


def read(media: AttachmentStore, attachment: AttachmentKey = ATTACHMENT) -> bytes:
    """Open an attachment and read it to its end."""
    with media.open(attachment) as source:
        return source.read()


@pytest.fixture
def folder(tmp_path: Path) -> FolderMedia:
    """Make a content store with one attachment."""
    path = content_path(tmp_path / "files", ATTACHMENT.name)
    path.parent.mkdir(parents=True)
    with path.open("wb") as target:
        encrypt_attachment(io.BytesIO(CONTENT), target, KEY)
    return FolderMedia(tmp_path / "files", tmp_path)


def stored(media: FolderMedia) -> Path:
    """Find the file of the attachment."""
    return content_path(media.store, ATTACHMENT.name)


def exported(tmp_path: Path, content: bytes = CONTENT, extension: str = ".bin") -> Path:
    """Make an export with one attachment, and return the attachment's file."""
    path = tmp_path / "files" / ATTACHMENT.name[:2] / f"{ATTACHMENT.name}{extension}"
    path.parent.mkdir(parents=True)
    path.write_bytes(content)
    return path


def zipped(content: bytes) -> bytes:
    """Make an export in a ZIP with one attachment."""
    out = io.BytesIO()
    with zipfile.ZipFile(out, "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr("main.jsonl", "{}")
        archive.writestr(f"files/{ATTACHMENT.name[:2]}/{ATTACHMENT.name}.jpg", content)
    return out.getvalue()


def test_a_store_gives_what_was_encrypted(folder: FolderMedia) -> None:
    """A content store returns the content of an attachment without its padding."""
    folder.check(ATTACHMENT)
    assert read(folder) == CONTENT


def test_what_is_not_in_the_store_is_missing(folder: FolderMedia) -> None:
    """A missing attachment file is found by reading it and by checking for it."""
    stored(folder).unlink()
    for method in (read, FolderMedia.check):
        with pytest.raises(AttachmentMissing, match="not in the content store"):
            method(folder, ATTACHMENT)


def test_what_is_not_a_file_is_named(folder: FolderMedia) -> None:
    """A folder with the name of an attachment is an error that names it."""
    stored(folder).unlink()
    stored(folder).mkdir()
    for method in (read, FolderMedia.check):
        with pytest.raises(AttachmentError, match=ATTACHMENT.name):
            method(folder, ATTACHMENT)


def test_a_file_cut_short_is_noticed_without_decrypting(folder: FolderMedia) -> None:
    """A truncated file is found by its length, without decrypting it."""
    data = stored(folder).read_bytes()
    stored(folder).write_bytes(data[: len(CONTENT)])
    with pytest.raises(AttachmentTruncated, match="cut short"):
        folder.check(ATTACHMENT)
    with pytest.raises(AttachmentTruncated, match="cut short"):
        read(folder)


def test_a_changed_file_is_found_by_reading_it(folder: FolderMedia) -> None:
    """A changed byte is found by the MAC when the file is read, but not by a check of its length."""
    data = bytearray(stored(folder).read_bytes())
    data[100] ^= 1
    stored(folder).write_bytes(data)
    folder.check(ATTACHMENT)
    with pytest.raises(AttachmentDamaged, match="MAC"):
        read(folder)


def test_links_out_of_the_folder_are_not_followed(
    folder: FolderMedia, tmp_path_factory: pytest.TempPathFactory
) -> None:
    """A symlink that leads out of the folder is an error of this attachment."""
    outside = tmp_path_factory.mktemp("outside") / "secret"
    outside.write_bytes(stored(folder).read_bytes())
    stored(folder).unlink()
    stored(folder).symlink_to(outside)
    with pytest.raises(AttachmentError, match="leads out of"):
        read(folder)


def test_an_export_gives_its_files(tmp_path: Path) -> None:
    """A folder and a ZIP return the content of an attachment, with any file name extension."""
    for number, extension in enumerate(("", ".jpg", ".tar.gz")):
        exported(tmp_path / str(number), extension=extension)
        media = ExportMedia(FolderExport(tmp_path / str(number)))
        media.check(ATTACHMENT)
        assert read(media) == CONTENT
    media = ExportMedia(ZipExport.read(io.BytesIO(zipped(CONTENT))))
    media.check(ATTACHMENT)
    assert read(media) == CONTENT


@pytest.mark.parametrize(
    ("content", "error"),
    [
        (CONTENT[:-1], AttachmentTooShort),
        (CONTENT[:-1] + b"x", AttachmentMismatch),
        (CONTENT + b"x", AttachmentMismatch),
        (b"", AttachmentTooShort),
    ],
)
def test_a_file_of_an_export_is_held_to_its_size_and_hash(
    tmp_path: Path, content: bytes, error: type[AttachmentError]
) -> None:
    """A file of an export with another size or hash is an error when it is read to the end."""
    exported(tmp_path, content)
    for export in (FolderExport(tmp_path), ZipExport.read(io.BytesIO(zipped(content)))):
        with pytest.raises(error):
            read(ExportMedia(export))


def test_what_is_not_in_an_export_is_missing(tmp_path: Path) -> None:
    """An attachment without a file, or with a dangling symlink in its place, is missing."""
    media = ExportMedia(FolderExport(tmp_path))
    with pytest.raises(AttachmentMissing):
        read(media)
    path = exported(tmp_path)
    path.unlink()
    path.symlink_to(path.with_name("gone"))
    with pytest.raises(AttachmentMissing):
        read(media)
    with pytest.raises(AttachmentMissing):
        media.check(ATTACHMENT)


def test_a_link_or_a_folder_in_an_export_is_an_error_about_the_attachment(
    tmp_path: Path, tmp_path_factory: pytest.TempPathFactory
) -> None:
    """A symlink out of the export and a folder in place of a file are errors of that attachment."""
    path = exported(tmp_path)
    path.unlink()
    path.symlink_to(tmp_path_factory.mktemp("outside"))
    with pytest.raises(AttachmentError, match="leads out of"):
        read(ExportMedia(FolderExport(tmp_path)))
    path.unlink()
    path.mkdir()
    with pytest.raises(AttachmentError, match="not a file"):
        read(ExportMedia(FolderExport(tmp_path)))


def test_a_damaged_or_endless_file_in_a_zip_is_an_error_about_the_attachment() -> None:
    """Damage and a compression bomb in one file of a ZIP are errors of that attachment, not of the ZIP."""
    data = bytearray(zipped(bytes(5_000_000)))
    bomb = ZipExport.read(io.BytesIO(data), limits=GunzipLimits(output=1_000_000))
    with pytest.raises(AttachmentDamaged, match="opens to more than"):
        read(ExportMedia(bomb))
    offset = data.index(b".jpg") + 10
    data[offset] ^= 0xFF
    with pytest.raises(AttachmentError):
        read(ExportMedia(ZipExport.read(io.BytesIO(data))))
