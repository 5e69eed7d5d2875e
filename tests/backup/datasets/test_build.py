"""Building datasets."""

import os
import shutil
import signal
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import duckdb
import filelock
import pyarrow as pa
import pyarrow.dataset as ds
import pytest

import holdfast.backup as hb
from holdfast.backup.datasets import build, tasks
from holdfast.backup.datasets.schema import TABLES, dataset_schema
from holdfast.backup.datasets.targets import open_target
from tests.backup.datasets.broken_backups import write_broken
from tests.backup.streams import KEY_FILE, container_of, file_forms, folder_of, sample, small_sample, stream_of


def query_rows(query: str) -> list[tuple[Any, ...]]:
    """Run a query in DuckDB."""
    relation = duckdb.sql(query)
    assert relation is not None
    return relation.fetchall()


@pytest.fixture
def backups(tmp_path: Path) -> Path:
    """Write three backups into a folder."""
    folder = tmp_path / "backups"
    folder.mkdir()
    for seed in (1, 2, 3):
        (folder / f"{seed}.binproto").write_bytes(stream_of(sample(40, seed)))
    return folder


def test_every_table_of_every_backup_is_there(backups: Path, tmp_path: Path) -> None:
    """DuckDB and pyarrow read every table, with the name of the backup as a partition column."""
    summary = hb.build_dataset([backups], tmp_path / "out", workers=1)
    names = ("1.binproto", "2.binproto", "3.binproto")
    assert (summary.written, summary.unchanged, summary.failed, summary.backups) == (names, (), (), 3)
    assert summary.complete
    assert summary.messages == sum(hb.info(backups / name).counts["chatItem"] for name in names)
    for table in TABLES:
        stored = ds.dataset(tmp_path / "out" / table, partitioning="hive").to_table()
        for name in names:
            expected = sum(batch.num_rows for batch in hb.dataset_batches(backups / name, table=table))
            rows = stored.filter(pa.compute.equal(stored["backup"], name))
            assert rows.num_rows == expected, table
    files = f"{tmp_path}/out/messages/*/*.parquet"
    counted = query_rows(f"SELECT backup, count(*) FROM '{files}' GROUP BY 1 ORDER BY 1")
    assert [name for name, _count in counted] == list(names)


def test_only_what_changed_is_written_again(backups: Path, tmp_path: Path) -> None:
    """Only changed and new backups are written again, and with `rebuild` all of them."""
    hb.build_dataset([backups], tmp_path / "out", workers=1)
    before = {path: path.stat().st_mtime_ns for path in (tmp_path / "out").rglob("*.parquet")}
    assert hb.build_dataset([backups], tmp_path / "out").unchanged == ("1.binproto", "2.binproto", "3.binproto")
    (backups / "2.binproto").write_bytes(stream_of(sample(50, 2)))
    (backups / "4.binproto").write_bytes(stream_of(sample(40, 4)))
    summary = hb.build_dataset([backups], tmp_path / "out", workers=1)
    assert (summary.written, len(summary.unchanged)) == (("2.binproto", "4.binproto"), 2)
    after = {path: path.stat().st_mtime_ns for path in (tmp_path / "out").rglob("*.parquet")}
    changed = {path.parent.name for path, modified in after.items() if before.get(path) != modified}
    assert changed == {"backup=2.binproto", "backup=4.binproto"}
    assert len(hb.build_dataset([backups], tmp_path / "out", rebuild=True, workers=1).written) == 4


def test_the_same_backup_makes_the_same_bytes(backups: Path, tmp_path: Path) -> None:
    """Two builds of one backup have the same bytes, so that copies of a dataset can be compared."""
    for name in ("one", "two"):
        hb.build_dataset([backups / "1.binproto"], tmp_path / name)
    files = sorted(path.relative_to(tmp_path / "one") for path in (tmp_path / "one").rglob("*.parquet"))
    assert len(files) == len(TABLES)
    for file in files:
        assert (tmp_path / "one" / file).read_bytes() == (tmp_path / "two" / file).read_bytes()


def test_backups_of_every_form_are_taken(tmp_path: Path) -> None:
    """Backups of all formats are built, each with its own key file."""
    folder = tmp_path / "backups"
    folder.mkdir()
    for name, content in file_forms(small_sample()):
        (folder / name).write_bytes(content)
        (folder / f"{name}.key").write_text(KEY_FILE)
    folder_of(small_sample(), folder / "phone")
    (folder / "phone" / "SignalBackups.key").write_text(KEY_FILE)
    summary = hb.build_dataset([folder], tmp_path / "out", workers=1)
    assert summary.reasons == {}
    counts = query_rows(f"SELECT count(*) FROM '{tmp_path}/out/messages/*/*.parquet' GROUP BY backup")
    assert len(counts) == len(list(file_forms(small_sample()))) + 1
    assert len(set(counts)) == 1


def test_a_backup_that_breaks_keeps_what_was_built_of_it(backups: Path, tmp_path: Path) -> None:
    """A damaged backup keeps its earlier rows, and is listed as failed until it can be read again."""
    first = hb.build_dataset([backups], tmp_path / "out", workers=1)
    before = {path: path.read_bytes() for path in (tmp_path / "out").rglob("*.parquet")}
    content = (backups / "2.binproto").read_bytes()
    (backups / "2.binproto").write_bytes(content[:-5])
    summary = hb.build_dataset([backups], tmp_path / "out")
    assert (summary.failed, summary.complete, summary.messages) == (("2.binproto",), False, first.messages)
    assert "ends in the middle of a record" in summary.reasons["2.binproto"]
    manifest = open_target(tmp_path / "out").read_manifest()
    assert [failure.name for failure in manifest.failed] == ["2.binproto"]
    assert {path: path.read_bytes() for path in (tmp_path / "out").rglob("*.parquet")} == before
    (backups / "2.binproto").write_bytes(content)
    os.utime(backups / "2.binproto", ns=(7, 7))
    assert hb.build_dataset([backups], tmp_path / "out").complete
    assert open_target(tmp_path / "out").read_manifest().failed == []


def test_a_backup_is_not_replaced_by_another_of_the_same_name(backups: Path, tmp_path: Path) -> None:
    """One from another folder fails while the first is still there; a moved one, and `rebuild`, replace it."""
    out, other = tmp_path / "out", tmp_path / "other"
    hb.build_dataset([backups], out, workers=1)
    other.mkdir()
    (other / "1.binproto").write_bytes(stream_of(sample(20, 9)))
    (other / "4.binproto").write_bytes(stream_of(sample(20, 4)))
    summary = hb.build_dataset([other], out, workers=1)
    assert (summary.written, summary.failed) == (("4.binproto",), ("1.binproto",))
    assert f"the dataset has {backups / '1.binproto'} by this name" in summary.reasons["1.binproto"]
    assert (hb.dataset_statistics(out).largest["1.binproto"], summary.backups) == (40, 4)
    (tmp_path / "link").symlink_to(backups, target_is_directory=True)
    os.utime(backups / "2.binproto", (1, 1))
    assert hb.build_dataset([tmp_path / "link"], out, workers=1).written == ("2.binproto",)
    assert hb.build_dataset([other], out, workers=1, rebuild=True).failed == ()
    assert hb.dataset_statistics(out).largest["1.binproto"] == 20
    moved = backups.rename(tmp_path / "moved")
    os.utime(moved / "3.binproto", (1, 1))
    assert hb.build_dataset([moved / "3.binproto"], out, workers=1).written == ("3.binproto",)


def test_a_missing_key_says_where_to_put_it(tmp_path: Path) -> None:
    """The reason of a failed backup names the key file that is missing."""
    (tmp_path / "sealed").write_bytes(container_of(small_sample()))
    summary = hb.build_dataset([tmp_path / "sealed"], tmp_path / "out")
    assert "put it into a file sealed.key beside the backup" in summary.reasons["sealed"]
    (tmp_path / "sealed.key").write_text(KEY_FILE)
    assert hb.build_dataset([tmp_path / "sealed"], tmp_path / "out").complete


def test_a_bug_is_reported_as_one_and_the_others_are_built(
    backups: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """An unexpected exception is reported as a bug of Holdfast, and the other backups are built."""
    write = tasks.write_backup

    def failing(source: Any, target: Any) -> Any:
        if source.name == "2.binproto":
            raise ZeroDivisionError
        return write(source, target)

    monkeypatch.setattr(tasks, "write_backup", failing)
    summary = hb.build_dataset([backups], tmp_path / "out", workers=1)
    assert summary.written == ("1.binproto", "3.binproto")
    assert "mistake in Holdfast" in summary.reasons["2.binproto"]


def test_two_builds_do_not_write_into_one_folder(backups: Path, tmp_path: Path) -> None:
    """A build is refused while another one holds the lock of the folder, and writes nothing."""
    (tmp_path / "out").mkdir()
    with (
        filelock.FileLock(tmp_path / "out" / build.LOCK),
        pytest.raises(hb.TargetRefused, match="another build is writing"),
    ):
        hb.build_dataset([backups], tmp_path / "out")
    assert {path.name for path in (tmp_path / "out").iterdir()} <= {build.LOCK}


def test_a_target_that_cannot_be_written_is_an_error(backups: Path, tmp_path: Path) -> None:
    """A target that cannot be created fails the whole build and not one backup."""
    (tmp_path / "file").write_text("in the way")
    with pytest.raises(hb.UnwritableBackup):
        hb.build_dataset([backups], tmp_path / "file" / "out")


def test_progress_counts_backups(backups: Path, tmp_path: Path) -> None:
    """Progress is reported after each backup, with the total."""
    progress: list[tuple[int, int]] = []
    hb.build_dataset([backups], tmp_path / "out", workers=1, progress=lambda *numbers: progress.append(numbers))
    assert progress == [(1, 3), (2, 3), (3, 3)]


def test_the_largest_backup_is_built_first(tmp_path: Path) -> None:
    """Backups are built in descending order of size, so that several processes end at about the same time."""
    folder = tmp_path / "backups"
    folder.mkdir()
    for name, messages in (("a", 20), ("b", 200), ("c", 80)):
        (folder / name).write_bytes(stream_of(sample(messages)))
    hb.build_dataset([folder], tmp_path / "out", workers=1)
    records = sorted((tmp_path / "out" / "_backups").iterdir(), key=lambda path: path.stat().st_mtime_ns)
    assert [path.stem for path in records] == ["b", "c", "a"]


def test_batches_have_the_schema_of_a_dataset(backups: Path) -> None:
    """The batches have the schema and all messages of the backup, and an unknown table raises an error."""
    batches = list(hb.dataset_batches(backups / "1.binproto", size=10))
    assert sum(batch.num_rows for batch in batches) == hb.info(backups / "1.binproto").counts["chatItem"]
    assert all(batch.schema.equals(dataset_schema(TABLES["messages"]), check_metadata=True) for batch in batches)
    with pytest.raises(KeyError, match="there is no table letters; there are messages"):
        next(hb.dataset_batches(backups / "1.binproto", table="letters"))


def test_a_build_that_was_killed_goes_on(tmp_path: Path) -> None:
    """A killed build leaves complete backups only, and the next build writes the others."""
    folder, target = tmp_path / "backups", tmp_path / "out"
    folder.mkdir()
    content = stream_of(sample(60))
    for number in range(8):
        (folder / f"{number:02}.binproto").write_bytes(content)
    script = "import sys, holdfast.backup as hb; hb.build_dataset([sys.argv[1]], sys.argv[2], workers=1)"
    process = subprocess.Popen([sys.executable, "-c", script, str(folder), str(target)])
    deadline = time.monotonic() + 60
    while not list(target.glob("_backups/*.json")) and process.poll() is None and time.monotonic() < deadline:
        time.sleep(0.005)
    process.send_signal(signal.SIGKILL)
    process.wait()
    before = set(open_target(target).records())
    assert before
    summary = hb.build_dataset([folder], target, workers=1)
    assert set(summary.unchanged) == before
    assert len(summary.written) == 8 - len(before)
    assert hb.validate_dataset(target) == []
    assert not (target / "_building").exists()


@pytest.mark.long
@pytest.mark.timeout(900)
def test_a_thousand_backups_of_which_fifty_are_broken(tmp_path: Path) -> None:
    """The valid backups are built, and each broken one has a reason."""
    folder = tmp_path / "backups"
    broken = write_broken(folder / "broken")
    assert len(broken) == 50
    valid = folder / "good"
    valid.mkdir()
    for seed in range(10):
        (valid / f"{seed}-0.binproto").write_bytes(stream_of(sample(20, seed)))
        for copy in range(1, 95):
            shutil.copy(valid / f"{seed}-0.binproto", valid / f"{seed}-{copy}.binproto")
    summary = hb.build_dataset([folder], tmp_path / "out")
    assert len(summary.written) == 950
    assert list(summary.failed) == [f"broken--{name}" for name in broken]
    assert all(reason and "mistake in Holdfast" not in reason for reason in summary.reasons.values())
    assert len({reason.partition("(")[0] for reason in summary.reasons.values()}) > 15
    assert summary.messages == query_rows(f"SELECT count(*) FROM '{tmp_path}/out/messages/*/*.parquet'")[0][0]
    second = hb.build_dataset([folder], tmp_path / "out")
    assert (len(second.unchanged), len(second.failed), second.written) == (950, 50, ())
