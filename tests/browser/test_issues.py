"""Issues in a browser: opening, commenting, dependencies and closing."""

from collections.abc import Callable

import httpx
import pytest
from playwright.sync_api import Page, expect

from tests.browser.conftest import log_in
from tests.conftest import ADMIN_PASSWORD, Service

HOSTILE = '<script>alert("1")</script> \u202e ' + "unbroken" * 24
Keep = Callable[[Page, str], None]
# The second click is after the request of the first one was sent.
CLICK_TWICE = "button => { button.click(); setTimeout(() => button.click(), 20); }"


@pytest.mark.parametrize(("page", "scheme"), [("desktop", "light"), ("phone", "dark")], indirect=True)
def test_a_user_works_with_issues(site: Service, page: Page, keep: Keep) -> None:
    """A user opens two issues, makes one depend on the other and closes both, on a desktop and on a phone."""
    with httpx.Client(base_url=f"{site.url}/api/v1", auth=("admin", ADMIN_PASSWORD)) as api:
        api.post("/user/repos", json={"name": "ship"})
        api.post("/repos/admin/ship/labels", json={"name": "bug", "color": "d73a4a"})
        api.post("/repos/admin/ship/milestones", json={"title": "Season", "due_on": "2027-02-03T00:00:00Z"})
    log_in(page, f"{site.url}/login?next=%2Fadmin%2Fship%2Fissues")
    open_two(site, page, keep)
    let_one_wait_for_the_other(page, keep)
    close_both(site, page, keep)
    look_around(site, page, keep)


def test_the_address_of_a_comment_leads_to_its_page(site: Service, page: Page) -> None:
    """The URL of a comment from the API, which has no page number, opens the page with that comment."""
    with httpx.Client(base_url=f"{site.url}/api/v1", auth=("admin", ADMIN_PASSWORD), timeout=30) as api:
        api.post("/user/repos", json={"name": "ship"})
        api.post("/repos/admin/ship/issues", json={"title": "A long talk"})
        responses = [
            api.post("/repos/admin/ship/issues/1/comments", json={"body": f"Word {number}"})
            for number in range(52)
        ]
    last = responses[-1].json()
    _, path, place = last["html_url"].partition("/admin/ship/issues/1")
    page.goto(f"{site.url}{path}{place}")
    expect(page.get_by_text("Word 51")).to_be_in_viewport()
    assert page.url == f"{site.url}/admin/ship/issues/1?page=2#issuecomment-{last['id']}"


@pytest.mark.parametrize(("page", "scheme"), [("desktop", "light")], indirect=True)
def test_a_double_click_submits_a_form_once(site: Service, page: Page) -> None:
    """A second click while the response is on its way opens no second issue, and a later one is a new comment."""
    with httpx.Client(base_url=f"{site.url}/api/v1", auth=("admin", ADMIN_PASSWORD)) as api:
        api.post("/user/repos", json={"name": "ship"})
        log_in(page, f"{site.url}/login?next=%2Fadmin%2Fship%2Fissues%2Fnew")
        page.get_by_label("Title").fill("Hull leaks")
        page.get_by_role("button", name="Open issue").evaluate(CLICK_TWICE)
        expect(page.get_by_role("heading", name="Hull leaks #1")).to_be_visible()
        assert len(api.get("/repos/admin/ship/issues").json()) == 1
        for number in (1, 2):
            page.get_by_label("Your comment").fill(f"At the bow, {number}")
            page.get_by_role("button", name="Comment", exact=True).evaluate(CLICK_TWICE)
            expect(page.get_by_text(f"At the bow, {number}")).to_have_count(1)
            assert len(api.get("/repos/admin/ship/issues/1/comments").json()) == number


@pytest.mark.parametrize("page", ["desktop", "phone"], indirect=True)
def test_an_issue_shows_what_mentions_it(site: Service, page: Page, keep: Keep) -> None:
    """An issue lists the issues, pull requests and comments that mention it, with links to them."""
    with httpx.Client(base_url=f"{site.url}/api/v1", auth=("admin", ADMIN_PASSWORD), timeout=30) as api:

        def post(path: str, **body: object) -> None:
            assert api.post(path, json=body).is_success, path

        for name in ("ship", "boat-with-a-name-that-is-rather-long-for-a-telephone"):
            post("/user/repos", name=name, auto_init=True, default_branch="main")
        post("/repos/admin/ship/issues", title="The gauge is stuck", body="Since Monday.")
        post("/repos/admin/ship/issues", title=HOSTILE, body="Perhaps because of #1.")
        commit = {"content": "", "message": "Free it", "new_branch": "fix"}
        post("/repos/admin/ship/contents/gauge.txt", **commit)
        post("/repos/admin/ship/pulls", title="Free the gauge", body="Fixes #1", head="fix", base="main")
        place = "/repos/admin/boat-with-a-name-that-is-rather-long-for-a-telephone/issues"
        post(place, title="Gauges of all ships, and what became of them in the course of the year", closed=True)
        post(f"{place}/1/comments", body="See admin/ship#1")
        post("/repos/admin/ship/issues/1/comments", body="Seen.")
    page.goto(f"{site.url}/admin/ship/issues/1")
    expect(page.get_by_text("linked a pull request that will close this issue")).to_be_visible()
    link = page.get_by_role("link", name="Gauges of all ships")
    expect(link).to_be_visible()
    keep(page, "issue-mentions")
    box = link.bounding_box()
    assert box is not None
    assert box["height"] >= 24
    link.click()
    expect(page.get_by_role("heading", name="Gauges of all ships")).to_be_visible()
    expect(page.get_by_role("link", name="admin/ship#1")).to_be_in_viewport()


def open_two(site: Service, page: Page, keep: Keep) -> None:
    """Open an issue with all fields filled in, and another whose title contains HTML."""
    page.get_by_role("link", name="Open an issue").click()
    page.get_by_label("Title").fill("The gauge is stuck")
    page.get_by_label("Description").fill("Since **Monday**.\n\n- [x] looked\n- [ ] freed it")
    page.get_by_role("button", name="Preview").click()
    expect(page.get_by_role("region", name="Preview").get_by_text("Monday")).to_be_visible()
    page.get_by_label("bug").check()
    page.get_by_label("Milestone").select_option("Season")
    keep(page, "issue-new")
    page.get_by_role("button", name="Open issue").click()
    expect(page.get_by_role("heading", name="The gauge is stuck #1")).to_be_visible()
    page.goto(f"{site.url}/admin/ship/issues/new")
    page.get_by_label("Title").fill(HOSTILE)
    page.keyboard.press("Enter")
    expect(page.get_by_role("heading", name="#2")).to_be_visible()
    page.goto(f"{site.url}/admin/ship/issues/1")


def let_one_wait_for_the_other(page: Page, keep: Keep) -> None:
    """Add a comment, find the other issue, add it as a dependency and look at the graph."""
    page.get_by_label("Your comment").fill("Ask @admin about #2.")
    page.get_by_role("button", name="Comment", exact=True).click()
    expect(page.get_by_role("link", name="@admin")).to_be_visible()
    page.get_by_text("Add a dependency").click()
    page.get_by_label("Other issue").fill("unbroken")
    expect(page.locator("#wanted-found option")).to_have_attribute("value", "admin/ship#2")
    page.get_by_role("button", name="Add or search").click()
    page.get_by_role("button", name="Add admin/ship#2").click()
    expect(page.get_by_text("Blocked by 1")).to_be_visible()
    keep(page, "issue")
    page.get_by_role("link", name="Show graph").click()
    drawing = page.get_by_role("region", name="Dependency graph")
    expect(drawing.get_by_role("link", name="The gauge is stuck")).to_be_in_viewport()
    keep(page, "issue-dependencies")
    drawing.get_by_role("link", name="#2 · Open").click()


def close_both(site: Service, page: Page, keep: Keep) -> None:
    """Close the second issue, which blocks the first one, and then the first one."""
    page.get_by_role("button", name="Close issue").click()
    expect(page.get_by_text("admin closed this")).to_be_visible()
    page.goto(f"{site.url}/admin/ship/issues/1")
    page.get_by_role("button", name="Close issue").click()
    expect(page.get_by_text("admin closed this")).to_be_visible()
    page.get_by_role("navigation", name="Repository").get_by_role("link", name="Issues").click()
    expect(page.get_by_text("No open issues")).to_be_visible()
    page.get_by_role("link", name="2 Closed").click()
    expect(page.get_by_role("link", name="The gauge is stuck")).to_be_visible()
    keep(page, "issues")


def look_around(site: Service, page: Page, keep: Keep) -> None:
    """Create a label, check the progress of the milestone, and list the user's own issues."""
    page.get_by_role("link", name="Labels").click()
    page.get_by_text("New label").click()
    page.get_by_label("Name").first.fill("wish")
    page.get_by_role("button", name="Create label").click()
    expect(page.get_by_role("link", name="wish")).to_be_visible()
    keep(page, "labels")
    page.get_by_role("link", name="Milestones").click()
    expect(page.get_by_text("100% · 0 open · 1 closed")).to_be_visible()
    keep(page, "milestones")
    page.goto(f"{site.url}/-/issues?about=created&state=closed")
    expect(page.get_by_role("link", name="The gauge is stuck")).to_be_visible()
    keep(page, "your-issues")
