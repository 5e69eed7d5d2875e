"""Commits in lists: who made them, and their summaries."""

import pytest

from holdfast.web.code.commit_rows import summary_of
from tests.hosting.api_clients import ServiceClients
from tests.hosting.git_client import Git
from tests.web.browser import visitor
from tests.web.code.test_history_page import AT


def test_private_users_are_not_linked(clients: ServiceClients, git: Git) -> None:
    """A private account behind an address is shown as the commit says it."""
    clients.admin.patch("/admin/users/ada", json={"source_id": 0, "login_name": "ada", "visibility": "private"})
    page = visitor(clients).get(f"{AT}/commits/branch/main")
    assert page.status_code in {200, 404}
    assert page.status_code == 404 or 'class="avatar"' not in page.text


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
    """The first line, however long somebody made it."""
    assert summary_of(message) == (summary, rest)
