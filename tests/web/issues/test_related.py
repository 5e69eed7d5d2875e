"""Related issues, hidden from users who may not read them."""

from holdfast.hosting.store.visible_issues import VisibleIssue
from holdfast.web.issues.related import RelatedIssue, related_issue
from tests.web.issues.conftest import AT, IssueSite


def test_unreadable_issues_are_hidden(site: IssueSite) -> None:
    """A readable issue has a link, a writer sees the title of an unreadable one, and others see nothing."""
    gauge, private = site.issue("Gauge"), site.issue("Private matter", secret=True)
    seen = related_issue(VisibleIssue(gauge, site.ship, is_readable=True), site.ship)
    assert (seen.path, seen.name, seen.title) == (f"{AT}/issues/1", "#1", "Gauge")
    known = related_issue(VisibleIssue(private, site.secret, is_readable=False), site.ship, writes=True)
    assert (known.path, known.name, known.title) == ("", "ada/secret#1", "Private matter")
    assert related_issue(VisibleIssue(private, site.secret, is_readable=False), site.ship) == RelatedIssue(
        is_hidden=True
    )
