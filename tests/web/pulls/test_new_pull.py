"""Opening a pull request from a comparison, and the list of pull requests."""

from tests.web.pulls.conftest import AT, PullSite


def test_a_pull_request_is_opened_from_a_comparison(site: PullSite) -> None:
    """The title is that of the only commit, and a second pull request of the same branches is refused."""
    ada = site.browser("ada")
    text = ada.get(f"{AT}/compare/main...fix").text
    assert 'value="Write a.txt"' in text
    assert "Log in</a> to open a pull request" in site.browser().get(f"{AT}/compare/main...fix").text
    preview = ada.post(f"{AT}/compare/main...fix", data={"title": "T", "body": "**b**", "then": "preview"})
    assert "<strong>b</strong>" in preview.text
    refused = ada.post(f"{AT}/compare/main...fix", data={"title": " ", "body": "kept words"})
    assert refused.status_code == 422
    assert "kept words" in refused.text
    form = {"title": "Tide", "body": "Low", "draft": "true", "reviewers": "bob, "}
    response = ada.post(f"{AT}/compare/main...fix", data=form)
    assert response.headers["location"] == f"{AT}/pulls/1"
    pull = site.api["ada"].get("/repos/ada/tides/pulls/1").json()
    assert (pull["title"], pull["draft"]) == ("Draft: Tide", True)
    assert [reviewer["login"] for reviewer in pull["requested_reviewers"]] == ["bob"]
    again = ada.get(f"{AT}/compare/main...fix").text
    assert "There is already a pull request" in again
    assert "Create pull request" not in again
    assert ada.post(f"{AT}/compare/main...fix", data={"title": "Twice"}).status_code == 409
    assert ada.post(f"{AT}/compare/main...nothing", data={"title": "T"}).status_code == 404


def test_a_pull_request_is_opened_from_a_fork(site: PullSite) -> None:
    """A reader opens one from a public fork; branches of a private fork are neither compared nor linked."""
    assert site.api["eve"].post("/repos/ada/tides/forks", json={}).status_code == 202
    body = {"content": "bmV3", "message": "Add b", "branch": "main", "new_branch": "topic"}
    assert site.api["eve"].post("/repos/eve/tides/contents/b.txt", json=body).status_code == 201
    eve = site.browser("eve")
    assert site.browser().get(f"{AT}/compare/main...eve:topic").headers["location"].startswith("/login")
    text = eve.get(f"{AT}/compare/main...eve:topic").text
    assert "+ new" in text
    assert "Allow edits by maintainers" in text
    assert 'value="eve:topic"' in text
    assert eve.get(f"{AT}/compare/main...eve:nothing").status_code == 404
    assert eve.get(f"{AT}/compare/main...bob:topic").status_code == 404
    response = eve.post(f"{AT}/compare/main...eve:topic", data={"title": "From a fork"})
    assert response.headers["location"] == f"{AT}/pulls/1"
    page = eve.get(f"{AT}/pulls/1").text
    assert "eve:topic" in page
    assert "/eve/tides/src/branch/topic" in page
    site.api["eve"].patch("/repos/eve/tides", json={"private": True})
    body |= {"new_branch": "hidden", "content": "c2VjcmV0"}
    assert site.api["eve"].post("/repos/eve/tides/contents/c.txt", json=body).status_code == 201
    assert "secret" not in eve.get(f"{AT}/compare/main...eve:hidden").text
    assert "/eve/tides/src/branch/topic" not in site.browser().get(f"{AT}/pulls/1").text


def test_a_recent_push_is_offered_on_the_first_page(site: PullSite) -> None:
    """The offer is shown only to the user who pushed, until the pull request exists."""
    text = site.browser("ada").get(AT).text
    assert f'href="{AT}/compare/main...fix">Compare &amp; pull request' in text
    for name in ("bob", None):
        assert "Compare &amp; pull request" not in site.browser(name).get(AT).text
    site.open_pull()
    assert "Compare &amp; pull request" not in site.browser("ada").get(AT).text


def test_pull_requests_have_a_list_of_their_own(site: PullSite) -> None:
    """The list of issues has no pull requests unless both types are requested."""
    site.open_pull()
    site.api["ada"].post("/repos/ada/tides/issues", json={"title": "Leak"})
    browser = site.browser()
    pulls = browser.get(f"{AT}/pulls").text
    assert "Fix the tide" in pulls
    assert "Leak" not in pulls
    assert f'href="{AT}/pulls/1"' in pulls
    issues = browser.get(f"{AT}/issues").text
    assert "Leak" in issues
    assert "Fix the tide" not in issues
    assert "Fix the tide" in browser.get(f"{AT}/issues?type=all").text
    assert browser.get(f"{AT}/issues?type=pulls&q=tide").headers["location"] == f"{AT}/pulls?q=tide"
    assert "No pull requests match" in browser.get(f"{AT}/pulls?q=nothing").text
    assert "New pull request" in site.browser("eve").get(f"{AT}/pulls").text
