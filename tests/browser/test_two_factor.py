"""Enabling two-factor authentication and logging in with it, in a browser."""

from collections.abc import Callable

import pyotp
import pytest
from playwright.sync_api import Page, expect

from tests.browser.conftest import log_in
from tests.conftest import ADMIN_PASSWORD, Service


def open_page(site: Service, page: Page, wanted: str) -> None:
    """Log in and open a page."""
    log_in(page, f"{site.url}/login?next={wanted}")


@pytest.mark.parametrize(("scheme", "page"), [("light", "desktop"), ("dark", "phone")], indirect=True)
def test_a_user_enables_two_factor_authentication_and_logs_in(
    site: Service, page: Page, keep: Callable[[Page, str], None]
) -> None:
    """A code of the app enables it, a recovery code logs the user in, and another one disables it."""
    open_page(site, page, "/-/account/two-factor")
    keep(page, "two-factor-disabled")
    page.get_by_label("Your password").first.fill(ADMIN_PASSWORD)
    page.get_by_role("button", name="Set up authenticator app").click()
    expect(page.get_by_role("img", name="QR code")).to_be_visible()
    keep(page, "two-factor-setup")
    secret = page.locator(".secret-text").inner_text().replace(" ", "")
    page.get_by_label("Authentication code").fill("000000")
    page.get_by_role("button", name="Enable two-factor authentication").click()
    expect(page.get_by_role("alert")).to_contain_text("authentication code is wrong")
    page.get_by_label("Authentication code").fill(pyotp.TOTP(secret).now())
    page.get_by_role("button", name="Enable two-factor authentication").click()
    expect(page.get_by_role("status")).to_contain_text("Save these recovery codes")
    codes = page.locator(".recovery-codes code").all_inner_texts()
    assert len(codes) == 10
    keep(page, "two-factor-codes")
    page.get_by_role("link", name="I have saved the codes").click()
    expect(page.get_by_text("10 codes are left")).to_be_visible()
    keep(page, "two-factor-enabled")

    page.context.clear_cookies()
    open_page(site, page, "/-/admin/users/admin")
    expect(page.get_by_role("heading", level=1, name="Two-factor authentication")).to_be_visible()
    page.get_by_text("Use a recovery code").click()
    keep(page, "second-factor")
    page.get_by_label("Recovery code").fill(codes[0])
    page.get_by_role("button", name="Verify recovery code").click()
    expect(page.get_by_text("with 9 recovery codes left")).to_be_visible()
    keep(page, "two-factor-of-user")
    page.goto(f"{site.url}/-/account/two-factor")
    page.get_by_text("Remove authenticator app").click()
    page.get_by_label("Your password").first.fill(ADMIN_PASSWORD)
    page.get_by_label("Authentication code or recovery code").first.fill(codes[1])
    page.get_by_role("button", name="Disable").click()
    expect(page.get_by_role("status")).to_have_text("Two-factor authentication disabled.")
