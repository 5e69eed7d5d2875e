"""The entry point of the command line: error messages, exit status, tracebacks and logging."""

import errno
import json
import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest
from sqlalchemy.exc import TimeoutError as PoolTimeout

from holdfast.cli import main as cli_main
from holdfast.cli.exit_codes import ExitCode
from tests.backup.streams import HEADER, record, sample, stream_of
from tests.backup.streams import empty_frame as frame
from tests.cli.conftest import Run

# The stream refers to itself, so that it is not closed when the command ends.
PRINTS_AND_FAILS = """
import gc, sys
import holdfast.backup
from holdfast.cli import main
from holdfast.errors import HoldfastError

def fail(*_words, **_options):
    print("before")
    sys.stdout.itself = sys.stdout
    raise HoldfastError("after")

holdfast.backup.open = fail
status = main(["backup", "info", "x"])
gc.freeze()
sys.exit(status)
"""


@pytest.mark.parametrize(
    ("arguments", "status"),
    [
        (["version"], ExitCode.FINE),
        (["no-such-command"], ExitCode.USAGE),
        (["version", "--no-such-option"], ExitCode.USAGE),
        (["backup", "info"], ExitCode.USAGE),
        (["backup", "info", "no-such-file"], ExitCode.UNREADABLE),
        (["--log-format", "xml", "version"], ExitCode.USAGE),
        (["settings", "--config", "no-such-file"], ExitCode.USAGE),
    ],
)
def test_the_exit_status_is_that_of_the_error(run: Run, arguments: list[str], status: ExitCode) -> None:
    """Anything but fine is one line on standard error, without a traceback, and nothing on standard output."""
    result = run(*arguments)
    assert result.status == status
    if status is not ExitCode.FINE:
        assert result.err.startswith("error: ")
        assert result.err.count("\n") == 1
        assert "Traceback" not in result.err
        assert result.out == ""


def test_debug_shows_the_traceback_and_still_the_line(run: Run) -> None:
    """With `--debug` the traceback is printed before the error, and the exit status is the same."""
    result = run("--debug", "backup", "info", "no-such-file")
    assert result.status == ExitCode.UNREADABLE
    assert "Traceback" in result.err
    assert result.err.splitlines()[-1].startswith("error: no-such-file cannot be read")


def test_half_a_backup_points_to_its_repair(run: Run, tmp_path: Path) -> None:
    """The error of a truncated backup names the command that saves the rest, once, and that command does."""
    content = stream_of(sample(50))
    half = tmp_path / "half.binproto"
    half.write_bytes(content[: len(content) // 2])
    for command in (("backup", "info", str(half)), ("archive", "import", str(tmp_path / "chats.db"), str(half))):
        result = run(*command)
        assert result.status == ExitCode.UNREADABLE
        assert "ends in the middle of a record" in result.err
        assert "`holdfast backup repair --drop` writes a backup of what can still be read" in result.err
        assert result.err.count("\n") == 1
    repaired = tmp_path / "repaired.binproto"
    plain = run("backup", "repair", str(half), str(repaired))
    assert (plain.status, plain.err.count("--drop")) == (ExitCode.UNREADABLE, 1)
    assert run("backup", "repair", "--drop", str(half), str(repaired)).status == ExitCode.FINE
    assert run("backup", "info", str(repaired)).status == ExitCode.FINE


def test_an_internal_error_is_one_line(run: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    """An unexpected exception has its own exit status, and its text, which may quote the input, is not shown."""

    def broken(*_words: object, **_options: object) -> None:
        raise ZeroDivisionError("private words")

    monkeypatch.setattr("holdfast.backup.open", broken)
    result = run("backup", "info", "-")
    assert result.status == ExitCode.BUG
    assert result.err.count("\n") == 1
    assert "ZeroDivisionError" in result.err
    assert "private words" not in result.err


@pytest.mark.parametrize(
    ("error", "status", "expected"),
    [
        (
            OSError(errno.ENOSPC, "No space left on device", "/m/a.html"),
            ExitCode.NO,
            "/m/a.html: No space left on device",
        ),
        (OSError(errno.EROFS, "Read-only file system", "/m/a"), ExitCode.NO, "/m/a: Read-only file system"),
        (OSError(errno.ENOSPC, "No space left on device"), ExitCode.NO, "no disk space left"),
        (PoolTimeout("private words"), ExitCode.UNREADABLE, "the database is busy"),
    ],
)
def test_a_full_disk_is_not_an_internal_error(
    run: Run, monkeypatch: pytest.MonkeyPatch, error: Exception, status: ExitCode, expected: str
) -> None:
    """A full or read-only disk and a busy database have an error of their own, not that of a bug."""

    def broken(*_words: object, **_options: object) -> None:
        raise error

    monkeypatch.setattr("holdfast.backup.open", broken)
    result = run("backup", "info", "-")
    assert result.status == status
    assert expected in result.err
    assert "mistake" not in result.err


def test_control_c_ends_quietly(run: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    """Ctrl-C ends a command without an error message, with its own exit status."""

    def stopped(*_words: object, **_options: object) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr("holdfast.backup.open", stopped)
    result = run("backup", "info", "-")
    assert (result.status, result.err) == (ExitCode.INTERRUPTED, "")


@pytest.mark.parametrize(
    "number",
    [
        signal.SIGTERM,
        pytest.param(signal.SIGHUP, marks=pytest.mark.long),
        pytest.param(signal.SIGINT, marks=pytest.mark.long),
        signal.SIGKILL,
    ],
)
def test_a_killed_export_leaves_no_decrypted_messages(tmp_path: Path, number: signal.Signals) -> None:
    """An export that is ended removes its temporary archive; after `kill -9` the next export removes it."""
    source = tmp_path / "chats.binproto"
    source.write_bytes(stream_of(sample(10_000)))
    arguments = ["backup", "export", str(source), str(tmp_path / "out"), "--to", "csv"]
    command = [sys.executable, "-m", "holdfast", *arguments]
    # A process inherits ignored signals: SIGHUP under `nohup`, SIGINT in the background of a script.
    inherited = [(ignored, signal.signal(ignored, signal.SIG_DFL)) for ignored in (signal.SIGHUP, signal.SIGINT)]
    process = subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE)
    for ignored, handler in inherited:
        signal.signal(ignored, handler)
    while not list(tmp_path.glob(".holdfast-temporary-archive-*/content/archive.db")) and process.poll() is None:
        time.sleep(0.005)
    process.send_signal(number)
    _, err = process.communicate()
    expected = {signal.SIGINT: ExitCode.INTERRUPTED, signal.SIGKILL: -signal.SIGKILL}.get(number, 128 + number)
    assert (process.returncode, err) == (expected, b"")
    assert bool(list(tmp_path.glob(".holdfast-*"))) == (number == signal.SIGKILL)
    # A folder that somebody else made is left alone; one whose removal was interrupted is not.
    left_alone = {"unlocked": (), "mine": ("export.lock", "letters.txt")}
    for name, files in {**left_alone, "partly": ("export.lock",)}.items():
        folder = tmp_path / f".holdfast-temporary-archive-{name}"
        (folder / "content").mkdir(parents=True)
        for file in files:
            (folder / file).touch()
    assert subprocess.run(command, stdout=subprocess.DEVNULL, check=False).returncode == ExitCode.FINE
    remaining = {path.name.removeprefix(".holdfast-temporary-archive-") for path in tmp_path.glob(".holdfast-*")}
    assert remaining == set(left_alone)


def test_signals_of_a_program_that_calls_main_are_its_own() -> None:
    """`main` restores the handlers that it replaced, and replaces no others."""
    before = [signal.getsignal(number) for number in (signal.SIGTERM, signal.SIGHUP)]
    assert cli_main(["--version"]) == ExitCode.FINE
    assert [signal.getsignal(number) for number in (signal.SIGTERM, signal.SIGHUP)] == before


def test_a_reader_that_leaves_early_is_no_error() -> None:
    """A closed pipe, as in `holdfast settings | head -1`, is no error."""
    program = f"{sys.executable} -c 'import sys; from holdfast.__main__ import main; sys.exit(main())'"
    completed = subprocess.run(
        ["sh", "-c", f"({program} settings; echo status $? >&2) | head -c 1"], capture_output=True, check=True
    )
    assert completed.stderr.decode().splitlines()[-1] == "status 0"
    assert b"Broken" not in completed.stderr


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="this system has no device that is always full")
@pytest.mark.parametrize("arguments", [["--help"], ["version"], ["version", "--json"], ["backup", "sample", "-"]])
@pytest.mark.parametrize("unbuffered", ["", "1"])
def test_output_that_cannot_be_written_is_named(arguments: list[str], unbuffered: str) -> None:
    """The error says that it is standard output, in one line, and the status is not 0."""
    with Path("/dev/full").open("wb") as full:
        completed = subprocess.run(
            [sys.executable, "-m", "holdfast", *arguments],
            stdout=full,
            stderr=subprocess.PIPE,
            env={**os.environ, "PYTHONUNBUFFERED": unbuffered},
            check=False,
        )
    assert completed.returncode == ExitCode.NO
    assert completed.stderr == b"error: standard output cannot be written: No space left on device\n"


@pytest.mark.parametrize("encoding", ["ascii", "latin-1", "cp1252", "utf-8"])
def test_characters_that_standard_output_cannot_encode_are_escaped(tmp_path: Path, encoding: str) -> None:
    """They are no error, in text as in JSON, which a program reads as it was; as on Windows in a pipe."""
    source = tmp_path / "Grüße 🥾.binproto"
    command = [sys.executable, "-m", "holdfast", "backup", "info", str(source), "--json"]
    environment = {**os.environ, "PYTHONIOENCODING": encoding}
    completed = subprocess.run(command, capture_output=True, env=environment, check=False)
    assert str(source) in json.loads(completed.stdout.decode(encoding))["error"]
    source.write_bytes(stream_of(sample(20)))
    command = [sys.executable, "-m", "holdfast", "keep", str(source), "--archive", str(tmp_path / "Füße 🥾.db")]
    completed = subprocess.run(command, capture_output=True, env=environment, check=False)
    assert b"mistake" not in completed.stderr
    expected = "Füße 🥾.db" if encoding == "utf-8" else "e \\ud83e\\udd7e.db"
    assert expected in completed.stdout.decode(encoding)


@pytest.mark.skipif(os.name == "nt", reason="the shell of Windows cannot close standard output")
@pytest.mark.parametrize("closed", [">&-", ">&- <&-"])
def test_a_closed_standard_output_is_an_error(tmp_path: Path, closed: str) -> None:
    """The error says so if a command prints something, and a file that it writes does not get the descriptor."""
    target = tmp_path / "sample.jsonl"
    program = f"{sys.executable} -m holdfast"
    printed = subprocess.run(f"{program} version {closed}", shell=True, capture_output=True, check=False)
    assert printed.returncode == ExitCode.NO
    assert printed.stderr == b"error: standard output cannot be written: Bad file descriptor\n"
    command = f"{program} backup sample --messages 5 {target} {closed}"
    written = subprocess.run(command, shell=True, capture_output=True, check=False)
    assert b"mistake in Holdfast" not in written.stderr
    assert [json.loads(line) for line in target.read_text().splitlines()]


def test_what_was_printed_before_an_error_is_kept(tmp_path: Path) -> None:
    """Also if standard output is a file or a pipe, which is written to when the buffer is full or at the end."""
    program = tmp_path / "program.py"
    program.write_text(PRINTS_AND_FAILS)
    completed = subprocess.run([sys.executable, str(program)], capture_output=True, check=False)
    assert completed.stdout == b"before\n"
    assert b"after" in completed.stderr


def test_no_command_shows_the_help(run: Run) -> None:
    """`holdfast` without arguments prints the help with all groups, with the exit status of wrong usage."""
    result = run()
    assert result.status == ExitCode.USAGE
    for text in ("backup", "archive", "admin", "serve", "version", "Exit status"):
        assert text in result.out
    assert result.err == ""


@pytest.mark.parametrize("arguments", [[], ["backup"], ["backup", "info"], ["admin", "user", "create"]])
def test_help_has_a_short_option(run: Run, arguments: list[str]) -> None:
    """`-h` prints the same as `--help`, for the command, its groups and their commands."""
    short = run(*arguments, "-h")
    assert short.status == ExitCode.FINE
    assert short.out.startswith("Usage: ")
    assert short.out == run(*arguments, "--help").out


def test_nothing_private_is_printed_with_all_logs_and_a_traceback(spawn: Run, tmp_path: Path) -> None:
    """A damaged file with text in it leaves no trace of the text in what is printed."""
    file = tmp_path / "damaged.binproto"
    file.write_bytes(record(HEADER) + frame(1) + record(b"\x22\x7fa private message"))
    result = spawn("--log-format", "json", "--log-level", "debug", "--debug", "backup", "info", str(file))
    assert result.status == ExitCode.UNREADABLE
    assert "frame 2" in result.err
    assert "Traceback" in result.err
    assert "private" not in result.out + result.err


def test_python_m_holdfast_is_the_same_command(spawn: Run) -> None:
    """`python -m holdfast` runs the command."""
    assert spawn("version").out.startswith("Holdfast ")


def test_main_reads_the_arguments_of_the_process(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """`main` without arguments reads `sys.argv`."""
    monkeypatch.setattr(sys, "argv", ["holdfast", "version"])
    assert cli_main() == 0
    assert "core" in capsys.readouterr().out


def test_an_error_is_a_json_document_too(run: Run, tmp_path: Path) -> None:
    """With `--json` an error is a document on standard output too, with the exit status."""
    missing = str(tmp_path / "none.db")
    for arguments in (("archive", "chats", missing, "--json"), ("archive", "chats", "--json", "--nonsense")):
        result = run(*arguments)
        document = json.loads(result.out)
        assert set(document) == {"error", "status"}
        assert document["status"] == result.status != 0
        assert document["error"] in result.err
    assert run("archive", "chats", missing).out == ""
