"""Fixtures of the browser tests: Chromium, in the sizes of a desktop and of a phone."""

import shutil
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from playwright.sync_api import (
    Browser,
    ConsoleMessage,
    Error,
    Page,
    Request,
    ViewportSize,
    expect,
    sync_playwright,
)

from holdfast import logs
from holdfast.hosting.data_folder import open_database
from holdfast.secret import Secret
from holdfast.settings import Settings
from tests.conftest import ADMIN_PASSWORD, ROOT, Service, run_service

SIZES = {"desktop": ViewportSize(width=1280, height=800), "phone": ViewportSize(width=390, height=844)}
# Root cannot use the sandbox, and the browser must not contact its vendor.
FLAGS = [
    "--no-sandbox",
    "--disable-gpu",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
    # Containers have little shared memory, and a picture of a long page needs much.
    "--disable-dev-shm-usage",
]
# A busy machine is no failure.
expect.set_options(timeout=30_000)
# What counts as a failure, by the names axe has for the levels of the guidelines.
LEVELS = ["wcag2a", "wcag2aa", "wcag21a", "wcag21aa", "wcag22aa"]
RUN_AXE = """async levels => {
    const run = {runOnly: {type: "tag", values: levels}, resultTypes: ["violations"], preload: false};
    return (await axe.run(document, run)).violations;
}"""


# What the content security policy refuses, in a page or a frame of it.
REPORT_VIOLATIONS = """addEventListener("securitypolicyviolation", event => {
    console.error(`refused by the policy: ${event.violatedDirective} ${event.blockedURI} ${event.sample}`);
});"""


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Mark every test that needs a browser as long."""
    for item in items:
        if isinstance(item, pytest.Function) and "chromium" in item.fixturenames:
            item.add_marker(pytest.mark.long)


def log_in(page: Page, url: str, *, name: str = "admin", password: str = ADMIN_PASSWORD) -> None:
    """Open the login page, or a page that leads to it, log in, and wait until the next page is loaded.

    Before the scripts of a page have run, its forms are submitted without them, and its keys do nothing.
    """
    page.goto(url)
    page.get_by_label("Username").fill(name)
    page.get_by_label("Password").fill(password)
    with page.expect_navigation():
        page.keyboard.press("Enter")


@pytest.fixture(scope="module")
def browser(chromium: str) -> Iterator[Browser]:
    """Start the distribution's Chromium."""
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=chromium, args=FLAGS)
        yield browser
        browser.close()


@pytest.fixture(params=["light", "dark"])
def scheme(request: pytest.FixtureRequest) -> str:
    """Run a test in both colour schemes."""
    return str(request.param)


@pytest.fixture(params=["desktop", "phone"])
def page(browser: Browser, request: pytest.FixtureRequest, scheme: str) -> Iterator[Page]:
    """Open a page; afterwards the console must be empty and nothing wider than the window."""
    context = browser.new_context(
        viewport=SIZES[request.param], color_scheme="dark" if scheme == "dark" else "light"
    )
    context.add_init_script(REPORT_VIOLATIONS)
    page = context.new_page()
    complaints: list[str] = []

    def listen(message: ConsoleMessage) -> None:
        # The browser logs error statuses; tests check them themselves.
        is_refusal = message.text.startswith("Failed to load resource") and message.location["url"] == page.url
        if message.type in {"error", "warning"} and not is_refusal:
            complaints.append(message.text)

    def refused(failed: Request) -> None:
        # Leaving a page cancels the requests for its images.
        if failed.failure != "net::ERR_ABORTED":
            complaints.append(f"{failed.url} failed: {failed.failure}")

    page.on("console", listen)
    page.on("pageerror", lambda error: complaints.append(str(error)))
    page.on("requestfailed", refused)
    yield page
    # Without its style, a page that was opened last may be wider.
    page.wait_for_load_state()
    assert complaints == []
    assert page.evaluate("document.documentElement.scrollWidth <= window.innerWidth")
    context.close()


@pytest.fixture
def keep(request: pytest.FixtureRequest, accessible: Callable[[Page], None]) -> Callable[[Page, str], None]:
    """Save a screenshot under artefacts/screens, after checking that the page is accessible."""
    folder = ROOT / "artefacts" / "screens"
    folder.mkdir(parents=True, exist_ok=True)
    variant = request.node.name.partition("[")[2].rstrip("]")

    def screenshot(page: Page, name: str) -> None:
        path = folder / f"{name}-{variant}.png"
        try:
            page.screenshot(path=path, full_page=True)
        except Error:
            # The browser cannot draw a page that long at once when memory is short; what is in view, it can.
            page.screenshot(path=path)
        accessible(page)

    return screenshot


@pytest.fixture(scope="session")
def axe() -> str:
    """Return the source of axe, which checks accessibility."""
    script = Path(__file__).parent / "js" / "node_modules" / "axe-core" / "axe.min.js"
    if not script.exists():
        pytest.skip(f"{script} is missing: run `make clients`")
    return script.read_text()


@pytest.fixture
def accessible(axe: str) -> Callable[[Page], None]:
    """Check a page against the Web Content Accessibility Guidelines, levels A and AA, as it is shown now."""

    def look(page: Page) -> list[dict[str, Any]]:
        # The page's policy lets no other script run, so the browser's debugger brings this one, once.
        if page.evaluate("typeof axe === 'undefined'"):
            page.evaluate(axe)
        results: list[dict[str, Any]] = page.evaluate(RUN_AXE, LEVELS)
        return results

    def check(page: Page) -> None:
        try:
            results = look(page)
        except Error:
            # The browser was still navigating.
            page.wait_for_load_state()
            results = look(page)
        received = [
            f"{violation['id']}: {violation['help']}\n    {node['html']}\n    {node['failureSummary']}"
            for violation in results
            for node in violation["nodes"]
        ]
        assert not received, f"{page.url}\n" + "\n".join(received)

    return check


@pytest.fixture
def site(tmp_path: Path, prepared_folder: Path) -> Iterator[Service]:
    """Serve a small data folder."""
    logs.configure(level="warning")
    settings = Settings(data=tmp_path / "data", admin_password=Secret(ADMIN_PASSWORD))
    shutil.copytree(prepared_folder, settings.data)
    with open_database(settings) as database:
        yield from run_service(settings, database)
