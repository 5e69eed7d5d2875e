"""Exports as ZIP archives, written as a stream."""

import io
import zipfile
from pathlib import Path
from typing import Literal

import pytest

from holdfast import backup
from holdfast.backup import archives
from holdfast.backup.archives import Archive
from holdfast.backup.archives.media_files import KeptFile
from holdfast.backup.conversion import OutputFormat
from holdfast.backup.exports.dispatcher import export_archive, export_zip
from holdfast.backup.exports.folder import PREFIX
from holdfast.backup.exports.html import search_index
from holdfast.backup.exports.zip_file import PROBLEMS, ZipTarget
from holdfast_demo.sample import sample_records
from holdfast_demo.sample_writer import write_sample
from tests.backup.streams import KEYS


class Stream(io.RawIOBase):
    """A stream that can only be written to, like a pipe."""

    def __init__(self) -> None:
        super().__init__()
        self.content = bytearray()

    def writable(self) -> bool:
        """Return true."""
        return True

    def write(self, content: object) -> int:
        """Append the data."""
        data = bytes(memoryview(content))  # type: ignore[arg-type]  # whatever has a buffer
        self.content += data
        return len(data)


@pytest.fixture(scope="module")
def archive_file(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Make an archive with files beside it, once."""
    folder = tmp_path_factory.mktemp("zip")
    write_sample(sample_records(400, 1), folder / "phone", OutputFormat.FOLDER, seed=1, keys=KEYS)
    with archives.open(folder / "chats.db", create=True) as opened, backup.open(folder / "phone", KEYS) as source:
        opened.add(source)
        assert list(opened.copy_media(source))
    return folder / "chats.db"


def zipped(archive: Archive, form: Literal["html", "json"], *, in_memory: bool = False) -> zipfile.ZipFile:
    """Export to a stream, and open it as a ZIP archive."""
    stream = Stream()
    summary = export_zip(archive, stream, form, in_memory=in_memory)  # type: ignore[arg-type]  # a raw stream is enough
    archive_zip = zipfile.ZipFile(io.BytesIO(stream.content))
    assert archive_zip.testzip() is None
    assert summary.written == len(archive_zip.namelist()) == len(set(archive_zip.namelist()))
    return archive_zip


@pytest.mark.parametrize("form", ["html", "json"])
def test_an_archive_has_the_files_of_the_folder(
    archive_file: Path, tmp_path: Path, form: Literal["html", "json"]
) -> None:
    """A ZIP archive has the files of the folder byte by byte, media included, and is the same twice."""
    with archives.open(archive_file) as archive:
        export_archive(archive, tmp_path / "out", form)
        first = zipped(archive, form)
        paths = [path for path in (tmp_path / "out").rglob("*") if path.is_file()]
        names = {path.relative_to(tmp_path / "out").as_posix(): path for path in paths if PREFIX not in path.name}
        assert set(first.namelist()) == set(names)
        assert any(name.startswith("media/") for name in names)
        for name, path in names.items():
            assert first.read(name) == path.read_bytes(), name
            assert first.getinfo(name).external_attr >> 16 == 0o600
        second = zipped(archive, form)
        assert [(info.filename, info.CRC) for info in second.infolist()] == [
            (info.filename, info.CRC) for info in first.infolist()
        ]


def test_a_search_index_is_the_same_without_temporary_files(
    archive_file: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """An index of several runs that are sorted in memory has the bytes of one that is sorted in files."""
    monkeypatch.setattr(search_index, "MAX_POSTINGS", 100)
    with archives.open(archive_file) as archive:
        files, memory = zipped(archive, "html"), zipped(archive, "html", in_memory=True)
    assert "search.html" in memory.namelist()
    assert [(info.filename, info.CRC) for info in memory.infolist()] == [
        (info.filename, info.CRC) for info in files.infolist()
    ]


def test_a_file_is_written_once(tmp_path: Path) -> None:
    """The same content is written once; other content under that name and invalid names are refused."""
    stream = Stream()
    (tmp_path / "picture").write_bytes(b"picture")
    with ZipTarget(stream) as target:  # type: ignore[arg-type]  # a raw stream is enough
        assert target.put("a/b.txt", b"one") == target.put("a/b.txt", b"one")
        mark = target.put("a/c.txt", [b"t", b"wo"])
        assert target.keep("a/c.txt", mark)
        assert not target.keep("a/c.txt", "other")
        assert not target.keep("a/d.txt", mark)
        for _ in range(2):
            target.place("media/p", KeptFile(tmp_path / "picture"))
        assert (target.has("media/p"), target.has("media/q")) == (True, False)
        for name, content in (("a/b.txt", b"two"), ("A/b.txt", b"one"), ("../x", b""), ("/x", b"")):
            with pytest.raises(ValueError, match=r"is not a valid name|was already written"):
                target.put(name, content)
        with pytest.raises(ValueError, match="was already written"):
            target.put("a/b.txt", [b"one"])
        with pytest.raises(ValueError, match="is not kept"):
            target.read("a/b.txt")
        target.write_note("x", b"1")
        assert target.read_note("x") is None
        assert target.finish_unchanged() is None
        assert target.finish().written == 3
    zip_file = zipfile.ZipFile(io.BytesIO(stream.content))
    assert {name: zip_file.read(name) for name in zip_file.namelist()} == {
        "a/b.txt": b"one",
        "a/c.txt": b"two",
        "media/p": b"picture",
    }


def test_problems_are_listed_in_a_file(archive_file: Path) -> None:
    """Those that occur during the export are in a file; without any there is no such file."""
    problems: list[str] = []
    with archives.open(archive_file) as archive:
        assert PROBLEMS not in zipped(archive, "json").namelist()
        stream = Stream()
        with ZipTarget(stream, problems) as target:  # type: ignore[arg-type]  # as above
            problems += ["one is missing", "two is damaged"]
            target.finish()
    assert zipfile.ZipFile(io.BytesIO(stream.content)).read(PROBLEMS) == b"one is missing\ntwo is damaged\n"


def test_what_was_not_finished_is_no_archive() -> None:
    """A stream that was not finished is not a valid ZIP file, so it is not taken for a whole export."""
    stream = Stream()
    with pytest.raises(ZeroDivisionError), ZipTarget(stream) as target:  # type: ignore[arg-type]  # as above
        target.put("a.txt", b"one")
        raise ZeroDivisionError
    del target
    assert stream.content
    assert not zipfile.is_zipfile(io.BytesIO(stream.content))
