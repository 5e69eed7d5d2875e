"""`holdfast dataset`."""

import json
from pathlib import Path

import pytest

from holdfast.cli.exit_codes import ExitCode
from tests.backup.streams import KEY_FILE, container_of, sample, stream_of
from tests.cli.conftest import Run


@pytest.fixture
def backups(tmp_path: Path) -> Path:
    """Write two backups into a folder, the second encrypted."""
    folder = tmp_path / "backups"
    folder.mkdir()
    (folder / "ada").write_bytes(stream_of(sample(60)))
    (folder / "bob").write_bytes(container_of(sample(20)))
    return folder


def test_a_dataset_is_built_searched_counted_and_validated(run: Run, backups: Path, tmp_path: Path) -> None:
    """A backup without its key is listed as failed, and is added by a second build with the key."""
    target = str(tmp_path / "out")
    built = run("dataset", "build", str(backups), target, "--workers", "1")
    assert built.status == ExitCode.NO
    assert "bob: " in built.out
    assert "bob.key beside the backup" in built.out
    assert built.out.endswith("1 backup written, 0 unchanged, 1 failed; 60 messages in 1 backup.\n")
    checked = run("dataset", "validate", target)
    assert (checked.status, checked.out.splitlines()[-1]) == (ExitCode.NO, "1 problem.")
    keys = tmp_path / "keys"
    keys.mkdir()
    (keys / "bob.key").write_text(KEY_FILE)
    second = run("dataset", "build", str(backups), target, "--keys", str(keys), "--json", "--workers", "1")
    assert second.status == ExitCode.FINE
    document = json.loads(second.out)
    assert (document["written"], document["unchanged"], document["failed"]) == (["bob"], 1, [])
    assert run("dataset", "validate", target).out == "The dataset is whole.\n"
    assert json.loads(run("dataset", "validate", target, "--json").out) == {"ok": True, "faults": []}
    counted = json.loads(run("dataset", "stats", target, "--json").out)
    assert (counted["backups"], counted["rows"]["messages"]) == (2, 80)
    assert "messages" in run("dataset", "stats", target).out


def test_folders_that_are_not_searched_are_reported(run: Run, backups: Path, tmp_path: Path) -> None:
    """A linked folder is named, and does not fail the build."""
    (backups / "bob").unlink()
    (backups / "carol").symlink_to(tmp_path, target_is_directory=True)
    built = run("dataset", "build", str(backups), str(tmp_path / "out"))
    assert built.status == ExitCode.FINE
    assert built.out.startswith(f"Not searched: {backups / 'carol'}: it is a symbolic link to a folder; ")
    document = json.loads(run("dataset", "build", str(backups), str(tmp_path / "out"), "--json").out)
    (skipped,) = document["skipped"]
    assert skipped["path"] == str(backups / "carol")
    assert "symbolic link" in skipped["reason"]


def test_a_search_tells_where_and_when(run: Run, backups: Path, tmp_path: Path) -> None:
    """A hit has the time, the backup and the text, and no hit is exit status 1."""
    target = str(tmp_path / "out")
    run("dataset", "build", str(backups / "ada"), target)
    hit = run("dataset", "search", target, "a", "--limit", "1", "--zone", "Europe/Berlin")
    assert hit.status == ExitCode.FINE
    first, second = hit.out.splitlines()
    assert " CE" in first
    assert "  ada · " in first
    assert second.startswith("    ")
    hits = json.loads(run("dataset", "search", target, "a", "--json").out)
    assert set(hits[0]) == {"backup", "message_id", "chat", "author", "sent_ms", "text"}
    nothing = run("dataset", "search", target, "xyzzyx")
    assert (nothing.status, nothing.out, nothing.err) == (ExitCode.NO, "", "nothing was found\n")


def test_a_query_prints_nothing_on_standard_error(run: Run, spawn: Run, backups: Path, tmp_path: Path) -> None:
    """DuckDB lists what was not freed when the process exits."""
    target = str(tmp_path / "out")
    run("dataset", "build", str(backups / "ada"), target)
    for command in (("stats", target), ("validate", target), ("search", target, "a")):
        result = spawn("dataset", *command)
        assert (result.status, result.err) == (ExitCode.FINE, ""), command


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (("build", "out"), "at least one source"),
        (("build", "a", "out", "--address", "x:1"), "an address is for --engine ray"),
        (("build", "nowhere", "out"), "nowhere does not exist"),
        (("search", "nowhere", "x"), "nowhere is no dataset"),
        (("stats", "nowhere"), "nowhere is no dataset"),
        (("validate", "nowhere"), "nowhere is no dataset"),
    ],
)
def test_wrong_words_are_refused(
    run: Run, arguments: tuple[str, ...], message: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Wrong arguments have an error that says what is wrong, and nothing on standard output."""
    monkeypatch.chdir(tmp_path)
    result = run("dataset", *arguments)
    assert result.status in {ExitCode.USAGE, ExitCode.UNREADABLE}
    assert message in result.err
    assert result.out == ""
