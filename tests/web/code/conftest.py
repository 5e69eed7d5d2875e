"""Fixtures of the tests of code pages: a repository with files of every kind."""

from pathlib import Path

import httpx
import pytest

from tests.hosting.api.file_helpers import make_files
from tests.hosting.api_clients import ServiceClients
from tests.hosting.conftest import clients
from tests.hosting.git_client import Git
from tests.web.browser import visitor

__all__ = ["clients"]


@pytest.fixture
def git(clients: ServiceClients, tmp_path: Path) -> Git:
    """Push Ada's repository `Notes`."""
    return make_files(clients, tmp_path)


@pytest.fixture
def ada(clients: ServiceClients, git: Git) -> httpx.Client:
    """Open a client with a session of the repository's owner."""
    return visitor(clients, "ada")
