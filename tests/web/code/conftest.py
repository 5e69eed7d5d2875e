"""A repository with one of everything, for the pages of code."""

from pathlib import Path

import httpx
import pytest

from tests.hosting.api.file_helpers import make_files
from tests.hosting.api_clients import ServiceClients
from tests.hosting.conftest import world
from tests.hosting.git_client import Git
from tests.web.browser import visitor

__all__ = ["world"]


@pytest.fixture
def git(world: ServiceClients, tmp_path: Path) -> Git:
    """Push Ada's repository `Notes`."""
    return make_files(world, tmp_path)


@pytest.fixture
def ada(world: ServiceClients, git: Git) -> httpx.Client:
    """Open the browser of the repository's owner."""
    return visitor(world, "ada")
