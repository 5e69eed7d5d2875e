"""Menus, copy buttons, keyboard shortcuts and the file finder, in a browser."""

import base64
from collections.abc import Callable

import httpx
import pytest
from playwright.sync_api import Page, Route, expect

from tests.browser.conftest import log_in
from tests.conftest import ADMIN_PASSWORD, Service

Keep = Callable[[Page, str], None]


def prepare(site: Service) -> None:
    """Make a repository with files and an issue."""
    with httpx.Client(base_url=f"{site.url}/api/v1", auth=("admin", ADMIN_PASSWORD), timeout=60) as api:
        assert api.post("/user/repos", json={"name": "tides", "auto_init": True}).status_code == 201
        for path in ("src/tide_table.py", "src/wind.c"):
            body = {"content": base64.b64encode(b"x = 1\n").decode(), "message": f"Add {path}"}
            assert api.post(f"/repos/admin/tides/contents/{path}", json=body).status_code == 201
        api.post("/repos/admin/tides/issues", json={"title": "The gauge leaks", "body": "```\nrun it\n```"})


@pytest.mark.parametrize(
    ("page", "scheme"),
    [("desktop", "light"), ("phone", "dark")],
    indirect=True,
)
def test_a_user_navigates_by_keyboard(site: Service, page: Page, keep: Keep) -> None:
    """Only one menu is open at a time, single keys open pages, and hashes can be copied."""
    prepare(site)
    log_in(page, f"{site.url}/login?next=%2Fadmin%2Ftides")
    clone, add = page.locator("details.clone"), page.locator("details.menu:has-text('Add file')")
    clone.locator("summary").click()
    expect(clone.get_by_role("button", name="Copy")).to_be_visible()
    keep(page, "clone-menu")
    add.locator("summary").click()
    expect(add).to_have_attribute("open", "")
    expect(clone).not_to_have_attribute("open", "")
    page.keyboard.press("Escape")
    expect(add).not_to_have_attribute("open", "")
    expect(add.locator("summary")).to_be_focused()
    add.locator("summary").click()
    page.locator("main").click(position={"x": 2, "y": 2})
    expect(add).not_to_have_attribute("open", "")
    page.keyboard.press("?")
    sheet = page.get_by_role("dialog", name="Keyboard shortcuts")
    expect(sheet).to_be_visible()
    keep(page, "shortcuts")
    page.keyboard.press("Escape")
    expect(sheet).to_be_hidden()
    page.keyboard.press("t")
    field = page.get_by_label("File name")
    expect(field).to_be_focused()
    field.press_sequentially("table")
    expect(page.get_by_role("link", name="src/tide_table.py")).to_be_visible()
    expect(page.get_by_role("link", name="src/wind.c")).to_have_count(0)
    keep(page, "file-finder")
    field.press("ArrowDown")
    page.keyboard.press("Enter")
    expect(page.get_by_role("button", name="Copy path")).to_be_visible()
    page.wait_for_load_state()
    page.keyboard.press("g")
    page.keyboard.press("i")
    link = page.get_by_role("link", name="The gauge leaks")
    expect(link).to_be_visible()
    page.wait_for_load_state()
    page.keyboard.press("j")
    expect(link).to_be_focused()
    keep(page, "issue-search-field")
    page.keyboard.press("Enter")
    expect(page.locator(".copied-block button")).to_be_attached()


@pytest.mark.parametrize(("page", "scheme"), [("desktop", "light"), ("phone", "dark")], indirect=True)
def test_the_address_and_commands_of_an_empty_repository_can_be_copied(
    site: Service, page: Page, keep: Keep
) -> None:
    """The buttons are those of code blocks in texts."""
    with httpx.Client(base_url=f"{site.url}/api/v1", auth=("admin", ADMIN_PASSWORD), timeout=60) as api:
        api.post("/user/repos", json={"name": "empty"})
    page.context.grant_permissions(["clipboard-read", "clipboard-write"])
    log_in(page, f"{site.url}/login?next=%2Fadmin%2Fempty")
    buttons = page.locator("main :is([data-copy], .copy-code)")
    expect(buttons).to_have_count(3)
    for place, copied in enumerate((f"{site.url}/admin/empty.git", "git clone", "git remote add origin")):
        buttons.nth(place).click()
        assert str(page.evaluate("navigator.clipboard.readText()")).startswith(copied)
    keep(page, "repository-empty")


@pytest.mark.parametrize(("page", "scheme"), [("desktop", "light")], indirect=True)
def test_a_page_with_progress_does_not_reload_while_a_form_is_used(site: Service, page: Page) -> None:
    """What somebody typed or selected is kept; the page reloads once its forms are as they were."""
    prepare(site)
    with httpx.Client(base_url=f"{site.url}/api/v1", auth=("admin", ADMIN_PASSWORD), timeout=60) as api:
        assert api.post("/repos/admin/tides/milestones", json={"title": "Spring"}).status_code == 201

    def add_progress(route: Route) -> None:
        response = route.fetch()
        body = response.text().replace("<main", '<main data-reload-after="200"', 1)
        route.fulfill(response=response, body=body)

    log_in(page, f"{site.url}/login")
    page.route("**/issues/new", add_progress)
    page.goto(f"{site.url}/admin/tides/issues/new")
    field = page.get_by_label("Title")
    field.fill("High water")
    field.blur()
    page.wait_for_timeout(1000)
    expect(field).to_have_value("High water")
    with page.expect_navigation():
        field.fill("")
        field.blur()
    milestone = page.get_by_label("Milestone")
    milestone.focus()
    milestone.select_option("Spring")
    milestone.blur()
    page.wait_for_timeout(1000)
    assert milestone.input_value()
    with page.expect_navigation():
        milestone.select_option("None")
        milestone.blur()


@pytest.mark.parametrize("page", ["desktop", "phone"], indirect=True)
def test_a_visitor_finds_public_repositories_from_every_page(site: Service, page: Page) -> None:
    """The header has one visible link to them at any width; users have it in their menu."""
    page.goto(f"{site.url}/login")
    links = page.locator("header").get_by_role("link", name="Explore")
    expect(links).to_have_count(1)
    links.click()
    expect(page).to_have_url(f"{site.url}/-/explore")
