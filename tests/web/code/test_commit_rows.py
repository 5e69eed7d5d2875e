"""Commits in lists: authors and summaries."""

import pytest

from holdfast.web.code.commit_rows import summary_of
from tests.hosting.api_clients import PASSWORD, ServiceClients
from tests.hosting.git_client import Git
from tests.web.browser import visitor
from tests.web.code.page_helpers import NOTES_URL


def test_private_users_are_not_linked(clients: ServiceClients, git: Git) -> None:
    """A visitor sees the name of a private author without a link; that of a public author has one."""
    clients.user("bob")
    body = {
        "content": "",
        "branch": "main",
        "author": {"name": "bob", "email": "bob@example.org"},
        "message": "Signed by Bob",
    }
    created = clients.anonymous.post("/repos/ada/Notes/contents/of-bob", json=body, auth=("ada", PASSWORD))
    assert created.status_code == 201
    for visibility, is_linked in (("public", True), ("private", False)):
        changes = {"source_id": 0, "login_name": "bob", "visibility": visibility}
        assert clients.admin.patch("/admin/users/bob", json=changes).status_code == 200
        page = visitor(clients).get(f"{NOTES_URL}/commits/branch/main")
        assert page.status_code == 200
        assert "Signed by Bob" in page.text
        assert ('href="/bob"' in page.text) is is_linked


@pytest.mark.parametrize(
    ("message", "summary", "rest"),
    [
        ("Say\n\nwhy\n", "Say", "why"),
        ("", "(no message)", ""),
        ("\n\n", "(no message)", ""),
        ("x" * 250, f"{'x' * 200}…", f"…{'x' * 50}"),
        ("a\r\nb", "a", "b"),
    ],
)
def test_a_message_has_a_summary(message: str, summary: str, rest: str) -> None:
    """The summary is the first line of the message, truncated to 200 characters."""
    assert summary_of(message) == (summary, rest)
