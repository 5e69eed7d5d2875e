"""What a file is."""

import gzip
import random
from pathlib import Path

import pytest

from holdfast.backup.convert import To
from holdfast.backup.made_up import write_sample
from holdfast.backup.sample import sample_records
from holdfast.web.chats.recognising import LOOK, Kind, kind_of_file, looks_like_backup
from tests.backup.archive.histories import copies, imported, write
from tests.backup.streams import KEYS
from tests.conftest import ROOT


def told(path: Path) -> tuple[Kind | None, bool]:
    """Look at a file."""
    content = path.read_bytes()
    return kind_of_file(content[:LOOK], len(content)), looks_like_backup(content[:LOOK], path.name)


def test_every_form_is_recognised(tmp_path: Path) -> None:
    """Streams, JSON, encrypted containers and archives, by their content."""
    write(tmp_path / "a.binproto", *copies())
    (tmp_path / "a.binproto.gz").write_bytes(gzip.compress((tmp_path / "a.binproto").read_bytes()))
    imported(tmp_path / "a.db", tmp_path / "a.binproto")
    write_sample(sample_records(20, 1), tmp_path / "a.jsonl", To.JSONL, seed=1, keys=None)
    write_sample(sample_records(20, 1), tmp_path / "a.backup", To.CONTAINER, seed=1, keys=KEYS)
    assert told(tmp_path / "a.binproto") == (Kind.PLAIN, True)
    assert told(tmp_path / "a.binproto.gz") == (Kind.PLAIN, True)
    assert told(tmp_path / "a.jsonl") == (Kind.PLAIN, True)
    assert told(tmp_path / "a.db") == (Kind.ARCHIVE, True)
    assert told(tmp_path / "a.backup") == (Kind.SEALED, True)


@pytest.mark.parametrize(
    "name", ["README.md", "pyproject.toml", "src/holdfast/web/static/mark.svg", "docs/images/repository.png"]
)
def test_other_files_are_not_offered(name: str) -> None:
    """Texts, pictures and programs."""
    path = ROOT / name
    content = path.read_bytes()
    assert not looks_like_backup(content[:LOOK], path.name)


def test_what_only_might_be_encrypted_is_not_offered_but_taken() -> None:
    """Any random bytes may be an encrypted backup; a name that says so is believed."""
    noise = random.Random(1).randbytes(224)
    assert kind_of_file(noise, len(noise)) is Kind.SEALED
    assert not looks_like_backup(noise, "noise.bin")
    assert looks_like_backup(noise, "phone.backup")
    assert kind_of_file(b"", 0) is None
    assert kind_of_file(b"SQLite format 3\x00" + bytes(200), 216) is None
    assert not looks_like_backup(b"", "x.backup")
    assert not looks_like_backup(b'{"name": "package"}', "package.json")
