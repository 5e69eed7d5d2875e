"""The comment forms of issues."""

import pytest

from holdfast.hosting.store import comments, issues
from holdfast.web.issues.issue_page import ENTRIES
from tests.web.issues.conftest import AT, IssueSite

ONE = f"{AT}/issues/1"


def test_a_reader_comments_and_the_author_closes(site: IssueSite) -> None:
    """The author closes and reopens with a comment or without; an empty comment is refused."""
    site.issue("Gauge", author="eve")
    eve = site.browser("eve")
    response = eve.post(f"{ONE}/comments", data={"body": "**Still** stuck"})
    place = response.headers["location"]
    assert place.startswith(f"{ONE}#issuecomment-")
    text = eve.get(ONE).text
    assert "<strong>Still</strong> stuck" in text
    assert f'id="{place.partition("#")[2]}"' in text
    eve.post(f"{ONE}/comments", data={"body": "Moves again.", "then": "close"})
    assert "Reopen issue" in eve.get(ONE).text
    eve.post(f"{ONE}/comments", data={"body": "", "then": "reopen"})
    now = issues.find_issue(site.clients.database, site.ship, 1)
    assert (now.is_closed, now.comment_count) == (False, 2)
    preview = eve.post(f"{ONE}/comments", data={"body": "*maybe*", "then": "preview"})
    assert "<em>maybe</em>" in preview.text
    assert "*maybe*</textarea>" in preview.text
    empty = eve.post(f"{ONE}/comments", data={"body": ""})
    assert (empty.status_code, "is required" in empty.text) == (422, True)
    long = eve.post(f"{ONE}/comments", data={"body": "x" * 65_537})
    assert (long.status_code, "Body is too long (maximum is 65536)." in long.text) == (422, True)
    assert issues.find_issue(site.clients.database, site.ship, 1).comment_count == 2


@pytest.mark.parametrize("then", ["", "close"])
def test_a_comment_on_an_issue_that_was_locked_meanwhile_is_kept(site: IssueSite, then: str) -> None:
    """The page shows the text that was not sent, and the issue is not closed without it."""
    gauge = site.issue("Gauge", author="eve")
    eve = site.browser("eve")
    assert "Your comment" in eve.get(ONE).text
    issues.lock_issue(site.clients.database, site.ship, gauge, site.people["ada"], "")
    refused = eve.post(f"{ONE}/comments", data={"body": "A long <story>", "then": then})
    assert refused.status_code == 403
    assert "A long &lt;story&gt;</textarea>" in refused.text
    now = issues.find_issue(site.clients.database, site.ship, 1)
    assert (now.is_closed, now.comment_count) == (False, 0)
    assert "was not sent" not in eve.get(ONE).text
    assert eve.post(f"{ONE}/comments", data={"body": "", "then": "close"}).status_code == 303
    assert issues.find_issue(site.clients.database, site.ship, 1).is_closed


def test_concurrent_edits_of_a_comment_do_not_overwrite_each_other(site: IssueSite) -> None:
    """The second edit has status 409, shows both texts, and can be sent again."""
    database, ship = site.clients.database, site.ship
    comment = comments.add_comment(database, ship, site.issue("Gauge"), site.people["ada"], "first")
    at = f"{ONE}/comments/{comment.id}"
    ada, bob = site.browser("ada"), site.browser("bob")

    def version(page: str) -> str:
        return page.partition('name="version" value="')[2].partition('"')[0]

    opened = version(ada.get(at).text)
    assert bob.post(at, data={"body": "by *Bob*", "version": opened}).status_code == 303
    preview = ada.post(at, data={"body": "Ada's", "version": opened, "then": "preview"})
    clash = ada.post(at, data={"body": "Ada's", "version": version(preview.text)})
    assert clash.status_code == 409
    assert "This comment was changed while you were editing" in clash.text
    assert "by <em>Bob</em>" in clash.text
    assert "Ada&#39;s</textarea>" in clash.text
    assert comments.find_comment(database, ship, comment.id)[0].body == "by *Bob*"
    assert ada.post(at, data={"body": "Both", "version": version(clash.text)}).status_code == 303
    assert comments.find_comment(database, ship, comment.id)[0].body == "Both"


def test_a_comment_is_found_on_its_page(site: IssueSite) -> None:
    """Adding or editing a comment redirects to the page of the timeline that contains it."""
    gauge = site.issue("Gauge")
    for _ in range(ENTRIES):
        comments.add_comment(site.clients.database, site.ship, gauge, site.people["ada"], "again")
    eve = site.browser("eve")
    place = eve.post(f"{ONE}/comments", data={"body": "the last word"}).headers["location"]
    assert place.startswith(f"{ONE}?page=2#issuecomment-")
    number = place.rpartition("-")[2]
    assert f'id="issuecomment-{number}"' in eve.get(place).text
    assert eve.post(f"{ONE}/comments/{number}", data={"body": "really"}).headers["location"] == place
    assert "really" in eve.get(f"{ONE}?page=last").text


def test_a_locked_issue_is_for_writers(site: IssueSite) -> None:
    """A reader sees that the conversation is locked and cannot comment, and a writer can."""
    gauge = site.issue("Gauge")
    issues.lock_issue(site.clients.database, site.ship, gauge, site.people["ada"], "")
    eve = site.browser("eve")
    assert "This conversation is locked" in eve.get(ONE).text
    assert "Your comment" not in eve.get(ONE).text
    assert eve.post(f"{ONE}/comments", data={"body": "But"}).status_code == 403
    assert site.browser("bob").post(f"{ONE}/comments", data={"body": "No"}).status_code == 303
    assert site.browser().post(f"{ONE}/comments", data={"body": "But"}).status_code == 401
    assert eve.post(f"{AT}/issues/9/comments", data={"body": "x"}).status_code == 404
    assert issues.find_issue(site.clients.database, site.ship, 1).comment_count == 1


def test_authors_and_writers_change_and_delete_comments(site: IssueSite) -> None:
    """Other users get status 403, and the comment of another issue is not found."""
    gauge = site.issue("Gauge")
    site.issue("Lantern")
    database, ship = site.clients.database, site.ship
    comment = comments.add_comment(database, ship, gauge, site.people["eve"], "Stuck <b>x</b>")
    at = f"{ONE}/comments/{comment.id}"
    for name, may in (("eve", True), ("bob", True), (None, False)):
        text = site.browser(name).get(at).text
        assert ("Edit comment" in text) == may
        assert (at in site.browser(name).get(ONE).text) == may
    eve = site.browser("eve")
    assert "<em>n</em>" in eve.post(at, data={"body": "*n*", "then": "preview"}).text
    assert eve.post(at, data={"body": ""}).status_code == 422
    assert eve.post(at, data={"body": "Free"}).headers["location"] == f"{ONE}#issuecomment-{comment.id}"
    assert comments.find_comment(database, ship, comment.id)[0].body == "Free"
    assert site.browser("bob").post(at, data={"body": "Freed"}).status_code == 303
    assert comments.find_comment(database, ship, comment.id)[0].body == "Freed"
    other = comments.add_comment(database, ship, gauge, site.people["ada"], "Ada's")
    assert eve.post(f"{ONE}/comments/{other.id}", data={"body": "Mine"}).status_code == 403
    assert eve.post(f"{ONE}/comments/{other.id}/delete").status_code == 403
    assert comments.find_comment(database, ship, other.id)[0].body == "Ada's"
    assert eve.get(f"{AT}/issues/2/comments/{other.id}").status_code == 404
    assert eve.get(f"{ONE}/comments/{other.id + 9}").status_code == 404
    assert site.browser().post(f"{at}/delete").status_code == 303
    assert eve.post(f"{at}/delete").headers["location"] == ONE
    assert eve.get(at).status_code == 404
    assert eve.post(f"{at}/delete").status_code == 404
    assert site.browser("bob").post(f"{ONE}/comments/{other.id}/delete").status_code == 303
    assert eve.get(f"{ONE}/comments/{other.id}").status_code == 404
