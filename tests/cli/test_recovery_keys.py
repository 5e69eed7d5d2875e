"""`holdfast backup key`: generating a recovery key, and checking one."""

import json
from pathlib import Path

import pytest

from holdfast.backup.container.key_formats import read_pool
from holdfast.cli.exit_codes import ExitCode
from tests.backup.container.vectors import SET_A, SET_B
from tests.backup.streams import container_of, small_sample
from tests.cli.conftest import Run


def test_a_new_key_is_printed_in_groups_and_is_a_good_one(run: Run, tmp_path: Path) -> None:
    """Each new key is different, printed in groups, and accepted by `key check`."""
    result = run("backup", "key", "new")
    assert (result.status, result.err) == (ExitCode.FINE, "")
    assert [len(line) for line in result.out.splitlines()] == [19] * 4
    assert run("backup", "key", "new").out != result.out
    (tmp_path / "key.txt").write_text(result.out)
    assert run("backup", "key", "check", "--key-file", str(tmp_path / "key.txt")).status == ExitCode.FINE
    recovery_key = json.loads(run("backup", "key", "new", "--json").out)["recovery_key"]
    assert read_pool(recovery_key) == recovery_key


@pytest.mark.parametrize(("pool", "status"), [("wxyz" * 16, 1), (SET_A.pool, 0), ("too short", 2)])
def test_a_key_is_judged_without_being_repeated(run: Run, pool: str, status: int) -> None:
    """A good, a weak and an invalid key have different exit statuses, and are not shown."""
    result = run("backup", "key", "check", "--key", pool)
    assert result.status == status
    assert pool not in result.out + result.err
    if status < 2:
        document = json.loads(run("backup", "key", "check", "--key", pool, "--json").out)
        assert (document["weakness"] is not None, document["opens"]) == (bool(status), None)


def test_a_key_is_tried_on_a_backup(run: Run, tmp_path: Path) -> None:
    """A key that does not open the backup has the exit status of a wrong key."""
    (tmp_path / "sealed").write_bytes(container_of(small_sample()))
    arguments = ("backup", "key", "check", str(tmp_path / "sealed"), "--account-id", str(SET_B.aci), "--key")
    assert run(*arguments, SET_A.pool).status == ExitCode.WRONG_KEY
    result = run(*arguments, SET_B.pool)
    assert result.status == ExitCode.NO
    assert "It opens " in result.out


def test_without_a_key_there_is_nothing_to_check(run: Run) -> None:
    """`key check` without a key is wrong usage."""
    assert run("backup", "key", "check").status == ExitCode.USAGE
