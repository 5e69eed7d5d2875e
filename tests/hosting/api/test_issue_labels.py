"""Labels of issues, and exclusive scopes."""

import httpx
import pytest

from tests.hosting.api.label_helpers import ON_ISSUE, create_label, label_names
from tests.hosting.api_clients import ServiceClients


@pytest.fixture
def ada(ada: httpx.Client) -> httpx.Client:
    """Open an issue in Ada's repository."""
    ada.post("/repos/ada/ship/issues", json={"title": "It leaks"})
    return ada


def test_labels_are_added_to_an_issue_and_removed(clients: ServiceClients, ada: httpx.Client) -> None:
    """Labels are given by id or name, in an object or as a plain list; unknown ones change nothing."""
    bug, hull, deck = (create_label(ada, name) for name in ("bug", "hull", "deck"))
    assert label_names(ada.post(ON_ISSUE, json={"labels": [bug]})) == ["bug"]
    assert label_names(ada.post(ON_ISSUE, json=["hull", "bug"])) == ["bug", "hull"]
    assert label_names(ada.put(ON_ISSUE, json={"labels": [hull, str(deck)]})) == ["deck", "hull"]
    assert ada.delete(f"{ON_ISSUE}/{deck}").status_code == 204
    assert label_names(clients.anonymous.get(ON_ISSUE)) == ["hull"]
    assert ada.delete(f"{ON_ISSUE}/hull").status_code == 204
    assert ada.delete(f"{ON_ISSUE}/{bug}").status_code == 204
    assert ada.delete(f"{ON_ISSUE}/nothing").status_code == 404
    ada.put(ON_ISSUE, json={"labels": [bug, hull]})
    assert ada.delete(ON_ISSUE).status_code == 204
    assert label_names(ada.get(ON_ISSUE)) == []
    assert ada.post(ON_ISSUE, json={"labels": [2**40]}).status_code == 422
    assert ada.post(ON_ISSUE, json={"labels": [bug, "none"]}).status_code == 422
    assert ada.post(ON_ISSUE, json="bug").status_code == 422
    assert label_names(ada.get(ON_ISSUE)) == []
    assert clients.user("bob").post(ON_ISSUE, json={"labels": [bug]}).status_code == 403


def test_an_issue_has_one_label_of_an_exclusive_scope(ada: httpx.Client) -> None:
    """The last exclusive label of a scope replaces others; a scope ends at the last slash of the name."""
    for name in ("size/s", "size/l", "size/deck/s"):
        create_label(ada, name, exclusive=True)
    create_label(ada, "size/any")
    assert label_names(ada.post(ON_ISSUE, json=["size/s", "size/any", "size/deck/s"])) == [
        "size/any",
        "size/deck/s",
        "size/s",
    ]
    assert label_names(ada.post(ON_ISSUE, json=["size/l"])) == ["size/any", "size/deck/s", "size/l"]
    assert label_names(ada.put(ON_ISSUE, json=["size/l", "size/s"])) == ["size/s"]
    opened = ada.post("/repos/ada/ship/issues", json={"title": "t", "labels": ["size/s", "size/l"]}).json()
    assert [label["name"] for label in opened["labels"]] == ["size/l"]
