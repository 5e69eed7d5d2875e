"""`holdfast backup key`: a new recovery key, and what is wrong with one."""

import json
from pathlib import Path

import pytest

from holdfast.backup.container.key_formats import read_pool
from holdfast.cli.exit_codes import ExitCode
from tests.backup.container.vectors import SET_A, SET_B
from tests.backup.streams import container_of, small
from tests.cli.conftest import Run


def test_a_new_key_is_printed_in_groups_and_is_a_good_one(run: Run, tmp_path: Path) -> None:
    """Each time another one, which the check finds in order."""
    ran = run("backup", "key", "new")
    assert (ran.status, ran.err) == (ExitCode.FINE, "")
    assert [len(line) for line in ran.out.splitlines()] == [19] * 4
    assert run("backup", "key", "new").out != ran.out
    (tmp_path / "key.txt").write_text(ran.out)
    assert run("backup", "key", "check", "--key-file", str(tmp_path / "key.txt")).status == ExitCode.FINE
    made = json.loads(run("backup", "key", "new", "--json").out)["recovery_key"]
    assert read_pool(made) == made


@pytest.mark.parametrize(("pool", "status"), [("wxyz" * 16, 1), (SET_A.pool, 0), ("too short", 2)])
def test_a_key_is_judged_without_being_repeated(run: Run, pool: str, status: int) -> None:
    """Weak, good, or none at all."""
    ran = run("backup", "key", "check", "--key", pool)
    assert ran.status == status
    assert pool not in ran.out + ran.err
    if status < 2:
        answer = json.loads(run("backup", "key", "check", "--key", pool, "--json").out)
        assert (answer["weakness"] is not None, answer["opens"]) == (bool(status), None)


def test_a_key_is_tried_on_a_backup(run: Run, tmp_path: Path) -> None:
    """The status tells whether it opens it."""
    (tmp_path / "sealed").write_bytes(container_of(small()))
    words = ("backup", "key", "check", str(tmp_path / "sealed"), "--account-id", str(SET_B.aci), "--key")
    assert run(*words, SET_A.pool).status == ExitCode.WRONG_KEY
    ran = run(*words, SET_B.pool)
    assert ran.status == ExitCode.NO
    assert "It opens " in ran.out


def test_without_a_key_there_is_nothing_to_check(run: Run) -> None:
    """Nobody can be asked here."""
    assert run("backup", "key", "check").status == ExitCode.USAGE
