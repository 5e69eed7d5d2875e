"""Lock files and configuration files of the repository, as several tests read and validate them."""

import re
import subprocess
import sys
from pathlib import Path

from tests.conftest import ROOT

__all__ = ["locked_versions", "schema_errors"]


def locked_versions(name: str) -> dict[str, str]:
    """Return the packages that a lock file pins, with their versions."""
    text = (ROOT / "requirements" / f"{name}.txt").read_text()
    return dict(re.findall(r"^([a-z0-9._-]+)(?:\[[a-z,]+\])?==(\S+)", text, re.MULTILINE))


def schema_errors(schema: str, *files: Path) -> str:
    """Validate files against a JSON schema that comes with the validator; return its output, empty if they fit."""
    command: list[str | Path] = [sys.executable, "-m", "check_jsonschema", "--builtin-schema", schema, *files]
    completed = subprocess.run(command, check=False, capture_output=True, text=True)
    return "" if completed.returncode == 0 else completed.stdout + completed.stderr
