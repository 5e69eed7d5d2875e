"""Minimum sizes of page elements, measured in a browser."""

import base64

import httpx
import pytest
from playwright.sync_api import Page, expect

from tests.conftest import ADMIN_PASSWORD, Service

SIZES = [("desktop", "light"), ("phone", "light")]


def api_of(site: Service) -> httpx.Client:
    """Return a client of the API that acts as the administrator."""
    return httpx.Client(base_url=f"{site.url}/api/v1", auth=("admin", ADMIN_PASSWORD), timeout=60)


def width_of(page: Page, selector: str) -> float:
    """Return how wide an element is on the screen, in pixels."""
    box = page.locator(selector).first.bounding_box()
    assert box is not None
    return box["width"]


@pytest.mark.parametrize(("page", "scheme"), SIZES, indirect=True)
def test_fields_and_names_are_wide_enough_to_read(site: Service, page: Page) -> None:
    """The filters of the issue list and the file names of a subdirectory have a minimum width."""
    with api_of(site) as api:
        api.post("/user/repos", json={"name": "ship"})
        api.post("/repos/admin/ship/issues", json={"title": "A leak"})
        content = base64.b64encode(b"x").decode()
        body = {"content": content, "message": "Add a file"}
        assert api.post("/repos/admin/ship/contents/deck/cabin/lantern.txt", json=body).status_code == 201
    page.goto(f"{site.url}/admin/ship/issues")
    page.get_by_text("Filters").click()
    for field in ("#label", "#milestone", "#assignee", "#author", "#type", "#sort", "#q"):
        assert width_of(page, field) > 120, field
    page.goto(f"{site.url}/admin/ship/src/branch/main/deck/cabin")
    assert width_of(page, ".files td.name:has-text('lantern.txt')") > 180


@pytest.mark.parametrize(("page", "scheme"), SIZES[:1], indirect=True)
def test_an_address_with_a_line_shows_that_line_of_a_long_file(site: Service, page: Page) -> None:
    """A URL with a line loads the part of a long file, or of its blame, that has the line."""
    with api_of(site) as api:
        api.post("/user/repos", json={"name": "ship"})
        text = "".join(f"line {number}\n" for number in range(1, 20_001))
        body = {"content": base64.b64encode(text.encode()).decode(), "message": "Add a long file"}
        assert api.post("/repos/admin/ship/contents/long.txt", json=body).status_code == 201
    for kind in ("src", "blame"):
        page.goto(f"{site.url}/admin/ship/{kind}/branch/main/long.txt#L15000-L15002")
        expect(page.locator("#L15000")).to_be_in_viewport()
        expect(page.locator("#L15000")).to_contain_text("line 15000")
        expect(page.locator(".marked")).to_have_count(3)
        expect(page.locator("#L14990")).to_be_attached()
    page.goto(f"{site.url}/admin/ship/src/branch/main/long.txt#L99999")
    expect(page.locator("#L1")).to_be_visible()


@pytest.mark.parametrize(("page", "scheme"), [("desktop", "light")], indirect=True)
@pytest.mark.parametrize(
    "element", ["<span class=entry-line><bdi id=line></bdi></span>", "<p class=entry-text id=line>"]
)
def test_a_line_about_a_name_in_arabic_reads_from_the_left(site: Service, page: Page, element: str) -> None:
    """The direction of a line is that of its own text, not that of an isolated name at its start."""
    page.goto(site.url)
    positions = page.evaluate(
        """element => {
            document.querySelector("main").innerHTML = element;
            const line = document.querySelector("#line");
            if (line.localName === "p") line.dir = "auto";
            line.textContent = "\u2068\u0646\u0628\u064a\u0644\u2069 has a new phone number.";
            const [text] = line.childNodes;
            return [1, 7, text.length - 1].map((start) => {
                const range = document.createRange();
                range.setStart(text, start);
                range.setEnd(text, start + 1);
                return range.getBoundingClientRect().left;
            });
        }""",
        element,
    )
    # The name, the word after it, and the full stop at the end.
    assert positions == sorted(positions)


@pytest.mark.parametrize(("page", "scheme"), SIZES, indirect=True)
def test_each_paragraph_of_a_text_has_the_direction_of_its_language(site: Service, page: Page) -> None:
    """Hebrew begins at the right, English below it at the left, and code is never reversed."""
    text = "שלום עולם\n\n- אחת\n\nEnglish\n\n```\n(a)\n```\n"
    with api_of(site) as api:
        api.post("/user/repos", json={"name": "ship"})
        api.post("/repos/admin/ship/issues", json={"title": "A leak", "body": text})
        content = {"content": base64.b64encode(text.encode()).decode(), "message": "Add a file"}
        assert api.post("/repos/admin/ship/contents/README.md", json=content).status_code == 201
    find_gaps = """(prose) => {
        const inner = prose.getBoundingClientRect(), style = getComputedStyle(prose);
        const left = inner.left + parseFloat(style.paddingLeft);
        const right = inner.right - parseFloat(style.paddingRight);
        return [...prose.querySelectorAll(":scope > p")].map((paragraph) => {
            const range = document.createRange();
            range.selectNodeContents(paragraph);
            const box = range.getBoundingClientRect();
            return [Math.round(box.left - left), Math.round(right - box.right)];
        });
    }"""
    for address in ("issues/1", ""):
        page.goto(f"{site.url}/admin/ship/{address}")
        prose = page.locator(".prose").first
        hebrew, english = prose.evaluate(find_gaps)
        assert hebrew[1] == 0, address
        assert english[0] == 0, address
        expect(prose.locator("li")).to_have_css("direction", "rtl")
        expect(prose.locator("pre")).to_have_css("direction", "ltr")
