"""Every page of the site at the widths of a phone, a tablet, a laptop and a large screen, light and dark.

The pages are those of the application's own table of routes: a new one needs an example address here.
"""

import os
import shutil
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from itertools import product
from pathlib import Path
from typing import Literal

import pytest
from playwright.sync_api import Browser, ConsoleMessage, Page, Request, ViewportSize

from holdfast import logs
from holdfast.hosting.data_folder import open_database
from holdfast.secret import Secret
from holdfast.settings import Settings
from holdfast.web.chats.conversation_routes import NAMED, PLAIN
from holdfast.web.routes import endpoints
from tests.browser.conftest import REPORT_VIOLATIONS
from tests.browser.demo_site import ARCHIVE, SECOND_FACTOR_USER, fill_site
from tests.conftest import ADMIN_PASSWORD, Service, run_service

Scheme = Literal["light", "dark"]
HEIGHT = 900
# A colour scheme changes no sizes, so each width is looked at in one; where axe looks as well is in `WITH_AXE`.
SCHEMES: tuple[Scheme, ...] = ("light", "dark")
LOOKS: tuple[tuple[Scheme, int], ...] = (
    ("dark", 390),
    ("light", 768),
    ("light", 1280),
    ("dark", 1920),
)
WITH_AXE = {390, 1280}
# A folder to put pictures of every page into, for people to look at.
SCREENSHOTS = os.environ.get("HOLDFAST_TEST_SCREENSHOTS", "")
HARBOUR = "/tidewater/harbour"
HOOKS = {
    "/{owner}/{repo}/settings/hooks": (f"{HARBOUR}/settings/hooks", "repo"),
    "/-/orgs/{org}/settings/hooks": ("/-/orgs/tidewater/settings/hooks", "org"),
    "/-/account/hooks": ("/-/account/hooks", "user"),
    "/-/admin/hooks": ("/-/admin/hooks", "admin"),
}
# What is no page: pictures, styles, files, and the frame of a diagram, which is empty by itself.
FILES = {
    "/avatars/{id}",
    "/repo-avatars/{id}",
    "/-/diagram",
    "/{owner}/{repo}/releases/download/{file...}",
    "/attachments/{uuid}",
    "/{owner}/{repo}/raw/{kind}/{filepath...}",
    "/{owner}/{repo}/media/{kind}/{filepath...}",
    "/{owner}/{repo}/archive/{archive...}",
}
# Example addresses of each route; the names in braces are those of `fill_site`.
SIGNED_OUT = {
    "/": ["/"],
    "/login": ["/login"],
    "/sign-up": ["/sign-up"],
    "/{owner}/{repo}": [HARBOUR],
    "/{owner}/{repo}/issues/{index}": [f"{HARBOUR}/issues/1"],
}
HALF_SIGNED_IN = {"/login/two-factor": ["/login/two-factor"]}
SIGNED_IN = {
    "/": ["/"],
    "/-/explore": ["/-/explore", "/-/explore?mine=1"],
    "/-/search": ["/-/search", "/-/search?q=lantern"],
    "/notifications": ["/notifications", "/notifications?show=done"],
    "/{owner}/{repo}/releases/latest": [f"{HARBOUR}/releases/latest"],
    "/{owner}/{repo}/releases": [f"{HARBOUR}/releases", "/admin/notes/releases"],
    "/{owner}/{repo}/releases/tag/{tag...}": [f"{HARBOUR}/releases/tag/v1.1.1"],
    "/{owner}/{repo}/releases/new": [f"{HARBOUR}/releases/new"],
    "/{owner}/{repo}/releases/edit/{tag...}": [f"{HARBOUR}/releases/edit/v1.1.1"],
    "/{owner}/{repo}": [HARBOUR, "/admin/empty", "/admin/notes", "/maren/conversations"],
    "/{owner}/{repo}/src/{kind}/{filepath...}": [
        f"{HARBOUR}/src/branch/main/docs",
        f"{HARBOUR}/src/branch/main/data/berths.csv",
        f"{HARBOUR}/src/branch/main/harbour/__main__.py",
        f"{HARBOUR}/src/branch/main/docs/view.png",
        f"{HARBOUR}/src/branch/main/docs/tides.svg",
        "/admin/notes/src/branch/main/tides.md",
        "/admin/notes/src/branch/main/table.ipynb",
        "/maren/conversations/src/branch/main/phone.binproto",
    ],
    "/{owner}/{repo}/commits/{kind}/{filepath...}": [f"{HARBOUR}/commits/branch/main"],
    "/{owner}/{repo}/commit/{sha}": [f"{HARBOUR}/commit/{{sha}}"],
    "/{owner}/{repo}/blame/{kind}/{filepath...}": [f"{HARBOUR}/blame/branch/main/harbour/__main__.py"],
    "/{owner}/{repo}/compare": [f"{HARBOUR}/compare"],
    "/{owner}/{repo}/compare/{range...}": [f"{HARBOUR}/compare/main...release/1.1"],
    "/{owner}/{repo}/branches": [f"{HARBOUR}/branches"],
    "/{owner}/{repo}/tags": [f"{HARBOUR}/tags", "/admin/notes/tags"],
    "/{owner}/{repo}/activity": [f"{HARBOUR}/activity"],
    "/{owner}/{repo}/_new/{filepath...}": [f"{HARBOUR}/_new/main/docs"],
    "/{owner}/{repo}/_edit/{filepath...}": [f"{HARBOUR}/_edit/main/README.md"],
    "/{owner}/{repo}/_upload/{filepath...}": [f"{HARBOUR}/_upload/main/docs"],
    "/{owner}/{repo}/_delete/{filepath...}": [f"{HARBOUR}/_delete/main/README.md"],
    "/{owner}/{repo}/fork": [f"{HARBOUR}/fork", "/admin/notes/fork"],
    "/{owner}/{repo}/forks": [f"{HARBOUR}/forks"],
    "/{owner}/{repo}/find/{kind}/{filepath...}": [f"{HARBOUR}/find/branch/main"],
    "/{owner}/{repo}/issues": [f"{HARBOUR}/issues", f"{HARBOUR}/issues?q=nothing-has-this", "/admin/empty/issues"],
    "/{owner}/{repo}/pulls": [f"{HARBOUR}/pulls", "/admin/notes/pulls"],
    "/{owner}/{repo}/issues/board": [f"{HARBOUR}/issues/board"],
    "/-/issues": ["/-/issues"],
    "/-/pulls": ["/-/pulls"],
    "/{owner}/{repo}/issues/{index}": [f"{HARBOUR}/issues/1", f"{HARBOUR}/issues/2"],
    "/{owner}/{repo}/pulls/{index}": [f"{HARBOUR}/pulls/{{pull}}"],
    "/{owner}/{repo}/issues/new": [f"{HARBOUR}/issues/new"],
    "/{owner}/{repo}/issues/{index}/edit": [f"{HARBOUR}/issues/1/edit"],
    "/{owner}/{repo}/issues/{index}/comments/{id}": [f"{HARBOUR}/issues/1/comments/{{comment}}"],
    "/{owner}/{repo}/issues/{index}/dependencies/add": [f"{HARBOUR}/issues/2/dependencies/add?q=lantern"],
    "/{owner}/{repo}/issues/{index}/dependencies": [f"{HARBOUR}/issues/2/dependencies"],
    "/{owner}/{repo}/issues/{index}/dependencies/list": [f"{HARBOUR}/issues/2/dependencies/list"],
    "/{owner}/{repo}/labels": [f"{HARBOUR}/labels", "/admin/notes/labels"],
    "/{owner}/{repo}/milestones": [f"{HARBOUR}/milestones", "/admin/notes/milestones"],
    "/{owner}/{repo}/pulls/{index}/commits": [f"{HARBOUR}/pulls/{{pull}}/commits"],
    "/{owner}/{repo}/pulls/{index}/files": [f"{HARBOUR}/pulls/{{pull}}/files"],
    "/{username}": ["/tidewater", "/maren", "/admin"],
    "/-/new": ["/-/new"],
    "/-/new-organization": ["/-/new-organization"],
    "/{owner}/{repo}/settings": [f"{HARBOUR}/settings"],
    "/{owner}/{repo}/settings/collaborators": [f"{HARBOUR}/settings/collaborators"],
    "/{owner}/{repo}/settings/branches": [f"{HARBOUR}/settings/branches"],
    "/{owner}/{repo}/settings/branches/new": [f"{HARBOUR}/settings/branches/new"],
    "/{owner}/{repo}/settings/branches/rule": [f"{HARBOUR}/settings/branches/rule?name=release%2F*"],
    "/{owner}/{repo}/settings/danger": [f"{HARBOUR}/settings/danger"],
    "/{owner}/{repo}/settings/avatar": [f"{HARBOUR}/settings/avatar"],
    "/-/orgs/{org}/settings": ["/-/orgs/tidewater/settings"],
    "/-/orgs/{org}/settings/members": ["/-/orgs/tidewater/settings/members"],
    "/-/orgs/{org}/settings/danger": ["/-/orgs/tidewater/settings/danger"],
    "/-/orgs/{org}/settings/teams": ["/-/orgs/tidewater/settings/teams"],
    "/-/orgs/{org}/settings/teams/new": ["/-/orgs/tidewater/settings/teams/new"],
    "/-/orgs/{org}/settings/teams/{id}": ["/-/orgs/tidewater/settings/teams/{team}"],
    "/-/orgs/{org}/settings/avatar": ["/-/orgs/tidewater/settings/avatar"],
    "/-/account": ["/-/account"],
    "/-/account/password": ["/-/account/password"],
    "/-/account/avatar": ["/-/account/avatar"],
    "/-/account/two-factor": ["/-/account/two-factor"],
    "/-/account/tokens": ["/-/account/tokens"],
    "/-/account/sessions": ["/-/account/sessions"],
    "/-/admin/users": ["/-/admin/users"],
    "/-/admin/users/new": ["/-/admin/users/new"],
    "/-/admin/users/{username}": ["/-/admin/users/maren"],
    "/-/admin": ["/-/admin"],
    "/-/admin/deliveries": ["/-/admin/deliveries"],
    "/-/admin/organizations": ["/-/admin/organizations"],
    "/-/admin/chat-backups": ["/-/admin/chat-backups"],
    "/-/admin/settings": ["/-/admin/settings"],
    "/-/archives": ["/-/archives"],
    "/-/archives/{name}": ["/-/archives/phone"],
    "/-/conversations": ["/-/conversations"],
    "/-/conversations/{uuid}": ["/-/conversations/{sealed}"],
    "/-/conversations/{uuid}/{inner...}": ["/-/conversations/{plain}/"],
    "/-/conversations/{uuid}/-export": ["/-/conversations/{plain}/-export"],
    "/-/conversations/{uuid}/-settings": ["/-/conversations/{plain}/-settings"],
    "/{owner}/{repo}/chats/{kind}/{filepath...}": ["/maren/conversations/chats/branch/main/phone.binproto/"],
    **{route: [address] for route, (address, _) in HOOKS.items()},
    **{f"{route}/new": [f"{address}/new"] for route, (address, _) in HOOKS.items()},
    **{f"{route}/{{id}}": [f"{address}/{{{kind}_hook}}"] for route, (address, kind) in HOOKS.items()},
    **{
        f"{route}/{{id}}/deliveries": [f"{address}/{{{kind}_hook}}/deliveries"]
        for route, (address, kind) in HOOKS.items()
    },
    **{
        f"{route}/{{id}}/deliveries/{{delivery}}": [f"{address}/{{{kind}_hook}}/deliveries/{{{kind}_delivery}}"]
        for route, (address, kind) in HOOKS.items()
    },
}
# The reference of the API: fields for hundreds of endpoints, which take axe half a minute. They are all alike.
LONG = {"/api/swagger": ["/api/swagger"]}
# The pages of a conversation, by what `conversation_routes` calls them.
CONVERSATION = {
    "": [f"{ARCHIVE}/"],
    "search": [f"{ARCHIVE}/search?q=bread", f"{ARCHIVE}/search?q=nothing-has-this"],
    "media": [f"{ARCHIVE}/media", f"{ARCHIVE}/media?kind=file", f"{ARCHIVE}/media?kind=link"],
    "people": [f"{ARCHIVE}/people"],
    "statistics": [f"{ARCHIVE}/statistics"],
    "about": [f"{ARCHIVE}/about"],
    "findings": ["/-/conversations/{plain}/findings"],
    "chat/{id}": [f"{ARCHIVE}/chat/{{chat}}"],
    "chat/{id}/dates": [f"{ARCHIVE}/chat/{{chat}}/dates"],
    "to/{id}": [f"{ARCHIVE}/to/{{message}}"],
    "message/{id}": [f"{ARCHIVE}/message/{{message}}"],
    "frame/{id}": ["/-/conversations/{plain}/frame/{frame}"],
}
CONVERSATION_FILES = {"media/{id}", "media/{id}/thumbnail", "attachment/{id}", "attachment/{id}/thumbnail"}
KEEP_ONE_ENDPOINT = """addEventListener("DOMContentLoaded", () => {
    for (const group of document.querySelectorAll("main section")) {
        for (const one of [...group.querySelectorAll(".operation")].slice(1)) one.remove();
    }
});"""
# What sticks out of the window, but for what scrolls or is cut off inside of something else, and the link that is
# shown when it has the focus. The second time, every menu is open.
FIND_OVERFLOW = """() => {
    const limit = document.documentElement.clientWidth;
    const hides = (node) => getComputedStyle(node).overflowX !== "visible";
    const sticksOut = (node) => {
        const box = node.getBoundingClientRect();
        if (!box.width || !box.height || (box.right <= limit + 1 && box.left >= -1)) return false;
        if (node.closest(".skip, .visually-hidden, svg, math") || !node.checkVisibility()) return false;
        let parent = node.parentElement;
        while (parent && !hides(parent)) parent = parent.parentElement;
        return !parent;
    };
    const look = () => {
        const found = [...document.body.querySelectorAll("*")].filter(sticksOut);
        const width = document.documentElement.scrollWidth;
        const told = found.map((node) => node.outerHTML.slice(0, 120));
        return width > innerWidth ? [`the page is ${width} pixels wide`, ...told] : told;
    };
    const found = look();
    const closed = [...document.querySelectorAll("details:not([open])")];
    for (const menu of closed) menu.open = true;
    const opened = look().map((one) => `with open menus: ${one}`);
    for (const menu of closed) menu.open = false;
    return [...found, ...opened];
}"""

# Which current tabs are not in view, and which numbers of rows are broken into lines.
FIND_HIDDEN = """async () => {
    await new Promise((resolve) => requestAnimationFrame(() => requestAnimationFrame(resolve)));
    const hidden = [...document.querySelectorAll(".tabs [aria-current]")].filter((tab) => {
        const box = tab.getBoundingClientRect(), row = tab.closest(".tabs").getBoundingClientRect();
        return box.left < row.left - 1 || box.right > row.right + 1;
    });
    const broken = [...document.querySelectorAll(".values td:first-child")].filter((cell) => {
        const range = document.createRange();
        range.selectNodeContents(cell);
        return new Set([...range.getClientRects()].map((box) => box.top)).size > 1;
    });
    return [...hidden, ...broken].map((node) => `not whole: ${node.outerHTML.slice(0, 120)}`);
}"""


def test_every_route_of_a_page_has_an_example() -> None:
    """The example pages of the next test are exactly the routes of the service."""
    routes = {page.path for page in endpoints() if page.method == "GET" and not page.path.startswith("/static/")}
    examples = SIGNED_OUT.keys() | HALF_SIGNED_IN.keys() | SIGNED_IN.keys() | LONG.keys()
    # The pages inside an archive have a table of their own.
    assert examples | FILES | {"/-/archives/{name}/{inner...}"} == routes
    inner = {*PLAIN, *(f"{first}/{{id}}/{last}".rstrip("/") for first, last in NAMED)}
    assert CONVERSATION.keys() | CONVERSATION_FILES == inner


@pytest.fixture
def demo(tmp_path: Path, prepared_folder: Path) -> Iterator[Service]:
    """Serve a data folder, with sign-up and webhooks."""
    logs.configure(level="error")
    settings = Settings(data=tmp_path / "data", admin_password=Secret(ADMIN_PASSWORD), sign_up=True)
    shutil.copytree(prepared_folder, settings.data)
    with open_database(settings) as database:
        yield from run_service(settings, database, delivers=True)


@pytest.fixture
def ids(demo: Service, tmp_path: Path) -> dict[str, str]:
    """Fill the service with content, and return the ids that occur in its URLs."""
    # The thread of the tests has the event loop of the browser.
    with ThreadPoolExecutor(1) as executor:
        return executor.submit(fill_site, demo, tmp_path).result()


class Visitor:
    """A browser that visits pages and records their problems."""

    def __init__(self, browser: Browser, site: Service, accessible: Callable[[Page], None], name: str) -> None:
        self._site, self._accessible, self._name = site, accessible, name
        # A colour that is still on its way to another one has the contrast of neither.
        self._context = browser.new_context(reduced_motion="reduce")
        self._context.add_init_script(REPORT_VIOLATIONS)
        self.page = self._context.new_page()
        self.page.on("console", self._listen)
        self.page.on("pageerror", lambda error: self.problems.append(f"{self.page.url}: {error}"))
        self.page.on("requestfailed", self._request_failed)
        self.problems: list[str] = []

    def _listen(self, message: ConsoleMessage) -> None:
        if message.type in {"error", "warning"}:
            self.problems.append(f"{self.page.url}: {message.text}")

    def _request_failed(self, failed: Request) -> None:
        # Whoever goes on before a picture has come stops asking for it.
        if failed.failure != "net::ERR_ABORTED":
            self.problems.append(f"{self.page.url}: {failed.url} failed: {failed.failure}")

    def log_in(self, user: str) -> None:
        """Log in with a name and the password."""
        self.page.goto(f"{self._site.url}/login")
        self.page.get_by_label("Username").fill(user)
        self.page.get_by_label("Password").fill(ADMIN_PASSWORD)
        with self.page.expect_navigation():
            self.page.keyboard.press("Enter")

    def visit(self, address: str) -> None:
        """Open a page and check it at every width, in both color schemes."""
        response = self.page.goto(f"{self._site.url}{address}")
        if response is None or response.status != 200:
            self.problems.append(f"{address}: status {response and response.status}")
        if not self.page.title().endswith("Holdfast") or self.page.title().startswith("Holdfast ·"):
            self.problems.append(f"{address}: titled {self.page.title()!r}")
        for scheme, width in LOOKS:
            self.page.emulate_media(color_scheme=scheme)
            self.page.set_viewport_size(ViewportSize(width=width, height=HEIGHT))
            self.problems += [f"{address} at {width}: {item}" for item in self.page.evaluate(FIND_OVERFLOW)]
            self.problems += [f"{address} at {width}: {item}" for item in self.page.evaluate(FIND_HIDDEN)]
            if width in WITH_AXE:
                try:
                    self._accessible(self.page)
                except AssertionError as error:
                    self.problems.append(f"{address} at {width} in {scheme}: {error}")
        if SCREENSHOTS:
            self._take_screenshots(address)

    def _take_screenshots(self, address: str) -> None:
        name = f"{self._name}{address}".replace("/", "_").replace("?", "_")[:120]
        for (_, width), scheme in product(LOOKS, SCHEMES):
            self.page.emulate_media(color_scheme=scheme)
            self.page.set_viewport_size(ViewportSize(width=width, height=HEIGHT))
            self.page.screenshot(path=Path(SCREENSHOTS, f"{name}-{width}-{scheme}.png"), full_page=True)

    def close(self) -> None:
        """Close the browser's window."""
        self._context.close()


def addresses(examples: dict[str, list[str]], ids: dict[str, str]) -> list[str]:
    """Return the example addresses with the ids that the service gave."""
    return [address.format_map(ids) for group in examples.values() for address in group]


@pytest.mark.timeout(600)
def test_every_page_fits_every_screen(
    demo: Service, ids: dict[str, str], browser: Browser, accessible: Callable[[Page], None]
) -> None:
    """Each page responds, has a title, fits the window, is accessible and causes no error in the console."""
    problems: list[str] = []
    for user, examples in (
        ("", SIGNED_OUT),
        (SECOND_FACTOR_USER, HALF_SIGNED_IN),
        ("admin", SIGNED_IN | CONVERSATION),
    ):
        visitor = Visitor(browser, demo, accessible, user)
        if user:
            visitor.log_in(user)
        for address in addresses(examples, ids):
            visitor.visit(address)
        if user == "admin":
            visitor.page.add_init_script(KEEP_ONE_ENDPOINT)
            visitor.visit(*addresses(LONG, ids))
        problems += visitor.problems
        visitor.close()
    assert problems == []
