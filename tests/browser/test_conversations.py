"""Reading, searching and decrypting a chat backup in a browser."""

import re
from collections.abc import Callable
from pathlib import Path

import pytest
from playwright.sync_api import Browser, Page, expect

from holdfast import backup
from holdfast.backup import archives
from holdfast.backup.conversion import OutputFormat
from holdfast_demo.sample import sample_records
from holdfast_demo.sample_writer import write_sample
from tests.backup.archives.histories import import_backups
from tests.backup.container.vectors import SET_B
from tests.backup.streams import KEYS, sample, stream_of
from tests.browser.conftest import SIZES, log_in
from tests.conftest import Service


@pytest.fixture(scope="module")
def backup_folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Make a long history, one with files, and an encrypted one, once."""
    home = tmp_path_factory.mktemp("shelf")
    (home / "long.binproto").write_bytes(stream_of(sample(3000)))
    import_backups(home / "long.db", home / "long.binproto")
    write_sample(sample_records(300, 1), home / "phone", OutputFormat.FOLDER, seed=1, keys=KEYS)
    with archives.open(home / "files.db", create=True) as opened, backup.open(home / "phone", KEYS) as result:
        opened.add(result)
        assert list(opened.copy_media(result))
    return home


def scroll_far_back(page: Page) -> None:
    """Scroll up until the first messages are removed: older ones are loaded, and distant ones removed."""
    newest = page.locator(".log > .m").last.get_attribute("id")
    seen: set[str] = set()
    for _ in range(200):
        known = page.evaluate("[...document.querySelectorAll('.log > .m')].map((one) => one.id)")
        seen.update(known)
        if len(seen) > 640:
            break
        page.evaluate("window.scrollTo({ top: 400, behavior: 'instant' })")
        page.wait_for_function(
            "(first) => document.querySelector('.log > .m').id !== first", arg=known[0], timeout=60_000
        )
    assert len(seen) > 640
    assert page.locator(".message-page").count() <= 6
    assert page.locator(".log > .m").count() <= 600
    assert newest not in page.evaluate("[...document.querySelectorAll('.log > .m')].map((one) => one.id)")
    expect(page).to_have_url(re.compile(r"before="))


@pytest.mark.timeout(600)
def test_a_user_reads_searches_and_opens_an_encrypted_backup(
    site: Service, page: Page, keep: Callable[[Page, str], None], backup_folder: Path
) -> None:
    """A user opens a chat, scrolls far back, follows a search result and opens an encrypted backup."""
    (site.settings.data / "backups").symlink_to(backup_folder)
    log_in(page, f"{site.url}/-/archives")
    expect(page.get_by_role("link", name="long.db")).to_be_visible()
    keep(page, "archives")
    page.get_by_role("link", name="long.db").click()
    expect(page.locator(".entries a").first).to_be_visible()
    keep(page, "chats")
    page.locator(".entries a").first.click()
    expect(page.get_by_text("No newer messages.")).to_be_in_viewport()
    keep(page, "chat")

    scroll_far_back(page)
    page.reload()
    assert page.locator(".log > .m").count() > 0

    page.get_by_text("Go to").click()
    page.get_by_role("link", name="First message").click()
    expect(page.locator(".log > .m").first).to_be_visible()
    page.evaluate("window.scrollTo({ top: document.body.scrollHeight, behavior: 'instant' })")
    expect(page.locator(".message-page")).to_have_count(2)
    page.goto(f"{site.url}/-/archives/long.db/search")
    page.get_by_label("Search terms").fill("bread")
    page.keyboard.press("Enter")
    expect(page.locator("mark").first).to_be_visible()
    keep(page, "chats-search")
    page.locator(".entries a").first.click()
    expect(page.locator(".m:target")).to_be_in_viewport()
    for path in ("people", "statistics", "about"):
        page.goto(f"{site.url}/-/archives/long.db/{path}")
        keep(page, path)

    # Pictures are shown; a quote leads to its message without a new page.
    page.goto(f"{site.url}/-/archives/files.db/search?has=media")
    page.locator(".entries a").first.click()
    picture = page.locator(".log img").first
    picture.scroll_into_view_if_needed()
    expect(picture).to_have_js_property("complete", True)
    assert picture.evaluate("(one) => one.naturalWidth") > 0
    keep(page, "media")
    page.goto(f"{site.url}/-/archives/files.db/media")
    expect(page.locator(".tiles img").first).to_be_visible()
    keep(page, "chats-media")

    page.goto(f"{site.url}/-/archives/phone")
    page.get_by_label("Backup key").fill(str(SET_B.pool))
    page.get_by_label("Account ID").fill(str(SET_B.aci))
    keep(page, "key")
    page.keyboard.press("Enter")
    expect(page.get_by_role("button", name="Forget key")).to_be_visible(timeout=60_000)
    page.get_by_role("button", name="Forget key").click()
    expect(page.get_by_role("heading", name="This backup is encrypted")).to_be_visible()


def logged_in(page: Page, site: Service, path: str) -> None:
    """Log the administrator in, and go to a page."""
    log_in(page, f"{site.url}{path}")
    page.wait_for_url(f"{site.url}{path}")


def test_nothing_of_a_conversation_is_left_in_the_browser_after_logging_out(
    site: Service, browser: Browser, tmp_path: Path
) -> None:
    """The cookies are gone, the back button shows no chat, and the key is required again after a log-in."""
    backup_folder = site.settings.data / "backups"
    backup_folder.mkdir(parents=True)
    write_sample(sample_records(40, 1), backup_folder / "phone.backup", OutputFormat.CONTAINER, seed=1, keys=KEYS)
    with browser.new_context() as context:
        page = context.new_page()
        logged_in(page, site, "/-/archives/phone.backup/")
        page.get_by_label("Backup key").fill(str(SET_B.pool))
        page.get_by_label("Account ID").fill(str(SET_B.aci))
        page.get_by_role("button", name="Open backup").click()
        expect(page.locator(".entries a").first).to_be_visible()
        page.locator(".entries a").first.click()
        expect(page.locator("#chat")).to_be_visible()
        page.goto(f"{site.url}/")
        assert "holdfast_chats" in {cookie["name"] for cookie in context.cookies()}
        with page.expect_navigation():
            page.locator("form[action='/logout']").evaluate("(form) => form.submit()")
        assert context.cookies() == []
        for _ in range(4):
            page.go_back()
            expect(page.locator("#chat, .entries")).to_have_count(0)
        assert not list((site.settings.data / "cache" / "chats").glob("*/s*/sealed"))
        logged_in(page, site, "/-/archives/phone.backup/")
        expect(page.get_by_text("This backup is encrypted")).to_be_visible()


def test_links_to_more_messages_do_not_stay_in_the_middle(
    site: Service, browser: Browser, backup_folder: Path
) -> None:
    """A link to older or newer messages is hidden once scrolling has loaded them."""
    (site.settings.data / "backups").symlink_to(backup_folder)
    with browser.new_context() as context:
        page = context.new_page()
        logged_in(page, site, "/-/archives/long.db/")
        page.locator(".entries a").first.click()
        page.wait_for_url("**/chat/*")
        page.wait_for_load_state()
        page.evaluate("window.scrollTo({ top: 0, behavior: 'instant' })")
        expect(page.locator(".message-page").nth(1)).to_be_attached()
        page.wait_for_function("document.getElementById('chat').getAttribute('aria-busy') === null")
        shown = page.locator(".pages").evaluate_all(
            "(links) => links.filter((one) => one.checkVisibility()).map((one) => one.textContent.trim())"
        )
        assert shown in (["Older messages"], [])
        assert page.locator(".pages").count() > len(shown)


def test_a_picture_of_few_pixels_is_enlarged(site: Service, browser: Browser, backup_folder: Path) -> None:
    """It is as wide as a line of text on a phone, and stays inside of its bubble."""
    with archives.open(backup_folder / "files.db") as opened:
        (message,) = opened.connection.execute(
            "SELECT message_id FROM attachment WHERE width < 100 AND role = 'attachment'"
            " AND content_type LIKE 'image/%' GROUP BY message_id HAVING count(*) = 1 LIMIT 1"
        ).fetchone()
    (site.settings.data / "backups").symlink_to(backup_folder)
    with browser.new_context(viewport=SIZES["phone"]) as context:
        page = context.new_page()
        logged_in(page, site, "/-/archives")
        page.goto(f"{site.url}/-/archives/files.db/to/{message}")
        bubble = page.locator(f"#m{message} .b").bounding_box()
        shown = page.locator(f"#m{message} .pic img:not(.ph)").bounding_box()
        assert bubble is not None
        assert shown is not None
        assert shown["width"] > 180
        assert bubble["x"] <= shown["x"]
        assert shown["x"] + shown["width"] <= bubble["x"] + bubble["width"]
