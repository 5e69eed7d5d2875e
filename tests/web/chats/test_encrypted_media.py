"""Decryption of the attachments of a phone's folder."""

import io
import os
import sqlite3
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path
from typing import BinaryIO

import pytest

from holdfast.backup import archives
from holdfast.backup.archives import overview
from holdfast.backup.container.attachments import AttachmentKey, content_path
from holdfast.backup.errors import AttachmentDamaged, AttachmentError, AttachmentMissing, NotInArchive
from holdfast.hosting.file_responses.byte_cache import KeptBytes
from holdfast.web.chats import thumbnails
from holdfast.web.chats.conversation_routes import respond
from holdfast.web.chats.encrypted_media import EncryptedMedia, media_of
from holdfast.web.chats.open_archive import OpenArchive
from holdfast.web.chats.view import EncryptedMediaResult, PageNotFound, ThumbnailResult
from tests.web.chats.conftest import drawn_in


@pytest.fixture
def phone(archive_file: Path) -> Iterator[OpenArchive]:
    """Open an archive without copied files, beside the folder of the phone."""

    def opens() -> archives.Archive:
        opened = archives.open(archive_file)
        opened.connection.execute("PRAGMA query_only = OFF")
        opened.connection.execute("CREATE TEMP TABLE media (media_name, sha256, size, path)")
        return opened

    media = media_of(archive_file.with_name("phone"))
    with closing(OpenArchive("phone", opens, stamp=lambda: None, most=1, media=media)) as archive:
        yield archive


def encrypted_names(archive_file: Path, family: str) -> list[str]:
    """List the encrypted files of one family of types."""
    with closing(sqlite3.connect(archive_file)) as connection, connection:
        return [
            name
            for (name,) in connection.execute(
                "SELECT DISTINCT media_name FROM attachment WHERE media_name IN (SELECT media_name FROM media) "
                "AND content_type LIKE ? AND role = 'attachment' ORDER BY 1",
                (f"{family}/%",),
            )
        ]


def found_in(phone: OpenArchive, name: str) -> tuple[EncryptedMedia, AttachmentKey]:
    """Return the attachment of a name."""
    answer = respond(phone, "", f"attachment/{name}", {})
    assert isinstance(answer, EncryptedMediaResult)
    return answer.media, answer.attachment


def test_any_part_of_a_file_is_decrypted(phone: OpenArchive, archive_file: Path) -> None:
    """Ranges inside a block and across blocks equal those of the decrypted copy beside the archive."""
    names = encrypted_names(archive_file, "image")[:2]
    assert len(names) == 2
    for name in names:
        media, attachment = found_in(phone, name)
        with closing(sqlite3.connect(archive_file)) as connection, connection:
            ((path,),) = connection.execute("SELECT path FROM media WHERE media_name = ?", (name,)).fetchall()
        plain = (archive_file.with_name("chats.db-media") / path).read_bytes()
        size = len(plain)
        for start, stop in ((0, size), (0, 1), (15, 17), (16, 48), (size - 1, size), (size // 2, size)):
            assert b"".join(media.read(attachment, start, stop)) == plain[start:stop]


def test_files_that_are_not_on_the_disk_are_decrypted_too(phone: OpenArchive, archive_file: Path) -> None:
    """A file from memory is read completely to authenticate it, and only the first time."""
    name = encrypted_names(archive_file, "image")[0]
    media, attachment = found_in(phone, name)
    content = content_path(archive_file.with_name("phone") / "files", name).read_bytes()
    reads: list[int] = []

    class InMemory:
        def has(self, media_name: str) -> bool:
            return media_name == name

        def open_encrypted(self, media_name: str) -> BinaryIO:
            assert media_name == name

            class Counted(io.BytesIO):
                def read(self, size: int | None = -1, /) -> bytes:
                    piece = super().read(size)
                    reads.append(len(piece))
                    return piece

            return Counted(content)

    other = EncryptedMedia(InMemory())
    assert (other.has(name), other.has("0" * 64)) == (True, False)
    assert b"".join(other.read(attachment, 3, 40)) == b"".join(media.read(attachment, 3, 40))
    assert sum(reads) >= len(content)
    reads.clear()
    assert b"".join(other.read(attachment, 3, 40)) == b"".join(media.read(attachment, 3, 40))
    assert sum(reads) < len(content)


def test_a_page_shows_the_pictures_of_the_folder(phone: OpenArchive, archive_file: Path) -> None:
    """A picture is served inline with an image type, and the page of its message shows it."""
    name = encrypted_names(archive_file, "image")[0]
    answer = respond(phone, "", f"attachment/{name}", {})
    assert isinstance(answer, EncryptedMediaResult)
    assert answer.inline
    assert answer.media_type.startswith("image/")
    with phone.reading() as archive:
        ((message,),) = archive.connection.execute(
            "SELECT min(message_id) FROM attachment WHERE media_name = ? AND role = 'attachment'", (name,)
        ).fetchall()
    assert f'src="/attachment/{name}"' in drawn_in(phone, f"message/{message}")


@pytest.mark.parametrize("name", ["0" * 64, "x", "../" * 21, "A" * 64])
def test_other_names_are_not_found(phone: OpenArchive, name: str) -> None:
    """A name that is not that of an attachment in the archive is not found."""
    with pytest.raises(PageNotFound):
        respond(phone, "", f"attachment/{name}", {})


def test_an_archive_without_a_folder_has_none(opened: OpenArchive, archive_file: Path) -> None:
    """Without the phone's folder, an encrypted attachment is not found by its name."""
    with pytest.raises(PageNotFound):
        respond(opened, "", f"attachment/{encrypted_names(archive_file, 'image')[0]}", {})


def copied(phone: OpenArchive, archive_file: Path, folder: Path) -> tuple[EncryptedMedia, AttachmentKey, Path]:
    """Copy the encrypted file of a picture into a folder of its own."""
    name = encrypted_names(archive_file, "image")[0]
    _, attachment = found_in(phone, name)
    snapshot = folder / "signal-backup-2026-01-01-00-00-00"
    snapshot.mkdir()
    (snapshot / "main").touch()
    (snapshot / "metadata").touch()
    source = next(archive_file.with_name("phone").rglob(name))
    target = content_path(folder / "files", name)
    target.parent.mkdir(parents=True)
    target.write_bytes(source.read_bytes())
    media = media_of(folder)
    assert media is not None
    return media, attachment, target


def test_nothing_of_a_changed_file_is_decrypted(phone: OpenArchive, archive_file: Path, tmp_path: Path) -> None:
    """A file that is changed, truncated or deleted after its authentication is refused."""
    media, attachment, file = copied(phone, archive_file, tmp_path)
    media.authenticate(attachment)
    assert media.has(attachment.name)
    raw = bytearray(file.read_bytes())
    raw[40] ^= 1
    file.write_bytes(raw)
    os.utime(file, ns=(1, 1))
    with pytest.raises(AttachmentDamaged):
        media.authenticate(attachment)
    with pytest.raises(AttachmentDamaged):
        next(media.read(attachment, 0, 1))
    file.write_bytes(raw[:32])
    with pytest.raises(AttachmentError):
        media.authenticate(attachment)
    file.unlink()
    assert not media.has(attachment.name)
    assert not media.has("../../metadata")
    with pytest.raises(AttachmentMissing):
        media.authenticate(attachment)


def test_a_link_out_of_the_folder_is_not_followed(phone: OpenArchive, archive_file: Path, tmp_path: Path) -> None:
    """A symbolic link in place of an attachment is refused, as a copied folder may contain any link."""
    home = tmp_path / "home"
    home.mkdir()
    media, attachment, file = copied(phone, archive_file, home)
    file.rename(tmp_path / "elsewhere")
    file.symlink_to(tmp_path / "elsewhere")
    with pytest.raises(AttachmentError):
        media.authenticate(attachment)


def test_only_phone_folders_have_such_files(tmp_path: Path) -> None:
    """A file, an empty folder and no folder at all have no encrypted media."""
    (tmp_path / "file").touch()
    assert media_of(None) is None
    assert media_of(tmp_path) is None
    assert media_of(tmp_path / "file") is None


@pytest.mark.parametrize("column", ["local_key = x'00'", "plaintext_hash = 'zz'", "plaintext_hash = '00'"])
def test_damaged_keys_are_not_found(archive_file: Path, column: str) -> None:
    """An attachment whose key or hash in the archive is invalid is not found."""
    name = encrypted_names(archive_file, "image")[0]
    with archives.open(archive_file) as archive:
        archive.connection.execute("PRAGMA query_only = OFF")
        archive.connection.execute("CREATE TEMP TABLE attachment AS SELECT * FROM main.attachment")
        assert overview.encrypted_file(archive, name)[1].name == name
        archive.connection.execute(f"UPDATE temp.attachment SET {column}")
        with pytest.raises(NotInArchive):
            overview.encrypted_file(archive, name)


def test_small_copies_are_made_of_decrypted_photos(
    phone: OpenArchive, archive_file: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A thumbnail is made from the whole decrypted file; a small photo is served itself."""
    name = encrypted_names(archive_file, "image")[0]
    whole = respond(phone, "", f"attachment/{name}", {})
    assert isinstance(whole, EncryptedMediaResult)
    assert respond(phone, "", f"attachment/{name}/thumbnail", {}) == whole
    content = b"".join(whole.media.read(whole.attachment, 0, whole.attachment.size))
    given: list[bytes] = []

    def make(photo: bytes) -> bytes:
        given.append(photo)
        return b"small"

    monkeypatch.setattr(thumbnails, "SMALLEST_BYTES", 0)
    monkeypatch.setattr(thumbnails, "make_thumbnail", make)
    monkeypatch.setattr(thumbnails, "kept", KeptBytes(1000))
    assert respond(phone, "", f"attachment/{name}/thumbnail", {}) == ThumbnailResult(b"small", "image/webp")
    assert given == [content]
