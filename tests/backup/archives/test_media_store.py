"""Attachments copied to the media folder."""

import hashlib
from dataclasses import replace
from pathlib import Path

import pytest

from holdfast import backup
from holdfast.backup import archives
from holdfast.backup.archives.media_files import KeptFile
from holdfast.backup.archives.media_store import is_whole
from holdfast.backup.conversion import OutputFormat
from holdfast.backup.errors import UnreadableBackup
from holdfast.backup.media import kept
from holdfast_demo.sample import sample_records
from holdfast_demo.sample_writer import write_sample
from tests.backup.archives.histories import copies, write
from tests.backup.streams import KEYS


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """Write a phone's folder with encrypted attachments."""
    write_sample(sample_records(120, 1), tmp_path / "phone", OutputFormat.FOLDER, seed=1, keys=KEYS)
    return tmp_path / "phone"


def test_each_content_lies_once_under_its_hash(folder: Path, tmp_path: Path) -> None:
    """Attachments are stored decrypted under their hashes, which messages lead to, and are written only once."""
    with archives.open(tmp_path / "a.db", create=True) as opened, backup.open(folder, KEYS) as source:
        opened.add(source)
        copied = list(opened.copy_media(source))
        assert copied
        assert not [file.problem for file in copied if file.problem]
        for file in copied:
            assert file.path is not None
            path = opened.media_folder / file.path
            assert hashlib.sha256(path.read_bytes()).hexdigest() == path.stem
        assert not any(file.new for file in opened.copy_media(source))
        files = [path for path in opened.media_folder.rglob("*") if path.is_file()]
        stored = [str(path.relative_to(opened.media_folder)) for path in files]
        assert set(stored) == {file.path for file in copied}
        assert len(stored) == sum(file.new for file in copied)
        paths = {
            file.path
            for chat in opened.chats()
            for message in opened.messages(chat.id)
            for file in message.attachments
            if file.path
        }
        assert paths
        assert paths <= set(stored)


def test_a_missing_file_stops_nothing(folder: Path, tmp_path: Path) -> None:
    """A missing attachment is reported as a problem, and it is the only one."""
    with backup.open(folder, KEYS) as source:
        _pointer, attachment = next(kept(source))
    (missing,) = folder.rglob(attachment.name)
    missing.unlink()
    with archives.open(tmp_path / "a.db", create=True) as opened, backup.open(folder, KEYS) as source:
        opened.add(source)
        problems = [file for file in opened.copy_media(source) if file.problem]
    assert [(file.media_name, file.path, file.size, file.new) for file in problems] == [
        (attachment.name, None, 0, False)
    ]


def test_only_the_named_attachments_are_copied(folder: Path, tmp_path: Path) -> None:
    """Only attachments with one of the given names are copied, and an unknown name is ignored."""
    with archives.open(tmp_path / "a.db", create=True) as opened, backup.open(folder, KEYS) as source:
        opened.add(source)
        names = [attachment.name for _pointer, attachment in kept(source)]
        wanted = {names[0], names[-1], "unknown"}
        copied = list(opened.copy_media(source, only=wanted))
        assert {file.media_name for file in copied} == {names[0], names[-1]}
        assert not list(opened.copy_media(source, only=set()))


def test_a_damaged_copy_is_replaced_and_a_whole_one_is_used(folder: Path, tmp_path: Path) -> None:
    """A file is written again if it is truncated, and not if only its row is missing."""
    with archives.open(tmp_path / "a.db", create=True) as opened, backup.open(folder, KEYS) as source:
        opened.add(source)
        first, *others = (file for file in opened.copy_media(source) if file.new)
        assert first.path is not None
        path = opened.media_folder / first.path
        content = path.read_bytes()
        path.write_bytes(content[:-1])
        opened.connection.execute("DELETE FROM media WHERE media_name = ?", (others[0].media_name,))
        opened.connection.commit()
        again = {file.media_name: file for file in opened.copy_media(source)}
        assert again[first.media_name].new
        assert path.read_bytes() == content
        assert replace(again[others[0].media_name], new=True) == others[0]
        assert not again[others[0].media_name].new
        rows = opened.connection.execute("SELECT path FROM media WHERE media_name = ?", (others[0].media_name,))
        assert rows.fetchall() == [(others[0].path,)]


def test_a_file_is_whole_from_its_size_on(tmp_path: Path) -> None:
    """A file is whole if it has at least the expected size, and a missing file is not whole."""
    path = tmp_path / "file"
    path.write_bytes(b"1234")
    file = KeptFile(path)
    assert [is_whole(file, size) for size in (3, 4, 5)] == [True, True, False]
    assert is_whole(None, 0) is False
    assert is_whole(KeptFile(tmp_path / "missing"), 0) is False


def test_a_plain_stream_has_no_attachments_beside_it(tmp_path: Path) -> None:
    """Copying the attachments of a plain stream raises `UnreadableBackup`."""
    path = write(tmp_path / "one", *copies())
    with (
        archives.open(tmp_path / "a.db", create=True) as opened,
        backup.open(path) as source,
        pytest.raises(UnreadableBackup, match="no attachments beside it"),
    ):
        list(opened.copy_media(source))


def test_a_text_that_was_kept_as_a_file_is_read_whole(folder: Path, tmp_path: Path) -> None:
    """A long text is read whole once its file was copied.

    Before that, and if the file is damaged or a symbolic link, the message has the beginning of the text only.
    """
    with archives.open(tmp_path / "a.db", create=True) as opened, backup.open(folder, KEYS) as source:
        opened.add(source)
        number, name = opened.connection.execute(
            "SELECT message_id, media_name FROM attachment WHERE role = 'long_text' AND media_name <> ''"
        ).fetchone()
        before = opened.message(number)
        assert not before.unfolded
        list(opened.copy_media(source))
        after = opened.message(number)
        ((path,),) = opened.connection.execute("SELECT path FROM media WHERE media_name = ?", (name,))
        file = opened.media_folder / path
        assert after.unfolded
        assert after.text == file.read_text()
        assert after.text is not None
        assert before.text is not None
        assert after.text.startswith(before.text)
        assert len(after.text) > len(before.text)
        for damage in (b"\xff\xfe", b"x" * (1 << 18)):
            file.write_bytes(damage)
            assert (opened.message(number).text, opened.message(number).unfolded) == (before.text, False)
        file.unlink()
        (tmp_path / "elsewhere").write_text("secret")
        file.symlink_to(tmp_path / "elsewhere")
        assert opened.message(number).text == before.text


def test_an_archive_of_a_stranger_names_no_files_to_delete(folder: Path, tmp_path: Path) -> None:
    """Patterns in place of hashes in the table of removed media delete no file."""
    archive_path = tmp_path / "a.db"
    with archives.open(archive_path, create=True) as opened, backup.open(folder, KEYS) as source:
        opened.add(source)
        assert list(opened.copy_media(source))
        files = sorted(path for path in opened.media_folder.rglob("*") if path.is_file())
        hostile = [f"{path.name[:2]}*" for path in files]
        opened.connection.executemany(
            "INSERT INTO media (media_name, sha256, path, size) VALUES (?, ?, '', 1)",
            [(f"x{number}", pattern) for number, pattern in enumerate(hostile)],
        )
        opened.connection.commit()
    with archives.open(archive_path, create=True) as opened:
        assert sorted(path for path in opened.media_folder.rglob("*") if path.is_file()) == files
