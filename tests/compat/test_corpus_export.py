"""Exports of the corpus, with records that fit the JSON Schema."""

from pathlib import Path

import pytest

from holdfast.backup import archives
from holdfast.backup.exports import FORMS, Form, export
from tests.backup.archives.histories import import_backups
from tests.backup.exports.json_records import check_records, read_records


@pytest.fixture(scope="module")
def corpus_archive(corpus: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Bring every third valid backup of the corpus into one archive."""
    place = tmp_path_factory.mktemp("corpus") / "corpus.db"
    import_backups(place, *sorted((corpus / "valid").glob("*.binproto"))[::3])
    return place


def test_every_record_of_the_corpus_is_valid(corpus_archive: Path, tmp_path: Path) -> None:
    """Each exported record is valid against its schema, and each message has a record."""
    with archives.open(corpus_archive) as opened:
        export(opened, tmp_path / "out", "json")
        (messages,) = opened.connection.execute("SELECT count(*) FROM message").fetchone()
    check_records(tmp_path / "out")
    assert len(read_records(tmp_path / "out", "message")) == messages


@pytest.mark.parametrize("form", FORMS)
def test_the_corpus_is_exported_in_every_form(corpus_archive: Path, tmp_path: Path, form: Form) -> None:
    """A second export into the same folder writes and removes nothing."""
    with archives.open(corpus_archive) as opened:
        first = export(opened, tmp_path / "out", form)
        again = export(opened, tmp_path / "out", form)
    assert (again.written, again.unchanged, again.removed) == (0, first.written, 0)
