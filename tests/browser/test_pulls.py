"""Pull requests in a browser: opened from a branch, reviewed line by line, and merged."""

import base64
from collections.abc import Callable

import httpx
import pytest
from playwright.sync_api import Page, expect

from tests.browser.conftest import log_in
from tests.conftest import ADMIN_PASSWORD, Service

Keep = Callable[[Page, str], None]
TEXT = "".join(f"line {number}\n" for number in range(1, 40))


def commit(api: httpx.Client, path: str, text: str, **fields: str) -> None:
    """Commit a file."""
    body = {"content": base64.b64encode(text.encode()).decode(), "message": f"Write {path}", **fields}
    response = (api.put if "sha" in fields else api.post)(f"/repos/admin/tides/contents/{path}", json=body)
    assert response.status_code in {200, 201}


def prepare(site: Service) -> None:
    """Create a repository with a branch, a protected base, and a collaborator."""
    with httpx.Client(base_url=f"{site.url}/api/v1", auth=("admin", ADMIN_PASSWORD), timeout=60) as api:
        api.post(
            "/admin/users",
            json={
                "username": "bob",
                "email": "bob@example.org",
                "password": ADMIN_PASSWORD,
                "must_change_password": False,
            },
        )
        api.post("/user/repos", json={"name": "tides"})
        api.put("/repos/admin/tides/collaborators/bob", json={"permission": "write"})
        commit(api, "tide_table.py", TEXT)
        sha = api.get("/repos/admin/tides/contents/tide_table.py").json()["sha"]
        changed = TEXT.replace("line 10\n", "line ten\n" + "a very long line " * 20 + "\n")
        commit(api, "tide_table.py", changed, sha=sha, new_branch="fix/high-water")
        commit(api, "docs/notes.md", "# Notes\n", branch="fix/high-water")
        rule = {"rule_name": "main", "required_approvals": 1}
        api.post("/repos/admin/tides/branch_protections", json=rule)


@pytest.mark.parametrize(("page", "scheme"), [("desktop", "light"), ("phone", "dark")], indirect=True)
def test_a_user_works_with_pull_requests(site: Service, page: Page, keep: Keep) -> None:
    """A user creates, reviews and merges a pull request of a pushed branch, on a desktop and on a phone."""
    prepare(site)
    log_in(page, f"{site.url}/login?next=%2Fadmin%2Ftides")
    page.get_by_role("link", name="Compare & pull request").click()
    page.get_by_label("Title").fill("Correct the high water")
    page.get_by_label("Reviewers").fill("bob")
    keep(page, "pull-new")
    page.get_by_role("button", name="Create pull request").click()
    expect(page.get_by_role("heading", name="Correct the high water #1")).to_be_visible()
    comment_on_a_line(page, keep)
    let_bob_look(site)
    page.goto(f"{site.url}/admin/tides/pulls/1")
    expect(page.get_by_text("requested changes").first).to_be_visible()
    keep(page, "pull")
    page.goto(f"{site.url}/admin/tides/pulls")
    keep(page, "pulls")
    page.get_by_role("link", name="Correct the high water").click()
    page.get_by_role("button", name="Merge without waiting").click()
    expect(page.get_by_text("Pull request merged.")).to_be_visible()
    keep(page, "pull-merged")
    page.get_by_role("link", name="Commits").last.click()
    expect(page.get_by_text("Write docs/notes.md")).to_be_visible()
    keep(page, "pull-commits")


def comment_on_a_line(page: Page, keep: Keep) -> None:
    """Open the form at a line, comment there, and look at it."""
    page.get_by_role("link", name="Files changed").click()
    page.get_by_role("button", name="Comment on line 10", exact=True).focus()
    page.keyboard.press("Enter")
    page.get_by_role("textbox", name="Comment on line 10").fill("Why not `10`?")
    keep(page, "pull-line-form")
    page.get_by_role("button", name="Add single comment").click()
    expect(page.get_by_text("Why not")).to_be_visible()
    page.get_by_text("Review changes").click()
    keep(page, "pull-files")


def let_bob_look(site: Service) -> None:
    """Submit a review of Bob that requests changes, and set a failed and a successful commit status."""
    with httpx.Client(base_url=f"{site.url}/api/v1", auth=("bob", ADMIN_PASSWORD), timeout=60) as api:
        line = {"path": "tide_table.py", "new_position": 11, "body": "This is too long."}
        review = {"event": "REQUEST_CHANGES", "body": "Please **shorten** it.", "comments": [line]}
        assert api.post("/repos/admin/tides/pulls/1/reviews", json=review).status_code == 200
        sha = api.get("/repos/admin/tides/pulls/1").json()["head"]["sha"]
        status = {"state": "failure", "context": "ci/build", "description": "3 tests failed"}
        assert api.post(f"/repos/admin/tides/statuses/{sha}", json=status).status_code == 201
        passed = {"state": "success", "context": "ci/lint"}
        assert api.post(f"/repos/admin/tides/statuses/{sha}", json=passed).status_code == 201
