"""The other issue of a relation."""

from holdfast.hosting.store.visible_issues import VisibleIssue
from holdfast.web.issues.related import RelatedIssue, related_issue
from tests.web.issues.conftest import AT, IssueSite


def test_unreadable_issues_are_hidden(harbour: IssueSite) -> None:
    """All of it, its name alone, or that it is there."""
    gauge, private = harbour.issue("Gauge"), harbour.issue("Private matter", secret=True)
    seen = related_issue(VisibleIssue(gauge, harbour.ship, is_readable=True), harbour.ship)
    assert (seen.path, seen.name, seen.title) == (f"{AT}/issues/1", "#1", "Gauge")
    known = related_issue(VisibleIssue(private, harbour.secret, is_readable=False), harbour.ship, writes=True)
    assert (known.path, known.name, known.title) == ("", "ada/secret#1", "Private matter")
    assert related_issue(VisibleIssue(private, harbour.secret, is_readable=False), harbour.ship) == RelatedIssue(
        is_hidden=True
    )
