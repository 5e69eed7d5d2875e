"""`holdfast admin backup` and `restore`."""

import json
from pathlib import Path

import pytest

from holdfast.settings import Settings
from tests.cli.conftest import Run


def test_a_service_is_backed_up_and_restored(
    run: Run, ada: Settings, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """`admin backup` and `admin restore` copy a service to a new data folder without problems."""
    run("admin", "repo", "create", "ada/one")
    result = run("admin", "backup", str(tmp_path / "backup.tar.gz"))
    assert (result.status, result.err) == (0, "")
    assert "1 repository," in result.out
    data = json.loads(run("admin", "backup", str(tmp_path / "another.tar"), "--json").out)
    assert (data["tables"]["users"], data["repositories"]) == (1, 1)
    result = run("admin", "restore", str(tmp_path / "backup.tar.gz"), "--data", str(tmp_path / "new"))
    assert (result.status, result.err) == (0, "")
    assert "1 repository," in result.out
    monkeypatch.setenv("HOLDFAST_DATA", str(tmp_path / "new"))
    assert run("admin", "doctor", "--deep").out == "No problems found.\n"
    (listed,) = json.loads(run("admin", "repo", "list", "--json").out)
    assert listed["name"] == "one"


def test_what_cannot_be_is_refused_in_one_line(run: Run, ada: Settings, tmp_path: Path) -> None:
    """The exit status is 1 for a missing file or an existing target, which is kept, and 3 for a damaged file."""
    backup = tmp_path / "backup.tar"
    run("admin", "backup", str(backup))
    content = backup.read_bytes()
    for arguments in (
        ("backup", str(backup)),
        ("restore", str(backup)),
        ("restore", str(tmp_path / "none.tar"), "--data", str(tmp_path / "new")),
    ):
        result = run("admin", *arguments)
        assert (result.status, result.err.count("\n")) == (1, 1), arguments
    assert backup.read_bytes() == content
    assert "ada" in run("admin", "user", "list").out
    backup.write_bytes(content[:5000])
    result = run("admin", "restore", str(backup), "--data", str(tmp_path / "new"))
    assert (result.status, result.err.count("\n")) == (3, 1)
    assert not (tmp_path / "new").exists()
