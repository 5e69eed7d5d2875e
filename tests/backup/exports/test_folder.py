"""The folder of an export is written atomically and incrementally, and other files are never touched."""

import os
import signal
import subprocess
import sys
from collections.abc import Mapping
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from holdfast.backup.archives.media_files import KeptFile
from holdfast.backup.errors import ExportRefused, UnwritableBackup
from holdfast.backup.exports.folder import JOURNAL, MANIFEST, PREFIX, ExportFolder, ExportSummary
from tests.examples import examples

FIRST = {"index.html": b"one", "chats/a/1.html": b"two", "chats/a/2.html": b"three"}


def export(target: Path, files: Mapping[str, bytes], form: str = "html") -> ExportSummary:
    """Write an export of these files."""
    with ExportFolder(target, form) as folder:
        for name, content in files.items():
            folder.put(name, content)
        return folder.finish()


def files_of(folder: Path) -> dict[str, bytes]:
    """Read all files of a folder that are not its lists."""
    return {
        path.relative_to(folder).as_posix(): path.read_bytes()
        for path in folder.rglob("*")
        if path.is_file() and not path.name.startswith(PREFIX)
    }


def modification_times(folder: Path) -> dict[str, int]:
    """Read the inode of each file, which changes when the file is written again."""
    return {path.name: path.stat().st_ino for path in folder.rglob("*.html")}


def test_unchanged_files_are_not_written_again(tmp_path: Path) -> None:
    """Only files that differ are written, and files that are no longer exported are removed."""
    assert export(tmp_path / "out", FIRST) == ExportSummary(3, 0, 0)
    before = modification_times(tmp_path / "out")
    assert export(tmp_path / "out", FIRST) == ExportSummary(0, 3, 0)
    assert modification_times(tmp_path / "out") == before
    second = {"index.html": b"ONE", "chats/a/1.html": b"two", "chats/b/1.html": b"new"}
    assert export(tmp_path / "out", second) == ExportSummary(2, 1, 1)
    assert files_of(tmp_path / "out") == second
    assert export(tmp_path / "out", {}) == ExportSummary(0, 0, 3)
    assert sorted(path.name for path in (tmp_path / "out").iterdir()) == [MANIFEST]


def test_a_file_changed_by_hand_is_written_again(tmp_path: Path) -> None:
    """A file with another size or modification time and a missing file are written again."""
    export(tmp_path / "out", FIRST)
    (tmp_path / "out/index.html").write_bytes(b"changed")
    (tmp_path / "out/chats/a/1.html").write_bytes(b"TWO")
    os.utime(tmp_path / "out/chats/a/1.html", (1, 1))
    (tmp_path / "out/chats/a/2.html").unlink()
    assert export(tmp_path / "out", FIRST) == ExportSummary(3, 0, 0)
    assert files_of(tmp_path / "out") == FIRST


def test_files_of_others_are_never_touched(tmp_path: Path) -> None:
    """Other files are neither removed nor replaced, and an exported file changed by hand is not removed."""
    out = tmp_path / "out"
    export(out, FIRST)
    (out / "notes.txt").write_text("mine")
    (out / "chats/a/2.html").write_bytes(b"edited by hand")
    assert export(out, {"index.html": b"one"}) == ExportSummary(0, 1, 1)
    assert files_of(out) == {"index.html": b"one", "notes.txt": b"mine", "chats/a/2.html": b"edited by hand"}
    with pytest.raises(ExportRefused, match=r"notes\.txt exists and is not part"):
        export(out, {"index.html": b"one", "notes.txt": b"ours"})
    assert (out / "notes.txt").read_text() == "mine"


def test_a_folder_with_something_else_is_refused(tmp_path: Path) -> None:
    """The error of a folder with other files asks for a new or empty one, and the folder is unchanged."""
    (tmp_path / "thesis.txt").write_text("years of work")
    with pytest.raises(ExportRefused, match="name a new or an empty folder"):
        ExportFolder(tmp_path, "html")
    assert sorted(path.name for path in tmp_path.iterdir()) == ["thesis.txt"]


def test_an_export_of_another_form_is_refused(tmp_path: Path) -> None:
    """A folder with an export of another form is refused, and its files are unchanged."""
    export(tmp_path / "out", FIRST, "html")
    with pytest.raises(ExportRefused, match="holds an export to html"):
        export(tmp_path / "out", FIRST, "markdown")
    assert files_of(tmp_path / "out") == FIRST


def test_two_exports_at_once_are_refused(tmp_path: Path) -> None:
    """A second export into the same folder at the same time is refused."""
    with (
        ExportFolder(tmp_path / "out", "html"),
        pytest.raises(ExportRefused, match="another export is being written"),
    ):
        ExportFolder(tmp_path / "out", "html")
    export(tmp_path / "out", FIRST)


@pytest.mark.parametrize(
    "name",
    [
        "",
        "/etc/passwd",
        "../up",
        "a/../b",
        "a//b",
        ".",
        "a\\b",
        "c:x",
        "a\x00b",
        "a ",
        "a.",
        "NUL",
        "a/con.txt",
        MANIFEST,
        f"a/{JOURNAL}",
    ],
)
def test_no_name_leads_out_of_the_folder(tmp_path: Path, name: str) -> None:
    """Absolute paths, "..", reserved names and names of the manifest are not valid names of files."""
    with (
        ExportFolder(tmp_path / "out", "html") as folder,
        pytest.raises(ValueError, match="not a valid name for a file"),
    ):
        folder.put(name, b"")


def test_names_that_some_disks_take_for_one_are_refused(tmp_path: Path) -> None:
    """Names that differ in case only are refused, as they are one file on some file systems."""
    with ExportFolder(tmp_path / "out", "html") as folder:
        folder.put("Ada.html", b"")
        with pytest.raises(ValueError, match="the same file on some file systems"):
            folder.put("ADA.html", b"")


def test_a_link_in_the_folder_leads_nowhere(tmp_path: Path) -> None:
    """Nothing is written or removed through a symbolic link in the folder."""
    out, elsewhere = tmp_path / "out", tmp_path / "elsewhere"
    export(out, FIRST)
    (out / "chats/a").rename(elsewhere)
    (out / "chats/a").symlink_to(elsewhere)
    with pytest.raises(ExportRefused, match="is a symbolic link"):
        export(out, FIRST)
    assert export(out, {"index.html": b"one"}).removed == 0
    assert sorted(path.name for path in elsewhere.iterdir()) == ["1.html", "2.html"]
    (out / "index.html").unlink()
    (out / "index.html").symlink_to(elsewhere / "1.html")
    export(out, {"index.html": b"again"})
    assert (elsewhere / "1.html").read_bytes() == b"two"


def test_a_list_from_somebody_else_removes_nothing_outside(tmp_path: Path) -> None:
    """A path outside the folder in the manifest is ignored, and its file is not removed."""
    victim = tmp_path / "victim.txt"
    victim.write_text("precious")
    export(tmp_path / "out", FIRST)
    state = victim.stat()
    with (tmp_path / "out" / MANIFEST).open("a") as target:
        target.write(
            f'["../victim.txt", {state.st_size}, {state.st_mtime_ns}, ""]\n["chats", 1, 2, ""]\nnonsense\n'
        )
    export(tmp_path / "out", {})
    assert victim.read_text() == "precious"


def test_a_later_version_is_not_written_over(tmp_path: Path) -> None:
    """A folder with a manifest of a later version is refused, and its files are unchanged."""
    export(tmp_path / "out", FIRST)
    manifest = tmp_path / "out" / MANIFEST
    manifest.write_text(manifest.read_text().replace('"version": 1', '"version": 2'))
    with pytest.raises(ExportRefused, match="later version"):
        export(tmp_path / "out", {})
    assert files_of(tmp_path / "out") == FIRST


def test_pieces_and_streams_are_compared_too(tmp_path: Path) -> None:
    """Content given in pieces or written to a stream is not written again if it is the same."""
    out = tmp_path / "out"
    for expected in (ExportSummary(2, 0, 0), ExportSummary(0, 2, 0)):
        with ExportFolder(out, "csv") as folder:
            folder.put("a.csv", (piece for piece in (b"1,", b"2\n")))
            with folder.open_file("b.csv") as target:
                target.write(b"3,4\n")
            assert folder.finish() == expected
    assert files_of(out) == {"a.csv": b"1,2\n", "b.csv": b"3,4\n"}


def test_what_fails_while_it_is_written_leaves_the_old_file(tmp_path: Path) -> None:
    """An exception while a file is written leaves the old file and no temporary one."""
    out = tmp_path / "out"
    export(out, {"a.csv": b"old"})
    with (
        ExportFolder(out, "html") as folder,
        pytest.raises(ZeroDivisionError),
        folder.open_file("a.csv") as target,
    ):
        target.write(b"new")
        target.flush()
        raise ZeroDivisionError
    assert files_of(out) == {"a.csv": b"old"}
    assert not list(out.glob(f"{PREFIX}.part*"))


def test_media_are_placed_once(tmp_path: Path) -> None:
    """Media files are hard links, are placed once, and are replaced if the source has changed."""
    source = tmp_path / "store" / "abc.jpg"
    source.parent.mkdir()
    source.write_bytes(b"picture")
    out = tmp_path / "out"
    for expected in (ExportSummary(1, 0, 0), ExportSummary(0, 1, 0)):
        with ExportFolder(out, "html") as folder:
            folder.place("media/abc.jpg", KeptFile(source))
            assert folder.has("media/abc.jpg")
            assert folder.finish() == expected
    assert (out / "media/abc.jpg").samefile(source)
    source.unlink()
    source.write_bytes(b"another picture")
    with ExportFolder(out, "html") as folder:
        folder.place("media/abc.jpg", KeptFile(source))
        assert folder.finish() == ExportSummary(1, 0, 0)
    assert (out / "media/abc.jpg").read_bytes() == b"another picture"


def test_media_with_a_name_for_their_content_may_move(tmp_path: Path) -> None:
    """A media file with the same digest is not placed again if its source has moved."""
    out = tmp_path / "out"
    for store, expected in (("one", ExportSummary(1, 0, 0)), ("two", ExportSummary(0, 1, 0))):
        (tmp_path / store).write_bytes(b"picture")
        os.utime(tmp_path / store, (len(store), 7 if store == "one" else 9))
        with ExportFolder(out, "html") as folder:
            folder.place("abc.jpg", KeptFile(tmp_path / store), "digest")
            assert folder.finish() == expected


def test_where_no_link_can_be_made_media_are_copied(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Media files are copied if the file system refuses hard links."""

    def refused(*_args: object, **_more: object) -> None:
        raise PermissionError(1, "Operation not permitted")

    (tmp_path / "source").write_bytes(b"picture")
    monkeypatch.setattr(os, "link", refused)
    with ExportFolder(tmp_path / "out", "html") as folder:
        folder.place("a.jpg", KeptFile(tmp_path / "source"))
        folder.finish()
    assert (tmp_path / "out/a.jpg").read_bytes() == b"picture"
    assert not (tmp_path / "out/a.jpg").samefile(tmp_path / "source")


def test_only_the_owner_can_read_it(tmp_path: Path) -> None:
    """All files and folders of an export have no permissions for group and others."""
    export(tmp_path / "out", FIRST)
    for path in [tmp_path / "out", *(tmp_path / "out").rglob("*")]:
        assert path.stat().st_mode & 0o077 == 0


def test_a_disk_that_fails_is_told_in_words(tmp_path: Path) -> None:
    """A path that cannot be created and a missing media file raise `UnwritableBackup`."""
    (tmp_path / "file").write_text("")
    with pytest.raises(UnwritableBackup, match="cannot be written"):
        ExportFolder(tmp_path / "file" / "out", "html")
    with (
        ExportFolder(tmp_path / "out", "html") as folder,
        pytest.raises(UnwritableBackup, match="cannot be written"),
    ):
        folder.place("a.jpg", KeptFile(tmp_path / "missing"))


KILLED = """
import os, signal, sys
from pathlib import Path
from holdfast.backup.exports.folder import ExportFolder
import holdfast.backup.exports.folder as module
steps = iter(range(10**9))
last = int(sys.argv[2])
def watch(frame, event, argument):
    if frame.f_code.co_filename == module.__file__ and next(steps) >= last:
        os.kill(os.getpid(), signal.SIGKILL)
    return watch
sys.settrace(watch)
with ExportFolder(Path(sys.argv[1]), "html") as folder:
    for n in range(4):
        folder.put(f"chats/{n}.html", b"new %d" % n)
    folder.put("index.html", b"same")
    folder.finish()
"""


@pytest.mark.parametrize("last", [40, 130, 250, 380, 480, 560])
def test_killed_anywhere_the_next_run_completes_it(tmp_path: Path, last: int) -> None:
    """After a kill every file is whole, and the next export completes the folder."""
    out = tmp_path / "out"
    old = {"index.html": b"same", "chats/0.html": b"old", "chats/9.html": b"gone"}
    export(out, old)
    completed = subprocess.run([sys.executable, "-c", KILLED, str(out), str(last)], check=False)
    assert completed.returncode == -signal.SIGKILL
    assert all(
        content in {b"same", b"old", b"gone"} or content.startswith(b"new ") for content in files_of(out).values()
    )
    files = {f"chats/{n}.html": b"new %d" % n for n in range(4)} | {"index.html": b"same"}
    export(out, files)
    assert files_of(out) == files
    assert sorted(path.name for path in out.iterdir()) == [MANIFEST, "chats", "index.html"]


NAMES = st.sampled_from(["a", "b", "c/a", "c/b", "d/e/f"])


@settings(max_examples=examples(25))
@given(st.lists(st.dictionaries(NAMES, st.binary(max_size=3)), min_size=1, max_size=4))
def test_the_folder_is_always_the_last_export(
    tmp_path_factory: pytest.TempPathFactory, exports: list[dict[str, bytes]]
) -> None:
    """After any sequence of exports the folder equals the last one, and the counts are right."""
    out = tmp_path_factory.mktemp("exports") / "out"
    before: dict[str, bytes] = {}
    for files in exports:
        summary = export(out, files)
        assert files_of(out) == files
        same = sum(before.get(name) == content for name, content in files.items())
        assert summary == ExportSummary(len(files) - same, same, len(before.keys() - files.keys()))
        before = files
