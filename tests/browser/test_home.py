"""The home page, logging in and logging out, in a browser."""

from collections.abc import Callable

import httpx
from playwright.sync_api import Page, expect

from tests.backup.streams import HEADER, record
from tests.backup.streams import empty_frame as frame
from tests.conftest import ADMIN_PASSWORD, Service


def test_a_user_logs_in_sees_the_home_page_and_logs_out(
    site: Service, page: Page, keep: Callable[[Page, str], None]
) -> None:
    """The home page shows repositories, organizations and backups, a damaged one included."""
    folder = site.settings.data / "backups"
    folder.mkdir()
    (folder / "holiday.binproto").write_bytes(
        record(HEADER) + frame(1) + frame(2) * 7 + frame(3) * 3 + frame(4) * 2468
    )
    (folder / "damaged-and-with-a-rather-long-file-name-that-has-to-break-somewhere.binproto").write_bytes(
        record(HEADER) + b"\x80"
    )

    with httpx.Client(base_url=f"{site.url}/api/v1", auth=("admin", ADMIN_PASSWORD)) as api:
        api.post("/orgs", json={"username": "tidewater", "full_name": "Tidewater Harbour"})
        wanted = {
            "name": "a-repository-with-" + "quite-" * 8 + "long-name",
            "description": "Tides",
            "private": True,
        }
        api.post("/orgs/tidewater/repos", json=wanted)

    page.goto(site.url)
    expect(page.get_by_role("heading", level=1)).to_be_visible()
    keep(page, "home")
    page.get_by_role("main").get_by_role("link", name="Log in").click()
    page.get_by_label("Username").fill("admin")
    page.get_by_label("Password").fill(ADMIN_PASSWORD)
    keep(page, "login")
    page.keyboard.press("Enter")

    expect(page.get_by_role("heading", name="tidewater/a-repository-with")).to_be_visible()
    expect(page.get_by_role("link", name="Tidewater Harbour")).to_be_visible()
    expect(page.get_by_role("heading", name="Chat backups")).to_be_visible()
    expect(page.get_by_text("2,468")).to_be_visible()
    expect(page.get_by_text("ends in the middle of a record")).to_be_visible()
    keep(page, "shelf")

    page.locator(".menu summary").click()
    page.get_by_role("button", name="Log out").click()
    expect(page.get_by_role("navigation").get_by_role("link", name="Log in")).to_be_visible()
