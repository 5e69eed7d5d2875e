"""Helpers for tests of code pages: the URL of Ada's repository `Notes`, its files, and form fields."""

import re
from html import unescape

from tests.hosting.api.file_helpers import commit_all
from tests.hosting.api_clients import ServiceClients
from tests.hosting.git_client import Git

__all__ = ["NOTES_URL", "commit_and_push", "form_field", "raw_file", "textarea_content"]

NOTES_URL = "/ada/Notes"


def commit_and_push(git: Git, message: str = "third") -> str:
    """Commit everything, push the branch `main`, and return the commit's id."""
    commit = commit_all(git, message)
    git("push", "-q", "origin", "main")
    return commit


def form_field(page: str, name: str) -> str:
    """Return the value of a field of a form."""
    match = re.search(rf'name="{name}" value="([^"]*)"', page)
    assert match is not None, name
    return unescape(match[1])


def textarea_content(page: str) -> str:
    """Return the text of the file in its form, as a browser reads it: without the line break after the tag."""
    match = re.search(r'(?s)<textarea id="content"[^>]*>\n(.*?)</textarea>', page)
    assert match is not None
    return unescape(match[1])


def raw_file(clients: ServiceClients, path: str, branch: str = "main") -> bytes:
    """Return the content of a file of the repository."""
    return clients.open("").get(f"{NOTES_URL}/raw/branch/{branch}/{path}").content
