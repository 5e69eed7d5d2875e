"""Bundled scripts and their manifest."""

import json
from pathlib import Path

import pytest
import structlog

from holdfast.web.bundles import Bundles


def test_a_script_has_the_address_of_its_file(tmp_path: Path) -> None:
    """The manifest also lists packages, which are no scripts."""
    manifest = {"scripts": {"editor": "editor-AB12CD34.js"}, "packages": [{"name": "mermaid", "version": "1"}]}
    (tmp_path / "manifest.json").write_text(json.dumps(manifest))
    bundles = Bundles(tmp_path)
    assert bundles.address("editor") == "/static/bundles/editor-AB12CD34.js"
    assert bundles.address("mermaid") == ""
    with structlog.testing.capture_logs() as logged:
        bundles.log_missing()
    assert logged == []


@pytest.mark.parametrize("content", [None, "", "{", '{"scripts": 5}', "{}"])
def test_without_a_manifest_there_are_no_scripts_and_the_log_says_so(tmp_path: Path, content: str | None) -> None:
    """A missing or invalid manifest gives no URL, and a warning names the command that builds it."""
    if content is not None:
        (tmp_path / "manifest.json").write_text(content)
    bundles = Bundles(tmp_path)
    assert bundles.address("editor") == ""
    with structlog.testing.capture_logs() as logged:
        bundles.log_missing()
    assert [item["log_level"] for item in logged] == ["warning"]
    assert "make assets" in logged[0]["fix"]
