"""Adding passkeys and logging in with them, with the virtual authenticator of a browser."""

from collections.abc import Callable

import pytest
from playwright.sync_api import Browser, Locator, Page, expect

from tests.browser.conftest import log_in
from tests.conftest import ADMIN_PASSWORD, Service

SETTINGS = "/-/account/two-factor"


def localhost(site: Service) -> str:
    """Return the address of a service where browsers use passkeys: not an IP address."""
    return site.url.replace("127.0.0.1", "localhost")


def add_authenticator(page: Page) -> Callable[..., None]:
    """Plug a virtual authenticator into the browser; return a function that sets whether it verifies the user."""
    session = page.context.new_cdp_session(page)
    session.send("WebAuthn.enable")
    options = {
        "protocol": "ctap2",
        "transport": "internal",
        "hasResidentKey": True,
        "hasUserVerification": True,
        "isUserVerified": True,
        "automaticPresenceSimulation": True,
    }
    number = session.send("WebAuthn.addVirtualAuthenticator", {"options": options})["authenticatorId"]

    def verify_user(*, verified: bool) -> None:
        session.send("WebAuthn.setUserVerified", {"authenticatorId": number, "isUserVerified": verified})

    return verify_user


def open_page(site: Service, page: Page, wanted: str = SETTINGS) -> None:
    """Log in and open a page."""
    log_in(page, f"{localhost(site)}/login?next={wanted}")


def add_form(page: Page) -> Locator:
    """Find the form that adds a passkey."""
    return page.locator("form", has=page.get_by_role("button", name="Add passkey"))


def add_passkey(page: Page, name: str) -> None:
    """Add a passkey."""
    add_form(page).get_by_label("Name of the passkey").fill(name)
    add_form(page).get_by_label("Your password").fill(ADMIN_PASSWORD)
    page.keyboard.press("Enter")


def problem(page: Page) -> Locator:
    """Find the problem that the script shows."""
    return page.locator("[data-passkey-problem]:not([hidden])")


@pytest.mark.parametrize(("scheme", "page"), [("light", "desktop"), ("dark", "phone")], indirect=True)
def test_a_user_adds_a_passkey_and_logs_in(site: Service, page: Page, keep: Callable[[Page, str], None]) -> None:
    """A passkey works alone, as a second factor after the password, and for its own removal."""
    verify_user = add_authenticator(page)
    open_page(site, page)
    keep(page, "passkeys-none")
    add_passkey(page, "My phone")
    expect(page.get_by_role("status")).to_contain_text("Save these recovery codes")
    page.get_by_role("link", name="I have saved the codes").click()
    expect(page.get_by_role("heading", name="My phone")).to_be_visible()
    add_passkey(page, "The same phone")
    expect(problem(page)).to_have_text("This device already has a passkey for your account.")
    keep(page, "passkeys-refused")

    page.context.clear_cookies()
    page.goto(f"{localhost(site)}/login?next={SETTINGS}")
    keep(page, "login-with-passkey")
    verify_user(verified=False)
    page.get_by_role("button", name="Log in with a passkey").click()
    expect(problem(page)).to_contain_text("No passkey was used")
    verify_user(verified=True)
    page.get_by_role("button", name="Log in with a passkey").click()
    expect(page.get_by_text("last used")).to_be_visible()

    page.context.clear_cookies()
    open_page(site, page)
    expect(page.get_by_role("heading", level=1, name="Two-factor authentication")).to_be_visible()
    keep(page, "second-factor-passkey")
    page.get_by_role("button", name="Use a passkey").click()
    expect(page.get_by_role("heading", name="My phone")).to_be_visible()
    page.get_by_text("Rename or remove").click()
    page.get_by_label("Name", exact=True).fill("Old phone")
    page.get_by_role("button", name="Rename").click()
    expect(page.get_by_role("status")).to_have_text("Passkey renamed to Old phone.")
    page.get_by_text("Rename or remove").click()
    keep(page, "passkeys-edit")
    removal = page.locator("form", has=page.get_by_role("button", name="Remove Old phone"))
    removal.get_by_role("button", name="Remove with a passkey").click()
    expect(removal.get_by_label("Your password")).to_be_focused()
    removal.get_by_label("Your password").fill(ADMIN_PASSWORD)
    removal.get_by_role("button", name="Remove with a passkey").click()
    expect(page.get_by_role("status")).to_contain_text("It was the last second factor")


def test_a_wrong_password_is_reported(site: Service, browser: Browser) -> None:
    """A wrong password is an error beside the button, and a browser without passkeys shows a message."""
    context = browser.new_context()
    page = context.new_page()
    add_authenticator(page)
    open_page(site, page)
    add_form(page).get_by_label("Name of the passkey").fill("Phone")
    add_form(page).get_by_label("Your password").fill("wrong")
    page.get_by_role("button", name="Add passkey").click()
    expect(problem(page)).to_have_text("That is not your password.")
    expect(page.get_by_role("button", name="Add passkey")).to_be_enabled()
    page.add_init_script("delete window.PublicKeyCredential")
    page.reload()
    expect(problem(page)).to_have_text("This browser cannot use passkeys.")
    expect(page.get_by_role("button", name="Add passkey")).to_have_count(0)
    context.close()


@pytest.mark.parametrize(("scheme", "page"), [("light", "desktop")], indirect=True)
def test_a_url_without_passkeys_is_reported(site: Service, page: Page) -> None:
    """At an IP address the page says that passkeys need a host name and offers an authenticator app."""
    page.goto(f"{site.url}/login?next={SETTINGS}")
    expect(page.get_by_role("button", name="Log in with a passkey")).to_have_count(0)
    page.get_by_label("Username").fill("admin")
    page.get_by_label("Password").fill(ADMIN_PASSWORD)
    page.keyboard.press("Enter")
    expect(page.get_by_role("alert").first).to_contain_text("Passkeys need an address with a host name")
    expect(page.get_by_role("button", name="Set up authenticator app")).to_be_visible()


def test_without_a_script_other_factors_are_offered(site: Service, browser: Browser) -> None:
    """Without JavaScript the pages say that passkeys need it and offer an authenticator app."""
    context = browser.new_context(java_script_enabled=False)
    page = context.new_page()
    page.goto(f"{localhost(site)}/login?next={SETTINGS}")
    expect(page.get_by_text("Logging in with a passkey needs JavaScript.")).to_be_visible()
    expect(page.get_by_role("button", name="Log in with a passkey")).to_be_hidden()
    page.get_by_label("Username").fill("admin")
    page.get_by_label("Password").fill(ADMIN_PASSWORD)
    page.get_by_role("button", name="Log in").click()
    expect(page.get_by_text("Adding a passkey needs JavaScript.")).to_be_visible()
    expect(page.get_by_label("Name of the passkey")).to_be_hidden()
    expect(page.get_by_role("button", name="Set up authenticator app")).to_be_visible()
    context.close()
