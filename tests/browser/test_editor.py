"""The editor of files in the browser: CodeMirror over the text area of the form."""

import base64
import re
from collections.abc import Callable, Iterator

import httpx
import pytest
from playwright.sync_api import Browser, Locator, Page, Response, Route, expect

from holdfast.web.bundles import BUNDLES
from tests.browser.conftest import log_in
from tests.conftest import ADMIN_PASSWORD, Service

CODE = 'def level(hour: int) -> float:\n\treturn hour / 2  # rising\n\n\nPORT = "Sund"\n'
EDIT = "/admin/tides/_edit/main/src/tides.py"
Keep = Callable[[Page, str], None]
on_a_desktop = pytest.mark.parametrize(("page", "scheme"), [("desktop", "light")], indirect=True)


@pytest.fixture(autouse=True)
def built() -> None:
    """Skip where npm is missing, which the editor is built with."""
    if not BUNDLES.address("editor"):
        pytest.skip("the editor is not built: run `make assets`")


@pytest.fixture
def api(site: Service) -> Iterator[httpx.Client]:
    """Make a repository with a file."""
    with httpx.Client(base_url=f"{site.url}/api/v1", auth=("admin", ADMIN_PASSWORD), timeout=60) as client:
        client.post("/user/repos", json={"name": "tides", "auto_init": True})
        body = {"content": base64.b64encode(CODE.encode()).decode(), "message": "Begin"}
        assert client.post("/repos/admin/tides/contents/src/tides.py", json=body).status_code == 201
        yield client


def open_page(site: Service, page: Page, path: str) -> None:
    """Log in and open a page."""
    log_in(page, f"{site.url}/login?next={path}")
    page.wait_for_url(f"{site.url}{path}")


def content(api: httpx.Client, path: str) -> str:
    """Read a file of the repository."""
    return base64.b64decode(api.get(f"/repos/admin/tides/contents/{path}").json()["content"]).decode()


def editor(page: Page) -> Locator:
    """Find the editor by the label of the text area."""
    return page.get_by_role("textbox", name="Content")


@pytest.mark.parametrize(("page", "scheme"), [("desktop", "light"), ("phone", "dark")], indirect=True)
def test_what_is_typed_is_committed(site: Service, api: httpx.Client, page: Page, keep: Keep) -> None:
    """Text typed in the editor is in the committed file, and the editor has colors and line numbers."""
    open_page(site, page, EDIT)
    expect(editor(page)).to_be_visible()
    expect(page.locator("textarea#content")).to_be_hidden()
    expect(page.locator(".cm-lineNumbers .cm-gutterElement", has_text="5")).to_be_visible()
    keyword, comment = page.get_by_text("def", exact=True), page.get_by_text("# rising", exact=True)
    expect(keyword).to_be_visible()
    colours = [item.evaluate("element => getComputedStyle(element).color") for item in (keyword, comment)]
    assert len({*colours, editor(page).evaluate("element => getComputedStyle(element).color")}) == 3
    editor(page).click()
    page.keyboard.press("Control+End")
    # One of the letters is a shortcut of the site: it opens the search for files.
    page.keyboard.type('tide = "high"')
    keep(page, "editor")
    page.get_by_label("Commit message").fill("Say how high")
    page.get_by_role("button", name="Commit").click()
    expect(page).to_have_url(f"{site.url}/admin/tides/src/branch/main/src/tides.py")
    assert content(api, "src/tides.py") == f'{CODE}tide = "high"'
    assert api.get("/repos/admin/tides/commits").json()[0]["commit"]["message"] == "Say how high\n"


@on_a_desktop
def test_tab_indents_as_the_file_does_and_escape_lets_it_leave(
    site: Service, api: httpx.Client, page: Page
) -> None:
    """Tab inserts the chosen indentation, and after Escape it moves the focus out of the editor."""
    open_page(site, page, EDIT)
    expect(page.get_by_label("Indentation")).to_have_value("\t")
    editor(page).click()
    page.keyboard.press("Control+End")
    page.keyboard.press("Tab")
    expect(page.locator("#content")).to_have_value(f"{CODE}\t")
    page.get_by_label("Indentation").select_option("  ")
    editor(page).click()
    page.keyboard.press("Control+a")
    page.keyboard.type("low")
    page.keyboard.press("Tab")
    expect(page.locator("#content")).to_have_value("  low")
    page.keyboard.press("Escape")
    page.keyboard.press("Tab")
    expect(page.get_by_label("Commit message")).to_be_focused()
    expect(page.locator("#content")).to_have_value("  low")
    page.get_by_text("Content", exact=True).click()
    expect(editor(page)).to_be_focused()


@on_a_desktop
def test_the_language_follows_the_name_of_a_new_file(site: Service, api: httpx.Client, page: Page) -> None:
    """The code is highlighted when the path gets a known file extension, and not with an unknown one."""
    open_page(site, page, "/admin/tides/_new/main")
    editor(page).click()
    page.keyboard.type("const level = 3;")
    word = page.locator(".cm-line span", has_text=re.compile("^const$"))
    expect(word).to_have_count(0)
    page.get_by_label("Path").fill("level.js")
    expect(word).to_have_count(1)
    page.get_by_label("Path").fill("level.unknown")
    expect(word).to_have_count(0)
    expect(page.get_by_label("Wrap lines")).not_to_be_checked()
    page.get_by_label("Wrap lines").check()
    expect(page.locator(".cm-lineWrapping")).to_have_count(1)
    page.get_by_role("button", name="Preview").click()
    expect(page.get_by_role("heading", name="Changes")).to_be_visible()
    expect(editor(page)).to_have_text("const level = 3;")


@pytest.mark.parametrize(("page", "scheme"), [("phone", "light"), ("desktop", "dark")], indirect=True)
def test_words_are_found_and_replaced(site: Service, api: httpx.Client, page: Page, keep: Keep) -> None:
    """The search panel marks the matches of a word and replaces all of them."""
    open_page(site, page, EDIT)
    editor(page).click()
    page.keyboard.press("Control+f")
    page.get_by_placeholder("Find").press_sequentially("hour")
    expect(page.locator(".cm-searchMatch")).to_have_count(2)
    keep(page, "editor-search")
    page.get_by_placeholder("Replace").press_sequentially("minute")
    page.get_by_role("button", name="Replace all").click()
    expect(page.locator("#content")).to_have_value(CODE.replace("hour", "minute"))


@on_a_desktop
def test_a_long_text_keeps_the_plain_form(site: Service, api: httpx.Client, page: Page) -> None:
    """A file above a megabyte is edited in the text area, which is faster than the editor."""

    def lengthen(route: Route) -> None:
        response = route.fetch()
        route.fulfill(
            response=response, body=response.text().replace("</textarea>", "x" * 2**20 + "</textarea>", 1)
        )

    open_page(site, page, EDIT)
    page.route("**/_edit/**", lengthen)
    page.reload()
    expect(page.locator("textarea#content")).to_be_visible()
    expect(page.locator(".editor-bar")).to_have_count(0)


def test_without_scripts_the_form_is_plain(site: Service, api: httpx.Client, browser: Browser) -> None:
    """A file can be edited and committed with the plain text area if JavaScript is disabled."""
    context = browser.new_context(java_script_enabled=False)
    page = context.new_page()
    open_page(site, page, EDIT)
    page.get_by_label("Content").fill("plain\n")
    page.get_by_role("button", name="Commit").click()
    expect(page.get_by_text("File src/tides.py saved.")).to_be_visible()
    assert content(api, "src/tides.py") == "plain\n"
    context.close()


@on_a_desktop
def test_a_page_without_an_editor_loads_none(site: Service, api: httpx.Client, page: Page) -> None:
    """Bundles are loaded where they are used; the editor itself is less than 200 KB on the wire."""
    sizes: dict[str, int] = {}

    def note(response: Response) -> None:
        sizes[response.url] = int(response.headers.get("content-length", 0))

    page.on("response", note)
    open_page(site, page, "/admin/tides/src/branch/main/src/tides.py")
    page.wait_for_load_state("networkidle")
    assert not [url for url in sizes if "/bundles/" in url]
    page.goto(f"{site.url}{EDIT}")
    expect(editor(page)).to_be_visible()
    page.wait_for_load_state("networkidle")
    bundled = {url: size for url, size in sizes.items() if "/bundles/" in url}
    assert bundled
    assert 20_000 < sum(bundled.values()) < 200_000, bundled
