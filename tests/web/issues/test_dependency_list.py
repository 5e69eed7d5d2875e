"""The list of all dependencies of an issue in one direction."""

import re

from tests.hosting.dependency_helpers import relate
from tests.web.issues.conftest import IssueSite

AT = "/ada/ship"


def test_every_dependency_can_be_reached_page_by_page(site: IssueSite) -> None:
    """The issue links to a list of all its blockers, and to one of all issues that it blocks."""
    database = site.clients.database
    gauge = site.issue("Gauge")
    others = [site.issue(f"Other {number}") for number in range(70)]
    relate(database, [(gauge.id, item.id) for item in others[:60]] + [(item.id, gauge.id) for item in others[60:]])
    relate(database, [(others[number].id, others[69].id) for number in range(60)])
    eve = site.browser("eve")
    page = eve.get(f"{AT}/issues/1").text
    assert f'href="{AT}/issues/1/dependencies/list?side=blocked-by">Show all 60</a>' in page

    def listed(issue: int, side: str) -> set[str]:
        pages = (eve.get(f"{AT}/issues/{issue}/dependencies/list?side={side}&page={n}").text for n in (1, 2, 3))
        return {title for page in pages for title in re.findall(r"<bdi>(Other \d+)</bdi>", page)}

    assert listed(1, "blocked-by") == {f"Other {number}" for number in range(60)}
    last = eve.get(f"{AT}/issues/71").text
    assert f'href="{AT}/issues/71/dependencies/list?side=blocks">Show all</a>' in last
    assert listed(71, "blocks") == {f"Other {number}" for number in range(60)}


def test_the_list_hides_what_the_issue_hides(site: IssueSite) -> None:
    """An unreadable blocker has no title, and an unreadable blocked issue is left out."""
    gauge, secret = site.issue("Gauge"), site.issue("Private matter", secret=True)
    other = site.issue("Second private matter", secret=True)
    relate(site.clients.database, [(gauge.id, secret.id), (other.id, gauge.id)])
    eve = site.browser("eve")
    blockers = eve.get(f"{AT}/issues/1/dependencies/list?side=blocked-by").text
    assert "An issue you cannot see" in blockers
    blocked = eve.get(f"{AT}/issues/1/dependencies/list?side=blocks").text
    assert "No issues." in blocked
    assert "rivate matter" not in blockers + blocked
    assert "Private matter" in site.browser("ada").get(f"{AT}/issues/1/dependencies/list").text
