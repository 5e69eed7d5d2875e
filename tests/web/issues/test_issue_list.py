"""The issue list of a repository."""

import pytest

from holdfast.hosting.store import assignees, issue_labels, issues, labels, milestones
from holdfast.hosting.store.issues import Branches, IssueChanges, NewIssue
from holdfast.web.issues.issue_list import IssueFilter, IssuesQuery, parse_filter
from tests.hosting.dependency_helpers import counting_queries, open_many, relate
from tests.web.issues.conftest import AT, HOSTILE_TEXT, IssueSite, listed_titles


def test_filters_limit_the_list_and_links_remove_them(site: IssueSite) -> None:
    """Query parameters and qualifiers in the search field filter alike, and invalid values are ignored."""
    database, ship, people = site.clients.database, site.ship, site.people
    for title in ("Gauge", "Lantern", "Rope", "Done"):
        site.issue(title, "about the gauge" if title == "Rope" else "", author="eve" if title == "Rope" else "ada")
    gauge, lantern, rope, done = (issues.find_issue(database, ship, number) for number in (1, 2, 3, 4))
    branches = Branches("fix", "main")
    issues.open_issue(database, ship, people["ada"], NewIssue(title="Pull", branches=branches))
    bug = labels.add_label(database, ship, "bug, bad", "d73a4a", description="broken")
    issue_labels.add_labels(database, ship, gauge, people["ada"], (bug,))
    assignees.add_assignees(database, ship, lantern, people["ada"], (people["bob"],))
    season = milestones.add_milestone(database, ship, people["ada"], "Season")
    issues.change_issue(database, ship, rope, people["ada"], IssueChanges(milestone_id=season.id))
    issues.change_issue(database, ship, done, people["ada"], IssueChanges(is_closed=True))
    relate(database, [(gauge.id, lantern.id)])

    browser = site.browser()
    for query, expected in {
        "": ["Rope", "Lantern", "Gauge"],
        "?type=all": ["Pull", "Rope", "Lantern", "Gauge"],
        "?state=closed": ["Done"],
        "?state=all&type=all&sort=oldest": ["Gauge", "Lantern", "Rope", "Done", "Pull"],
        "?q=GAUGE": ["Rope", "Gauge"],
        "?q=%232": ["Lantern"],
        f"?label={bug.id}": ["Gauge"],
        "?label=999": [],
        f"?milestone={season.id}": ["Rope"],
        "?milestone=none&type=issues": ["Lantern", "Gauge"],
        "?assignee=bob": ["Lantern"],
        "?assignee=none&type=issues": ["Rope", "Gauge"],
        "?author=Eve": ["Rope"],
        "?ready=true": ["Rope", "Lantern"],
        "?page=2": [],
        # The search field holds everything at once; with a qualifier it is the whole search.
        "?q=is:open is:issue gauge": ["Rope", "Gauge"],
        "?q=is:closed": ["Done"],
        "?q=state:all sort:oldest": ["Gauge", "Lantern", "Rope", "Done", "Pull"],
        '?q=label:"BUG, bad"': ["Gauge"],
        "?q=label:lost": [],
        "?q=milestone:season": ["Rope"],
        "?q=milestone:lost": [],
        "?q=is:issue is:open no:milestone": ["Lantern", "Gauge"],
        "?q=assignee:BOB": ["Lantern"],
        "?q=assignee:bob author:eve": [],
        "?q=blocked:yes": ["Gauge"],
        "?q=is:issue blocked:no": ["Rope", "Lantern"],
        "?q=is:issue&assignee=bob": ["Lantern"],
        # What makes no sense is left out, and never an error.
        "?state=lost&sort=up&label=x&milestone=%27&page=-1&type=both&ready=maybe": [
            "Rope",
            "Lantern",
            "Gauge",
        ],
    }.items():
        assert listed_titles(browser.get(f"{AT}/issues{query}")) == expected, query

    assert listed_titles(browser.get(f"{AT}/pulls")) == ["Pull"]
    assert browser.get(f"{AT}/issues?q=is:pr is:open").headers["location"] == f"{AT}/pulls?"
    assert browser.get(f"{AT}/pulls?q=is:issue is:closed").headers["location"] == f"{AT}/issues?state=closed"
    assert listed_titles(site.browser("eve").get(f"{AT}/issues?q=author:@me")) == ["Rope"]
    # Menus write into the field, and so do links.
    text = browser.get(f"{AT}/issues?label={bug.id}&milestone={season.id}&assignee=none&ready=true").text
    written = "is:issue is:open label:&#34;bug, bad&#34; milestone:Season no:assignee blocked:no"
    assert f'name="q" value="{written}"' in text
    # What the field cannot find is kept in it.
    text = browser.get(f"{AT}/issues?q=is:issue label:lost tide").text
    assert 'name="q" value="is:issue state:all label:lost tide"' in text
    assert 'href="?state=closed&amp;type=issues&amp;q=label%3Alost+tide"' in text
    text = browser.get(f"{AT}/issues?type=all").text
    assert "4 Open" in text
    assert "1 Closed" in text
    assert "Blocked by 1" in text
    assert 'aria-label="Open pull request"' in text
    assert 'fill="#d73a4a"' in text
    assert "No issues match" in browser.get(f"{AT}/issues?q=nothing").text
    assert browser.get(f"{AT}/issues?type=pulls&sort=oldest").headers["location"] == f"{AT}/pulls?sort=oldest"


def test_listing_issues_requires_read_access(site: IssueSite) -> None:
    """The list of a private repository is not found, and a hostile title is escaped."""
    site.issue("Private matter", secret=True)
    site.issue(HOSTILE_TEXT)
    for name in (None, "eve", "bob"):
        assert site.browser(name).get("/ada/secret/issues").status_code == 404
    assert listed_titles(site.browser("ada").get("/ada/secret/issues")) == ["Private matter"]
    text = site.browser().get(f"{AT}/issues").text
    assert "<script>alert" not in text
    assert "&lt;script&gt;alert(&#34;1&#34;)" in text


def test_a_long_list_is_one_small_page_and_few_queries(site: IssueSite, monkeypatch: pytest.MonkeyPatch) -> None:
    """The number of queries does not depend on the number of issues."""
    database = site.clients.database
    browser = site.browser("ada")

    def queries() -> int:
        with counting_queries(database, monkeypatch) as asked:
            browser.get(f"{AT}/issues")
        return len(asked)

    open_many(database, site.ship, site.people["ada"], 2)
    few = queries()
    open_many(database, site.ship, site.people["ada"], 58)
    assert queries() == few <= 15
    response = browser.get(f"{AT}/issues")
    assert len(listed_titles(response)) == 25
    assert "Page 1 of 3" in response.text
    assert len(response.content) < 200_000
    assert 'href="?page=2"' in response.text


def test_an_empty_list_says_what_to_do(site: IssueSite) -> None:
    """The page of a repository without issues offers to open one."""
    assert "Open an issue" in site.browser().get(f"{AT}/issues").text


def test_links_keep_everything_else() -> None:
    """A link changes one filter, keeps the others, and leaves out defaults."""
    wish = IssueFilter(q="a&b", label=(3, 4), sort="oldest")
    assert wish.link(state="closed") == "?state=closed&q=a%26b&label=3&label=4&sort=oldest"
    assert wish.without_label(3) == "?q=a%26b&label=4&sort=oldest"
    assert wish.with_label(4) == "?q=a%26b&label=3&label=4&sort=oldest"
    assert IssueFilter().link(page=2) == "?page=2"
    assert parse_filter(IssuesQuery(ready="true", state="closed")).state == "open"
