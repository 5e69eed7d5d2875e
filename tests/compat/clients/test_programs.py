"""Programs written with unmodified third-party API clients."""

from collections.abc import Callable

import pytest

from tests.compat.clients.conftest import Site
from tests.compat.clients.runtimes import go_client, javascript, python

PROGRAMS: dict[str, Callable[[], list[str]]] = {
    "pyforgejo": lambda: python("pyforgejo_flow.py"),
    "py-gitea": lambda: python("py_gitea_flow.py"),
    "PyGithub": lambda: python("pygithub_flow.py"),
    "gitea-js": lambda: javascript("gitea.js"),
    "octokit": lambda: javascript("octokit.js"),
    "Go SDK": go_client,
}


@pytest.mark.long
@pytest.mark.parametrize("name", PROGRAMS)
def test_a_program_finds_what_it_expects(site: Site, name: str) -> None:
    """The script of each client library creates, reads, changes and deletes objects and gets its own errors."""
    site.run(PROGRAMS[name]())
