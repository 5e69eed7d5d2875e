"""`holdfast settings`."""

import json
from pathlib import Path

import pytest

from holdfast.settings import describe
from tests.cli.conftest import Run


def test_settings_are_listed_with_where_each_came_from(
    run: Run, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    """All settings are listed with value and source, and secrets are masked."""
    file = tmp_path / "h.toml"
    file.write_text("session_days = 7\n")
    monkeypatch.setenv("HOLDFAST_PORT", "8080")
    monkeypatch.setenv("HOLDFAST_ADMIN_PASSWORD", "hunter2hunter2")
    result = run("--log-level", "debug", "settings", "--config", str(file), "--json")
    rows = {row["name"]: row for row in json.loads(result.out)}
    assert set(rows) == {item.name for item in describe()}
    assert (rows["port"]["value"], rows["port"]["source"]) == ("8080", "environment")
    assert (rows["session_days"]["value"], rows["session_days"]["source"]) == ("7", f"file {file}")
    assert (rows["log_level"]["value"], rows["log_level"]["source"]) == ("debug", "command line")
    assert rows["admin_password"]["value"] == "********"
    for arguments in (["settings"], ["settings", "--json"]):
        assert "hunter2" not in run(*arguments).out


def test_a_wrong_setting_is_refused_before_anything_is_done(run: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    """An invalid setting has exit status 2 and an error that names its source."""
    monkeypatch.setenv("HOLDFAST_PORT", "none")
    result = run("settings")
    assert (result.status, result.out) == (2, "")
    assert result.err == "error: port (environment) is 'none', but must be a whole number from 0 to 65535\n"
