"""Errors of commands that need an extra which is not installed."""

import sys
from pathlib import Path

import pytest

from holdfast.cli.exit_codes import ExitCode
from holdfast.cli.extras import missing_extra
from tests.cli.conftest import Run


@pytest.mark.parametrize(
    ("module", "arguments"),
    [
        ("uvicorn", ["archive", "serve", "x.db"]),
        ("sqlalchemy", ["admin", "org", "list", "--data", "x"]),
    ],
)
def test_a_missing_package_of_the_server_is_named_by_its_extra(
    run: Run, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, module: str, arguments: list[str]
) -> None:
    """Without a package of the server the error names the extra, and nothing is written."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setitem(sys.modules, module, None)
    monkeypatch.delitem(sys.modules, "holdfast.cli.admin.organizations", raising=False)
    result = run(*arguments)
    assert result.status == ExitCode.NO
    assert result.err == "error: this command needs the server: pip install 'holdfast[server]'\n"
    assert list(tmp_path.iterdir()) == []


def test_any_other_missing_module_is_a_mistake() -> None:
    """A missing module that belongs to no extra is not reported as one."""
    assert missing_extra(ModuleNotFoundError(name="no_such_module")) is None
    assert missing_extra(ModuleNotFoundError()) is None
    assert missing_extra(ModuleNotFoundError(name="sqlalchemy.exc")) is not None


@pytest.mark.parametrize("filename", [None, "archive.db"])
def test_without_the_server_a_failing_disk_is_no_mistake_in_holdfast(
    run: Run, monkeypatch: pytest.MonkeyPatch, filename: str | None
) -> None:
    """A full disk is reported in one line also if the server is not installed."""

    def fail(*_arguments: object, **_options: object) -> None:
        raise OSError(28, "No space left on device", filename)

    monkeypatch.setitem(sys.modules, "holdfast.hosting.store.faults", None)
    monkeypatch.setattr("holdfast.cli.version.print_json", fail)
    result = run("version", "--json")
    assert result.status == ExitCode.NO
    assert result.err == f"error: {f'{filename}: ' if filename else ''}No space left on device\n"
