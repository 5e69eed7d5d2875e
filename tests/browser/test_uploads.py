"""Uploading a chat backup in a browser."""

import re
import zipfile
from collections.abc import Callable
from pathlib import Path

import pytest
from playwright.sync_api import Browser, Page, Route, expect

from holdfast.backup.conversion import OutputFormat
from holdfast.hosting.services import chat_uploads
from holdfast.hosting.store import accounts
from holdfast.secret import Secret
from holdfast_demo.sample import sample_records
from holdfast_demo.sample_writer import write_sample
from tests.backup.container.vectors import SET_B
from tests.backup.streams import KEYS, sample, stream_of
from tests.browser.conftest import log_in
from tests.conftest import Service

LIST = "/-/conversations"
PASSWORD = "long enough"
CHUNK = 2**16


def open_list(page: Page, site: Service, name: str) -> None:
    """Make a user, log in and go to the list."""
    accounts.create_user(site.database, name, Secret(PASSWORD))
    log_in(page, f"{site.url}{LIST}", name=name, password=PASSWORD)
    expect(page.get_by_role("heading", name="Conversations")).to_be_visible()


def test_a_user_uploads_a_folder_opens_it_with_its_key_and_shares_it(
    site: Service, page: Page, keep: Callable[[Page, str], None], tmp_path: Path
) -> None:
    """A user uploads an encrypted folder, sees its pictures, exports it as HTML and shares it."""
    write_sample(sample_records(120, 1), tmp_path / "SignalBackups", OutputFormat.FOLDER, seed=1, keys=KEYS)
    accounts.create_user(site.database, "bob", Secret(PASSWORD))
    open_list(page, site, "ada")
    keep(page, "conversations-empty")
    page.get_by_label("Or a folder").set_input_files(tmp_path / "SignalBackups")
    page.get_by_role("button", name="Upload", exact=True).click()
    expect(page.get_by_role("heading", name="This backup is encrypted")).to_be_visible()
    page.get_by_label("Backup key").fill(str(SET_B.pool))
    page.get_by_label("Account ID").fill(str(SET_B.aci))
    page.get_by_role("button", name="Open backup").click()
    expect(page.locator(".entries a").first).to_be_visible(timeout=60_000)
    keep(page, "conversations-chats")
    page.get_by_role("link", name="Media", exact=True).click()
    picture = page.locator(".tiles img").first
    expect(picture).to_have_js_property("complete", True)
    assert picture.evaluate("(one) => one.naturalWidth") > 0
    page.get_by_role("link", name="Export", exact=True).click()
    keep(page, "conversations-export")
    with page.expect_download() as download:
        page.get_by_role("button", name="Download HTML").click()
    assert download.value.suggested_filename == "SignalBackups-html.zip"
    assert zipfile.is_zipfile(download.value.path())
    page.get_by_role("link", name="Settings", exact=True).first.click()
    page.get_by_label("Username").fill("bob")
    page.get_by_role("button", name="Share").click()
    expect(page.get_by_role("status")).to_have_text("Shared with bob.")
    keep(page, "conversations-settings")
    page.goto(f"{site.url}{LIST}")
    expect(page.get_by_role("link", name="SignalBackups", exact=True)).to_be_visible()
    keep(page, "conversations")


def test_an_upload_resumes_after_an_interruption(
    site: Service,
    browser: Browser,
    accessible: Callable[[Page], None],
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """A lost chunk is sent again, and the same file resumes at its offset after the page was closed."""
    monkeypatch.setattr("holdfast.web.chats.upload_endpoints.CHUNK_BYTES", CHUNK)
    monkeypatch.setattr(chat_uploads, "LEAST_BYTES", CHUNK)
    path = tmp_path / "long.binproto"
    path.write_bytes(stream_of(sample(3000)))
    assert path.stat().st_size > 4 * CHUNK
    offsets: list[int] = []
    refuse = False

    def pass_on(route: Route) -> None:
        offset = int(route.request.headers["upload-offset"])
        offsets.append(offset)
        # The second chunk is lost once; later, all are.
        if refuse or offsets == [0, CHUNK]:
            route.abort("connectionreset")
        else:
            route.continue_()

    with browser.new_context(viewport={"width": 390, "height": 844}) as context:
        page = context.new_page()
        page.route(re.compile(r"/-/conversation-uploads/.+/0$"), pass_on)
        open_list(page, site, "ada")
        page.get_by_label("Backup file").set_input_files(path)
        with page.expect_request(lambda request: request.headers.get("upload-offset") == str(2 * CHUNK)):
            page.get_by_role("button", name="Upload", exact=True).click()
        refuse = True
        page.get_by_role("button", name="Pause").click()
        expect(page.get_by_role("status")).to_have_text("Paused.")
        accessible(page)
        page.goto(f"{site.url}{LIST}")
        expect(page.get_by_role("heading", name="Interrupted uploads")).to_be_visible()
        refuse = False
        offsets.clear()
        page.get_by_label("Backup file").set_input_files(path)
        page.get_by_role("button", name="Upload", exact=True).click()
        expect(page.locator(".entries a").first).to_be_visible(timeout=120_000)
        assert offsets[0] >= 2 * CHUNK
        page.goto(f"{site.url}{LIST}")
        expect(page.get_by_role("link", name="long.binproto", exact=True)).to_be_visible()
        expect(page.get_by_role("heading", name="Interrupted uploads")).to_have_count(0)


def test_a_file_that_is_not_a_backup_is_refused_on_the_page(
    site: Service, browser: Browser, tmp_path: Path
) -> None:
    """The page shows why a file is refused, with the form for another file."""
    (tmp_path / "notes.txt").write_text("nothing of interest")
    with browser.new_context() as context:
        page = context.new_page()
        open_list(page, site, "ada")
        page.get_by_label("Backup file").set_input_files(tmp_path / "notes.txt")
        page.get_by_role("button", name="Upload", exact=True).click()
        expect(page.get_by_role("status")).to_contain_text("This is not a chat backup")
        expect(page.get_by_label("Backup file")).to_be_visible()
        expect(page.get_by_role("button", name="Resume")).to_be_hidden()


def test_the_form_works_without_a_script(site: Service, browser: Browser, tmp_path: Path) -> None:
    """A single file can be uploaded without JavaScript, and the folder field is hidden."""
    (tmp_path / "one.binproto").write_bytes(stream_of(sample(200)))
    with browser.new_context(java_script_enabled=False) as context:
        page = context.new_page()
        open_list(page, site, "ada")
        expect(page.get_by_label("Or a folder")).to_be_hidden()
        page.get_by_label("Backup file").set_input_files(tmp_path / "one.binproto")
        page.get_by_role("button", name="Upload", exact=True).click()
        expect(page).to_have_url(re.compile(rf"{LIST}/[0-9a-f-]{{36}}/"))
        expect(page.locator(".entries a").first).to_be_visible(timeout=60_000)


def test_the_progress_of_an_import_is_shown_until_it_is_done(
    site: Service, page: Page, accessible: Callable[[Page], None], tmp_path: Path
) -> None:
    """The page of a running import is accessible and is followed by the list of chats."""
    write_sample(sample_records(20_000, 1), tmp_path / "phone.binproto", OutputFormat.STREAM, seed=1)
    open_list(page, site, "ada")
    page.get_by_label("Backup file").set_input_files(tmp_path / "phone.binproto")
    page.get_by_role("button", name="Upload", exact=True).click()
    expect(page.get_by_role("heading", name="Importing the backup")).to_be_visible()
    accessible(page)
    expect(page.locator(".entries a").first).to_be_visible(timeout=60_000)
