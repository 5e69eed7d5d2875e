"""The lists of a user's own issues and pull requests in all repositories."""

import pytest

from holdfast.hosting.store import assignees, issues, review_changes
from holdfast.hosting.store.issues import Branches, NewIssue
from tests.hosting.dependency_helpers import counting_queries, open_many
from tests.hosting.repository_helpers import make_repository
from tests.web.issues.conftest import IssueSite, listed_titles


def test_users_see_their_own_issues(site: IssueSite) -> None:
    """The lists have readable issues that a user opened, is assigned to or is mentioned in."""
    gauge = site.issue("Gauge", "for @bob", author="eve")
    assignees.add_assignees(site.clients.database, site.ship, gauge, site.people["ada"], (site.people["bob"],))
    site.issue("Secret", "for @bob", secret=True)
    expected = {
        "ada": {"assigned": [], "created": ["Secret"], "mentioned": []},
        "bob": {"assigned": ["Gauge"], "created": [], "mentioned": ["Gauge"]},
        "eve": {"assigned": [], "created": ["Gauge"], "mentioned": []},
    }
    for name, lists in expected.items():
        browser = site.browser(name)
        results = {about: listed_titles(browser.get(f"/-/issues?about={about}")) for about in lists}
        assert results == lists
    bob = site.browser("bob")
    assert listed_titles(bob.get("/-/issues")) == ["Gauge"]
    assert listed_titles(bob.get("/-/issues?state=closed")) == []
    assert listed_titles(bob.get("/-/issues?ready=true&q=gau&sort=oldest")) == ["Gauge"]
    assert "ada/ship" in bob.get("/-/issues").text
    assert listed_titles(bob.get("/-/issues?about=x&state=y&sort=z")) == ["Gauge"]


def test_pull_requests_have_a_list_of_their_own(site: IssueSite) -> None:
    """The default list has the pull requests that the user opened, and no issues."""
    new = NewIssue(title="Mend the sail", branches=Branches("fix", "main"))
    issues.open_issue(site.clients.database, site.ship, site.people["bob"], new)
    site.issue("Gauge", author="bob")
    bob = site.browser("bob")
    assert listed_titles(bob.get("/-/pulls")) == ["Mend the sail"]
    assert "Your pull requests" in bob.get("/-/pulls").text
    assert listed_titles(bob.get("/-/pulls?about=assigned")) == []
    assert listed_titles(bob.get("/-/issues?about=created")) == ["Gauge"]
    assert listed_titles(site.browser("ada").get("/-/pulls")) == []
    assert site.browser().get("/-/pulls").headers["location"].startswith("/login")


def test_pull_requests_to_review_have_a_tab(site: IssueSite) -> None:
    """The tab is on the list of pull requests only; in a repository, the search field finds them too."""
    database, ada, bob = site.clients.database, site.people["ada"], site.people["bob"]
    new = NewIssue(title="Mend the sail", branches=Branches("fix", "main"))
    pull = issues.open_issue(database, site.ship, ada, new)
    review_changes.request_reviews(database, site.ship, pull, ada, users={bob.id: True}, teams={})
    browser = site.browser("bob")
    assert listed_titles(browser.get("/-/pulls?about=review-requested")) == ["Mend the sail"]
    assert "Review requests" in browser.get("/-/pulls").text
    assert "Review requests" not in browser.get("/-/issues").text
    assert (
        "No open pull requests wait for your review."
        in site.browser("ada").get("/-/pulls?about=review-requested").text
    )
    for query, expected in (
        ("review-requested:@me", ["Mend the sail"]),
        ("review-requested:ada", []),
        ("reviewed-by:bob", []),
    ):
        response = browser.get("/ada/ship/pulls", params={"q": query})
        assert listed_titles(response) == expected
        assert query.replace("@me", "bob") in response.text


def test_the_number_of_queries_is_bounded(site: IssueSite, monkeypatch: pytest.MonkeyPatch) -> None:
    """The number of queries does not depend on the number of issues and repositories."""
    database, ada = site.clients.database, site.people["ada"]
    browser = site.browser("ada")

    def queries() -> int:
        with counting_queries(database, monkeypatch) as asked:
            assert browser.get("/-/issues?about=created").status_code == 200
        return len(asked)

    site.issue("Gauge")
    few = queries()
    for name in ("one", "two", "three"):
        open_many(database, make_repository(database, ada, name), ada, 4)
    assert queries() == few <= 10


def test_visitors_are_asked_to_log_in(site: IssueSite) -> None:
    """A visitor is redirected to log in, with the list and its query as the next page."""
    response = site.browser().get("/-/issues?about=created")
    assert response.status_code == 303
    assert response.headers["location"] == "/login?next=%2F-%2Fissues%3Fabout%3Dcreated"
