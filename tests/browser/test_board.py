"""The issue board in a browser: dragging cards, and moving them with the keyboard."""

from collections.abc import Callable

import httpx
import pytest
from playwright.sync_api import Browser, Locator, Page, ViewportSize, expect

from tests.browser.conftest import log_in
from tests.conftest import ADMIN_PASSWORD, Service

Keep = Callable[[Page, str], None]


@pytest.fixture
def ship(site: Service) -> str:
    """Make a repository with issues, milestones and labels; return the address of its board."""
    with httpx.Client(base_url=f"{site.url}/api/v1", auth=("admin", ADMIN_PASSWORD)) as api:
        api.post("/user/repos", json={"name": "ship"})
        for name in ("status/later", "status/now", "status/done"):
            api.post("/repos/admin/ship/labels", json={"name": name, "color": "0e6f5c", "exclusive": True})
        for title in ("Spring", "Summer", "Autumn", "Winter"):
            api.post("/repos/admin/ship/milestones", json={"title": title})
        for title in ("The gauge is stuck", "Paint the hull", "unbroken" * 20):
            response = api.post("/repos/admin/ship/issues", json={"title": title, "assignees": ["admin"]})
            assert response.status_code == 201, response.text
        api.post("/repos/admin/ship/issues/1/dependencies", json={"index": 2})
    return f"{site.url}/admin/ship/issues/board"


def open_page(site: Service, page: Page, wanted: str) -> None:
    """Log in and open a page."""
    log_in(page, f"{site.url}/login?next={wanted}")


def column(page: Page, name: str) -> Locator:
    """Find a column."""
    return page.get_by_role("region", name=name)


@pytest.mark.parametrize(("scheme", "page"), [("light", "desktop"), ("dark", "phone")], indirect=True)
def test_a_user_moves_cards(site: Service, ship: str, page: Page, keep: Keep) -> None:
    """Cards are moved with the keyboard menu and, with a mouse, by dragging; only the board scrolls sideways."""
    open_page(site, page, "%2Fadmin%2Fship%2Fissues")
    page.get_by_role("link", name="Board").click()
    expect(page).to_have_url(f"{ship}?")
    expect(column(page, "No milestone").get_by_role("listitem")).to_have_count(3)
    keep(page, "board-milestones")
    page.locator("#issue-1 summary").press("Enter")
    page.get_by_label("Column for #1").select_option("Summer")
    page.get_by_role("button", name="Move #1").press("Enter")
    expect(page.get_by_role("status")).to_have_text("Issue #1 moved.")
    expect(column(page, "Summer").get_by_text("The gauge is stuck")).to_be_visible()
    page.get_by_role("navigation", name="Columns").get_by_role("link", name="status/").click()
    expect(column(page, "No status").get_by_role("listitem")).to_have_count(3)
    if page.viewport_size is not None and page.viewport_size["width"] > 1000:
        page.locator("#issue-2 .title").drag_to(column(page, "status/done").get_by_role("heading"))
    else:
        page.locator("#issue-2 summary").press("Enter")
        page.get_by_label("Column for #2").select_option("status/done")
        page.get_by_role("button", name="Move #2").click()
    expect(page.get_by_role("status")).to_have_text("Issue #2 moved.")
    expect(column(page, "status/done").get_by_text("Paint the hull")).to_be_visible()
    keep(page, "board-labels")
    # A wide window has room for all columns.
    page.set_viewport_size(ViewportSize(width=min(page.evaluate("innerWidth"), 900), height=800))
    assert page.evaluate("document.documentElement.scrollWidth <= window.innerWidth")
    assert page.evaluate("(box => box.scrollWidth > box.clientWidth)(document.querySelector('.board'))")
    page.get_by_text("Choose labels").click()
    keep(page, "board-choose")


def test_a_card_is_moved_without_a_script(site: Service, ship: str, browser: Browser) -> None:
    """The menu of a card moves it to another column if JavaScript is disabled."""
    context = browser.new_context(java_script_enabled=False)
    page = context.new_page()
    open_page(site, page, "%2Fadmin%2Fship%2Fissues%2Fboard")
    page.locator("#issue-2 summary").click()
    page.get_by_label("Column for #2").select_option("Winter")
    page.get_by_role("button", name="Move #2").click()
    expect(column(page, "Winter").get_by_text("Paint the hull")).to_be_visible()
    expect(page).to_have_url(f"{ship}?by=milestone#issue-2")
    context.close()
