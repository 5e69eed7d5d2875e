"""The conversation of a pull request, its merge box and its reviewers."""

from tests.web.pulls.conftest import AT, TEXT, PullSite


def test_people_see_what_a_pull_request_is_and_what_they_may_do(site: PullSite) -> None:
    """Writers merge, others only read; the address of the issue leads there."""
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


def test_a_pull_request_is_merged_and_its_branch_deleted(site: PullSite) -> None:
    """What was pushed after the page was shown is not merged."""
    made = site.open_pull()
    bob = site.browser("bob")
    form = {"style": "squash", "title": "Tide fixed", "head": "0" * 40, "offered": "true"}
    outdated = bob.post(f"{AT}/pulls/1/merge", data=form)
    assert outdated.status_code == 409
    assert "The head of the pull request is" in outdated.text
    answer = bob.post(f"{AT}/pulls/1/merge", data={**form, "head": made["head"]["sha"]})
    assert answer.headers["location"] == f"{AT}/pulls/1"
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


def test_who_may_not_write_cannot_merge_or_delete(site: PullSite) -> None:
    """Nor update the branch, nor change the draft state."""
    made = site.open_pull()
    eve = site.browser("eve")
    form = {"style": "merge", "head": made["head"]["sha"]}
    assert eve.post(f"{AT}/pulls/1/merge", data=form).status_code == 409
    assert eve.post(f"{AT}/pulls/1/update", data={"style": "merge"}).status_code == 403
    assert eve.post(f"{AT}/pulls/1/draft", data={"draft": "true"}).status_code == 403
    assert eve.post(f"{AT}/pulls/1/reviewers", data={"reviewer": "bob"}).status_code == 403
    assert site.browser().post(f"{AT}/pulls/1/merge", data=form).headers["location"].startswith("/login")
    assert site.api["ada"].get("/repos/ada/tides/pulls/1").json()["state"] == "open"


def test_the_merge_box_says_what_is_missing_and_by_whom(site: PullSite) -> None:
    """Reviews and statuses of a protected branch; an administrator may merge without waiting, or schedule it."""
    made = site.open_pull()
    rule = {
        "rule_name": "main",
        "required_approvals": 1,
        "block_on_rejected_reviews": True,
        "enable_status_check": True,
        "status_check_contexts": ["ci/*"],
    }
    assert site.api["ada"].post("/repos/ada/tides/branch_protections", json=rule).status_code == 201
    ada, bob = site.browser("ada"), site.browser("bob")
    assert ada.post(f"{AT}/pulls/1/reviewers", data={"reviewer": "bob"}).status_code == 303
    status = {"state": "failure", "context": "ci/build", "target_url": "https://ci.example.org/1"}
    api, sha = site.api["ada"], made["head"]["sha"]
    assert api.post(f"/repos/ada/tides/statuses/{sha}", json=status).status_code == 201
    text = ada.get(f"{AT}/pulls/1").text
    assert "has 0 of 1 required approvals" in text
    assert "Waiting for <strong>bob</strong>" in text
    assert "Some checks were not successful" in text
    assert 'href="https://ci.example.org/1"' in text
    assert "Merge pull request</button>" not in text
    assert "Merge without waiting" in text
    assert "Merge without waiting" not in bob.get(f"{AT}/pulls/1").text
    assert "has 0 of 1 required approvals" in site.browser().get(f"{AT}/pulls/1").text
    rejected = bob.post(f"{AT}/pulls/1/reviews", data={"event": "REQUEST_CHANGES", "body": "Not *so*"})
    assert rejected.headers["location"] == f"{AT}/pulls/1"
    text = ada.get(f"{AT}/pulls/1").text
    assert "Changes were requested. Waiting for <strong>bob</strong>" in text
    assert "Not <em>so</em>" in text
    form = {"style": "merge", "head": sha, "then": "schedule"}
    assert ada.post(f"{AT}/pulls/1/merge", data=form).status_code == 303
    text = ada.get(f"{AT}/pulls/1").text
    assert "scheduled this to be merged" in text
    assert "Merge when ready" not in text
    assert bob.post(f"{AT}/pulls/1/merge/cancel").status_code == 403
    assert ada.post(f"{AT}/pulls/1/merge/cancel").status_code == 303
    assert "scheduled this to be merged" not in ada.get(f"{AT}/pulls/1").text
    assert bob.post(f"{AT}/pulls/1/reviews", data={"event": "APPROVED"}).status_code == 303
    api.post(f"/repos/ada/tides/statuses/{sha}", json={**status, "state": "success"})
    text = bob.get(f"{AT}/pulls/1").text
    assert "All checks have passed" in text
    assert "Merge pull request</button>" in text


def test_conflicts_are_named_with_the_commands(site: PullSite) -> None:
    """And a branch that is behind can be updated."""
    site.put("a.txt", TEXT.replace("line 10\n", "line X\n"), "main")
    site.open_pull()
    text = site.browser("bob").get(f"{AT}/pulls/1").text
    assert "This branch has conflicts that must be resolved." in text
    assert "<li><code>a.txt</code></li>" in text
    assert "git switch fix\ngit pull --no-rebase origin main" in text
    assert "Merge pull request</button>" not in text
    assert "1 commit behind" in text
    assert site.browser("bob").post(f"{AT}/pulls/1/update", data={"style": "merge"}).status_code == 409


def test_a_branch_that_is_behind_is_updated(site: PullSite) -> None:
    """By a merge of the base branch."""
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
    """Its title loses the prefix, and only then it can be merged."""
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


def test_reviewers_are_asked_and_may_decline(site: PullSite) -> None:
    """Unknown names and the author are refused with a reason."""
    site.open_pull()
    ada, bob = site.browser("ada"), site.browser("bob")
    assert ada.post(f"{AT}/pulls/1/reviewers", data={"reviewer": "nobody"}).status_code in {404, 422}
    refused = ada.post(f"{AT}/pulls/1/reviewers", data={"reviewer": "ada"})
    assert refused.status_code == 422
    assert ada.post(f"{AT}/pulls/1/reviewers", data={"reviewer": "bob"}).status_code == 303
    text = ada.get(f"{AT}/pulls/1").text
    assert "was asked to review" in text
    assert "Review requested from bob." in text
    assert bob.post(f"{AT}/pulls/1/reviewers", data={"reviewer": "bob", "then": "remove"}).status_code == 303
    assert "was asked to review" not in ada.get(f"{AT}/pulls/1").text
    assert bob.post(f"{AT}/pulls/1/reviews", data={"event": "APPROVED"}).status_code == 303
    text = ada.get(f"{AT}/pulls/1").text
    assert "approved these changes" in text
    assert "Re-request" in text
    review = site.api["ada"].get("/repos/ada/tides/pulls/1/reviews").json()[0]["id"]
    assert bob.post(f"{AT}/pulls/1/reviews/{review}/dismiss", data={"message": "Old"}).status_code == 403
    assert ada.post(f"{AT}/pulls/1/reviews/{review}/dismiss", data={"message": "Old"}).status_code == 303
    text = ada.get(f"{AT}/pulls/1").text
    assert "dismissed a review: <bdi>Old</bdi>" in text


def test_a_pull_request_is_closed_and_reopened(site: PullSite) -> None:
    """By the same form as an issue."""
    site.open_pull()
    ada = site.browser("ada")
    closed = ada.post(f"{AT}/issues/1/comments", data={"then": "close"})
    assert closed.headers["location"] == f"{AT}/pulls/1"
    text = ada.get(f"{AT}/pulls/1").text
    assert "Closed with unmerged commits." in text
    assert "Reopen pull request" in text
    assert ada.post(f"{AT}/issues/1/comments", data={"then": "reopen"}).status_code == 303
    assert "Merge pull request</button>" in ada.get(f"{AT}/pulls/1").text


def test_a_pull_request_becomes_a_draft_and_gets_another_base(site: PullSite) -> None:
    """Writers change the base; a branch that is not there is refused."""
    site.open_pull()
    site.api["ada"].post("/repos/ada/tides/branches", json={"new_branch_name": "stable"})
    bob = site.browser("bob")
    text = bob.get(f"{AT}/pulls/1").text
    assert "Convert to draft" in text
    assert "Change base branch" in text
    assert "Change base branch" not in site.browser("eve").get(f"{AT}/pulls/1").text
    assert site.browser("eve").post(f"{AT}/pulls/1/base", data={"base": "stable"}).status_code == 403
    assert bob.post(f"{AT}/pulls/1/base", data={"base": "nowhere"}).status_code in {404, 422}
    assert bob.post(f"{AT}/pulls/1/base", data={"base": " "}).status_code == 422
    assert bob.post(f"{AT}/pulls/1/base", data={"base": "stable"}).status_code == 303
    assert site.api["ada"].get("/repos/ada/tides/pulls/1").json()["base"]["ref"] == "stable"
    assert bob.post(f"{AT}/pulls/1/draft", data={"draft": "true"}).status_code == 303
    assert site.api["ada"].get("/repos/ada/tides/pulls/1").json()["draft"] is True
    assert "Convert to draft" not in bob.get(f"{AT}/pulls/1").text


def test_an_archived_repository_shows_no_forms_of_pull_requests(site: PullSite) -> None:
    """Neither to merge nor to review; what is sent is refused."""
    site.open_pull()
    assert site.api["ada"].patch("/repos/ada/tides", json={"archived": True}).status_code == 200
    ada = site.browser("ada")
    for page in ("", "/files"):
        text = ada.get(f"{AT}/pulls/1{page}").text
        for action in ("merge", "base", "draft", "reviewers", "reviews", "comments"):
            assert f'action="{AT}/pulls/1/{action}"' not in text, action
    for action in ("merge", "base", "draft", "reviewers", "reviews", "comments", "comments/1/apply"):
        assert ada.post(f"{AT}/pulls/1/{action}", data={"base": "main"}).status_code == 423, action
