"""The forms of the merge box: merge, update, ready, draft and base."""

import re

from sqlalchemy import update

from holdfast.hosting.store.tables import pull_requests
from tests.web.pulls.conftest import AT, PullSite


def test_a_pull_request_is_merged_and_its_branch_deleted(site: PullSite) -> None:
    """A form with another head than the current one has status 409."""
    created = site.open_pull()
    bob = site.browser("bob")
    form = {"style": "squash", "title": "Tide fixed", "head": "0" * 40, "offered": "true"}
    outdated = bob.post(f"{AT}/pulls/1/merge", data=form)
    assert outdated.status_code == 409
    assert "The head of the pull request is" in outdated.text
    response = bob.post(f"{AT}/pulls/1/merge", data={**form, "head": created["head"]["sha"]})
    assert response.headers["location"] == f"{AT}/pulls/1"
    text = bob.get(f"{AT}/pulls/1").text
    assert "Pull request #1 merged." in text
    assert "Pull request merged." in text
    assert "merged this in" in text
    assert site.api["ada"].get("/repos/ada/tides/commits").json()[0]["commit"]["message"].startswith("Tide fixed")
    assert "Merge pull request</button>" not in text
    assert bob.post(f"{AT}/pulls/1/branch/delete").headers["location"] == f"{AT}/pulls/1"
    assert "Branch fix deleted." in bob.get(f"{AT}/pulls/1").text
    assert site.api["ada"].get("/repos/ada/tides/branches/fix").status_code == 404
    assert "Delete branch" not in bob.get(f"{AT}/pulls/1").text


def test_a_rejected_merge_keeps_its_commit_message(site: PullSite) -> None:
    """The form is shown again with the style, title, message and choice about the branch, and the current head."""
    created = site.open_pull()
    bob = site.browser("bob")
    form = {
        "style": "squash",
        "title": 'Tide "fixed"',
        "message": "It was low.\n\nReviewed by Ada.",
        "head": created["head"]["sha"],
        "offered": "true",
        "delete_branch": "true",
    }
    site.put("b.txt", "more", "fix")
    rejected = bob.post(f"{AT}/pulls/1/merge", data=form)
    assert rejected.status_code == 409
    shown = rejected.text.partition('class="merge-form"')[2].partition("</form>")[0]
    assert '<option value="squash" selected>' in shown
    assert 'name="title" value="Tide &#34;fixed&#34;"' in shown
    assert "It was low.\n\nReviewed by Ada.</textarea>" in shown
    assert "<details open>" in shown
    assert 'name="delete_branch" value="true" checked' in shown
    assert form["head"] not in shown
    del form["delete_branch"]
    again = bob.post(f"{AT}/pulls/1/merge", data=form).text
    assert 'name="delete_branch" value="true" checked' not in again
    assert "<details open>" not in bob.get(f"{AT}/pulls/1").text.partition('class="merge-form"')[2]


def test_a_merge_is_rejected_after_a_change_of_the_base_branch(site: PullSite) -> None:
    """The page still names the former base branch, so nothing is merged into the new one."""
    site.open_pull()
    site.api["ada"].post("/repos/ada/tides/branches", json={"new_branch_name": "stable"})
    bob = site.browser("bob")
    shown = bob.get(f"{AT}/pulls/1").text.partition('class="merge-form"')[2].partition("</form>")[0]
    form = dict(re.findall(r'<input type="hidden" name="(\w+)" value="(\w+)"', shown))
    site.browser("ada").post(f"{AT}/pulls/1/base", data={"base": "stable"})
    rejected = bob.post(f"{AT}/pulls/1/merge", data={**form, "style": "merge"})
    assert rejected.status_code == 409
    assert "The base branch of the pull request is stable, not main." in rejected.text
    assert site.api["ada"].get("/repos/ada/tides/pulls/1").json()["merged"] is False
    again = {**form, "base": "stable", "style": "merge"}
    assert bob.post(f"{AT}/pulls/1/merge", data=again).status_code == 303


def test_the_page_of_a_form_does_not_reload_itself(site: PullSite) -> None:
    """A pull request reloads while branches are compared; after a form, a browser would submit that again."""
    site.open_pull()
    with site.clients.database.write() as connection:
        connection.execute(update(pull_requests).values(checked_head="0" * 40))
    bob = site.browser("bob")
    assert "data-reload-after" in bob.get(f"{AT}/pulls/1").text
    for form in ({"body": "Better?", "then": "preview"}, {"body": ""}):
        text = bob.post(f"{AT}/issues/1/comments", data=form).text
        assert "Checking whether the branches can be merged" in text
        assert "data-reload-after" not in text


def test_only_writers_merge_and_change_a_pull_request(site: PullSite) -> None:
    """A reader cannot merge, update the branch, change the draft state or request reviews."""
    created = site.open_pull()
    eve = site.browser("eve")
    form = {"style": "merge", "head": created["head"]["sha"]}
    assert eve.post(f"{AT}/pulls/1/merge", data=form).status_code == 409
    assert eve.post(f"{AT}/pulls/1/update", data={"style": "merge"}).status_code == 403
    assert eve.post(f"{AT}/pulls/1/draft", data={"draft": "true"}).status_code == 403
    assert eve.post(f"{AT}/pulls/1/reviewers", data={"reviewer": "bob"}).status_code == 403
    assert site.browser().post(f"{AT}/pulls/1/merge", data=form).status_code == 401
    now = site.api["ada"].get("/repos/ada/tides/pulls/1").json()
    assert (now["state"], now["draft"], now["requested_reviewers"]) == ("open", False, [])
    assert (now["head"]["sha"], now["base"]["sha"]) == (created["head"]["sha"], created["base"]["sha"])


def test_a_branch_that_is_behind_is_updated(site: PullSite) -> None:
    """The update merges the base branch, and the pull request is no longer behind."""
    site.put("b.txt", "new", "main")
    site.open_pull()
    bob = site.browser("bob")
    assert "1 commit behind" in bob.get(f"{AT}/pulls/1").text
    assert bob.post(f"{AT}/pulls/1/update", data={"style": "merge"}).status_code == 303
    text = bob.get(f"{AT}/pulls/1").text
    assert "Branch fix updated." in text
    assert "commit behind" not in text
    assert "pushed " in text


def test_a_draft_becomes_ready(site: PullSite) -> None:
    """The title loses its prefix, and only then the pull request can be merged."""
    site.open_pull(title="WIP: Fix the tide")
    ada = site.browser("ada")
    text = ada.get(f"{AT}/pulls/1").text
    assert "still a draft" in text
    assert "Merge pull request</button>" not in text
    assert ada.post(f"{AT}/pulls/1/draft", data={"draft": "false"}).status_code == 303
    text = ada.get(f"{AT}/pulls/1").text
    assert "Pull request #1 is ready for review." in text
    assert "Merge pull request</button>" in text
    assert site.api["ada"].get("/repos/ada/tides/pulls/1").json()["title"] == "Fix the tide"
    assert ada.post(f"{AT}/pulls/1/draft", data={"draft": "true"}).status_code == 303
    assert site.api["ada"].get("/repos/ada/tides/pulls/1").json()["draft"] is True


def test_a_pull_request_becomes_a_draft_and_gets_another_base(site: PullSite) -> None:
    """Only writers change the base branch, and one that does not exist is refused."""
    site.open_pull()
    site.api["ada"].post("/repos/ada/tides/branches", json={"new_branch_name": "stable"})
    bob = site.browser("bob")
    text = bob.get(f"{AT}/pulls/1").text
    assert "Convert to draft" in text
    assert "Change base branch" in text
    assert "Change base branch" not in site.browser("eve").get(f"{AT}/pulls/1").text
    assert site.browser("eve").post(f"{AT}/pulls/1/base", data={"base": "stable"}).status_code == 403
    refused = bob.post(f"{AT}/pulls/1/base", data={"base": "nowhere"})
    assert refused.status_code == 404
    assert "There is no branch named nowhere." in refused.text
    assert bob.post(f"{AT}/pulls/1/base", data={"base": " "}).status_code == 422
    assert bob.post(f"{AT}/pulls/1/base", data={"base": "stable"}).status_code == 303
    assert site.api["ada"].get("/repos/ada/tides/pulls/1").json()["base"]["ref"] == "stable"
    assert bob.post(f"{AT}/pulls/1/draft", data={"draft": "true"}).status_code == 303
    assert site.api["ada"].get("/repos/ada/tides/pulls/1").json()["draft"] is True
    assert "Convert to draft" not in bob.get(f"{AT}/pulls/1").text
