"""The merge box of a pull request."""

from tests.web.pulls.conftest import AT, TEXT, PullSite


def test_the_merge_box_lists_unmet_requirements(site: PullSite) -> None:
    """Missing reviews and failed checks block the merge; an administrator can override or schedule it."""
    created = site.open_pull()
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
    api, sha = site.api["ada"], created["head"]["sha"]
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
    assert "does not prevent" not in text
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


def test_requested_changes_are_named_also_if_no_rule_waits_for_them(site: PullSite) -> None:
    """The merge box names the reviewer, and says that the merge is possible."""
    site.put("b.txt", "other\n", "main")
    site.open_pull()
    site.browser("bob").post(f"{AT}/pulls/1/reviews", data={"event": "REQUEST_CHANGES", "body": "No"})
    text = site.browser("ada").get(f"{AT}/pulls/1").text
    assert "Update branch" in text
    assert "Changes were requested by <strong>bob</strong>. This does not prevent the merge." in text
    assert "Merge pull request</button>" in text


def test_conflicts_are_named_with_the_commands(site: PullSite) -> None:
    """Conflicting files and the commands to resolve them are shown; an update of the branch is not offered."""
    site.put("a.txt", TEXT.replace("line 10\n", "line X\n"), "main")
    site.open_pull()
    text = site.browser("bob").get(f"{AT}/pulls/1").text
    assert "This branch has conflicts that must be resolved." in text
    assert "<li><code>a.txt</code></li>" in text
    assert "git switch fix\ngit pull --no-rebase origin main" in text
    assert "Merge pull request</button>" not in text
    assert "1 commit behind" in text
    assert "Update branch" not in text
    assert site.browser("bob").post(f"{AT}/pulls/1/update", data={"style": "merge"}).status_code == 409
