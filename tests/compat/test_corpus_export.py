"""Backups of other clients are exported, and every record is what the schema says."""

import json
from pathlib import Path

import msgspec
import pytest

from holdfast.backup import archives
from holdfast.backup.exports import FORMS, Form, export, schemas
from tests.backup.archives.histories import import_backups
from tests.backup.exports.test_jsonl import VALIDATORS, lines


@pytest.fixture(scope="module")
def corpus_archive(corpus: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Bring every third valid backup of the corpus into one archive."""
    place = tmp_path_factory.mktemp("corpus") / "corpus.db"
    import_backups(place, *sorted((corpus / "valid").glob("*.binproto"))[::3])
    return place


def test_every_record_of_the_corpus_is_valid(corpus_archive: Path, tmp_path: Path) -> None:
    """And is read back as what it was."""
    with archives.open(corpus_archive) as opened:
        export(opened, tmp_path / "out", "json")
        (messages,) = opened.connection.execute("SELECT count(*) FROM message").fetchone()
    told = 0
    for line in lines(tmp_path / "out"):
        one = json.loads(line)
        VALIDATORS[one["record"]].validate(one)
        assert json.loads(msgspec.json.encode(msgspec.json.decode(line, type=schemas.Line))) == one
        told += one["record"] == "message"
    assert told == messages


@pytest.mark.parametrize("form", FORMS)
def test_the_corpus_is_exported_in_every_form(corpus_archive: Path, tmp_path: Path, form: Form) -> None:
    """Twice, and the second time nothing changes."""
    with archives.open(corpus_archive) as opened:
        first = export(opened, tmp_path / "out", form)
        again = export(opened, tmp_path / "out", form)
    assert (again.written, again.unchanged, again.removed) == (0, first.written, 0)
