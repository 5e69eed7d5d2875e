"""The form of a new issue."""

from holdfast.hosting.store import issues
from holdfast.hosting.store.issue_relations import issue_parts
from holdfast.hosting.store.labels import add_label
from holdfast.hosting.store.milestones import add_milestone
from tests.web.issues.conftest import AT, IssueSite

NEW = f"{AT}/issues/new"


def test_a_reader_opens_an_issue_and_a_writer_sets_more_fields(site: IssueSite) -> None:
    """Labels, assignees, milestone and due date sent by a reader are ignored."""
    database, ship = site.clients.database, site.ship
    bug = add_label(database, ship, "bug", "ff0000")
    season = add_milestone(database, ship, site.people["ada"], "Season")
    sent = {
        "title": "Gauge",
        "body": "It is stuck.",
        "label": [str(bug.id)],
        "assignee": ["bob"],
        "milestone": str(season.id),
        "due_date": "2027-02-03",
    }
    for number, name in enumerate(("eve", "bob"), 1):
        browser = site.browser(name)
        form = browser.get(NEW).text
        assert ("Assignees" in form) == (name == "bob")
        response = browser.post(NEW, data=sent)
        assert response.headers["location"] == f"{AT}/issues/{number}"
        assert f"Issue #{number} created." in browser.get(response.headers["location"]).text
        issue = issues.find_issue(database, ship, number)
        parts = issue_parts(database, [issue], ship)
        writes = name == "bob"
        assert (issue.title, issue.body, issue.author_id) == ("Gauge", "It is stuck.", site.people[name].id)
        fields = (issue.milestone_id, issue.due_at, parts.labels, parts.assignees)
        assert [bool(field) for field in fields] == [writes] * 4


def test_a_refused_form_keeps_the_typed_text(site: IssueSite) -> None:
    """A refused form and a preview keep the title and the text, and create no issue."""
    browser = site.browser("bob")
    refused = browser.post(NEW, data={"title": " ", "body": "Long <text>"})
    assert refused.status_code == 422
    assert "Title is required." in refused.text
    assert "Long &lt;text&gt;</textarea>" in refused.text
    for wrong in ({"due_date": "soon"}, {"milestone": "77"}, {"label": "77"}, {"assignee": "eve"}):
        received_response = browser.post(NEW, data={"title": "Kept", **wrong})
        assert received_response.status_code in {404, 422}
        assert 'value="Kept"' in received_response.text
    response = browser.post(NEW, data={"title": "Kept", "body": "**bold** <script>x</script>", "then": "preview"})
    assert "<strong>bold</strong>" in response.text
    assert "<script>x" not in response.text
    assert 'value="Kept"' in response.text
    assert 'value="from a link"' in browser.get(f"{NEW}?title=from+a+link").text
    assert site.clients.admin.get("/repos/ada/ship/issues?state=all").json() == []


def test_opening_an_issue_requires_read_access(site: IssueSite) -> None:
    """Visitors log in first, an unreadable repository is not found, and cross-site forms are refused."""
    assert site.browser().get(NEW).headers["location"].startswith("/login?next=")
    assert site.browser().post(NEW, data={"title": "x"}).status_code == 401
    assert site.browser("eve").post("/ada/secret/issues/new", data={"title": "x"}).status_code == 404
    elsewhere = {"Origin": "https://elsewhere.example"}
    assert site.browser("eve").post(NEW, data={"title": "x"}, headers=elsewhere).status_code == 403
    assert site.clients.admin.get("/repos/ada/ship/issues?state=all").json() == []
