"""The conversation of a pull request, its merge box and its reviewers."""

from tests.web.pulls.conftest import AT, PullSite


def test_the_page_shows_the_pull_request_and_permitted_forms(site: PullSite) -> None:
    """Writers can merge, readers can comment, and the URL of the issue redirects to the pull request."""
    site.open_pull()
    assert site.browser().get(f"{AT}/issues/1").headers["location"] == f"{AT}/pulls/1"
    for name, merges, comments in (
        ("ada", True, True),
        ("bob", True, True),
        ("eve", False, True),
        (None, False, False),
    ):
        text = site.browser(name).get(f"{AT}/pulls/1").text
        assert "Fix the tide" in text
        assert "<em>low</em>" in text
        assert f'href="{AT}/pulls/1/files"' in text
        assert "No conflicts with the base branch." in text
        assert ("Merge pull request</button>" in text) == merges, name
        assert ("Your comment" in text) == comments, name
        assert ("Delete pull request" in text) == (name == "ada")
    assert site.browser().get(f"{AT}/pulls/2").status_code == 404
    assert site.browser().get(f"{AT}/pulls/x").status_code == 404


def test_a_pull_request_is_closed_and_reopened(site: PullSite) -> None:
    """The comment form of issues closes and reopens a pull request, and returns to its page."""
    site.open_pull()
    ada = site.browser("ada")
    closed = ada.post(f"{AT}/issues/1/comments", data={"then": "close"})
    assert closed.headers["location"] == f"{AT}/pulls/1"
    text = ada.get(f"{AT}/pulls/1").text
    assert "Closed with unmerged commits." in text
    assert "Reopen pull request" in text
    assert ada.post(f"{AT}/issues/1/comments", data={"then": "reopen"}).status_code == 303
    assert "Merge pull request</button>" in ada.get(f"{AT}/pulls/1").text


def test_an_archived_repository_shows_no_forms_of_pull_requests(site: PullSite) -> None:
    """The pages have no forms to merge or review, and sent forms are refused with status 423."""
    site.open_pull()
    assert site.api["ada"].patch("/repos/ada/tides", json={"archived": True}).status_code == 200
    ada = site.browser("ada")
    for page in ("", "/files"):
        text = ada.get(f"{AT}/pulls/1{page}").text
        for action in ("merge", "base", "draft", "reviewers", "reviews", "comments"):
            assert f'action="{AT}/pulls/1/{action}"' not in text, action
    for action in ("merge", "base", "draft", "reviewers", "reviews", "comments", "comments/1/apply"):
        assert ada.post(f"{AT}/pulls/1/{action}", data={"base": "main"}).status_code == 423, action
