"""Detection of backups and archives by content and name."""

import gzip
import random
from pathlib import Path

import pytest

from holdfast.backup.conversion import OutputFormat
from holdfast.backup.file_types import ENCRYPTED_ARCHIVE
from holdfast.web.chats.file_kinds import LOOK, FileKind, kind_of_file, kind_of_path, looks_like_backup
from holdfast_demo.sample import sample_records
from holdfast_demo.sample_writer import write_sample
from tests.backup.archives.histories import copies, import_backups, write
from tests.backup.streams import KEYS
from tests.conftest import ROOT


def kind_and_readability(path: Path) -> tuple[FileKind | None, bool]:
    """Return the kind of a file, and whether it is offered as a backup."""
    content = path.read_bytes()
    return kind_of_file(content[:LOOK], len(content)), looks_like_backup(content[:LOOK], path.name)


def test_every_form_is_recognised(tmp_path: Path) -> None:
    """Streams, JSON, encrypted containers and archives are recognised by their content."""
    write(tmp_path / "a.binproto", *copies())
    (tmp_path / "a.binproto.gz").write_bytes(gzip.compress((tmp_path / "a.binproto").read_bytes()))
    import_backups(tmp_path / "a.db", tmp_path / "a.binproto")
    write_sample(sample_records(20, 1), tmp_path / "a.jsonl", OutputFormat.JSONL, seed=1, keys=None)
    write_sample(sample_records(20, 1), tmp_path / "a.backup", OutputFormat.CONTAINER, seed=1, keys=KEYS)
    assert kind_and_readability(tmp_path / "a.binproto") == (FileKind.PLAIN, True)
    assert kind_and_readability(tmp_path / "a.binproto.gz") == (FileKind.PLAIN, True)
    assert kind_and_readability(tmp_path / "a.jsonl") == (FileKind.PLAIN, True)
    assert kind_and_readability(tmp_path / "a.db") == (FileKind.ARCHIVE, True)
    assert kind_and_readability(tmp_path / "a.backup") == (FileKind.SEALED, True)
    (tmp_path / "encrypted.db").write_bytes(ENCRYPTED_ARCHIVE + random.Random(1).randbytes(8192))
    assert kind_and_readability(tmp_path / "encrypted.db") == (FileKind.ARCHIVE, False)


def test_a_folder_is_recognised_by_its_names(tmp_path: Path) -> None:
    """A phone's folder is encrypted, an export is plain, and an empty folder and a missing path are neither."""
    write_sample(sample_records(20, 1), tmp_path / "phone", OutputFormat.FOLDER, seed=1, keys=KEYS)
    (tmp_path / "export").mkdir()
    (tmp_path / "export" / "main.jsonl").touch()
    (tmp_path / "none").mkdir()
    assert kind_of_path(tmp_path / "phone") is FileKind.SEALED
    assert kind_of_path(tmp_path / "export") is FileKind.PLAIN
    assert kind_of_path(tmp_path / "none") is None
    assert kind_of_path(write(tmp_path / "file", *copies())) is FileKind.PLAIN
    assert kind_of_path(tmp_path / "missing") is None


@pytest.mark.parametrize(
    "name", ["README.md", "pyproject.toml", "src/holdfast/web/static/mark.svg", "docs/images/repository.png"]
)
def test_other_files_are_not_offered(name: str) -> None:
    """Text, configuration and image files are not offered as backups."""
    path = ROOT / name
    content = path.read_bytes()
    assert not looks_like_backup(content[:LOOK], path.name)


def test_a_file_that_may_be_encrypted_is_accepted_and_not_offered() -> None:
    """Random bytes may be an encrypted backup, but are offered only under a name of one."""
    noise = random.Random(1).randbytes(224)
    assert kind_of_file(noise, len(noise)) is FileKind.SEALED
    assert not looks_like_backup(noise, "noise.bin")
    assert looks_like_backup(noise, "phone.backup")
    assert kind_of_file(b"", 0) is None
    assert kind_of_file(b"SQLite format 3\x00" + bytes(200), 216) is None
    assert not looks_like_backup(b"", "x.backup")
    assert not looks_like_backup(b'{"name": "package"}', "package.json")


@pytest.mark.parametrize("size", [64, 80, 1280, 4096, LOOK])
def test_only_random_looking_files_take_keys(size: int) -> None:
    """A size that fits is not enough: pictures, programs, tables and texts are no encrypted backups."""
    noise = random.Random(size)
    assert all(kind_of_file(noise.randbytes(size), size) is FileKind.SEALED for _ in range(20))
    others = [
        b"\xff\xd8\xff\xe0\x00\x10JFIF\x00" + noise.randbytes(size),
        b"\x7fELF\x02\x01\x01" + bytes(size) + b"\xff",
        "Ünïcödé ťèxt öf söme ļéngth, ".encode() * (size // 16 + 1),
        b"\x89PNG\r\n\x1a\n\x00\x00\x00\rIHDR" + bytes(size),
        b"\x80\x01" * size,
        b"\xfd7zXZ\x00" + noise.randbytes(size),
    ]
    for content in others:
        assert kind_of_file(content[:size], size) is not FileKind.SEALED


def test_a_container_of_the_newer_layout_must_have_its_parts() -> None:
    """A container with an incomplete block, a wrong length or zeros in place of data is not accepted."""
    noise = random.Random(1)
    whole = b"SBACKUP\x01\x00" + noise.randbytes(160)
    assert kind_of_file(whole, len(whole)) is FileKind.SEALED
    assert kind_of_file(whole[:-1], len(whole) - 1) is None
    assert kind_of_file(b"SBACKUP\x01\xff\xff\xff\x7f" + noise.randbytes(160), 172) is None
    assert kind_of_file(b"SBACKUP\x01\x00" + bytes(160), 169) is None


@pytest.mark.parametrize("beginning", [b"{", b"[", b"\xef\xbb\xbf", b"PK\x03\x04", b"\x1f\x8b"])
def test_an_encrypted_backup_that_begins_like_something_else_is_offered(beginning: bytes) -> None:
    """Encrypted bytes are random and may begin like JSON or ZIP, so the extension decides."""
    head = beginning + random.Random(5).randbytes(LOOK - len(beginning))
    assert looks_like_backup(head, "phone.backup")
    assert not looks_like_backup(head, "phone.bin")
    assert not looks_like_backup(b"", "phone.backup")
    assert not looks_like_backup(b'{"name": "caf\xc3\xa9"}' * 100, "phone.backup")
