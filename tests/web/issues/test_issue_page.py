"""The page of an issue."""

import re

import pytest

from holdfast.hosting.store import assignees, comments, issue_labels, issues, labels, milestones, pulls
from holdfast.hosting.store.issue_transactions import issue_transaction
from holdfast.hosting.store.issues import Branches, IssueChanges, NewIssue
from holdfast.web.issues.issue_page import ENTRIES
from tests.hosting.dependency_helpers import counting_queries, open_many, relate
from tests.web.issues.conftest import AT, HOSTILE_TEXT, IssueSite


def test_people_see_the_controls_they_may_use(site: IssueSite) -> None:
    """Writers see all, authors the text and the state, readers the comment form, and visitors a link to log in."""
    site.issue("Gauge", "It is **stuck**, see #1.", author="eve")
    site.issue("Lantern")
    controls = {
        "comment": "Your comment",
        "edit": f"{AT}/issues/1/edit",
        "close": "Close issue",
        "labels": "Save labels",
        "people": "Save assignees",
        "milestone": "Save milestone",
        "date": "Save due date",
        "dependency": "Add a dependency",
        "lock": "Lock conversation",
        "delete": "Delete issue",
    }
    everything = set(controls)
    for name, expected in {
        "ada": everything,
        "bob": everything - {"delete"},
        "eve": {"comment", "edit", "close"},
        None: set(),
    }.items():
        text = site.browser(name).get(f"{AT}/issues/1").text
        assert {control for control, words in controls.items() if words in text} == expected
        assert "<strong>stuck</strong>" in text
        assert f'<a href="{AT}/issues/1"' in text
        assert ("</a> to comment." in text) == (name is None)
    assert "Close issue" not in site.browser("eve").get(f"{AT}/issues/2").text


def test_missing_and_unreadable_issues_are_not_found(site: IssueSite) -> None:
    """Nobody learns of a private issue from its page; only readers get a link to the repository."""
    site.issue("Private matter", secret=True)
    stranger = site.browser("eve")
    hidden = stranger.get("/ada/secret/issues/1").text.replace("/ada/secret/issues/1", "")
    for path in ("/ada/secret/issues/2", "/ada/nothing/issues/1"):
        assert stranger.get(path).text.replace(path, "") == hidden
    assert "Go to the repository" not in hidden
    assert f'<a href="{AT}">Go to the repository</a>' in stranger.get(f"{AT}/issues/1").text
    for path in ("/ada/secret/issues/1", f"{AT}/issues/1", f"{AT}/issues/x", f"{AT}/issues/-1", f"{AT}/pulls/1"):
        response = stranger.get(path)
        assert response.status_code == 404
        assert "Page not found" in response.text


def test_the_sidebar_shows_every_field(site: IssueSite) -> None:
    """The page has labels, assignees, milestone, due date and dependencies, without titles of hidden issues."""
    database, ship, people = site.clients.database, site.ship, site.people
    gauge, lantern, rope = (site.issue(title) for title in ("Gauge", "Lantern", "Rope"))
    secret = site.issue("Private matter", secret=True)
    relate(database, [(gauge.id, lantern.id), (gauge.id, secret.id), (rope.id, gauge.id), (secret.id, rope.id)])
    bug = labels.add_label(database, ship, HOSTILE_TEXT, "00ff00")
    issue_labels.add_labels(database, ship, gauge, people["ada"], (bug,))
    assignees.add_assignees(database, ship, gauge, people["ada"], (people["bob"],))
    season = milestones.add_milestone(database, ship, people["ada"], "Season <b>")
    issues.change_issue(
        database, ship, gauge, people["ada"], IssueChanges(milestone_id=season.id, due_at=1_800_000_000)
    )
    seen = site.browser("eve").get(f"{AT}/issues/1").text
    assert "Private matter" not in seen
    assert "An issue you cannot see" in seen
    assert "Blocked by 2" in seen
    for words in ("Lantern", "Rope", "Season &lt;b&gt;", "15 Jan 2027", "&lt;script&gt;alert", "was assigned"):
        assert (words in seen) == (words != "was assigned")
    assert 'assigned <a class="person" href="/bob">' in seen
    owner = site.browser("ada").get(f"{AT}/issues/1").text
    assert "Private matter" in owner
    assert "/ada/secret/issues/1" in owner
    # Who may write the issue that waits knows what it waits for, but cannot open it.
    writer = site.browser("bob").get(f"{AT}/issues/1").text
    assert "Private matter" in writer
    assert "/ada/secret/issues/1" not in writer
    # What an issue blocks is only shown to who may read it.
    assert "Private matter" not in site.browser("bob").get(f"{AT}/issues/3").text


def test_a_pull_request_is_marked(site: IssueSite) -> None:
    """The URL of an issue redirects to that of the pull request with its number, and the reverse."""
    new = NewIssue(title="Pull", branches=Branches("fix<", "main"))
    issues.open_issue(site.clients.database, site.ship, site.people["ada"], new)
    browser = site.browser()
    assert browser.get(f"{AT}/issues/1?page=2").headers["location"] == f"{AT}/pulls/1?page=2"
    site.issue("Leak")
    assert browser.get(f"{AT}/pulls/2").headers["location"] == f"{AT}/issues/2"
    text = browser.get(f"{AT}/pulls/1").text
    assert "Open pull request" in text
    assert "fix&lt;" in text


def test_a_merged_pull_request_says_so_and_how_it_was_reviewed(site: IssueSite) -> None:
    """Reviews, line comments, pushes and the merge commit are in the timeline."""
    database, ship, ada = site.clients.database, site.ship, site.people["ada"]
    issue = issues.open_issue(database, ship, ada, NewIssue(title="Pull", branches=Branches("fix", "main")))
    with issue_transaction(database, ship, ada) as change:
        change.add_entries(issue, "review_request", [("", {"assignee_id": site.people["bob"].id})])
        change.add_entries(issue, "code", [("A word on this line", {})])
        change.add_entries(issue, "review", [("Fine", {})])
        change.add_entries(issue, "pull_push")
        change.add_entries(issue, "dismiss_review", [("Old", {})])
        pulls.set_merged(change.connection, issue, ada, sha="1" * 40, style="merge", now=change.now)
        issues.close(change, issue, issues.Reason("1" * 40, ship.id), kind="merge_pull")
    text = site.browser().get(f"{AT}/pulls/1").text
    for words in (
        "Merged</span>",
        "requested a review",
        "A word on this line",
        "Fine",
        "reviewed",
        "pushed commits",
    ):
        assert words in text
    assert "dismissed a review" in text
    assert "merged this in" in text
    assert f"{AT}/commit/{'1' * 40}" in text
    assert "updated this" not in text


def test_a_long_timeline_has_pages_and_few_queries(site: IssueSite, monkeypatch: pytest.MonkeyPatch) -> None:
    """The number of queries and the size of a page do not depend on the number and length of comments."""
    database, ship, people = site.clients.database, site.ship, site.people
    opened = open_many(database, ship, people["ada"], 40)
    gauge = issues.find_issue(database, ship, 1)
    relate(database, [(gauge.id, item.id) for item in opened[1:]])
    browser = site.browser("ada")

    def queries() -> int:
        # What the service does by itself meanwhile is counted too.
        counts = []
        for _ in range(3):
            with counting_queries(database, monkeypatch) as asked:
                browser.get(f"{AT}/issues/1")
            counts.append(len(asked))
        return min(counts)

    comments.add_comment(database, ship, gauge, people["eve"], "@x " * 3000)
    few = queries()
    for _ in range(60):
        comments.add_comment(database, ship, gauge, people["eve"], "@x " * 3000)
    assert queries() == few <= 19
    response = browser.get(f"{AT}/issues/1")
    assert len(response.content) < 200_000
    assert "Page 1 of 2" in response.text
    assert "This comment was truncated." in response.text
    assert response.text.count('class="box comment"') == 51
    last = browser.get(f"{AT}/issues/1?page=last").text
    assert "Page 2 of 2" in last
    assert last.count('class="box comment"') == 12
    assert browser.get(f"{AT}/issues/1?page=77").status_code == 200


def test_a_comment_is_found_on_its_page_of_the_timeline(site: IssueSite) -> None:
    """The id of a comment redirects to its page; an unknown or invalid id shows the first page."""
    database, ship, people = site.clients.database, site.ship, site.people
    gauge, other = site.issue("Gauge"), site.issue("Chart")
    posted_comments = [
        comments.add_comment(database, ship, gauge, people["eve"], "Aye") for _ in range(ENTRIES + 1)
    ]
    elsewhere = comments.add_comment(database, ship, other, people["eve"], "Aye")
    browser = site.browser()
    for comment, place in ((posted_comments[0], ""), (posted_comments[-2], ""), (posted_comments[-1], "?page=2")):
        response = browser.get(f"{AT}/issues/{gauge.number}", params={"comment": comment.id})
        expected = f"{AT}/issues/{gauge.number}{place}#issuecomment-{comment.id}"
        assert (response.status_code, response.headers["Location"]) == (303, expected)
        assert f'id="issuecomment-{comment.id}"' in browser.get(expected).text
    for wrong in (elsewhere.id, 2**62, "9" * 30, "-1", "x", "²"):
        response = browser.get(f"{AT}/issues/{gauge.number}", params={"comment": wrong})
        assert (response.status_code, "Page 1 of 2" in response.text) == (200, True), wrong


def test_an_archived_repository_is_read_only(site: IssueSite) -> None:
    """The page of an issue says so and has no form that changes it."""
    site.issue("Gauge")
    site.clients.admin.patch("/repos/ada/ship", json={"archived": True})
    browser = site.browser("ada")
    text = browser.get(f"{AT}/issues/1").text
    assert "This repository is archived" in text
    forms = set(re.findall(r'<form[^>]* action="([^"]*)"', text.partition("<main")[2]))
    assert forms == {f"{AT}/watch", f"{AT}/star", f"{AT}/issues/1/subscription"}
    assert browser.post(f"{AT}/issues/1/comments", data={"body": "x"}).status_code == 423
    assert browser.get(f"{AT}/issues/new").status_code == 423
