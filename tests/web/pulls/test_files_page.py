"""The changed files of a pull request, comments on their lines, and reviews."""

from tests.web.pulls.conftest import AT, TEXT, PullSite


def test_the_tabs_show_commits_and_files(site: PullSite) -> None:
    """To everybody who may read the code; an issue has none."""
    site.open_pull()
    site.api["ada"].post("/repos/ada/tides/issues", json={"title": "Leak"})
    for name in ("ada", None):
        browser = site.browser(name)
        assert "Write a.txt" in browser.get(f"{AT}/pulls/1/commits").text
        text = browser.get(f"{AT}/pulls/1/files").text
        assert "+ line <mark>ten</mark>" in text
        assert "- line <mark>10</mark>" in text
        assert ("Submit review" in text) == (name is not None)
        assert ('aria-label="Comment on line 10"' in text) == (name is not None)
        assert browser.get(f"{AT}/pulls/2/files").status_code == 404
    assert "Approve" not in site.browser("ada").get(f"{AT}/pulls/1/files").text
    assert "Approve" in site.browser("bob").get(f"{AT}/pulls/1/files").text


def test_a_line_is_commented_on_and_the_conversation_resolved(site: PullSite) -> None:
    """The form opens in place, without a script."""
    site.open_pull()
    bob, ada = site.browser("bob"), site.browser("ada")
    assert 'id="comment-form"' not in bob.get(f"{AT}/pulls/1/files").text
    assert 'id="comment-form"' in bob.get(f"{AT}/pulls/1/files", params={"path": "a.txt", "at": "n10"}).text
    assert 'id="comment-form"' not in bob.get(f"{AT}/pulls/1/files", params={"path": "a.txt", "at": "n99"}).text
    form = {"path": "a.txt", "side": "new", "line": "10", "body": "Say **10**", "spot": "l1-n10"}
    answer = bob.post(f"{AT}/pulls/1/comments", data=form)
    assert answer.headers["location"] == f"{AT}/pulls/1/files#l1-n10"
    for place in ("/files", ""):
        text = ada.get(f"{AT}/pulls/1{place}").text
        assert "Say <strong>10</strong>" in text, place
        assert "Resolve conversation" in text, place
    number = site.api["ada"].get("/repos/ada/tides/pulls/1/reviews/1/comments").json()[0]["id"]
    resolve = f"{AT}/pulls/1/comments/{number}/resolve"
    assert site.browser("eve").post(resolve, data={"resolved": "true"}).status_code == 403
    assert ada.post(resolve, data={"resolved": "true", "back": "files"}).headers["location"].endswith("/files")
    assert "Resolved by ada" in ada.get(f"{AT}/pulls/1/files").text
    assert ada.post(resolve, data={"resolved": "false"}).status_code == 303
    assert "Resolved by" not in ada.get(f"{AT}/pulls/1/files").text
    wrong = bob.post(f"{AT}/pulls/1/comments", data={**form, "line": "999", "body": "Kept text"})
    assert wrong.status_code == 422
    empty = bob.post(f"{AT}/pulls/1/comments", data={**form, "body": " "})
    assert empty.status_code == 422
    assert 'id="comment-form"' in empty.text


def test_a_pending_review_is_only_seen_by_who_writes_it(site: PullSite) -> None:
    """Until it is submitted with a decision; it can be discarded."""
    site.open_pull()
    bob, ada = site.browser("bob"), site.browser("ada")
    form = {"path": "a.txt", "side": "old", "line": "10", "body": "Why?", "then": "review"}
    for _ in range(2):
        assert bob.post(f"{AT}/pulls/1/comments", data=form).status_code == 303
        mine = bob.get(f"{AT}/pulls/1/files").text
        assert "Why?" in mine
        assert "Finish your review" in mine
        assert "1 pending" in mine
        for other in (ada, site.browser()):
            assert "Why?" not in other.get(f"{AT}/pulls/1/files").text
            assert "Why?" not in other.get(f"{AT}/pulls/1").text
        if _ == 0:
            assert bob.post(f"{AT}/pulls/1/reviews/discard").status_code == 303
            assert "Why?" not in bob.get(f"{AT}/pulls/1/files").text
    assert bob.post(f"{AT}/pulls/1/reviews", data={"event": "APPROVED", "body": "Fine"}).status_code == 303
    text = ada.get(f"{AT}/pulls/1").text
    assert "approved these changes" in text
    assert "Why?" in text
    assert "Why?" in ada.get(f"{AT}/pulls/1/files").text


def test_a_review_that_is_refused_keeps_what_was_typed(site: PullSite) -> None:
    """Nobody approves their own pull request, and an empty remark says nothing."""
    site.open_pull()
    own = site.browser("ada").post(f"{AT}/pulls/1/reviews", data={"event": "APPROVED", "body": "I am sure"})
    assert own.status_code == 422
    assert "I am sure" in own.text
    assert site.browser("bob").post(f"{AT}/pulls/1/reviews", data={"event": "COMMENT"}).status_code == 422
    assert site.browser("bob").post(f"{AT}/pulls/1/reviews", data={"event": "LOVE"}).status_code == 422


def test_a_comment_on_a_line_that_is_gone_is_kept_as_outdated(site: PullSite) -> None:
    """At the end of the page."""
    site.open_pull()
    bob = site.browser("bob")
    form = {"path": "a.txt", "side": "new", "line": "10", "body": "About ten"}
    assert bob.post(f"{AT}/pulls/1/comments", data=form).status_code == 303
    site.put("a.txt", TEXT.replace("line 10\n", "line eleven\n"), "fix")
    text = bob.get(f"{AT}/pulls/1/files").text
    assert "Outdated conversations" in text
    assert text.index("Outdated conversations") < text.index("About ten")
    assert ">Outdated</span>" in bob.get(f"{AT}/pulls/1").text


def test_a_suggestion_is_written_and_applied(site: PullSite) -> None:
    """By those who may write to the branch; the one who suggested it is named in the commit."""
    site.open_pull()
    bob, ada = site.browser("bob"), site.browser("ada")
    started = bob.get(f"{AT}/pulls/1/files", params={"path": "a.txt", "suggest": "n10", "view": "split"}).text
    assert "```suggestion\nline ten\n```</textarea>" in started
    form = {"path": "a.txt", "side": "new", "line": "10", "body": "```suggestion\nline 10!\n```"}
    assert bob.post(f"{AT}/pulls/1/comments", data=form).status_code == 303
    api = site.api["ada"]
    number = api.get("/repos/ada/tides/pulls/1/reviews/1/comments").json()[0]["id"]
    apply = f"{AT}/pulls/1/comments/{number}/apply"
    api.post("/repos/ada/tides/branches", json={"new_branch_name": "other", "old_branch_name": "fix"})
    opened = api.post("/repos/ada/tides/pulls", json={"title": "Other", "head": "other", "base": "main"})
    assert opened.json()["number"] == 2
    assert ada.post(f"{AT}/pulls/2/comments/{number}/apply").status_code == 404
    assert "Apply suggestion" not in site.browser("eve").get(f"{AT}/pulls/1/files").text
    assert site.browser("eve").post(apply).status_code == 403
    assert "Apply suggestion" in ada.get(f"{AT}/pulls/1/files").text
    assert ada.post(apply).headers["location"] == f"{AT}/pulls/1/files"
    text = ada.get(f"{AT}/pulls/1/files").text
    assert "Suggestion applied to a.txt." in text
    assert "line 10!" in text
    assert "Resolved by ada" in text
    assert "Apply suggestion" not in text
    raw = api.get("/repos/ada/tides/raw/a.txt", params={"ref": "fix"}).text
    assert raw == TEXT.replace("line 10\n", "line 10!\n")
    message = api.get("/repos/ada/tides/commits", params={"sha": "fix"}).json()[0]["commit"]["message"]
    assert message.startswith("Apply suggestion to a.txt\n\nCo-authored-by: bob <")
    assert ada.post(apply).status_code == 409
    assert ada.post(f"{AT}/pulls/1/comments/999/apply").status_code == 404


def test_one_pending_comment_is_deleted(site: PullSite) -> None:
    """Only by who wrote it, and only while it is pending."""
    site.open_pull()
    bob, ada = site.browser("bob"), site.browser("ada")
    form = {"path": "a.txt", "side": "new", "line": "10", "then": "review"}
    for body in ("First thought", "Second thought"):
        assert bob.post(f"{AT}/pulls/1/comments", data={**form, "body": body}).status_code == 303
    listed = site.api["bob"].get("/repos/ada/tides/pulls/1/reviews/1/comments").json()
    delete = f"{AT}/pulls/1/comments/{listed[0]['id']}/delete"
    assert ada.post(delete).status_code == 404
    assert delete in bob.get(f"{AT}/pulls/1/files").text
    assert bob.post(delete).status_code == 303
    text = bob.get(f"{AT}/pulls/1/files").text
    assert "First thought" not in text
    assert "Second thought" in text
    assert bob.post(delete).status_code == 404


def test_comments_stand_between_both_sides(site: PullSite) -> None:
    """The split view has the same buttons, forms and conversations, and keeps itself."""
    site.open_pull()
    bob = site.browser("bob")
    form = {"path": "a.txt", "side": "new", "line": "10", "body": "Say **10**", "view": "split", "spot": "l1-n10"}
    answer = bob.post(f"{AT}/pulls/1/comments", data=form)
    assert answer.headers["location"] == f"{AT}/pulls/1/files?view=split#l1-n10"
    text = bob.get(f"{AT}/pulls/1/files?view=split").text
    assert '<td colspan="4">' in text
    assert "Say <strong>10</strong>" in text
    assert 'aria-label="Comment on old line 10"' in text
    assert 'aria-label="Comment on line 10"' in text
    assert '<input type="hidden" name="view" value="split">' in text
