"""Issues as rows."""

from holdfast.web.issues.rows import issue_path
from tests.web.issues.conftest import AT, IssueSite


def test_a_row_links_to_its_issue(harbour: IssueSite) -> None:
    """By a path from the root of the website."""
    assert issue_path(harbour.ship, 12) == f"{AT}/issues/12"
    harbour.issue("Gauge")
    assert f'href="{AT}/issues/1"' in harbour.browser().get(f"{AT}/issues").text
