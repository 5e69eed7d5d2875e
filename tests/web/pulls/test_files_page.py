"""The changed files of a pull request, comments on their lines, and reviews."""

from tests.web.pulls.conftest import AT, TEXT, PullSite


def test_a_line_is_commented_on_and_the_conversation_resolved(site: PullSite) -> None:
    """The form opens at its line by a link, and writers resolve and reopen the conversation."""
    site.open_pull()
    bob, ada = site.browser("bob"), site.browser("ada")
    assert 'id="comment-form"' not in bob.get(f"{AT}/pulls/1/files").text
    assert 'id="comment-form"' in bob.get(f"{AT}/pulls/1/files", params={"path": "a.txt", "at": "n10"}).text
    assert 'id="comment-form"' not in bob.get(f"{AT}/pulls/1/files", params={"path": "a.txt", "at": "n99"}).text
    form = {"path": "a.txt", "side": "new", "line": "10", "body": "Say **10**", "spot": "l1-n10"}
    response = bob.post(f"{AT}/pulls/1/comments", data=form)
    assert response.headers["location"] == f"{AT}/pulls/1/files#l1-n10"
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


def test_a_comment_on_a_line_that_is_gone_is_kept_as_outdated(site: PullSite) -> None:
    """The comment is shown among the outdated conversations, and is marked in the conversation."""
    site.open_pull()
    bob = site.browser("bob")
    form = {"path": "a.txt", "side": "new", "line": "10", "body": "About ten"}
    assert bob.post(f"{AT}/pulls/1/comments", data=form).status_code == 303
    site.put("a.txt", TEXT.replace("line 10\n", "line eleven\n"), "fix")
    text = bob.get(f"{AT}/pulls/1/files").text
    assert "Outdated conversations" in text
    assert text.index("Outdated conversations") < text.index("About ten")
    assert ">Outdated</span>" in bob.get(f"{AT}/pulls/1").text


def test_comments_stand_between_both_sides(site: PullSite) -> None:
    """The split view has the same buttons and conversations, and a sent form returns to it."""
    site.open_pull()
    bob = site.browser("bob")
    form = {"path": "a.txt", "side": "new", "line": "10", "body": "Say **10**", "view": "split", "spot": "l1-n10"}
    response = bob.post(f"{AT}/pulls/1/comments", data=form)
    assert response.headers["location"] == f"{AT}/pulls/1/files?view=split#l1-n10"
    text = bob.get(f"{AT}/pulls/1/files?view=split").text
    assert '<td colspan="4">' in text
    assert "Say <strong>10</strong>" in text
    assert 'aria-label="Comment on old line 10"' in text
    assert 'aria-label="Comment on line 10"' in text
    assert '<input type="hidden" name="view" value="split">' in text
