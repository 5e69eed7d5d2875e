"""Rows of issue lists."""

from holdfast.web.issues.rows import issue_path
from tests.web.issues.conftest import AT, IssueSite


def test_a_row_links_to_its_issue(site: IssueSite) -> None:
    """The link is an absolute path on the website."""
    assert issue_path(site.ship, 12) == f"{AT}/issues/12"
    site.issue("Gauge")
    assert f'href="{AT}/issues/1"' in site.browser().get(f"{AT}/issues").text
