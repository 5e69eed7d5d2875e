"""The forms that change an issue."""

import re
from html import unescape
from urllib.parse import urlencode

import httpx
import pytest

from holdfast.hosting.store import issues
from holdfast.hosting.store.issue_relations import issue_parts
from holdfast.hosting.store.labels import add_label, change_label
from holdfast.hosting.store.milestones import add_milestone, change_milestone
from tests.hosting.dependency_helpers import relate
from tests.web.issues.conftest import AT, IssueSite

ONE = f"{AT}/issues/1"


def test_a_writer_changes_every_field(site: IssueSite) -> None:
    """Each field can be set and cleared again, and an invalid assignee or date is refused."""
    database, ship = site.clients.database, site.ship
    gauge = site.issue("Gauge", author="eve")
    bug = add_label(database, ship, "bug", "ff0000")
    season = add_milestone(database, ship, site.people["ada"], "Season")
    bob = site.browser("bob")

    def sent(part: str, **data: str | list[str]) -> None:
        # As browsers do, also for a form with nothing in it.
        kind = {"Content-Type": "application/x-www-form-urlencoded"}
        response = bob.post(f"{ONE}/{part}", content=urlencode(data, doseq=True), headers=kind)
        assert (response.status_code, response.headers.get("location")) == (303, ONE), response.text

    sent("labels", label=[str(bug.id)])
    sent("assignees", assignee=["bob"], more="ada")
    sent("milestone", milestone=str(season.id))
    sent("deadline", due_date="2027-02-03")
    sent("lock", locked="true", reason="too warm")
    now = issues.find_issue(database, ship, 1)
    parts = issue_parts(database, [now], ship)
    assert [label.name for label in parts.labels[gauge.id]] == ["bug"]
    assert [who.name for who in parts.assignees[gauge.id]] == ["ada", "bob"]
    assert (now.milestone_id, now.due_at, now.is_locked) == (season.id, 1_801_699_199, True)
    sent("labels", chosen=[str(bug.id)])
    sent("assignees", chosen=["ada", "bob"])
    sent("milestone", milestone="")
    sent("deadline", due_date="")
    sent("lock")
    now = issues.find_issue(database, ship, 1)
    parts = issue_parts(database, [now], ship)
    assert (parts.labels, parts.assignees) == ({}, {})
    assert (now.milestone_id, now.due_at, now.is_locked) == (None, 0, False)
    sent("assign-me")
    sent("state", state="closed")
    assert issues.find_issue(database, ship, 1).is_closed
    sent("state", state="open")
    refused = bob.post(f"{ONE}/assignees", data={"more": "eve"})
    assert refused.status_code in {404, 422}
    wrong = bob.post(f"{ONE}/deadline", data={"due_date": "3 February"})
    assert wrong.status_code == 422
    assert 'role="alert"' in wrong.text


@pytest.mark.parametrize("part", ["labels", "assignees", "assign-me", "milestone", "deadline", "lock", "delete"])
def test_other_users_change_no_field(site: IssueSite, part: str) -> None:
    """The author without write access gets status 403, a visitor is redirected to log in, and the issue stays."""
    database, ship = site.clients.database, site.ship
    before = site.issue("Gauge", author="eve")
    site.issue("Private matter", secret=True)
    data = {
        "label": str(add_label(database, ship, "bug", "ff0000").id),
        "assignee": "bob",
        "milestone": str(add_milestone(database, ship, site.people["ada"], "Season").id),
        "due_date": "2027-02-03",
        "locked": "true",
    }
    eve = site.browser("eve")
    assert eve.post(f"{ONE}/{part}", data=data).status_code == 403
    assert eve.post(f"/ada/secret/issues/1/{part}", data=data).status_code == 404
    assert eve.post(f"{AT}/issues/77/{part}", data=data).status_code in {403, 404}
    assert site.browser().post(f"{ONE}/{part}", data=data).headers["location"] == "/login?next=%2F"
    assert issues.find_issue(database, ship, 1) == before
    parts = issue_parts(database, [before], ship)
    assert (parts.labels, parts.assignees) == ({}, {})


def test_closing_a_blocked_issue_is_refused_with_an_explanation(site: IssueSite) -> None:
    """The alert links to the open blockers, and the text of a comment in the same form is kept."""
    gauge, lantern, rope = (site.issue(title) for title in ("Gauge", "Lantern", "Rope"))
    hidden = site.issue("Private matter", secret=True)
    relate(site.clients.database, [(gauge.id, item.id) for item in (lantern, rope, hidden)])
    site.browser("ada").post(f"{AT}/issues/3/state", data={"state": "closed"})
    bob = site.browser("bob")
    for response in (
        bob.post(f"{ONE}/state", data={"state": "closed"}),
        bob.post(f"{ONE}/comments", data={"body": "Done, I think", "then": "close"}),
    ):
        assert response.status_code == 412
        alert = response.text.partition('role="alert"')[2].partition("</div>")[0]
        assert "cannot be closed while" in alert
        assert f'href="{AT}/issues/2"' in alert
        assert "Rope" not in alert
    assert "Done, I think</textarea>" in response.text
    now = issues.find_issue(site.clients.database, site.ship, 1)
    assert (now.is_closed, now.comment_count) == (False, 0)


def test_the_author_edits_title_and_text(site: IssueSite) -> None:
    """The form has a preview and keeps the typed text when it is refused; other users may not edit."""
    site.issue("Gauge", "old", author="eve")
    eve = site.browser("eve")
    assert "old</textarea>" in eve.get(f"{ONE}/edit").text
    preview = eve.post(f"{ONE}/edit", data={"title": "T", "body": "*new*", "version": "0", "then": "preview"})
    assert "<em>new</em>" in preview.text
    refused = eve.post(f"{ONE}/edit", data={"title": "", "body": "*new*"})
    assert refused.status_code == 422
    assert "*new*</textarea>" in refused.text
    response = eve.post(f"{ONE}/edit", data={"title": "Gauge, stuck", "body": "*new*"})
    assert response.headers["location"] == ONE
    text = eve.get(ONE).text
    assert "Gauge, stuck" in text
    assert "<em>new</em>" in text
    site.issue("Lantern")
    assert eve.get(f"{AT}/issues/2/edit").status_code == 403
    assert eve.post(f"{AT}/issues/2/edit", data={"title": "Mine"}).status_code == 403
    assert site.browser().get(f"{ONE}/edit").status_code == 303
    assert eve.post(f"{AT}/issues/3/edit", data={"title": "Mine"}).status_code == 404


def test_concurrent_edits_do_not_overwrite_each_other(site: IssueSite) -> None:
    """The second edit has status 409, shows both texts, and can be sent again with the new version."""
    site.issue("Gauge", "first")
    ada, bob = site.browser("ada"), site.browser("bob")
    version = ada.get(f"{ONE}/edit").text.partition('name="version" value="')[2].partition('"')[0]
    ada.post(f"{ONE}/edit", data={"title": "Gauge", "body": "Ada's", "version": version})
    clash = bob.post(f"{ONE}/edit", data={"title": "Gauge", "body": "Bob's", "version": version})
    assert clash.status_code == 409
    assert "Ada&#39;s" in clash.text
    assert "Bob&#39;s</textarea>" in clash.text
    assert issues.find_issue(site.clients.database, site.ship, 1).body == "Ada's"
    newer = clash.text.partition('name="version" value="')[2].partition('"')[0]
    assert bob.post(f"{ONE}/edit", data={"title": "Gauge", "body": "Both", "version": newer}).status_code == 303
    assert issues.find_issue(site.clients.database, site.ship, 1).body == "Both"


def edit_form(page: str) -> dict[str, str]:
    """Return the title and the hidden fields of the form for title and body."""
    form = page.partition(f'action="{ONE}/edit"')[2].partition("</form>")[0]
    return {name: unescape(value) for name, value in re.findall(r'<input[^>]* name="(\w+)" value="([^"]*)"', form)}


def test_an_edit_of_the_text_keeps_a_title_that_was_changed_meanwhile(site: IssueSite) -> None:
    """Only a title that was edited too is a conflict: it has status 409, and can be sent again."""
    site.issue('Gauge & "co"', "first")
    database, ship = site.clients.database, site.ship
    ada, bob = site.browser("ada"), site.browser("bob")
    opened = edit_form(ada.get(f"{ONE}/edit").text)
    assert opened["title"] == 'Gauge & "co"'
    assert bob.post(f"{ONE}/edit", data={**opened, "title": "Gauge, stuck", "body": "first"}).status_code == 303
    assert ada.post(f"{ONE}/edit", data={**opened, "body": "second"}).status_code == 303
    now = issues.find_issue(database, ship, 1)
    assert (now.title, now.body) == ("Gauge, stuck", "second")
    clash = ada.post(f"{ONE}/edit", data={**opened, "version": "1", "title": "Gauge, broken", "body": "third"})
    assert clash.status_code == 409
    assert "The title was changed" in clash.text
    assert "Gauge, stuck" in clash.text
    assert "third</textarea>" in clash.text
    assert issues.find_issue(database, ship, 1) == now
    again = edit_form(clash.text)
    assert again["title"] == "Gauge, broken"
    assert ada.post(f"{ONE}/edit", data={**again, "body": "third"}).status_code == 303
    now = issues.find_issue(database, ship, 1)
    assert (now.title, now.body) == ("Gauge, broken", "third")


def test_a_conflict_about_the_text_shows_the_current_title(site: IssueSite) -> None:
    """A title that was not edited is the current one in the form that is shown again, and of its preview."""
    site.issue("Gauge", "first")
    ada, bob = site.browser("ada"), site.browser("bob")
    opened = edit_form(ada.get(f"{ONE}/edit").text)
    bob.post(f"{ONE}/edit", data={**opened, "title": "Gauge, stuck", "body": "Bob's"})
    preview = ada.post(f"{ONE}/edit", data={**opened, "body": "Ada's", "then": "preview"})
    clash = ada.post(f"{ONE}/edit", data={**edit_form(preview.text), "body": "Ada's"})
    assert clash.status_code == 409
    assert "The description was changed" in clash.text
    assert "The title was changed" not in clash.text
    again = edit_form(clash.text)
    assert again["title"] == "Gauge, stuck"
    assert ada.post(f"{ONE}/edit", data={**again, "body": "Both"}).status_code == 303
    now = issues.find_issue(site.clients.database, site.ship, 1)
    assert (now.title, now.body) == ("Gauge, stuck", "Both")


def form_values(page: str, part: str) -> list[tuple[str, str]]:
    """Return the names and values that a browser submits from the form of labels or assignees, unchanged."""
    form = page.partition(f'action="{ONE}/{part}"')[2].partition("</form>")[0]
    fields = re.findall(r'<input type="(checkbox|hidden)" name="(\w+)" value="([^"]*)"( checked)?', form)
    return [(name, value) for kind, name, value, checked in fields if kind == "hidden" or checked]


def send_form(browser: httpx.Client, part: str, values: list[tuple[str, str]]) -> httpx.Response:
    """Submit a form as browsers do."""
    kind = {"Content-Type": "application/x-www-form-urlencoded"}
    return browser.post(f"{ONE}/{part}", content=urlencode(values), headers=kind)


def test_labels_and_assignees_of_two_users_are_kept(site: IssueSite) -> None:
    """A form that was opened before somebody else saved the same form changes only what was changed in it."""
    database, ship = site.clients.database, site.ship
    gauge = site.issue("Gauge")
    bug, dock, rope = (add_label(database, ship, name, "ff0000") for name in ("bug", "dock", "rope"))
    ada, bob = site.browser("ada"), site.browser("bob")
    send_form(ada, "labels", [("label", str(bug.id)), ("label", str(dock.id))])
    page = ada.get(ONE).text
    assert send_form(bob, "labels", [*form_values(page, "labels"), ("label", str(rope.id))]).status_code == 303
    without_bug = [field for field in form_values(page, "labels") if field != ("label", str(bug.id))]
    assert send_form(ada, "labels", without_bug).status_code == 303
    send_form(bob, "assignees", [*form_values(page, "assignees"), ("assignee", "bob")])
    send_form(ada, "assignees", [*form_values(page, "assignees"), ("assignee", "ada")])
    parts = issue_parts(database, [gauge], ship)
    assert [label.name for label in parts.labels[gauge.id]] == ["dock", "rope"]
    assert [who.name for who in parts.assignees[gauge.id]] == ["ada", "bob"]


def test_saving_keeps_labels_and_assignees_that_are_not_listed(site: IssueSite) -> None:
    """An archived label and an assignee without write access are not offered, and stay."""
    database, ship = site.clients.database, site.ship
    gauge = site.issue("Gauge")
    bug, dock = (add_label(database, ship, name, "ff0000") for name in ("bug", "dock"))
    bob = site.browser("bob")
    send_form(bob, "labels", [("label", str(bug.id))])
    send_form(bob, "assignees", [("assignee", "bob")])
    ada = site.browser("ada")
    archived = {"name": "bug", "color": "#ff0000", "archived": "true"}
    assert ada.post(f"{AT}/labels/{bug.id}", data=archived).status_code == 303
    assert ada.post(f"{AT}/settings/collaborators/remove", data={"name": "bob"}).status_code == 303
    page = ada.get(ONE).text
    send_form(ada, "labels", [*form_values(page, "labels"), ("label", str(dock.id))])
    send_form(ada, "assignees", [*form_values(page, "assignees"), ("assignee", "ada")])
    parts = issue_parts(database, [gauge], ship)
    assert [label.name for label in parts.labels[gauge.id]] == ["bug", "dock"]
    assert [who.name for who in parts.assignees[gauge.id]] == ["ada", "bob"]


def test_administrators_delete_issues(site: IssueSite) -> None:
    """A deleted issue is not found any more, and a writer may not delete one."""
    site.issue("Gauge")
    assert site.browser("bob").post(f"{ONE}/delete").status_code == 403
    response = site.browser("ada").post(f"{ONE}/delete")
    assert response.headers["location"] == f"{AT}/issues"
    assert site.browser("ada").get(ONE).status_code == 404


def test_users_subscribe_to_an_issue_and_unsubscribe(site: IssueSite) -> None:
    """The author is subscribed from the start, and visitors see no subscription form."""
    site.issue("Gauge")
    eve = site.browser("eve")
    page = eve.get(f"{AT}/issues/1").text
    assert ">Subscribe</button>" in page
    response = eve.post(f"{AT}/issues/1/subscription", data={"subscribe": "true"})
    assert (response.status_code, response.headers["location"]) == (303, f"{AT}/issues/1")
    assert ">Unsubscribe</button>" in eve.get(f"{AT}/issues/1").text
    ada = site.browser("ada")
    assert ">Unsubscribe</button>" in ada.get(f"{AT}/issues/1").text
    ada.post(f"{AT}/issues/1/subscription", data={"subscribe": ""})
    assert ">Subscribe</button>" in ada.get(f"{AT}/issues/1").text
    assert "subscription" not in site.browser().get(f"{AT}/issues/1").text
    assert eve.post("/ada/secret/issues/1/subscription", data={"subscribe": "true"}).status_code == 404


def test_labels_and_milestones_that_are_not_listed_are_typed(site: IssueSite) -> None:
    """The form lists the labels that the issue has, also archived ones, and sixty others."""
    database, ship = site.clients.database, site.ship
    tall = site.issue("Mast")
    ids = [add_label(database, ship, f"part {number:02}", "ff0000").id for number in range(63)]
    bob = site.browser("bob")
    assert bob.post(f"{ONE}/labels", data={"more": " part 62 "}).status_code == 303
    text = bob.get(ONE).text
    assert f'name="label" value="{ids[62]}" checked' in text
    assert 'id="more-label"' in text
    assert f'name="label" value="{ids[61]}"' not in text
    change_label(database, ship, ids[62], archived_at=1)
    assert f'name="label" value="{ids[62]}" checked' in bob.get(ONE).text
    assert bob.post(f"{ONE}/labels", data={"chosen": str(ids[62]), "more": "part 61"}).status_code == 303
    assert [label.id for label in issue_parts(database, [tall], ship).labels[tall.id]] == [ids[61]]
    refused = bob.post(f"{ONE}/labels", data={"more": "part 99"})
    assert (refused.status_code, "The repository has no label part 99." in refused.text) == (422, True)


def test_a_milestone_that_is_not_listed_is_not_shown_as_closed(site: IssueSite) -> None:
    """The form lists the milestone of the issue, and sixty open ones; the title of any other can be typed."""
    database, ship, ada = site.clients.database, site.ship, site.people["ada"]
    site.issue("Mast")
    steps = [add_milestone(database, ship, ada, f"Step {number:02}") for number in range(62)]
    bob = site.browser("bob")
    assert 'id="more-milestone"' in bob.get(ONE).text
    assert bob.post(f"{ONE}/milestone", data={"milestone": str(steps[0].id), "more": "Step 61"}).status_code == 303
    assert issues.find_issue(database, ship, 1).milestone_id == steps[61].id
    assert f'<option value="{steps[61].id}" selected>Step 61</option>' in bob.get(ONE).text
    change_milestone(database, ship, ada, steps[61], is_closed=True)
    assert f'<option value="{steps[61].id}" selected>Step 61 (closed)</option>' in bob.get(ONE).text
    refused = bob.post(f"{ONE}/milestone", data={"milestone": str(steps[61].id), "more": "Step 99"})
    assert (refused.status_code, "The repository has no milestone Step 99." in refused.text) == (422, True)
    assert issues.find_issue(database, ship, 1).milestone_id == steps[61].id
