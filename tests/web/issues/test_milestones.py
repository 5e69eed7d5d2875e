"""The milestone pages."""

import re

from holdfast.hosting.store import issues, milestones
from holdfast.hosting.store.issues import NewIssue
from tests.web.issues.conftest import AT, HOSTILE_TEXT, IssueSite

STEPS = f"{AT}/milestones"


def test_writers_make_change_close_and_delete_milestones(site: IssueSite) -> None:
    """Readers see the progress of a milestone and cannot change it."""
    database, ship = site.clients.database, site.ship
    bob, eve = site.browser("bob"), site.browser("eve")
    sent = {"title": HOSTILE_TEXT, "description": "the **first**", "due_on": "2027-02-03"}
    assert bob.post(STEPS, data=sent).headers["location"] == STEPS
    (milestone,), _ = milestones.milestones_of(database, ship, is_closed=False, name="", skip=0, limit=9)
    for closed in (True, True, False):
        new = NewIssue(title="x", milestone_id=milestone.id, is_closed=closed)
        issues.open_issue(database, ship, site.people["ada"], new)
    seen = eve.get(STEPS).text
    assert "<script>alert" not in seen
    assert "<strong>first</strong>" in seen
    assert "3 Feb 2027" in seen
    assert "66% · 1 open · 2 closed" in seen
    assert "New milestone" not in seen
    at = f"{STEPS}/{milestone.id}"
    assert bob.post(at, data={"title": "Season", "description": "", "due_on": ""}).status_code == 303
    now = milestones.find_milestone(database, ship, milestone.id)
    assert (now.title, now.description, now.due_at) == ("Season", "", 0)
    bob.post(at, data={"state": "closed"})
    assert "Season" not in eve.get(STEPS).text
    assert "Season" in eve.get(f"{STEPS}?state=closed").text
    bob.post(at, data={"state": "open"})
    for path in (STEPS, at, f"{at}/delete"):
        assert eve.post(path, data={"title": "x"}).status_code == 403
        assert site.browser().post(path, data={"title": "x"}).status_code in {303, 401}
    (now,), _ = milestones.milestones_of(database, ship, is_closed=False, name="", skip=0, limit=9)
    assert (now.id, now.title) == (milestone.id, "Season")
    assert bob.post(f"{at}/delete").headers["location"] == STEPS
    assert bob.post(f"{at}/delete").status_code == 404
    assert bob.post(at, data={"title": "x"}).status_code == 404
    assert eve.get("/ada/secret/milestones").status_code == 404


def test_what_is_refused_stays_in_its_form(site: IssueSite) -> None:
    """The form of a new milestone and that of an existing one keep what was typed."""
    bob = site.browser("bob")
    milestone = milestones.add_milestone(site.clients.database, site.ship, site.people["ada"], "Season")
    for path in (STEPS, f"{STEPS}/{milestone.id}"):
        response = bob.post(path, data={"title": " ", "description": "kept"})
        assert response.status_code == 422
        assert "Title is required." in response.text
        assert "kept</textarea>" in response.text
        assert bob.post(path, data={"title": "x", "due_on": "soon"}).status_code == 422
    assert bob.get(f"{STEPS}?state=lost&page=99").status_code == 200


def test_a_refused_milestone_is_shown_whichever_list_it_is_in(site: IssueSite) -> None:
    """The page after a refusal has the error and the typed text for a closed milestone and for one of page 2."""
    database, ada, bob = site.clients.database, site.people["ada"], site.browser("bob")
    created = [milestones.add_milestone(database, site.ship, ada, f"Season {number:02}") for number in range(22)]
    bob.post(f"{STEPS}/{created[0].id}", data={"state": "closed"})
    listed, _ = milestones.milestones_of(database, site.ship, is_closed=False, name="", skip=20, limit=1)
    for milestone, state in ((created[0], "closed"), (listed[0], "open")):
        response = bob.post(f"{STEPS}/{milestone.id}", data={"title": " ", "description": "kept"})
        assert response.status_code == 422
        assert "Title is required." in response.text
        assert "kept</textarea>" in response.text
        assert f'href="{STEPS}?state={state}" aria-current="true"' in response.text


def test_a_milestone_that_changed_meanwhile_is_not_overwritten(site: IssueSite) -> None:
    """Submitting the page with both versions again overwrites it; closing it needs no version."""
    database, ada, bob = site.clients.database, site.people["ada"], site.browser("bob")
    milestone = milestones.add_milestone(database, site.ship, ada, "Spring")
    at, opened = f"{STEPS}/{milestone.id}", bob.get(STEPS).text
    milestones.change_milestone(database, site.ship, ada, milestone, description="Before the tide")
    sent = {"title": "Summer", "description": "", "due_on": "", "version": version_in(opened)}
    refused = bob.post(at, data=sent)
    assert refused.status_code == 409
    assert "changed while you were editing" in refused.text
    assert "Before the tide" in refused.text
    assert 'value="Summer"' in refused.text
    assert milestones.find_milestone(database, site.ship, milestone.id).title == "Spring"
    wrong = bob.post(at, data={**sent, "title": ""})
    assert version_in(wrong.text) == sent["version"]
    assert bob.post(at, data={"state": "closed"}).status_code == 303
    assert bob.post(at, data={**sent, "version": version_in(refused.text)}).status_code == 303
    now = milestones.find_milestone(database, site.ship, milestone.id)
    assert (now.title, now.description, now.is_closed) == ("Summer", "", True)


def version_in(text: str) -> str:
    """Return the version in the only form that edits a milestone."""
    (version,) = re.findall(r'name="version" value="(\w+)"', text)
    return str(version)
