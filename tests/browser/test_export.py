"""The HTML export in a browser, opened from a folder: layout, search, accessibility and hostile content."""

import re
from base64 import b64decode
from collections.abc import Callable, Iterator
from pathlib import Path
from urllib.parse import unquote

import pytest
from playwright.sync_api import Browser, Page, expect

from holdfast.backup import archives
from holdfast.backup.exports.choice import ChatSelection
from holdfast.backup.exports.html import pagination, write_html
from tests.backup.archives.histories import copies, import_backups, items, write

# Each would set the canary if any of it became markup or script.
ATTACKS = [
    "<script>canary=1</script><img src=x onerror=canary=1>",
    '"><svg onload=canary=1> \' onmouseover=canary=1 x="',
    "</title></style></script><script>canary=1</script>",
    "javascript:canary=1 https://example.org/?q=<script>canary=1</script>",
    "</p></li></ol></main><iframe srcdoc='<script>parent.canary=1</script>'>",
    "\u202e\u2067 <b onclick=canary=1>turned around",
    "w" * 900,
    "<link rel=stylesheet href=http://example.org/x.css><meta http-equiv=refresh content='0;url=http://example.org'>",
]
MESSAGES = 600
# A picture of one point.
PIXEL = b64decode(
    "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg=="
)


@pytest.fixture(scope="module")
def exported(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Export a history in which people, groups, texts and files are named to do harm."""
    home = tmp_path_factory.mktemp("exported")
    header, parsed = copies(MESSAGES)
    for n, frame in enumerate(parsed):
        if frame.HasField("recipient") and frame.recipient.HasField("contact") and n % 3 == 0:
            frame.recipient.contact.nickname.given = ATTACKS[n % len(ATTACKS)]
        elif frame.HasField("recipient") and frame.recipient.HasField("group"):
            frame.recipient.group.snapshot.title.title = f"Hikers {ATTACKS[n % len(ATTACKS)]}"
    for n, item in enumerate(items(parsed)):
        if item.HasField("standardMessage") and item.standardMessage.HasField("text") and n % 4 == 0:
            item.standardMessage.text.body = f"{ATTACKS[n // 4 % len(ATTACKS)]} attack{n}"
            for attached in item.standardMessage.attachments:
                attached.pointer.fileName = ATTACKS[n % len(ATTACKS)]
    import_backups(home / "chats.db", write(home / "one", header, parsed))
    with archives.open(home / "chats.db") as opened, pytest.MonkeyPatch.context() as patch:
        patch.setattr(pagination, "PAGE_MESSAGES", 40)
        write_html(opened, home / "out", ChatSelection(), media=True, search=True)
    return home / "out"


@pytest.fixture(scope="module")
def with_photos(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Export a history whose attachments are beside the archive, each the same picture."""
    home = tmp_path_factory.mktemp("photos")
    import_backups(home / "chats.db", write(home / "one", *copies(MESSAGES)))
    with archives.open(home / "chats.db", create=True) as opened:
        run = opened.connection.execute
        digest = "ab" * 32
        for (name,) in run("SELECT DISTINCT media_name FROM attachment WHERE media_name IS NOT NULL").fetchall():
            run("INSERT INTO media VALUES (?, ?, ?, ?)", (name, digest, len(PIXEL), f"ab/{digest}.png"))
        path = opened.media_folder / "ab" / f"{digest}.png"
        path.parent.mkdir(parents=True)
        path.write_bytes(PIXEL)
    with archives.open(home / "chats.db") as opened:
        write_html(opened, home / "out", ChatSelection(), media=True, search=False)
    return home / "out"


def watch(page: Page, root: Path) -> list[str]:
    """List the requests of a page for URLs outside of the export."""
    outside: list[str] = []

    def asked(url: str) -> None:
        if not unquote(url).startswith(f"file://{root}/"):
            outside.append(url)

    page.on("request", lambda request: asked(request.url))
    return outside


def largest(root: Path) -> Path:
    """Find the chat with most pages."""
    return max((root / "chats").iterdir(), key=lambda home: len(list(home.glob("*.html"))))


@pytest.fixture
def one_page(browser: Browser) -> Iterator[Page]:
    """Open one page, of one size and scheme."""
    context = browser.new_context()
    yield context.new_page()
    context.close()


def test_an_export_has_the_layout_of_a_messenger(
    exported: Path, page: Page, keep: Callable[[Page, str], None]
) -> None:
    """No page of an export is wider than the window in both sizes and color schemes."""
    for place, name in (
        (exported / "index.html", "export-list"),
        (largest(exported) / "1.html", "export-chat"),
        (largest(exported) / "index.html", "export-dates"),
    ):
        page.goto(place.as_uri())
        assert page.evaluate("document.documentElement.scrollWidth <= window.innerWidth")
        keep(page, name)
    page.goto(f"{(exported / 'search.html').as_uri()}#q=attack")
    expect(page.get_by_role("status")).to_contain_text("found")
    keep(page, "export-search")


@pytest.mark.parametrize("name", ["calls", "people", "statistics"])
def test_pages_beside_the_chats_fit_and_are_accessible(
    exported: Path, page: Page, keep: Callable[[Page, str], None], accessible: Callable[[Page], None], name: str
) -> None:
    """Each page is linked from the list of chats, fits the window and passes the accessibility check."""
    page.goto((exported / "index.html").as_uri())
    page.get_by_role("navigation", name="Export").get_by_role("link", name=name.capitalize()).click()
    expect(page.get_by_role("heading", level=1)).to_have_text(name.capitalize())
    # The heading is there before the stylesheet.
    page.wait_for_load_state()
    assert page.evaluate("document.documentElement.scrollWidth <= window.innerWidth")
    keep(page, f"export-{name}")
    accessible(page)
    page.get_by_role("link", name="All chats").click()
    expect(page).to_have_url(re.compile(r"/index\.html$"))


def test_photos_are_a_grid_that_leads_to_messages(
    with_photos: Path, page: Page, keep: Callable[[Page, str], None], accessible: Callable[[Page], None]
) -> None:
    """The photos of a month load in a grid, and a click on one shows its message."""
    page.goto((with_photos / "media.html").as_uri())
    accessible(page)
    page.locator(".lines a").first.click()
    expect(page.locator(".gallery img").first).to_be_visible()
    page.wait_for_function("document.querySelector('.gallery img').naturalWidth > 0")
    assert page.evaluate("document.documentElement.scrollWidth <= window.innerWidth")
    keep(page, "export-media")
    accessible(page)
    page.locator(".gallery a").first.click()
    expect(page.locator(":target")).to_be_in_viewport()


def test_a_user_reads_and_follows_quotes(exported: Path, one_page: Page) -> None:
    """A user goes from the list to the latest messages and back by page links, quotes and dates."""
    page = one_page
    page.goto((exported / "index.html").as_uri())
    page.get_by_label("Show chats by name").fill("hikers")
    page.get_by_role("listitem").filter(has_text="Hikers").first.get_by_role("link").click()
    expect(page).to_have_url(re.compile(r"\.html#end$"))
    page.goto((largest(exported) / "latest.html").as_uri())
    expect(page).to_have_url(re.compile(r"/\d+\.html#end$"))
    page.get_by_role("link", name="Older").first.click()
    page.get_by_role("link", name="First").first.click()
    expect(page).to_have_url(re.compile(r"/1\.html$"))
    quote = page.locator(".q > a").first
    target = quote.get_attribute("href") or ""
    quote.click()
    expect(page.locator(f"#{target.partition('#')[2]}")).to_be_in_viewport()
    page.get_by_label("Jump to a date").fill("2024-02-29")
    page.get_by_label("Jump to a date").press("Enter")
    expect(page).to_have_url(re.compile(r"#d20\d\d-\d\d-\d\d$"))
    expect(page.locator(":target")).to_be_in_viewport()
    expect(page.get_by_label("Jump to a date")).to_have_value(page.url.partition("#d")[2])
    page.get_by_role("link", name="Dates").click()
    page.locator(".cal a").last.click()
    expect(page.locator(":target")).to_be_in_viewport()


def test_a_user_searches_an_export(exported: Path, one_page: Page) -> None:
    """Phrases, beginnings and signs are found, capitals and accents do not matter, and hits lead to messages."""
    page = one_page
    outside = watch(page, exported)
    page.goto((exported / "search.html").as_uri())
    words, state = page.get_by_label("Words to find"), page.get_by_role("status")
    for query, response in (
        ("HERONS", "found"),
        ('"by the lake"', "found"),
        ('"lake by the"', "Nothing"),
        ("hero", "found"),
        ("eron", "Nothing"),
        ("Iñigo zzzz", "Nothing"),
        ("日", "found"),
        ("script canary attack", "found"),
    ):
        words.fill(query)
        words.press("Enter")
        expect(state).to_contain_text(response)
    hit = page.locator(".hits a").first
    expect(hit).to_contain_text("canary=1")
    hit.click()
    expect(page.locator("li:target")).to_contain_text("attack")
    assert page.evaluate("typeof canary") == "undefined"
    assert outside == []


def test_no_page_runs_or_loads_anything(exported: Path, one_page: Page) -> None:
    """Events on all elements of the pages run no injected script and cause no request outside the export."""
    outside = watch(one_page, exported)
    pages = [exported / "index.html", *sorted(largest(exported).glob("[0-9i]*.html"))[:6]]
    for path in pages:
        one_page.goto(path.as_uri())
        one_page.evaluate(
            "for (const one of document.querySelectorAll('*')) {"
            " for (const kind of ['mouseover', 'focus', 'click', 'error', 'load'])"
            "  if (!(one instanceof HTMLAnchorElement) && !one.closest('a'))"
            "   one.dispatchEvent(new Event(kind)); }"
        )
        assert one_page.evaluate("typeof canary") == "undefined"
        assert one_page.locator("iframe, svg, style, object, embed, base").count() == 0
        assert one_page.locator("script:not([src])").count() == 0
    assert outside == []


def test_everything_but_the_search_works_without_javascript(exported: Path, browser: Browser) -> None:
    """Dates are links, spoilers open with the keyboard, and the search says what it needs."""
    context = browser.new_context(java_script_enabled=False)
    page = context.new_page()
    page.goto((exported / "index.html").as_uri())
    expect(page.locator(".filter")).to_be_hidden()
    page.goto((largest(exported) / "index.html").as_uri())
    page.locator(".cal a").first.click()
    expect(page.locator(".m").first).to_be_visible()
    page.get_by_role("link", name="Latest").first.click()
    expect(page).to_have_url(re.compile(r"/\d+\.html#end$"))
    page.goto((exported / "search.html").as_uri())
    expect(page.get_by_text("The search needs JavaScript")).to_be_visible()
    context.close()


def test_an_export_can_be_printed(exported: Path, one_page: Page) -> None:
    """A printed chat has its messages and no page navigation."""
    one_page.emulate_media(media="print")
    one_page.goto((largest(exported) / "1.html").as_uri())
    expect(one_page.locator(".pager").first).to_be_hidden()
    expect(one_page.locator(".m").first).to_be_visible()
    assert len(one_page.pdf()) > 10_000
