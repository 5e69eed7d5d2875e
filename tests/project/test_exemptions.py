"""Exemptions from checks in the code: each says why."""

import re
from pathlib import Path

ROOT = Path(__file__).parents[2]
FOLDERS = ("src", "tests", "tools", "bench")
WITHOUT_REASON = re.compile(r"# (noqa|type: ignore)\b(?!.*  # \S)")


def test_every_exemption_has_a_reason() -> None:
    """A comment that exempts a line from ruff or mypy is followed by another that gives the reason."""
    found = [
        f"{path.relative_to(ROOT)}:{number}"
        for folder in FOLDERS
        for path in sorted((ROOT / folder).rglob("*.py"))
        if path != Path(__file__) and not path.stem.endswith("_pb2")
        for number, line in enumerate(path.read_text().splitlines(), 1)
        if WITHOUT_REASON.search(line)
    ]
    assert found == []
