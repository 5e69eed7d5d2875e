"""Reading, pinning and unsubscribing from notifications in a browser."""

from collections.abc import Callable

import httpx
import pytest
from playwright.sync_api import Page, expect

from holdfast.hosting.store import accounts
from holdfast.secret import Secret
from tests.browser.conftest import log_in
from tests.conftest import ADMIN_PASSWORD, Service

TITLES = ("The gauge shows the tide of yesterday, every day after midnight", "Replace the mooring rope", "Leak")


@pytest.mark.parametrize(("scheme", "page"), [("light", "desktop"), ("dark", "phone")], indirect=True)
def test_a_user_reads_pins_and_unsubscribes(site: Service, page: Page, keep: Callable[[Page, str], None]) -> None:
    """The number of unread notifications falls with each one that is pinned or read."""
    accounts.create_user(site.database, "eve", Secret("a-password-for-tests"))
    with httpx.Client(base_url=f"{site.url}/api/v1", auth=("admin", ADMIN_PASSWORD)) as admin:
        for name in ("harbour", "dock"):
            admin.post("/user/repos", json={"name": name, "auto_init": True})
            admin.put(f"/repos/admin/{name}/subscription")
    with httpx.Client(base_url=f"{site.url}/api/v1", auth=("eve", "a-password-for-tests")) as eve:
        for title in TITLES:
            eve.post("/repos/admin/harbour/issues", json={"title": title})
        eve.post("/repos/admin/dock/issues", json={"title": "Paint the bollards"})
        eve.post("/repos/admin/harbour/issues/1/comments", json={"body": "Still."})

    log_in(page, f"{site.url}/login?next=/notifications")
    bell = page.get_by_role("link", name="Notifications: 4 unread")
    expect(bell).to_be_visible()
    keep(page, "notifications")
    page.get_by_role("button", name="Pin Paint the bollards").click()
    expect(page.get_by_text("Paint the bollards")).to_have_count(0)
    page.get_by_role("link", name=TITLES[0]).click()
    expect(page.get_by_role("link", name="Notifications: 2 unread")).to_be_visible()
    page.get_by_role("button", name="Unsubscribe").click()
    expect(page.get_by_role("status")).to_have_text("You are no longer subscribed to #1.")
    keep(page, "unsubscribed-issue")
    page.get_by_role("button", name="Unwatch").click()
    expect(page.get_by_role("status")).to_have_text("You are no longer watching admin/harbour.")
    page.get_by_role("link", name="Notifications: 2 unread").click()
    page.get_by_role("button", name="Mark all as read").click()
    expect(page.get_by_text("You have no unread notifications.")).to_be_visible()
    keep(page, "no-notifications")
    page.get_by_role("navigation", name="Which notifications").get_by_role("link", name="All").click()
    expect(page.get_by_text("Pinned", exact=True)).to_have_count(2)
    keep(page, "all-notifications")
