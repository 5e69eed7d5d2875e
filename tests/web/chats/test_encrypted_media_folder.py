"""Encrypted attachments as the media folder of an archive."""

import hashlib
import io
import os
from collections.abc import Iterator
from pathlib import Path

import pytest

from holdfast.backup.archives import Archive
from holdfast.backup.container.attachments import LocalKey, content_path, encrypt_attachment
from holdfast.backup.errors import AttachmentError
from holdfast.web.chats.encrypted_media import media_of
from holdfast.web.chats.encrypted_media_folder import EncryptedMediaFile, EncryptedMediaFolder, attach_media
from holdfast.web.chats.encryption import open_sealed
from tests.web.chats.encrypted_conversations import KEY, add_attachment, damage, import_folder, write_folder

LONG = "A long text. " * 300


@pytest.fixture
def phone(tmp_path: Path) -> Path:
    """Write the folder of a phone."""
    write_folder(tmp_path / "phone")
    return tmp_path / "phone"


@pytest.fixture
def sealed(phone: Path) -> Path:
    """Import it."""
    return import_folder(phone)


@pytest.fixture
def archive(sealed: Path) -> Iterator[Archive]:
    """Open the import."""
    with Archive(sealed.with_name("chats.db"), open_sealed(sealed, KEY)) as opened:
        yield opened


def attached(archive: Archive, phone: Path) -> EncryptedMediaFolder:
    """Attach the folder of the phone."""
    media = media_of(phone)
    assert media is not None
    return attach_media(archive, media)


def place_of(archive: Archive, name: str = "%") -> tuple[str, str]:
    """Return the media name of an attachment, and its path in the media folder."""
    ((media_name, path),) = archive.connection.execute(
        "SELECT media_name, path FROM media WHERE media_name LIKE ? ORDER BY 1 LIMIT 1", (name,)
    ).fetchall()
    return media_name, path


def test_every_attachment_is_a_file_of_the_folder(archive: Archive, phone: Path) -> None:
    """Each has its content and size, is named after its hash, and is not on the disk; other paths have none."""
    folder = attached(archive, phone)
    rows = archive.connection.execute("SELECT sha256, path FROM media").fetchall()
    assert len(rows) > 5
    for digest, path in rows:
        file = archive.kept_file(path)
        assert file is not None
        file.verify()
        with file.open() as source:
            content = source.read()
        assert hashlib.sha256(content).hexdigest() == digest == Path(path).stem
        assert file.digest() == bytes.fromhex(digest)
        assert file.size == len(content)
        assert not file.path.exists()
    assert archive.kept_file("../phone/files") is None
    assert folder.problems == []
    with pytest.raises(Exception, match="readonly"):
        archive.connection.execute("DELETE FROM media")


def test_damaged_and_missing_files_are_reported_once(archive: Archive, phone: Path) -> None:
    """They are errors of the attachment, however often they are read, and nothing of them is returned."""
    folder = attached(archive, phone)
    names = [
        name
        for (name,) in archive.connection.execute(
            "SELECT min(media_name) FROM media GROUP BY path HAVING count(*) = 1"
        )
    ]
    damage(content_path(phone / "files", names[0]))
    content_path(phone / "files", names[1]).unlink()
    for name in names[:2]:
        file = archive.kept_file(place_of(archive, name)[1])
        assert file is not None
        for _ in range(2):
            with pytest.raises(AttachmentError):
                file.verify()
            with pytest.raises(AttachmentError):
                file.open()
            assert file.digest() is None
    assert folder.problems == [
        f"attachment {names[0]} is damaged: its MAC does not match",
        f"attachment {names[1]} is not in the content store",
    ]


def test_other_content_with_a_valid_mac_is_refused(archive: Archive, phone: Path) -> None:
    """The hash of the whole content is verified before the first byte is returned."""
    folder = attached(archive, phone)
    name, path = place_of(archive)
    ((key, size),) = archive.connection.execute(
        "SELECT DISTINCT local_key, size FROM attachment WHERE media_name = ?", (name,)
    ).fetchall()
    with content_path(phone / "files", name).open("wb") as out:
        encrypt_attachment(io.BytesIO(os.urandom(size)), out, LocalKey(key))
    file = archive.kept_file(path)
    assert file is not None
    with pytest.raises(AttachmentError):
        file.open()
    assert folder.problems == [f"attachment {name} is whole, but is not the content the backup means"]


def test_the_same_content_is_read_from_the_file_that_is_whole(phone: Path, sealed: Path) -> None:
    """Two attachments with the same content have two files; if one is damaged, the other is used."""
    content = os.urandom(1000)
    names = sorted(add_attachment(phone, sealed, [content]) for _ in range(2))
    for damaged in names:
        kept = content_path(phone / "files", damaged).read_bytes()
        damage(content_path(phone / "files", damaged))
        with Archive(sealed.with_name("chats.db"), open_sealed(sealed, KEY)) as archive:
            attached(archive, phone)
            file = archive.kept_file(place_of(archive, damaged)[1])
            assert isinstance(file, EncryptedMediaFile)
            assert sorted(file.names) == names
            with file.open() as source:
                assert source.read() == content
        content_path(phone / "files", damaged).write_bytes(kept)


def test_long_texts_are_read_from_their_files(phone: Path, sealed: Path) -> None:
    """The text of a message that is an attachment is complete."""
    name = add_attachment(phone, sealed, [LONG.encode()])
    with Archive(sealed.with_name("chats.db"), open_sealed(sealed, KEY)) as archive:
        attached(archive, phone)
        assert archive.long_text(place_of(archive, name)[1]) == LONG
        content_path(phone / "files", name).unlink()
    with Archive(sealed.with_name("chats.db"), open_sealed(sealed, KEY)) as archive:
        folder = attached(archive, phone)
        assert archive.long_text(place_of(archive, name)[1]) is None
        assert len(folder.problems) == 1
