"""A repository in a browser: browsing it, editing a file, and resolving an edit conflict."""

import base64
import re
from collections.abc import Callable

import httpx
import pytest
from playwright.sync_api import FilePayload, Page, expect

from tests.browser.conftest import log_in
from tests.conftest import ADMIN_PASSWORD, Service

README = """# Tides

What the *water* does, and when.

- [x] read the gauge
- [ ] light the [lantern](docs/lantern.md)

| hour | level |
|---:|---|
| 3 | low |

![The curve](docs/curve.svg)
"""
CURVE = '<svg xmlns="http://www.w3.org/2000/svg" width="300" height="80"><path d="M0 40h300" stroke="teal"/></svg>'
CODE = (
    '"""Tides."""\n\n\ndef level(hour: int) -> float:\n    """Tell the level."""\n    return hour / 2  # rising\n'
    * 8
)
Keep = Callable[[Page, str], None]
Check = Callable[[Page], None]
LONG = "a-rather-long-name-of-a-file-that-nobody-would-choose-" * 3 + ".txt"


def fill(api: httpx.Client) -> None:
    """Make a repository with a few files, and change one of them."""
    api.post("/user/repos", json={"name": "tides", "description": "What the water does"})
    files = {"README.md": README, "docs/curve.svg": CURVE, "src/tides.py": CODE, LONG: "x\n"}
    body = {
        "files": [
            {"operation": "create", "path": path, "content": base64.b64encode(text.encode()).decode()}
            for path, text in files.items()
        ],
        "message": "Begin with the water\n\nand say why",
    }
    assert api.post("/repos/admin/tides/contents", json=body).status_code == 201
    changed = base64.b64encode(CODE.replace("rising", "falling").encode()).decode()
    sha = api.get("/repos/admin/tides/contents/src/tides.py").json()["sha"]
    api.put("/repos/admin/tides/contents/src/tides.py", json={"content": changed, "sha": sha, "message": "Fall"})


def use_permalink(page: Page) -> None:
    """Follow the link of a heading to itself with the keyboard; it is shown only then, and moves nothing."""
    heading = page.get_by_role("heading", name="Tides", exact=True)
    link = page.get_by_role("link", name="Permalink: Tides")
    expect(link).to_have_css("opacity", "0")
    place = heading.bounding_box()
    link.focus()
    # Focus that the keyboard moves is shown.
    page.keyboard.press("Shift+Tab")
    page.keyboard.press("Tab")
    expect(link).to_be_focused()
    expect(link).to_have_css("opacity", "1")
    assert heading.bounding_box() == place
    page.keyboard.press("Enter")
    expect(heading).to_have_id(page.url.rpartition("#")[2])
    page.emulate_media(media="print")
    expect(link).to_be_hidden()
    page.emulate_media(media="screen")


def look_around(site: Service, page: Page, keep: Keep, accessible: Check) -> None:
    """Open the home page of a repository, a file, its lines, its history and a commit."""
    expect(page.get_by_role("heading", name="Tides", exact=True)).to_be_visible()
    expect(page.get_by_role("img", name="The curve")).to_be_visible()
    use_permalink(page)
    keep(page, "repository")
    # The longest of the relative times fits into its column.
    fits = "(cell) => { cell.textContent = '59 minutes ago'; return cell.scrollWidth <= cell.clientWidth; }"
    assert page.locator(".files tbody td.age").first.evaluate(fits)
    page.locator(".switch summary").click()
    expect(page.get_by_role("searchbox", name="Find a branch")).to_be_visible()
    accessible(page)
    page.locator(".switch summary").click()

    page.get_by_role("link", name="src", exact=True).click()
    page.get_by_role("link", name="tides.py", exact=True).click()
    expect(page.locator("pre.code .k").first).to_have_text("def")
    page.locator("#L6 > a").click()
    expect(page.locator("#L6")).to_have_class("marked")
    page.locator("#L9 > a").click(modifiers=["Shift"])
    expect(page).to_have_url(f"{site.url}/admin/tides/src/branch/main/src/tides.py#L6-L9")
    expect(page.locator(".marked")).to_have_count(4)
    keep(page, "file")

    page.get_by_role("link", name="Blame").click()
    expect(page.locator("table.blame tr")).to_have_count(len(CODE.splitlines()) + 1)
    keep(page, "blame")
    page.get_by_role("link", name="History").click()
    expect(page).to_have_url(re.compile(r"/commits/"))
    keep(page, "history")
    page.get_by_role("link", name="Fall", exact=True).click()
    expect(page.locator("tr.add").first).to_contain_text("falling")
    keep(page, "commit")
    page.goto(f"{site.url}/admin/tides/branches")
    accessible(page)
    page.goto(f"{site.url}/-/search?q=tides")
    keep(page, "search")


def meet_somebody_faster(site: Service, page: Page, api: httpx.Client, keep: Keep, accessible: Check) -> None:
    """Edit a file that changes meanwhile, and commit the edit to a new branch."""
    page.goto(f"{site.url}/admin/tides/_edit/main/src/tides.py")
    accessible(page)
    sha = api.get("/repos/admin/tides/contents/src/tides.py").json()["sha"]
    theirs = base64.b64encode(b'"""Theirs."""\n').decode()
    body = {"content": theirs, "sha": sha, "message": "I was faster"}
    assert api.put("/repos/admin/tides/contents/src/tides.py", json=body).status_code == 200
    page.get_by_role("textbox", name="Content").click()
    page.keyboard.press("Control+End")
    page.keyboard.type("# mine\n")
    page.get_by_label("Commit message").fill("Mine")
    with page.expect_response(lambda response: response.request.method == "POST") as answered:
        page.get_by_role("button", name="Commit").click()
    assert answered.value.status == 409
    expect(page.get_by_role("heading", name="This file was changed while you were editing")).to_be_visible()
    expect(page.get_by_role("link", name="I was faster")).to_be_visible()
    keep(page, "conflict")
    page.get_by_role("button", name="Commit to a new branch").click()
    expect(page).to_have_url(f"{site.url}/admin/tides/src/branch/admin-patch-1/src/tides.py")
    expect(page.get_by_text("# mine")).to_be_visible()


@pytest.mark.parametrize(("page", "scheme"), [("desktop", "light"), ("phone", "dark")], indirect=True)
def test_a_user_browses_and_changes_files(site: Service, page: Page, keep: Keep, accessible: Check) -> None:
    """A user reads files, lines and history, resolves a conflicting edit and uploads a file."""
    with httpx.Client(base_url=f"{site.url}/api/v1", auth=("admin", ADMIN_PASSWORD), timeout=60) as api:
        fill(api)
        log_in(page, f"{site.url}/login?next=/admin/tides")
        look_around(site, page, keep, accessible)
        meet_somebody_faster(site, page, api, keep, accessible)

    page.goto(f"{site.url}/admin/tides/_upload/main")
    page.get_by_label("Files").set_input_files(
        FilePayload(name="note.txt", mimeType="text/plain", buffer=b"hello")
    )
    keep(page, "upload")
    page.get_by_role("button", name="Upload").click()
    expect(page.get_by_role("link", name="note.txt", exact=True)).to_be_visible()


@pytest.mark.parametrize(("page", "scheme"), [("desktop", "light"), ("phone", "dark")], indirect=True)
def test_symbols_lead_to_their_lines(site: Service, page: Page, keep: Keep) -> None:
    """The list is open beside the lines, closed above them, and leads to lines of other pages of the file."""
    text = "def first(): pass\n" + "x = 1\n" * 4000 + "def last(): pass\n"
    with httpx.Client(base_url=f"{site.url}/api/v1", auth=("admin", ADMIN_PASSWORD), timeout=60) as api:
        fill(api)
        body = {"content": base64.b64encode(text.encode()).decode(), "message": "Add much"}
        assert api.post("/repos/admin/tides/contents/long.py", json=body).status_code == 201
    page.goto(f"{site.url}/admin/tides/src/branch/main/long.py")
    last, lines = page.get_by_role("link", name="last", exact=True), page.locator("pre.code")
    is_wide = page.evaluate("innerWidth") > 1000
    expect(last).to_be_visible(visible=is_wide)
    symbols, code = page.locator(".symbols").bounding_box(), lines.bounding_box()
    assert symbols is not None
    assert code is not None
    assert symbols["x"] > code["x"] + code["width"] if is_wide else symbols["y"] < code["y"]
    keep(page, "symbols")
    if not is_wide:
        page.locator(".symbols > summary").click()
    last.click()
    expect(page.locator("#L4002")).to_have_class("marked")
    expect(page.locator("#L4002")).to_be_in_viewport()
