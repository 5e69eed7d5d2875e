"""Backups as arguments of commands: files and standard input."""

import json

import pytest

from tests.backup.streams import (
    file_forms,
    small_sample,
)
from tests.cli.conftest import Run


@pytest.mark.long
def test_every_form_is_read_from_standard_input(spawn: Run, key_file: str) -> None:
    """Every format that is a single file can be read from standard input."""
    for name, data in file_forms(small_sample()):
        result = spawn("backup", "info", "-", "--json", "--key-file", key_file, data=data)
        assert result.err == "", name
        assert json.loads(result.out)["counts"]["account"] == 1, name
