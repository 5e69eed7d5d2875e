"""A repository with one of everything, for the pages of code."""

from pathlib import Path

import httpx
import pytest

from tests.hosting.api.files import make_files
from tests.hosting.client import Git
from tests.hosting.conftest import world
from tests.hosting.world import World
from tests.web.guests import visitor

__all__ = ["world"]


@pytest.fixture
def git(world: World, tmp_path: Path) -> Git:
    """Push Ada's repository `Notes`."""
    return make_files(world, tmp_path)


@pytest.fixture
def ada(world: World, git: Git) -> httpx.Client:
    """Open the browser of the repository's owner."""
    return visitor(world, "ada")
