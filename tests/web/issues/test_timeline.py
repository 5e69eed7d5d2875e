"""The timeline of an issue."""

import re
from dataclasses import asdict, replace

from markupsafe import Markup

from holdfast.hosting.renderer.markdown import NOWHERE
from holdfast.hosting.store.comments import add_comment
from holdfast.hosting.store.cross_references import CrossReferences
from holdfast.hosting.store.issue_transactions import issue_transaction
from holdfast.hosting.store.issues import NewIssue, Reason, close, find_issue, open_issue, reopen
from holdfast.hosting.store.labels import add_label, delete_label
from holdfast.web.issues.timeline import TextBudget
from tests.hosting.repository_helpers import add_commit
from tests.web.issues.conftest import AT, IssueSite


def sentences(text: str) -> list[str]:
    """Return the text of the timeline events on a page, without the dates."""
    events = re.findall(r'class="event">(.*?)</li>', text, re.DOTALL)
    plain = [" ".join(re.sub(r"<title>.*?</title>|<[^>]+>", " ", event).split()) for event in events]
    return [re.sub(r" (?:just now|\d+ minutes? ago|\d+ \w+ \d{4})$", "", event) for event in plain]


def test_every_event_is_a_sentence(site: IssueSite) -> None:
    """Events are listed in order with their user, and labels changed together share one sentence."""
    database, ship = site.clients.database, site.ship
    bug, wish = (add_label(database, ship, name, "ffffff") for name in ("bug", "wish"))
    gone = add_label(database, ship, "gone", "ffffff")
    api = site.clients.with_token(site.people["ada"])
    at = "/repos/ada/ship"
    for title in ("Gauge", "Lantern"):
        assert api.post(f"{at}/issues", json={"title": title}).status_code == 201
    season = api.post(f"{at}/milestones", json={"title": "Season"}).json()["id"]
    autumn = api.post(f"{at}/milestones", json={"title": "Autumn"}).json()["id"]
    one = f"{at}/issues/1"

    def change(**body: object) -> None:
        assert api.patch(one, json=body).status_code == 201

    change(title="The <i>gauge</i>")
    change(labels=[bug.id, wish.id, gone.id])
    change(assignees=["ada", "bob"])
    change(assignees=["bob"])
    change(assignees=[])
    change(milestone=season)
    change(milestone=autumn)
    change(milestone=0)
    change(due_date="2027-02-03T00:00:00Z")
    change(due_date="2027-03-04T00:00:00Z")
    change(unset_due_date=True)
    change(ref="refs/heads/main")
    change(ref="")
    api.put(f"{one}/lock", json={"lock_reason": "too warm"})
    api.delete(f"{one}/lock")
    api.post(f"{one}/dependencies", json={"index": 2})
    site.browser("ada").post(f"{AT}/issues/2/state", data={"state": "closed"})
    change(state="closed")
    change(state="open")
    api.request("DELETE", f"{one}/dependencies", json={"index": 2})
    delete_label(database, ship, gone.id)

    result = sentences(site.browser().get(f"{AT}/issues/1").text)
    assert result[:2] == [
        "ada changed the title from Gauge to The &lt;i&gt;gauge&lt;/i&gt;",
        "ada added bug wish and changed a deleted label",
    ]
    # Who was assigned by one change may be told in either order.
    assert sorted(result[2:4]) == ["ada assigned bob", "ada was assigned"]
    assert result[4:] == [
        "ada removed their assignment",
        "ada unassigned bob",
        "ada added this to the milestone Season",
        "ada changed the milestone from Season to Autumn",
        "ada removed this from the milestone Autumn",
        "ada set the due date to 3 Feb 2027",
        "ada changed the due date to 4 Mar 2027",
        "ada removed the due date",
        "ada linked this to refs/heads/main",
        "ada unlinked this from refs/heads/main",
        "ada locked this: too warm",
        "ada unlocked this",
        "ada added a dependency between this and #2 Lantern",
        "ada closed this",
        "ada reopened this",
        "ada removed the dependency between this and #2 Lantern",
    ]
    api.post(f"{one}/dependencies", json={"index": 2})
    assert sentences(site.browser().get(f"{AT}/issues/1").text)[-1] == "ada marked this as blocked by #2 Lantern"
    assert sentences(site.browser().get(f"{AT}/issues/2").text)[-1].startswith("ada marked this as blocking #1")


def test_a_closing_commit_is_linked(site: IssueSite) -> None:
    """A commit of the same repository is linked, and the id of one in another repository is not shown."""
    site.issue("Gauge")
    database, ship = site.clients.database, site.ship
    issue = find_issue(database, ship, 1)
    for commit, place in (("a" * 40, ship.id), ("b" * 40, ship.id + 1)):
        with issue_transaction(database, ship, site.people["ada"], graph=True) as change:
            close(change, issue, Reason(commit, place))
            reopen(change, replace(issue, is_closed=True), Reason(commit, place))
            change.add_entries(issue, "commit_ref", [("", asdict(Reason(commit, place)))])
    text = site.browser("eve").get(f"{AT}/issues/1").text
    assert sentences(text) == [
        "ada closed this with aaaaaaaaaa",
        "ada reopened this with aaaaaaaaaa",
        "ada referenced this in aaaaaaaaaa",
        "ada closed this with a commit in another repository",
        "ada reopened this with a commit in another repository",
        "ada referenced this in a commit in another repository",
    ]
    assert text.count(f'href="{AT}/commit/{"a" * 40}"') == 3
    assert "bbbb" not in text


def test_mentions_are_linked(site: IssueSite) -> None:
    """A mention has the state, title and number of the issue, and is shown only to users who may read it."""
    database, people = site.clients.database, site.people
    add_commit(database, site.ship, "main", "fix", "side")
    api = site.clients.with_token(people["ada"])
    site.issue("Gauge")
    for name, body in (
        ("ship/issues", {"title": "<i>Lantern</i>", "body": "as #1"}),
        ("secret/issues", {"title": "Private matter", "body": "ada/ship#1"}),
        ("ship/pulls", {"title": "Fixes #1", "head": "fix", "base": "main"}),
        ("ship/pulls", {"title": "Fixes #1 elsewhere", "head": "fix", "base": "side"}),
    ):
        assert api.post(f"/repos/ada/{name}", json=body).status_code == 201
    comment = api.post("/repos/ada/secret/issues/1/comments", json={"body": "ada/ship#3"}).json()["id"]
    text = site.browser("eve").get(f"{AT}/issues/1").text
    assert sentences(text) == [
        "ada mentioned this issue just now &lt;i&gt;Lantern&lt;/i&gt; #2",
        "ada linked a pull request that will close this issue just now Fixes #1 #3",
        "ada mentioned this issue just now Fixes #1 elsewhere #4",
    ]
    assert "Private" not in text
    assert f'<a href="{AT}/issues/2"><bdi>&lt;i&gt;Lantern' in text
    assert f'<a href="{AT}/pulls/3"><bdi>Fixes #1' in text
    text = site.browser("ada").get(f"{AT}/issues/1").text
    assert sentences(text)[1] == "ada mentioned this issue just now Private matter ada/secret#1"
    assert site.browser("eve").get(f"{AT}/pulls/3").text.count("mentioned this") == 0
    text = site.browser("ada").get(f"{AT}/pulls/3").text
    assert sentences(text) == ["ada mentioned this pull request just now Private matter ada/secret#1"]
    assert f'href="/ada/secret/issues/1?comment={comment}"' in text
    assert api.patch("/repos/ada/ship/pulls/3", json={"state": "closed"}).status_code == 201
    text = site.browser("eve").get(f"{AT}/issues/1").text
    assert sentences(text)[1] == "ada mentioned this issue just now Fixes #1 #3"
    assert 'aria-label="Closed pull request"' in text


def test_hidden_entries_leave_no_gap_on_a_page(site: IssueSite) -> None:
    """Mentions that a user may not read do not count for the pages or for the place of a comment."""
    database, ship, ada = site.clients.database, site.ship, site.people["ada"]
    gauge = site.issue("Gauge")
    secret = site.issue("Private matter", secret=True)
    mention = CrossReferences({gauge.id: "none"}, frozenset({ship.id}))
    for _ in range(3):
        wanted = NewIssue(title="t", references=mention)
        open_issue(database, site.secret, ada, wanted)
    add_comment(database, site.secret, secret, ada, "b", references=mention)
    for number in range(48):
        add_comment(database, ship, gauge, site.people["eve"], f"{number}")
    last = add_comment(database, ship, gauge, site.people["eve"], "last")
    eve, owner = site.browser("eve"), site.browser("ada")
    assert "Page " not in eve.get(f"{AT}/issues/1").text
    assert "Page 2 of 2" in owner.get(f"{AT}/issues/1?page=last").text
    form = f"{AT}/issues/1/comments/{last.id}"
    assert eve.post(form, data={"body": "now"}).headers["Location"] == f"{AT}/issues/1#issuecomment-{last.id}"
    there = owner.post(form, data={"body": "then"}).headers["Location"]
    assert there == f"{AT}/issues/1?page=2#issuecomment-{last.id}"


def test_unreadable_issues_are_not_mentioned(site: IssueSite) -> None:
    """A dependency on an unreadable or deleted issue is shown without its title."""
    site.issue("Gauge")
    site.issue("Private matter", secret=True)
    api = site.clients.with_token(site.people["ada"])
    body = {"owner": "ada", "name": "secret", "index": 1}
    assert api.post("/repos/ada/ship/issues/1/dependencies", json=body).status_code == 201
    text = site.browser("eve").get(f"{AT}/issues/1").text
    assert sentences(text) == ["ada marked this as blocked by an issue you cannot see"]
    assert "Private" not in text
    assert api.delete("/repos/ada/secret/issues/1").status_code == 204
    text = site.browser("eve").get(f"{AT}/issues/1").text
    assert sentences(text) == ["ada added a dependency between this and a deleted issue"]


def test_the_total_size_of_texts_is_limited() -> None:
    """Texts are complete until the limit, and every later text has at least its beginning."""
    budget = TextBudget(NOWHERE, left=1000)
    assert budget.show("*a*") == (Markup("<p><em>a</em></p>\n"), True)
    html, is_whole = budget.show("b" * 5000)
    assert (html.count("b") > 900, is_whole) == (True, False)
    html, is_whole = budget.show("@x " * 5000)
    assert (html, is_whole) == (Markup("<p>" + "@x " * 16 + "@x</p>"), False)
    assert budget.show("c") == (Markup("<p>c</p>\n"), True)
