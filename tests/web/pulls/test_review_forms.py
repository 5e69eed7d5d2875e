"""The forms of reviews: pending, submitted and refused ones, and suggestions."""

import re

from tests.web.pulls.conftest import AT, TEXT, PullSite

# The page to go back to, which the form sends.
BACK = {"back": "files"}


def test_a_pending_review_is_visible_to_its_author_only(site: PullSite) -> None:
    """Others see the comments once the review is submitted; a pending review can be discarded."""
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


def test_a_refused_review_keeps_the_typed_text(site: PullSite) -> None:
    """The author cannot approve the pull request; empty comments and unknown events are refused."""
    site.open_pull()
    own = site.browser("ada").post(f"{AT}/pulls/1/reviews", data={"event": "APPROVED", "body": "I am sure"})
    assert own.status_code == 422
    assert "I am sure" in own.text
    assert site.browser("bob").post(f"{AT}/pulls/1/reviews", data={"event": "COMMENT"}).status_code == 422
    assert site.browser("bob").post(f"{AT}/pulls/1/reviews", data={"event": "LOVE"}).status_code == 422


def test_the_text_of_a_comment_on_a_line_that_is_not_shown_is_kept(site: PullSite) -> None:
    """The line may have gone since the page was opened; the text is then in the form of the review."""
    site.open_pull()
    bob = site.browser("bob")
    form = {"path": "a.txt", "side": "new", "line": "10"}
    for place in ({"line": "999"}, {"path": "none.txt"}):
        sent = bob.post(f"{AT}/pulls/1/comments", data={**form, "body": "Kept text", **place})
        assert (sent.status_code, sent.text.count("Kept text")) == (422, 1)
        assert sent.text.index('id="review-body"') < sent.text.index("Kept text") < sent.text.index("Decision")
        assert '<details class="card review-form" id="review" open>' in sent.text


def test_a_suggestion_is_written_and_applied(site: PullSite) -> None:
    """Only writers of the branch apply a suggestion, and the commit names its author as co-author."""
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
    assert ada.post(f"{AT}/pulls/2/comments/{number}/apply", data=BACK).status_code == 404
    for page in ("", "/files"):
        assert "Apply suggestion" not in site.browser("eve").get(f"{AT}/pulls/1{page}").text
        assert "Apply suggestion" in ada.get(f"{AT}/pulls/1{page}").text
    assert site.browser("eve").post(apply, data=BACK).status_code == 403
    assert ada.post(apply, data=BACK).headers["location"] == f"{AT}/pulls/1/files"
    text = ada.get(f"{AT}/pulls/1/files").text
    assert "Suggestion applied to a.txt." in text
    assert "line 10!" in text
    assert "Resolved by ada" in text
    assert "Apply suggestion" not in text
    assert apply not in ada.get(f"{AT}/pulls/1").text
    raw = api.get("/repos/ada/tides/raw/a.txt", params={"ref": "fix"}).text
    assert raw == TEXT.replace("line 10\n", "line 10!\n")
    message = api.get("/repos/ada/tides/commits", params={"sha": "fix"}).json()[0]["commit"]["message"]
    assert message.startswith("Apply suggestion to a.txt\n\nCo-authored-by: bob <")
    assert ada.post(apply, data=BACK).status_code == 409
    assert ada.post(f"{AT}/pulls/1/comments/999/apply", data=BACK).status_code == 404


def test_a_suggestion_that_was_changed_is_not_applied_unseen(site: PullSite) -> None:
    """A comment may be edited after a page was opened: the change that was shown then is the only one to apply."""
    created = site.open_pull()
    bob, ada = site.browser("bob"), site.browser("ada")
    form = {"path": "a.txt", "side": "new", "line": "10", "body": "```suggestion\nline 10!\n```"}
    assert bob.post(f"{AT}/pulls/1/comments", data={**form, "head": created["head"]["sha"]}).status_code == 303
    pages = [ada.get(f"{AT}/pulls/1{page}").text for page in ("", "/files")]
    number = re.search(r"comments/(\d+)/apply", pages[0])
    assert number is not None
    apply = f"{AT}/pulls/1/comments/{number[1]}/apply"
    versions = [
        re.search(r'name="version" value="(\w+)"', page.partition(f'action="{apply}"')[2]) for page in pages
    ]
    shown = {match[1] for match in versions if match}
    assert len(shown) == 1
    changed = bob.post(f"{AT}/issues/1/comments/{number[1]}", data={"body": "```suggestion\nsomething else\n```"})
    assert changed.status_code == 303
    refused = ada.post(apply, data={"back": "conversation", "version": shown.pop()})
    assert refused.status_code == 409
    assert "The suggestion was changed in the meantime" in refused.text
    newer = re.search(r'name="version" value="(\w+)"', refused.text.partition(f'action="{apply}"')[2])
    assert newer is not None
    assert ada.post(apply, data={"back": "conversation", "version": newer[1]}).status_code == 303
    assert b"something else" in site.browser().get(f"{AT}/raw/branch/fix/a.txt").content


def test_a_suggestion_is_applied_in_the_conversation(site: PullSite) -> None:
    """Applying a suggestion from the conversation returns to the conversation."""
    site.open_pull()
    form = {"path": "a.txt", "side": "new", "line": "10", "body": "```suggestion\nline 10!\n```"}
    site.browser("bob").post(f"{AT}/pulls/1/comments", data=form)
    number = site.api["ada"].get("/repos/ada/tides/pulls/1/reviews/1/comments").json()[0]["id"]
    ada = site.browser("ada")
    sent = ada.post(f"{AT}/pulls/1/comments/{number}/apply", data={"back": "conversation"})
    assert sent.headers["location"] == f"{AT}/pulls/1"
    assert "Suggestion applied to a.txt." in ada.get(f"{AT}/pulls/1").text


def test_one_pending_comment_is_deleted(site: PullSite) -> None:
    """The author deletes one pending comment and keeps the other; for another user it is not found."""
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


def test_a_suggestion_is_applied_to_a_branch_of_a_fork(site: PullSite) -> None:
    """The owner of the fork applies it; a maintainer of the base only if the author allows it."""
    eve_api, body = site.api["eve"], {"content": "bGluZSB0ZW4K", "message": "Add", "branch": "topic"}
    assert eve_api.post("/repos/ada/tides/forks", json={}).status_code == 202
    branch = {"new_branch_name": "topic", "old_branch_name": "main"}
    assert eve_api.post("/repos/eve/tides/branches", json=branch).status_code == 201
    assert eve_api.post("/repos/eve/tides/contents/b.txt", json=body).status_code == 201
    opened = eve_api.post("/repos/ada/tides/pulls", json={"title": "New", "head": "eve:topic", "base": "main"})
    assert opened.status_code == 201
    ada, eve = site.browser("ada"), site.browser("eve")
    form = {"path": "b.txt", "side": "new", "line": "1"}
    for text in ("first", "second"):
        suggestion = {**form, "body": f"```suggestion\n{text}\n```"}
        assert ada.post(f"{AT}/pulls/1/comments", data=suggestion).status_code == 303
    reviews = eve_api.get("/repos/ada/tides/pulls/1/reviews").json()
    first, second = (
        eve_api.get(f"/repos/ada/tides/pulls/1/reviews/{review['id']}/comments").json()[0]["id"]
        for review in reviews
    )
    for page in ("", "/files"):
        assert "Apply suggestion" in eve.get(f"{AT}/pulls/1{page}").text
        assert "Apply suggestion" not in ada.get(f"{AT}/pulls/1{page}").text
    assert ada.post(f"{AT}/pulls/1/comments/{first}/apply", data=BACK).status_code == 403
    assert site.browser("bob").post(f"{AT}/pulls/1/comments/{first}/apply", data=BACK).status_code == 403
    assert eve.post(f"{AT}/pulls/1/comments/{first}/apply", data=BACK).status_code == 303
    assert eve_api.get("/repos/eve/tides/raw/b.txt", params={"ref": "topic"}).text == "first\n"
    branch_head = eve_api.get("/repos/eve/tides/branches/topic").json()["commit"]["id"]
    assert eve_api.get("/repos/ada/tides/pulls/1").json()["head"]["sha"] == branch_head
    assert eve.post(f"{AT}/pulls/1/comments/{second}/apply", data=BACK).status_code == 409
    assert (
        ada.post(f"{AT}/pulls/1/comments", data={**form, "body": "```suggestion\nthird\n```"}).status_code == 303
    )
    allowed = eve_api.patch("/repos/ada/tides/pulls/1", json={"allow_maintainer_edit": True})
    assert allowed.status_code == 201
    assert "Apply suggestion" in ada.get(f"{AT}/pulls/1").text
    reviews = eve_api.get("/repos/ada/tides/pulls/1/reviews").json()
    third = eve_api.get(f"/repos/ada/tides/pulls/1/reviews/{reviews[-1]['id']}/comments").json()[0]["id"]
    assert ada.post(f"{AT}/pulls/1/comments/{third}/apply", data=BACK).status_code == 303
    assert eve_api.get("/repos/eve/tides/raw/b.txt", params={"ref": "topic"}).text == "third\n"


def test_suggestions_are_offered_only_for_a_branch_that_can_be_changed(site: PullSite) -> None:
    """They are not while the fork or the base is archived, or its new head is unknown, nor without the fork."""
    eve_api, ada_api, body = (
        site.api["eve"],
        site.api["ada"],
        {"content": "YQo=", "message": "Add", "branch": "topic"},
    )
    assert eve_api.post("/repos/ada/tides/forks", json={}).status_code == 202
    branch = {"new_branch_name": "topic", "old_branch_name": "main"}
    assert eve_api.post("/repos/eve/tides/branches", json=branch).status_code == 201
    assert eve_api.post("/repos/eve/tides/contents/b.txt", json=body).status_code == 201
    opened = eve_api.post("/repos/ada/tides/pulls", json={"title": "New", "head": "eve:topic", "base": "main"})
    assert opened.status_code == 201
    ada, eve = site.browser("ada"), site.browser("eve")
    form = {"path": "b.txt", "side": "new", "line": "1", "body": "```suggestion\nb\n```"}
    assert ada.post(f"{AT}/pulls/1/comments", data=form).status_code == 303
    number = eve_api.get("/repos/ada/tides/pulls/1/reviews/1/comments").json()[0]["id"]
    for api, repository in ((eve_api, "eve/tides"), (ada_api, "ada/tides")):
        assert "Apply suggestion" in eve.get(f"{AT}/pulls/1").text
        assert api.patch(f"/repos/{repository}", json={"archived": True}).status_code == 200
        assert "Apply suggestion" not in eve.get(f"{AT}/pulls/1").text
        assert api.patch(f"/repos/{repository}", json={"archived": False}).status_code == 200
    other = eve_api.post("/repos/eve/tides/contents/c.txt", json=body)
    assert other.status_code == 201
    refused = eve.post(f"{AT}/pulls/1/comments/{number}/apply", data=BACK)
    assert (refused.status_code, "The head branch was updated just now" in refused.text) == (409, True)
    assert eve_api.delete("/repos/eve/tides").status_code == 204
    assert "Apply suggestion" not in eve.get(f"{AT}/pulls/1").text
