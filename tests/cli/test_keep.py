"""`holdfast keep`: its output, its exit status, and the prompt for the key."""

import json
import shlex
import shutil
import sys
import time
from pathlib import Path
from typing import Any

import pytest
import typer

from holdfast.backup.errors import ArchiveBusy, ArchiveError, UnwritableBackup
from holdfast.backup.folder_import import find_sources
from holdfast.cli import keep, key_store
from holdfast.cli.exit_codes import ExitCode
from holdfast.cli.times import Zone
from holdfast.errors import HoldfastError
from holdfast.settings import Settings
from tests.backup.container.vectors import SET_A, SET_B
from tests.backup.phone_folders import add_snapshot, later_records, write_phone_folder
from tests.backup.streams import KEY_FILE, sample
from tests.cli.conftest import Run


class Keyring:
    """A system keyring in memory."""

    def __init__(self) -> None:
        self.stored: dict[tuple[str, str], str] = {}

    def get_password(self, service: str, account: str) -> str | None:
        """Return the stored password."""
        return self.stored.get((service, account))

    def set_password(self, service: str, account: str, secret: str) -> None:
        """Store."""
        self.stored[service, account] = secret

    def delete_password(self, service: str, account: str) -> None:
        """Remove."""
        del self.stored[service, account]


@pytest.fixture
def keyring(monkeypatch: pytest.MonkeyPatch) -> Keyring:
    """Use a keyring in memory as that of the system."""
    memory = Keyring()
    monkeypatch.setattr(key_store, "open_keyring", lambda: memory)
    return memory


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """Write a phone's folder with two snapshots."""
    snapshots = write_phone_folder(tmp_path)
    add_snapshot(snapshots, later_records(sample(80), 1, without=3))
    return snapshots


@pytest.fixture
def arguments(tmp_path: Path, folder: Path) -> list[str]:
    """Write a key file, and return the arguments of the command."""
    (tmp_path / "keys.txt").write_text(KEY_FILE)
    return ["keep", str(folder), "--archive", str(tmp_path / "chats.db"), "--zone", "UTC"]


@pytest.fixture
def key_file(tmp_path: Path) -> list[str]:
    """Return the option with the key."""
    return ["--key-file", str(tmp_path / "keys.txt")]


def test_a_folder_is_kept_and_the_last_line_says_so(run: Run, arguments: list[str], key_file: list[str]) -> None:
    """`keep` prints new and vanished messages and a summary; the second run has nothing new."""
    result = run(*arguments, *key_file)
    assert (result.status, result.err) == (ExitCode.FINE, "")
    lines = result.out.splitlines()
    assert lines[-1] == "Everything on the phone on 17 December 2025 is here."
    assert "80 new messages" in result.out
    assert "3 messages of earlier backups are no longer in it" in result.out
    assert "UTC" in lines[0]
    second = run(*arguments)
    assert second.status == ExitCode.FINE
    assert second.out.count("all known") == 2
    assert second.out.splitlines()[-1] == lines[-1]


def test_what_is_lost_is_named_and_the_status_is_1(
    run: Run, arguments: list[str], key_file: list[str], folder: Path
) -> None:
    """Lost attachments are listed by chat and person, and the exit status is 1."""
    for file in sorted((folder / "files").glob("??/*"))[:6]:
        file.unlink()
    result = run(*arguments, *key_file, "--json")
    document = json.loads(result.out)
    assert (result.status, document["complete"]) == (ExitCode.NO, False)
    text = run(*arguments, *key_file)
    assert text.status == ExitCode.NO
    assert text.out.splitlines()[-1] == document["summary"]
    assert document["summary"].startswith("Not everything is here: ")
    assert any(snapshot["lost"] for snapshot in document["snapshots"])
    lost = document["snapshots"][0]["lost"]
    for item in lost:
        assert (item["chat"] or "wallpapers") in text.out
        assert not item["chat"] or f"{item['person']}: " in text.out
    # The newer snapshot has lost the same ones, which are listed and counted once.
    assert [snapshot["lost_before"] for snapshot in document["snapshots"]] == [0, len(lost)]
    assert f"{len(lost)} attachments are lost" in text.out.splitlines()[-1]
    assert text.out.count("its file is missing") == len(lost)
    assert f"{len(lost)} attachments are lost, as in an earlier backup." in text.out


def test_only_the_other_losses_of_a_later_snapshot_are_listed(
    run: Run, arguments: list[str], key_file: list[str], folder: Path
) -> None:
    """A snapshot that has lost more than an earlier one lists the difference, and the summary counts all once."""
    add_snapshot(folder, later_records(sample(160), 2))
    for file in sorted((folder / "files").glob("??/*")):
        file.unlink()
    result = run(*arguments, *key_file, "--json")
    *_, middle, last = json.loads(result.out)["snapshots"]
    assert 0 < last["lost_before"] <= middle["lost_count"] < last["lost_count"]
    text = run(*arguments, *key_file).out
    lines = text.splitlines()
    total = middle["lost_count"] + last["lost_count"] - last["lost_before"]
    assert f"{total} attachments are lost." in lines[-1]
    (heading,) = [line for line in lines if "of them as in an earlier backup; the others:" in line]
    assert f"{last['lost_count']} attachments are lost, {last['lost_before']} of them" in heading
    assert text[text.index(heading) :].count("its file is missing") == last["lost_count"] - last["lost_before"]


def test_what_to_do_next_is_a_command_that_works(
    run: Run, arguments: list[str], key_file: list[str], tmp_path: Path
) -> None:
    """The commands in the output have the quoted path of the archive; without news there is no hint."""
    arguments[3] = str(tmp_path / "my chats.db")
    result = run(*arguments, *key_file)
    commands = [shlex.split(part) for part in result.out.split("`")[1::2]]
    assert ["holdfast", "archive", "vanished", arguments[3]] in commands
    assert ["holdfast", "archive", "serve", arguments[3]] in commands
    assert run("archive", "vanished", arguments[3]).status == ExitCode.FINE
    assert "archive serve" not in run(*arguments).out


def test_a_damaged_snapshot_points_to_repair(
    run: Run, arguments: list[str], key_file: list[str], folder: Path
) -> None:
    """A damaged snapshot is listed with the `backup repair` command for it."""
    damaged = max(folder.glob("signal-backup-*")) / "main"
    damaged.write_bytes(damaged.read_bytes()[:1600])
    result = run(*arguments, *key_file)
    assert result.status == ExitCode.NO
    assert "Not imported: " in result.out
    assert f"holdfast backup repair --drop {damaged.parent}" in result.out
    assert "1 backup could not be read" in result.out.splitlines()[-1]


def test_damaged_copies_are_named_and_copied_again(
    run: Run, arguments: list[str], key_file: list[str], folder: Path
) -> None:
    """A damaged copy is copied again; one whose file is no longer in the folder stays named, and is lost."""
    assert run(*arguments, *key_file).status == ExitCode.FINE
    assert "copied files verified again; `--verify` verifies all." in run(*arguments, *key_file).out
    copies = sorted((folder.parent / "chats.db-media").glob("??/*"))
    for copy in copies[:2]:
        data = copy.read_bytes()
        copy.write_bytes(bytes([data[0] ^ 1]) + data[1:])
    result = run(*arguments, *key_file, "--verify")
    assert result.status == ExitCode.FINE
    assert f"{len(copies)} of {len(copies)} copied files verified again.\n" in result.out
    assert "2 copied files were damaged or missing, and copied again." in result.out
    shutil.rmtree(folder / "files")
    copies[0].write_bytes(b"x" * copies[0].stat().st_size)
    for options in (["--verify"], []):
        result = run(*arguments, *key_file, *options)
        assert result.status == ExitCode.NO
        assert "1 copied file is damaged or missing, and no backup of the folder has a good one." in result.out
        document = json.loads(run(*arguments, *key_file, *options, "--json").out)
        assert (document["damaged_copies"], document["recopied"]) == (1, 0)
        assert document["copies"] == len(copies)


def test_the_key_is_stored_and_found_again(
    run: Run, arguments: list[str], key_file: list[str], keyring: Keyring, folder: Path
) -> None:
    """`--remember-key` stores the key in the keyring under the folder, and `--forget-key` removes it."""
    archive = folder.parent / "chats.db"
    assert run(*arguments, *key_file, "--remember-key").status == ExitCode.FINE
    assert list(keyring.stored) == [("holdfast", str(folder.resolve()))]
    archive.unlink()
    assert run(*arguments).status == ExitCode.FINE
    assert run(*arguments, "--forget-key").status == ExitCode.FINE
    assert keyring.stored == {}
    archive.unlink()
    add_snapshot(folder, later_records(sample(80), 2))
    result = run(*arguments)
    assert result.status == ExitCode.USAGE
    assert "--remember-key" in result.err


def test_a_stored_key_that_does_not_fit_is_said_to_be_that(
    run: Run, arguments: list[str], keyring: Keyring, folder: Path
) -> None:
    """If a stored key is wrong, the error names `--forget-key` and does not show the key."""
    keyring.set_password("holdfast", str(folder.resolve()), SET_A.pool)
    result = run(*arguments)
    assert result.status == ExitCode.WRONG_KEY
    assert "--forget-key" in result.err
    assert SET_A.pool not in result.err + result.out


@pytest.mark.parametrize("expected", [True, False])
def test_on_a_terminal_the_key_is_asked_for_once(
    run: Run, arguments: list[str], keyring: Keyring, monkeypatch: pytest.MonkeyPatch, *, expected: bool
) -> None:
    """On a terminal there is one prompt for the key, and a question whether to store it."""
    prompts: list[str] = []

    def prompt(text: str, **_named: Any) -> str:
        prompts.append(text)
        return SET_B.pool

    monkeypatch.setattr(typer, "prompt", prompt)
    monkeypatch.setattr(typer, "confirm", lambda *_words, **_named: expected)
    for stream in (sys.stdin, sys.stderr):
        monkeypatch.setattr(stream, "isatty", lambda: True, raising=False)
    assert run(*arguments).status == ExitCode.FINE
    assert prompts == ["The recovery key"]
    assert bool(keyring.stored) == expected


def test_watching_runs_again_once_a_change_has_settled(
    arguments: list[str], folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """With `--watch` a changed folder is imported once it no longer changes."""
    runs: list[int] = []
    steps = iter(("nothing", "write", "write", "settle", "nothing", "gone", "back", "end"))

    class Ended(Exception):
        """Raised to end the command under test."""

    def sleep(_seconds: float) -> None:
        step = next(steps)
        main = max(folder.glob("signal-backup-*")) / "main" if folder.exists() else Path()
        if step == "write":
            main.write_bytes(main.read_bytes() + b"x")
        elif step == "gone":
            folder.rename(folder.with_name("elsewhere"))
        elif step == "back":
            folder.with_name("elsewhere").rename(folder)
        elif step == "end":
            raise Ended
        counts.append(len(runs))

    counts: list[int] = []
    monkeypatch.setattr(time, "sleep", sleep)

    def again() -> int:
        runs.append(1)
        return 0

    with pytest.raises(Ended):
        keep.watch_folder(folder, keep.signature(folder), again, 5, Zone())
    assert counts == [0, 0, 0, 0, 1, 1, 1]


def test_a_watched_folder_that_cannot_be_read_any_more_has_a_run_that_says_so(
    folder: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """The folder of another phone appears beside it: the reason is printed once, and not waited out in silence."""
    (folder.parent / "other").mkdir()
    watched = folder.rename(folder.parent / "other" / folder.name).parent
    steps = iter(["nothing", "second phone", "settle", "nothing", "nothing", "end"])

    class Ended(Exception):
        """Raised to end the command under test."""

    def sleep(_seconds: float) -> None:
        step = next(steps)
        if step == "second phone":
            shutil.copytree(watched / folder.name, watched / "second phone")
        elif step == "end":
            raise Ended

    def again() -> int:
        find_sources(watched)
        raise AssertionError("the folder can be read")

    monkeypatch.setattr(time, "sleep", sleep)
    with pytest.raises(Ended):
        keep.watch_folder(watched, keep.signature(watched), again, 5, Zone())
    assert capsys.readouterr().err.count("several backup folders") == 1


def test_what_is_written_during_the_first_run_is_imported(
    run: Run, arguments: list[str], key_file: list[str], folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A snapshot that a phone writes while the first run reads others is imported by the second run."""
    runs: list[int] = []
    keep_once = keep.keep_once

    def writing(*given: Any, **named: Any) -> Any:
        result = keep_once(*given, **named)
        if not runs:
            add_snapshot(folder, later_records(sample(80), 2))
        runs.append(len(result.snapshots))
        return result

    class Ended(BaseException):
        """Raised to end the command under test."""

    steps = iter(range(4))

    def sleep(_seconds: float) -> None:
        if next(steps, None) is None:
            raise Ended

    monkeypatch.setattr(keep, "keep_once", writing)
    monkeypatch.setattr(time, "sleep", sleep)
    with pytest.raises(Ended):
        run(*arguments, *key_file, "--watch")
    assert runs == [2, 3]


def test_watching_goes_on_until_the_archive_can_be_written(
    folder: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """While the archive cannot be written, every interval has a run, and each reason is printed once."""
    results: list[HoldfastError | None] = [
        ArchiveBusy("busy"),
        UnwritableBackup("full"),
        ArchiveError("full"),
        None,
    ]

    class Ended(Exception):
        """Raised to end the command under test."""

    steps = iter(range(7))

    def sleep(_seconds: float) -> None:
        if next(steps, None) is None:
            raise Ended

    def again() -> int:
        error = results.pop(0)
        if error is not None:
            raise error
        return 0

    monkeypatch.setattr(time, "sleep", sleep)
    with pytest.raises(Ended):
        keep.watch_folder(folder, "an earlier state", again, 5, Zone())
    assert results == []
    printed = capsys.readouterr().err
    assert [printed.count(text) for text in ("the folder has changed", "busy", "full")] == [1, 1, 1]


def test_watch_and_json_do_not_go_together(run: Run, arguments: list[str]) -> None:
    """`--watch` with `--json` is wrong usage."""
    assert run(*arguments, "--watch", "--json").status == ExitCode.USAGE


def test_the_archive_has_a_place_of_its_own_by_default() -> None:
    """The default archive is not in the data folder of a server."""
    path = keep.default_archive()
    assert (path.name, path.parent.name) == ("chats.db", "holdfast-chats")
    assert not path.is_relative_to(Settings().data)


def test_nothing_is_no_backup(run: Run, tmp_path: Path) -> None:
    """A folder without a backup and a missing folder are errors, and no archive is created."""
    archive = ["--archive", str(tmp_path / "chats.db")]
    (tmp_path / "empty").mkdir()
    assert run("keep", str(tmp_path / "empty"), *archive).status == ExitCode.UNREADABLE
    assert run("keep", str(tmp_path / "missing"), *archive).status == ExitCode.UNREADABLE
    assert not (tmp_path / "chats.db").exists()
