"""The forms that add and remove dependencies."""

import pytest

from holdfast.hosting.services.dependencies import IssueReference
from holdfast.web.issues.dependency_forms import parse_reference
from tests.hosting.dependency_helpers import edges, relate
from tests.web.issues.conftest import AT, IssueSite, listed_titles

ONE = f"{AT}/issues/1"
ADD = f"{ONE}/dependencies"


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        (" 12 ", IssueReference(12)),
        ("#12", IssueReference(12)),
        ("ada/ship#12", IssueReference(12, "ada", "ship")),
        ("http://localhost:3000/ada/ship/issues/12", IssueReference(12, "ada", "ship")),
        ("https://example.org/a.b/c-d/pulls/12/", IssueReference(12, "a.b", "c-d")),
        ("the gauge", None),
        ("12 boats", None),
        ("", None),
        ("١٢", None),
        ("9" * 30, None),
    ],
)
def test_issues_are_named_in_every_usual_way(text: str, expected: IssueReference | None) -> None:
    """A number, a full name and a URL refer to an issue; other text does not."""
    assert parse_reference(text) == expected


def test_a_writer_adds_and_removes_on_both_sides(site: IssueSite) -> None:
    """An issue is named by its number or its full name; other words lead to a choice of matching issues."""
    for title in ("Gauge", "Lantern of the pier", "Rope", "Lantern of the mole"):
        site.issue(title)
    bob = site.browser("bob")

    def sent(path: str, wanted: str, side: str = "blocked-by") -> str:
        response = bob.post(path, data={"wanted": wanted, "side": side})
        assert response.status_code == 303, response.text
        return response.headers["location"]

    assert sent(ADD, "2") == f"{ONE}#dependencies"
    assert sent(ADD, "ada/ship#3", "blocks") == f"{ONE}#dependencies"
    assert edges(site.clients.database) == {(1, 2), (3, 1)}
    choice = sent(ADD, "lantern")
    assert choice == f"{ONE}/dependencies/add?side=blocked-by&q=lantern"
    found_response = bob.get(choice)
    # The first one is related already.
    assert listed_titles(found_response) == ["Lantern of the mole"]
    assert 'value="ada/ship#4"' in found_response.text
    assert sent(ADD, "ada/ship#4") == f"{ONE}#dependencies"
    text = bob.get(ONE).text
    for other in (2, 3, 4):
        assert f'value="ada/ship#{other}"' in text
    sent(f"{ADD}/remove", "ada/ship#2")
    sent(f"{ADD}/remove", "ada/ship#3", "blocks")
    assert edges(site.clients.database) == {(1, 4)}
    gone = bob.post(f"{ADD}/remove", data={"wanted": "2"})
    assert (gone.status_code, "was removed already" in gone.text) == (404, True)
    assert bob.post(f"{ADD}/remove", data={"wanted": "words"}).status_code == 422
    assert listed_titles(bob.get(f"{ADD}/add?q=nothing")) == []
    assert "Search by title" in bob.get(f"{ADD}/add").text


def test_errors_are_explained(site: IssueSite) -> None:
    """A cycle is shown with its path; an issue that cannot be read is refused like one that does not exist."""
    gauge, lantern, rope = (site.issue(title) for title in ("Gauge", "Lantern", "Rope"))
    site.issue("Private matter", secret=True)
    relate(site.clients.database, [(lantern.id, gauge.id), (rope.id, lantern.id)])
    bob = site.browser("bob")
    circle = bob.post(ADD, data={"wanted": "#3"})
    assert circle.status_code == 409
    assert "none of these could ever be closed" in circle.text
    assert "ada/ship#1 → ada/ship#3 → ada/ship#2 → ada/ship#1" in circle.text
    assert bob.post(ADD, data={"wanted": "1"}).status_code == 409
    assert bob.post(f"{AT}/issues/2/dependencies", data={"wanted": "1"}).status_code == 409
    hidden, missing = (
        bob.post(ADD, data={"wanted": f"ada/{name}#1"}).text.replace(name, "") for name in ("secret", "nothing")
    )
    assert hidden == missing
    assert "there is no such issue that you can read" in hidden
    assert listed_titles(bob.get(f"{ADD}/add?q=private")) == []
    assert listed_titles(site.browser("ada").get(f"{ADD}/add?q=private")) == ["Private matter"]


def test_only_writers_change_dependencies(site: IssueSite) -> None:
    """Readers and visitors cannot change them; where dependencies are disabled, nobody sees them."""
    gauge, lantern = site.issue("Gauge"), site.issue("Lantern")
    relate(site.clients.database, [(gauge.id, lantern.id)])
    eve = site.browser("eve")
    for path in (ADD, f"{ADD}/remove"):
        assert eve.post(path, data={"wanted": "2"}).status_code == 404
        assert site.browser().post(path, data={"wanted": "2"}).status_code == 303
        assert eve.post(path.replace("/1/", "/9/"), data={"wanted": "2"}).status_code == 404
    assert "/dependencies/remove" not in eve.get(ONE).text
    assert edges(site.clients.database) == {(1, 2)}
    switched = {"internal_tracker": {"enable_issue_dependencies": False}}
    assert site.clients.admin.patch("/repos/ada/ship", json=switched).status_code == 200
    text = site.browser("ada").get(ONE).text
    assert 'id="dependencies"' not in text
    assert site.browser("ada").get(ADD).status_code == 404
