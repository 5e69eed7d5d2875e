"""The label pages."""

import re

import pytest

from holdfast.hosting.store import labels
from tests.hosting.dependency_helpers import counting_queries
from tests.hosting.repository_helpers import make_organization, make_repository
from tests.web.issues.conftest import AT, HOSTILE_TEXT, IssueSite

LABELS = f"{AT}/labels"


def test_writers_make_change_and_delete_labels(site: IssueSite) -> None:
    """Readers see the labels and cannot change them."""
    bob, eve = site.browser("bob"), site.browser("eve")
    assert "New label" in bob.get(LABELS).text
    sent = {"name": HOSTILE_TEXT, "color": "#0f0", "description": "a & b", "exclusive": "true"}
    assert bob.post(LABELS, data=sent).headers["location"] == LABELS
    (label,), _ = labels.labels_of(site.clients.database, site.ship, skip=0, limit=9)
    assert (label.name, label.color, label.is_exclusive) == (HOSTILE_TEXT.strip(), "00ff00", True)
    seen = eve.get(LABELS).text
    assert "New label" not in seen
    assert "<script>alert" not in seen
    assert 'fill="#00ff00"' in seen
    at = f"{LABELS}/{label.id}"
    assert bob.post(at, data={"name": "bug", "color": "#ff0000", "archived": "true"}).status_code == 303
    now = labels.find_label(site.clients.database, site.ship, label.id)
    assert (now.name, now.color, now.is_exclusive, now.archived_at > 0) == ("bug", "ff0000", False, True)
    for path in (LABELS, at, f"{at}/delete"):
        assert eve.post(path, data={"name": "x", "color": "#000000"}).status_code == 403
        assert site.browser().post(path, data={"name": "x", "color": "#000000"}).status_code == 303
    assert labels.labels_of(site.clients.database, site.ship, skip=0, limit=9) == ([now], 1)
    assert bob.post(f"{at}/delete").headers["location"] == LABELS
    assert bob.post(f"{at}/delete").status_code == 404
    assert bob.post(at, data={"name": "bug", "color": "#ff0000"}).status_code == 404
    assert eve.get("/ada/secret/labels").status_code == 404


def test_many_labels_have_pages_and_few_queries(site: IssueSite, monkeypatch: pytest.MonkeyPatch) -> None:
    """Every page is small and has 30 labels at most."""
    for number in range(35):
        labels.add_label(site.clients.database, site.ship, f"label {number:02}", "ffffff")
    browser = site.browser("bob")
    with counting_queries(site.clients.database, monkeypatch) as queries:
        response = browser.get(LABELS)
    assert len(queries) <= 10
    assert len(response.content) < 200_000
    assert ("label 29" in response.text, "label 30" in response.text) == (True, False)
    assert "label 30" in browser.get(f"{LABELS}?page=2").text


def test_what_is_refused_stays_in_its_form(site: IssueSite) -> None:
    """The form of a new label and that of an existing one keep what was typed."""
    bob = site.browser("bob")
    label = labels.add_label(site.clients.database, site.ship, "bug", "ff0000")
    for path in (LABELS, f"{LABELS}/{label.id}"):
        response = bob.post(path, data={"name": "typed", "color": "reddish", "description": "kept"})
        assert response.status_code == 422
        assert "hexadecimal" in response.text
        assert 'value="typed"' in response.text
        assert 'value="kept"' in response.text
        assert bob.post(path, data={"name": "", "color": "#ff0000"}).status_code == 422
    assert labels.labels_of(site.clients.database, site.ship, skip=0, limit=9) == ([label], 1)


def test_labels_of_an_organization_are_shown_too(site: IssueSite) -> None:
    """The labels of the organization have a list of their own on the page."""
    database = site.clients.database
    guild = make_organization(database, "guild", site.people["ada"])
    make_repository(database, guild, "boat")
    labels.add_label(database, guild, "shared", "0000ff")
    text = site.browser("ada").get("/guild/boat/labels").text
    assert "Labels of guild" in text
    assert "shared" in text
    assert "New label" in text


def test_a_refused_label_is_shown_whichever_page_it_is_on(site: IssueSite) -> None:
    """The page after a refusal has the error and the typed text also for a label of another page of the list."""
    for number in range(31):
        labels.add_label(site.clients.database, site.ship, f"label {number:02}", "ffffff")
    last = labels.labels_of(site.clients.database, site.ship, skip=30, limit=1)[0][0]
    sent = {"name": "label 30, renamed", "color": "reddish", "description": "kept"}
    response = site.browser("bob").post(f"{LABELS}/{last.id}", data=sent)
    assert response.status_code == 422
    assert "hexadecimal" in response.text
    assert 'value="label 30, renamed"' in response.text
    assert 'value="kept"' in response.text


def test_a_label_that_changed_meanwhile_is_not_overwritten(site: IssueSite) -> None:
    """The page has the typed values and shows the current ones; submitting the form again replaces them."""
    database, bob = site.clients.database, site.browser("bob")
    label = labels.add_label(database, site.ship, "bug", "ff0000")
    at, opened = f"{LABELS}/{label.id}", bob.get(LABELS).text
    labels.change_label(database, site.ship, label.id, description="Breaks something")
    sent = {"name": "defect", "color": "#ff0000", "description": "", "version": version_in(opened)}
    refused = bob.post(at, data=sent)
    assert refused.status_code == 409
    assert "changed while you were editing" in refused.text
    assert "Breaks something" in refused.text
    assert 'value="defect"' in refused.text
    assert labels.find_label(database, site.ship, label.id).name == "bug"
    wrong = bob.post(at, data={**sent, "name": ""})
    assert version_in(wrong.text) == sent["version"]
    assert bob.post(at, data={**sent, "version": version_in(refused.text)}).status_code == 303
    assert labels.find_label(database, site.ship, label.id).name == "defect"


def version_in(text: str) -> str:
    """Return the version in the only form that edits a label."""
    (version,) = re.findall(r'name="version" value="(\w+)"', text)
    return str(version)
