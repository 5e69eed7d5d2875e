"""The page of the dependency graph."""

import re
import xml.etree.ElementTree as ET

import pytest

from tests.hosting.dependency_helpers import counting_queries, open_many, relate
from tests.web.issues.conftest import AT, HOSTILE_TEXT, IssueSite

ONE = f"{AT}/issues/1/dependencies"
SVG = "{http://www.w3.org/2000/svg}"


def drawing(text: str) -> ET.Element:
    """Return the drawing of a page, which has to be well-formed."""
    hits = re.search(r"<svg width.*?</svg>", text.partition('class="graph')[2], re.DOTALL)
    assert hits is not None
    return ET.fromstring(hits[0].replace("<svg ", '<svg xmlns="http://www.w3.org/2000/svg" ', 1))


def test_the_graph_has_a_drawing_and_a_list(site: IssueSite) -> None:
    """Nodes are links with their state in words and class, and a hidden issue has no title."""
    gauge, lantern, hostile = (site.issue(title) for title in ("Gauge", "Lantern", HOSTILE_TEXT))
    secret = site.issue("Private matter", secret=True)
    site.browser("ada").post(f"{AT}/issues/2/state", data={"state": "closed"})
    relate(site.clients.database, [(gauge.id, lantern.id), (gauge.id, secret.id), (hostile.id, gauge.id)])
    text = site.browser("eve").get(ONE).text
    assert "Private matter" not in text
    element = drawing(text)
    assert element.find(f"{SVG}title") is not None
    assert element.find(f"{SVG}desc") is not None
    assert [link.get("href") for link in element.iter(f"{SVG}a")] == [
        f"{AT}/issues/{number}" for number in (1, 2, 3)
    ]
    kinds = sorted(str(node.get("class")) for node in element.iter(f"{SVG}g") if "node" in str(node.get("class")))
    assert kinds == ["node done", "node inaccessible", "node open", "node open here"]
    words = [written.text for written in element.iter(f"{SVG}text")]
    assert {"#1 · Open", "#2 · Closed", "Hidden", "An issue you cannot see"} <= set(words)
    assert "<script>alert" not in text
    table = text.partition("Show as table")[2]
    assert table.count("<tr>") == 5
    assert "a hidden issue" in table
    assert "Private matter" in site.browser("ada").get(ONE).text


def test_a_hundred_issues_fit_on_a_page(site: IssueSite, monkeypatch: pytest.MonkeyPatch) -> None:
    """All issues are drawn without overlapping, with at most 15 queries and below 200 kB."""
    database = site.clients.database
    issues = open_many(database, site.ship, site.people["ada"], 100)
    relate(database, [(issues[number].id, issues[(number - 1) // 2].id) for number in range(1, 100)])
    browser = site.browser("ada")
    with counting_queries(database, monkeypatch) as queries:
        response = browser.get(ONE)
    assert len(queries) <= 15
    assert len(response.content) < 200_000
    repositories = [
        tuple(map(int, re.findall(r"\d+", str(node.get("transform")))))
        for node in drawing(response.text).iter(f"{SVG}g")
        if "node" in str(node.get("class"))
    ]
    assert len(repositories) == 100
    for one, repository in enumerate(repositories):
        for x, y in repositories[:one]:
            assert abs(repository[0] - x) >= 230 or abs(repository[1] - y) >= 52
    near = browser.get(f"{ONE}?depth=2")
    assert len(list(drawing(near.text).iter(f"{SVG}a"))) == 7
    assert browser.get(f"{ONE}?depth=x").status_code == 200


def test_of_a_very_large_graph_a_part_is_drawn(site: IssueSite) -> None:
    """The page says how many issues are not shown, and stays small."""
    database = site.clients.database
    issues = open_many(database, site.ship, site.people["ada"], 150)
    relate(database, [(issues[0].id, item.id) for item in issues[1:]])
    relate(database, [(item.id, other.id) for item in issues[1:40] for other in issues[60:100]])
    response = site.browser().get(ONE)
    assert "Showing the nearest 120 issues; 30 are not shown." in response.text
    assert len(response.content) < 200_000
    nodes = [node for node in drawing(response.text).iter(f"{SVG}g") if "node" in str(node.get("class"))]
    assert len(nodes) == 120


def test_an_issue_without_dependencies_has_no_drawing(site: IssueSite) -> None:
    """The page says that there are none; an issue that cannot be read or does not exist has no page."""
    site.issue("Gauge")
    site.issue("Private matter", secret=True)
    browser = site.browser("eve")
    text = browser.get(ONE).text
    assert "No dependencies." in text
    assert 'class="graph' not in text
    assert browser.get("/ada/secret/issues/1/dependencies").status_code == 404
    assert browser.get(f"{AT}/issues/7/dependencies").status_code == 404
