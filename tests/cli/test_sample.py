"""`holdfast backup sample`."""

import json
import subprocess
import sys
from pathlib import Path

import pytest

from holdfast import backup
from holdfast.cli.exit_codes import ExitCode
from tests.backup.streams import (
    sample,
    stream_of,
)
from tests.cli.backup_helpers import check_failure
from tests.cli.conftest import Run


@pytest.mark.parametrize(
    ("name", "form"),
    [
        ("a.binproto", backup.Form.STREAM),
        ("a.jsonl", backup.Form.LINES),
        ("a.json", backup.Form.ARRAY),
        ("a", backup.Form.STREAM),
    ],
)
def test_sample_writes_the_form_its_name_says(run: Run, tmp_path: Path, name: str, form: backup.Form) -> None:
    """The extension selects the form; a seed gives the same history each time, and another seed another one."""
    target = tmp_path / name
    result = run("backup", "sample", str(target), "--messages", "30")
    assert (result.status, result.out, result.err) == (0, "", "")
    with backup.open(target) as source:
        assert source.form is form
        assert (source.header, *(frame.raw for frame in source)) == sample(30)
    assert run("backup", "sample", str(target), "--messages", "30", "--seed", "-7", "--force").status == 0
    with backup.open(target) as source:
        assert source.header != sample(30)[0]


def test_sample_goes_to_standard_output() -> None:
    """Standard output has the bytes of the backup and nothing else."""
    arguments = [sys.executable, "-m", "holdfast", "backup", "sample", "-", "--messages", "30"]
    completed = subprocess.run(arguments, capture_output=True, check=True)
    assert completed.stdout == stream_of(sample(30))
    assert completed.stderr == b""


@pytest.mark.parametrize("option", ["--encrypt", "--folder"])
def test_an_encrypted_sample_opens_with_the_key_it_printed(run: Run, tmp_path: Path, option: str) -> None:
    """The key goes to standard error, where it can be kept apart."""
    result = run("backup", "sample", str(tmp_path / "x"), "--messages", "30", option)
    assert (result.status, result.out) == (0, "")
    (tmp_path / "keys.txt").write_text(result.err)
    result = run("backup", "info", str(tmp_path / "x"), "--key-file", str(tmp_path / "keys.txt"), "--json")
    document = json.loads(result.out)
    assert document["counts"]["chatItem"] == 30
    assert (document["media"] is None) is (option == "--encrypt")


def test_sample_refuses_nonsense(run: Run, tmp_path: Path) -> None:
    """A sample without messages and a folder that does not exist are refused."""
    assert run("backup", "sample", str(tmp_path / "x"), "--messages", "0").status == ExitCode.USAGE
    result = run("backup", "sample", str(tmp_path / "none" / "x"))
    check_failure(result, ExitCode.UNREADABLE, "cannot be written")
