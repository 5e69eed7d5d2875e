"""Fixtures of the tests of git repositories."""

from pathlib import Path

import pytest

from tests.hosting.git.oracle import new_repository


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """Create an empty bare repository."""
    return new_repository(tmp_path / "7.git")
