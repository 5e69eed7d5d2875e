"""The issue board of a repository."""

import re
from urllib.parse import urlencode

import httpx
import pytest

from holdfast.hosting.store import assignees, issue_labels, issues, labels, milestones
from holdfast.hosting.store.issues import Branches, Issue, IssueChanges, NewIssue
from holdfast.hosting.store.labels import Label
from tests.hosting.dependency_helpers import counting_queries, open_many, relate
from tests.web.issues.conftest import AT, IssueSite
from tests.web.organization_fixture import EVIL

BOARD = f"{AT}/issues/board"


def board(response: httpx.Response) -> dict[str, tuple[int, list[str]]]:
    """Return the columns of a board: the count, and the titles of the cards."""
    assert response.status_code in {200, 409}, response.text
    results = {}
    for part in response.text.split('<section class="board-column"')[1:]:
        heading = re.search(r"<h3.*?<bdi>(.*?)</bdi>.*?class=\"count\">([\d,]+)", part, re.DOTALL)
        assert heading is not None, part
        titles = re.findall(r'<a class="title"[^>]*><bdi>(.*?)</bdi>', part)
        results[heading[1]] = (int(heading[2].replace(",", "")), titles)
    return results


def cards(response: httpx.Response) -> dict[str, list[str]]:
    """Return the titles of the cards in each column."""
    return {name: titles for name, (_, titles) in board(response).items()}


def label(site: IssueSite, name: str, *numbers: int, exclusive: bool = True) -> Label:
    """Make a label, on some issues."""
    database, ship, ada = site.clients.database, site.ship, site.people["ada"]
    created_label = labels.add_label(database, ship, name, "d73a4a", is_exclusive=exclusive)
    for number in numbers:
        issue_labels.add_labels(database, ship, issues.find_issue(database, ship, number), ada, (created_label,))
    return created_label


def milestone(site: IssueSite, title: str, *numbers: int) -> int:
    """Make a milestone with some issues; return its id."""
    database, ship, ada = site.clients.database, site.ship, site.people["ada"]
    created_milestone = milestones.add_milestone(database, ship, ada, title)
    for number in numbers:
        issue = issues.find_issue(database, ship, number)
        issues.change_issue(database, ship, issue, ada, IssueChanges(milestone_id=created_milestone.id))
    return created_milestone.id


def move(browser: httpx.Client, query: dict[str, str], index: int, source: object, to: object) -> httpx.Response:
    """Move a card."""
    form = {"index": str(index), "source": str(source), "to": str(to)}
    return browser.post(f"{BOARD}/move?{urlencode(query)}", data=form)


def read_issue(site: IssueSite, number: int) -> Issue:
    """Return an issue as it is."""
    return issues.find_issue(site.clients.database, site.ship, number)


def test_a_board_has_a_column_for_each_open_milestone(site: IssueSite) -> None:
    """The filters of the issue list apply to all columns, and a closed milestone has no column."""
    database, ship, people = site.clients.database, site.ship, site.people
    for title in ("Gauge", "Lantern", "Rope", EVIL, "Done"):
        site.issue(title)
    issues.open_issue(database, ship, people["ada"], NewIssue(title="Pull", branches=Branches("fix", "main")))
    season = milestone(site, "Season", 2, 3, 5)
    old = milestone(site, "Old", 1)
    milestones.change_milestone(
        database, ship, people["ada"], milestones.find_milestone(database, ship, old), is_closed=True
    )
    # A title that is the id of another milestone.
    milestone(site, str(season))
    issues.change_issue(database, ship, read_issue(site, 5), people["ada"], IssueChanges(is_closed=True))
    assignees.add_assignees(database, ship, read_issue(site, 2), people["ada"], (people["bob"],))
    relate(database, [(read_issue(site, 2).id, read_issue(site, 3).id)])
    browser = site.browser()
    response = browser.get(BOARD)
    assert EVIL not in response.text
    result = board(response)
    assert list(result) == ["No milestone", "Season", str(season)]
    assert result["Season"] == (2, ["Rope", "Lantern"])
    assert result[str(season)] == (0, [])
    assert result["No milestone"][0] == 1
    assert "Blocked by 1" in response.text
    assert "Assigned to bob" in response.text
    assert cards(browser.get(f"{BOARD}?type=all"))["No milestone"][0] == "Pull"
    assert cards(browser.get(f"{BOARD}?q=is:closed"))["Season"] == ["Done"]
    assert cards(browser.get(f"{BOARD}?assignee=bob"))["Season"] == ["Lantern"]
    assert cards(browser.get(f"{BOARD}?sort=oldest"))["Season"] == ["Lantern", "Rope"]
    assert cards(browser.get(f"{BOARD}?milestone=none"))["Season"] == []
    assert 'name="q" value="is:issue is:open assignee:bob"' in browser.get(f"{BOARD}?assignee=bob").text
    assert f'href="{AT}/issues/board?' in browser.get(f"{AT}/issues").text


def test_a_board_has_a_column_for_each_label_of_a_scope_or_that_was_chosen(site: IssueSite) -> None:
    """The first column has the issues with none of the labels, and the issue list can be filtered the same way."""
    for title in ("Gauge", "Lantern", "Rope"):
        site.issue(title)
    browser = site.browser()
    assert "This repository has no labels" in browser.get(f"{BOARD}?by=label").text
    bug = label(site, "bug", 1, 2, exclusive=False)
    assert "Choose the labels" in browser.get(f"{BOARD}?by=label").text
    later = label(site, "status/later", 1)
    done = label(site, "status/done")
    label(site, "size/big", 3)
    named = {"No status": ["Rope", "Lantern"], "status/done": [], "status/later": ["Gauge"]}
    assert cards(browser.get(f"{BOARD}?by=label&scope=status")) == named
    first = cards(browser.get(f"{BOARD}?by=label"))
    assert first == {"No size": ["Lantern", "Gauge"], "size/big": ["Rope"]}
    assert cards(browser.get(f"{BOARD}?by=label&scope=lost")) == first
    chosen = browser.get(f"{BOARD}?by=label&column={bug.id}&column={later.id}&column=x&column=999")
    assert cards(chosen) == {
        "None of these labels": ["Rope"],
        "bug": ["Lantern", "Gauge"],
        "status/later": ["Gauge"],
    }
    assert cards(browser.get(f"{BOARD}?by=label&scope=status&label={bug.id}"))["No status"] == ["Lantern"]
    narrowed = cards(browser.get(f"{BOARD}?by=label&scope=status&q=is:open label:size/big"))
    assert narrowed == {"No status": ["Rope"], "status/done": [], "status/later": []}
    listed = browser.get(f"{AT}/issues?without={later.id}&without={done.id}&without=x")
    assert re.findall(r'<a class="title"[^>]*><bdi>(.*?)</bdi>', listed.text) == ["Rope", "Lantern"]
    assert "Without the labels of a board" in listed.text


def test_a_column_is_bounded_and_the_queries_do_not_grow_with_the_cards(
    site: IssueSite, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A column has at most 20 cards and a link to the list; columns beyond the limit are counted."""
    database, ship, ada = site.clients.database, site.ship, site.people["ada"]
    season = milestone(site, "Season")
    site.issue("First")
    browser = site.browser("bob")

    def queries() -> int:
        with counting_queries(database, monkeypatch) as asked:
            browser.get(BOARD)
        return len(asked)

    def fill(least: int) -> None:
        with database.write() as connection:
            connection.exec_driver_sql(
                f"UPDATE issues SET milestone_id = {season} WHERE repository_id = {ship.id} AND number <= {least}"
            )

    open_many(database, ship, ada, 3)
    fill(2)
    few = queries()
    open_many(database, ship, ada, 57)
    fill(30)
    assert queries() == few <= 30
    response = browser.get(BOARD)
    assert len(response.content) < 200_000
    result = board(response)
    assert (result["Season"][0], len(result["Season"][1])) == (30, 20)
    assert (result["No milestone"][0], len(result["No milestone"][1])) == (31, 20)
    assert f'href="{AT}/issues?milestone={season}"' in response.text
    assert f'href="{AT}/issues?milestone=none"' in response.text
    for number in range(12):
        milestone(site, f"Season {number}")
    text = browser.get(BOARD).text
    assert len(re.findall('class="board-column"', text)) == 13
    assert "1 more column is not shown" in text


def test_a_card_is_moved_to_a_milestone(site: IssueSite) -> None:
    """A move from a column where the card no longer is has status 409 and shows where the card is now."""
    site.issue("Gauge")
    season, winter = milestone(site, "Season"), milestone(site, "Winter")
    bob = site.browser("bob")
    query = {"by": "milestone", "sort": "oldest"}
    moved = move(bob, query, 1, 0, season)
    assert moved.status_code == 303
    assert moved.headers["location"] == f"{BOARD}?by=milestone&sort=oldest#issue-1"
    assert read_issue(site, 1).milestone_id == season
    response = bob.get(BOARD)
    assert "Issue #1 moved." in response.text
    stale = move(bob, query, 1, 0, winter)
    assert stale.status_code == 409
    assert "moved by somebody else" in stale.text
    assert cards(stale)["Season"] == ["Gauge"]
    assert f'<a href="{BOARD}?by=milestone' in stale.text
    assert 'href="?' not in stale.text
    assert move(bob, query, 1, season, 999).status_code == 422
    assert move(bob, query, 1, season, 0).status_code == 303
    assert read_issue(site, 1).milestone_id is None
    assert move(bob, query, 99, 0, season).status_code == 404
    assert move(bob, query, 0, "x", "x").status_code == 404


def test_a_card_is_moved_to_a_label(site: IssueSite) -> None:
    """The label of its column is replaced, and the others stay."""
    site.issue("Gauge")
    bug = label(site, "bug", 1, exclusive=False)
    later, done = label(site, "status/later"), label(site, "status/done")
    bob = site.browser("bob")
    query = {"by": "label", "scope": "status"}

    def names() -> list[str]:
        with site.clients.database.read() as connection:
            return [label.name for label in issue_labels.labels_on(connection, read_issue(site, 1))]

    assert move(bob, query, 1, 0, later.id).status_code == 303
    assert names() == ["bug", "status/later"]
    stale = move(bob, query, 1, 0, done.id)
    assert stale.status_code == 409
    assert cards(stale)["status/later"] == ["Gauge"]
    assert move(bob, query, 1, later.id, later.id).status_code == 303
    assert move(bob, query, 1, later.id, done.id).status_code == 303
    assert names() == ["bug", "status/done"]
    assert move(bob, query, 1, later.id, 0).status_code == 409
    assert move(bob, query, 1, done.id, 999).status_code == 422
    assert move(bob, query, 1, done.id, 0).status_code == 303
    assert names() == ["bug"]
    assert move(bob, {"by": "label"}, 1, bug.id, later.id).status_code == 303
    assert names() == ["status/later"]


def test_only_writers_move_cards(site: IssueSite) -> None:
    """Others see no forms; a private board is not found, and cards of an archived repository cannot be moved."""
    site.issue("Gauge", author="eve")
    season = milestone(site, "Season")
    assert "Move to" in site.browser("bob").get(BOARD).text
    assert "Move to" not in site.browser("eve").get(BOARD).text
    assert "Move to" not in site.browser().get(BOARD).text
    assert move(site.browser("eve"), {}, 1, 0, season).status_code == 403
    assert move(site.browser(), {}, 1, 0, season).headers["location"].startswith("/login")
    for name in (None, "eve"):
        assert site.browser(name).get("/ada/secret/issues/board").status_code == 404
    with site.clients.database.write() as connection:
        connection.exec_driver_sql("UPDATE repositories SET archived_at = 1 WHERE name = 'ship'")
    assert "Move to" not in site.browser("bob").get(BOARD).text
    assert move(site.browser("bob"), {}, 1, 0, season).status_code == 423
    assert read_issue(site, 1).milestone_id is None
