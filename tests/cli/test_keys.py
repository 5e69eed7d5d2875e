"""Sources of keys: an option, a file, the environment and a prompt; keys are never printed."""

import os
import pty
import select
import subprocess
import sys
import time
from pathlib import Path

import pytest
import typer

from holdfast.backup import KeyMaterial
from holdfast.backup.errors import KeyRefused, UnreadableBackup
from holdfast.cli.exit_codes import ExitCode
from holdfast.cli.keys import LONGEST_FILE, gather_keys
from tests.backup.container.vectors import SET_A, SET_B
from tests.backup.streams import KEY_FILE, KEYS, MODERN_KEYS, container_of, folder_of, small_sample, stream_of
from tests.cli.conftest import Run


def gather(
    *,
    environ: dict[str, str] | None = None,
    key: str | None = None,
    file: Path | None = None,
    aci: str | None = None,
) -> KeyMaterial | None:
    """Gather keys from the given sources."""
    return gather_keys(environ or {}, key=key, key_file=file, account_id=aci)


def test_nothing_given_is_no_key() -> None:
    """Without options, and with an empty variable, there is no key."""
    assert gather() is None
    assert gather(environ={"HOLDFAST_KEY": ""}) is None


def test_the_option_goes_before_the_file_and_the_file_before_the_environment(tmp_path: Path) -> None:
    """`--key` takes precedence over `--key-file`, and that over HOLDFAST_KEY."""
    file = tmp_path / "keys"
    file.write_text(SET_A.pool)
    environ = {"HOLDFAST_KEY": "x" * 64}
    pools = [
        gather(environ=environ, key=SET_B.pool, file=file),
        gather(environ=environ, file=file),
        gather(environ=environ),
    ]
    revealed = [keys.pool.reveal().decode() for keys in pools if keys is not None and keys.pool is not None]
    assert revealed == [SET_B.pool, SET_A.pool, "x" * 64]


def test_the_account_id_is_added_to_any(tmp_path: Path) -> None:
    """The account id is combined with a key of any source, or used alone, and must be a UUID."""
    aci = str(SET_B.aci)
    assert gather(key=SET_B.pool, aci=aci) == KEYS
    assert gather(environ={"HOLDFAST_KEY": SET_B.pool}, aci=aci) == KEYS
    assert gather(aci=aci) == KeyMaterial(aci=SET_B.aci)
    with pytest.raises(KeyRefused, match="UUID"):
        gather(aci="nonsense")


@pytest.mark.parametrize("text", [KEY_FILE, "\ufeff" + KEY_FILE, KEY_FILE.replace("\n", "\r\n")])
def test_a_key_file_may_come_from_any_editor(tmp_path: Path, text: str) -> None:
    """A key file may have a byte order mark or CRLF line endings."""
    file = tmp_path / "keys"
    file.write_bytes(text.encode())
    assert gather(file=file) == MODERN_KEYS


def test_lines_fit_into_one_variable() -> None:
    """HOLDFAST_KEY may have the lines of a key file separated by semicolons."""
    assert gather(environ={"HOLDFAST_KEY": KEY_FILE.strip().replace("\n", ";")}) == MODERN_KEYS


def test_a_file_that_cannot_hold_keys_is_refused(tmp_path: Path) -> None:
    """A missing, binary, oversized or empty key file and a folder have errors of their own."""
    file = tmp_path / "keys"
    with pytest.raises(UnreadableBackup, match="cannot be read: No such file"):
        gather(file=file)
    file.write_bytes(b"\xff\xfe\x00")
    with pytest.raises(KeyRefused, match="is not text"):
        gather(file=file)
    file.write_bytes(b"a" * (LONGEST_FILE + 1))
    with pytest.raises(KeyRefused, match="far too large"):
        gather(file=file)
    file.write_bytes(b"\n\n")
    with pytest.raises(KeyRefused, match="no key in it"):
        gather(file=file)
    with pytest.raises(UnreadableBackup, match="cannot be read: Is a directory"):
        gather(file=tmp_path)


@pytest.mark.parametrize("option", ["option", "file", "environment"])
def test_every_way_opens_and_nothing_secret_is_shown(
    run: Run, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, option: str
) -> None:
    """Neither a right nor a wrong key appears in the output, and neither does the account id."""
    (tmp_path / "sealed").write_bytes(container_of(small_sample()))
    for pool, aci, status in ((SET_B.pool, SET_B.aci, ExitCode.FINE), (SET_A.pool, SET_A.aci, ExitCode.WRONG_KEY)):
        text = f"{pool};account-id={aci}"
        arguments = ["backup", "info", str(tmp_path / "sealed")]
        if option == "option":
            arguments += ["--key", text]
        elif option == "file":
            (tmp_path / "keys").write_text(text)
            arguments += ["--key-file", str(tmp_path / "keys")]
        else:
            monkeypatch.setenv("HOLDFAST_KEY", text)
        result = run(*arguments)
        assert result.status == status
        assert pool not in result.out + result.err
        assert str(aci) not in result.out + result.err


def test_a_plain_file_never_asks_for_a_key(run: Run, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A plain backup is read without a key, and also with a wrong one; a terminal gets no prompt."""

    def refuse(*_words: object, **_named: object) -> None:
        raise AssertionError("there was a prompt")

    monkeypatch.setattr(typer, "prompt", refuse)
    for stream in (sys.stdin, sys.stderr):
        monkeypatch.setattr(stream, "isatty", lambda: True, raising=False)
    (tmp_path / "plain").write_bytes(stream_of(small_sample()))
    assert run("backup", "info", str(tmp_path / "plain")).status == 0
    assert run("backup", "info", str(tmp_path / "plain"), "--key", SET_A.pool).status == 0


def test_without_a_terminal_what_is_missing_is_named(spawn: Run, tmp_path: Path) -> None:
    """Without a terminal the error lists the missing keys and the options for them."""
    (tmp_path / "sealed").write_bytes(container_of(small_sample(), modern=True))
    result = spawn("backup", "info", "sealed", "--key", SET_B.pool)
    assert result.status == ExitCode.USAGE
    assert "the account id and the forward-secrecy token" in result.err
    assert "--key-file or HOLDFAST_KEY" in result.err
    assert SET_B.pool not in result.err


def run_on_terminal(arguments: list[str], replies: list[str]) -> tuple[int, str]:
    """Run a command on a pseudoterminal, answer its prompts, and return its exit status and output."""
    leader, follower = pty.openpty()
    environ = {**os.environ, "TERM": "xterm", "COLUMNS": "200"}
    process = subprocess.Popen(
        [sys.executable, "-m", "holdfast", *arguments],
        stdin=follower,
        stdout=follower,
        stderr=follower,
        env=environ,
        start_new_session=True,
    )
    os.close(follower)
    seen = b""
    waiting = list(replies)
    deadline = time.monotonic() + 30
    while time.monotonic() < deadline:
        if select.select([leader], [], [], 0.1)[0]:
            try:
                more = os.read(leader, 65536)
            except OSError:
                break
            seen += more
            if waiting and seen.rstrip().endswith(b":"):
                time.sleep(0.1)  # the question is printed before the echo is switched off
                os.write(leader, waiting.pop(0).encode() + b"\n")
        elif process.poll() is not None:
            break
    os.close(leader)
    return process.wait(10), seen.decode(errors="replace")


def test_a_terminal_is_asked_for_what_is_missing_without_showing_it(tmp_path: Path) -> None:
    """Each missing key is prompted for on a terminal, and the input is not shown."""
    folder_of(small_sample(), tmp_path / "phone")
    (tmp_path / "remote").write_bytes(container_of(small_sample(), modern=True))
    (tmp_path / "legacy").write_bytes(container_of(small_sample()))
    spaced = " ".join(SET_B.pool[start : start + 4].upper() for start in range(0, 64, 4))
    for arguments, replies, questions in (
        ([str(tmp_path / "phone")], [spaced], ["The recovery key:"]),
        (
            [str(tmp_path / "remote")],
            [SET_B.pool, str(SET_B.aci), SET_B.token],
            ["The recovery key:", "The account id:", "The forward-secrecy token:"],
        ),
        ([str(tmp_path / "legacy"), "--key", SET_B.pool], [str(SET_B.aci)], ["The account id:"]),
    ):
        status, seen = run_on_terminal(["backup", "info", *arguments], replies)
        assert status == 0, seen
        assert "App" in seen or "Holdfast sample" in seen
        for question in questions:
            assert question in seen
        for reply in replies:
            assert reply not in seen


def test_a_wrong_answer_is_refused_and_not_repeated(tmp_path: Path) -> None:
    """Text that is no key and a wrong key are refused, and not shown."""
    folder_of(small_sample(), tmp_path)
    for reply, expected in (("too short", ExitCode.USAGE), (SET_A.pool, ExitCode.WRONG_KEY)):
        status, seen = run_on_terminal(["backup", "info", str(tmp_path)], [reply])
        assert status == expected, seen
        assert "error:" in seen
        assert reply not in seen
        assert "Traceback" not in seen


def test_extracting_on_a_terminal_shows_its_progress(tmp_path: Path) -> None:
    """Extracting works on a terminal, where two progress bars are shown at once."""
    folder_of(small_sample(), tmp_path / "phone")
    arguments = ["backup", "extract", str(tmp_path / "phone"), str(tmp_path / "out"), "--key", SET_B.pool]
    status, seen = run_on_terminal(arguments, [])
    assert status == 0, seen
    assert "0 missing or damaged" in seen
