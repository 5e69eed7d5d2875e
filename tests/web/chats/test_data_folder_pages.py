"""The pages of archives and backups in the data folder."""

import os
from collections.abc import Iterator
from pathlib import Path
from urllib.parse import quote

import httpx
import pytest

from holdfast.backup import encrypt_archive
from holdfast.backup.conversion import OutputFormat
from holdfast.hosting.store import accounts
from holdfast.secret import Secret
from holdfast_demo.sample import sample_records
from holdfast_demo.sample_writer import write_sample
from tests.backup.archives.histories import PASSPHRASE, copies, import_backups, write
from tests.backup.container.vectors import SET_B
from tests.backup.streams import KEYS
from tests.conftest import Service, wait_for
from tests.web.chats.page_helpers import EMPTY_FORM, check_first_picture

NAME = "one <b>.binproto"


@pytest.fixture
def backup_folder(service: Service) -> Path:
    """Put an archive, a backup, a broken backup, a text and a hidden file into the data folder."""
    folder = service.settings.data / "backups"
    folder.mkdir(parents=True)
    source = write(folder / NAME, *copies())
    import_backups(folder / "chats.db", source)
    (folder / "notes.txt").write_text("nothing of interest")
    (folder / "broken.binproto").write_bytes(source.read_bytes()[:-3])
    (folder / ".hidden").write_bytes(source.read_bytes())
    return folder


@pytest.fixture
def admin(service: Service) -> Iterator[httpx.Client]:
    """Log the administrator in."""
    with service.logged_in() as client:
        client.headers["accept"] = "text/html"
        yield client


def test_an_encrypted_archive_is_reported(admin: httpx.Client, backup_folder: Path) -> None:
    """The archive is listed, and its page names the command that opens it and no path."""
    pytest.importorskip("sqlcipher3", reason="the extra `encryption` is not installed")
    encrypt_archive(backup_folder / "chats.db", PASSPHRASE)
    assert "Archive" in admin.get("/-/archives").text
    response = admin.get("/-/archives/chats.db")
    assert response.status_code == 503
    assert "chats.db is encrypted" in response.text
    assert "holdfast archive serve" in response.text
    assert str(backup_folder) not in response.text


def test_only_administrators_see_the_data_folder(service: Service, backup_folder: Path) -> None:
    """Visitors are redirected to log in, and other users get status 403 on a page that names no file."""
    accounts.create_user(service.database, "ada", Secret("long enough"))
    with service.client() as client:
        client.headers["accept"] = "text/html"
        for path in ("/-/archives", "/-/archives/chats.db", "/-/archives/none", "/-/archives/chats.db/people"):
            assert client.get(path).headers["location"].startswith("/login?next=")
        client.post("/login", data={"name": "ada", "password": "long enough"})
        for path in ("/-/archives", "/-/archives/chats.db", "/-/archives/none"):
            response = client.get(path)
            assert response.status_code == 403
            assert "chats.db" not in response.text
        assert client.post("/-/archives/chats.db/-forget").status_code == 403


def test_backups_that_can_be_shown_are_links(admin: httpx.Client, backup_folder: Path) -> None:
    """Names are escaped; hidden files and folders of attachments are left out."""
    (backup_folder / "chats.db-media").mkdir()
    page = admin.get("/-/archives").text
    assert 'href="/-/archives/chats.db/"' in page
    assert f'href="/-/archives/{quote(NAME)}/"' in page
    assert "one &lt;b&gt;.binproto" in page
    assert "Not a backup" in page
    assert ".hidden" not in page
    assert "chats.db-media" not in page
    assert 'href="/-/archives/notes.txt' not in page
    assert admin.get("/-/archives/notes.txt").status_code == 404


def test_an_archive_is_read_in_place(admin: httpx.Client, backup_folder: Path) -> None:
    """An archive needs no import: each of its pages is served at the first request."""
    assert "Chats" in admin.get("/-/archives/chats.db").text
    for path in ("search?q=the", "people", "statistics", "about"):
        response = admin.get(f"/-/archives/chats.db/{path}")
        assert (response.status_code, "Importing the backup" in response.text) == (200, False)
    assert admin.get("/-/archives/chats.db/nope").status_code == 404


def test_the_backups_of_several_phones_in_one_folder_are_listed(admin: httpx.Client, backup_folder: Path) -> None:
    """Each phone has an entry with a page of its own, and a key for one opens only that one."""
    for number, name in enumerate(("ada", "bob's #1"), 1):
        write_sample(
            sample_records(20 * number, 1), backup_folder / "phones" / name, OutputFormat.FOLDER, seed=1, keys=KEYS
        )
    page = admin.get("/-/archives").text
    assert page.count("Encrypted backup") == 2
    ada, bob = "/-/archives/phones/ada", "/-/archives/phones/bob%27s%20%231"
    assert f'href="{ada}/"' in page
    assert f'href="{bob}/"' in page
    assert admin.get("/-/archives/phones").status_code == 404
    assert admin.get("/-/archives/phones/carol").status_code == 404
    for address in (ada, bob):
        assert "This backup is encrypted" in admin.get(address).text
    sent = admin.post(f"{bob}/-key", data={"key": str(SET_B.pool), "account": str(SET_B.aci)})
    assert sent.headers["location"].startswith(bob)
    wait_for(lambda: "Importing the backup" not in admin.get(bob).text, 60)
    assert f"{bob}/people" in admin.get(bob).text
    assert admin.get(f"{bob}/people").status_code == 200
    assert "This backup is encrypted" in admin.get(ada).text


def test_files_that_cannot_be_shown_do_not_hide_the_others(admin: httpx.Client, backup_folder: Path) -> None:
    """A link to nothing and a name that is not UTF-8 are listed without a link."""
    (backup_folder / "nowhere").symlink_to(backup_folder / "nothing")
    copy = Path(os.fsdecode(os.fsencode(backup_folder) + b"/caf\xe9.binproto"))
    copy.write_bytes((backup_folder / NAME).read_bytes())
    response = admin.get("/-/archives")
    assert response.status_code == 200
    assert 'href="/-/archives/chats.db/"' in response.text
    assert r"caf\xe9.binproto" in response.text
    assert "nowhere" in response.text
    assert "nowhere/" not in response.text
    assert admin.get("/-/archives/nowhere").status_code == 404
    assert admin.get("/").status_code == 200


@pytest.mark.parametrize("name", ["..", "..%2Fholdfast.sqlite3", ".hidden", "%00", "nope", "chats.db%2F..%2F.."])
def test_files_outside_the_folder_are_not_opened(admin: httpx.Client, backup_folder: Path, name: str) -> None:
    """Names that lead out of the folder, hidden names and unknown names are not found."""
    assert admin.get(f"/-/archives/{name}/").status_code in {303, 404}
    assert admin.get(f"/-/archives/{name}/about").status_code == 404


def test_a_backup_is_imported_while_the_page_waits(admin: httpx.Client, backup_folder: Path) -> None:
    """The page refreshes itself during the import; a broken backup is reported and can be imported again."""
    address = f"/-/archives/{quote(NAME)}"
    first = admin.get(address)
    assert first.status_code == 200
    assert "Importing the backup" in first.text
    assert 'http-equiv="refresh"' in first.text
    assert "Importing the backup" in admin.get("/-/archives/broken.binproto").text
    wait_for(lambda: "Importing the backup" not in admin.get(address).text, 60)
    assert "Chats" in admin.get(address).text
    assert "valid" in admin.get(f"{address}/findings").text
    wait_for(lambda: "Importing the backup" not in admin.get("/-/archives/broken.binproto").text, 60)
    broken = admin.get("/-/archives/broken.binproto").text
    assert "ends in the middle of a record" in broken
    assert str(backup_folder) not in broken
    again = admin.post("/-/archives/broken.binproto/-again", headers=EMPTY_FORM)
    assert again.status_code == 303
    assert "Importing the backup" in admin.get(again.headers["location"]).text
    wait_for(lambda: "Importing the backup" not in admin.get("/-/archives/broken.binproto").text, 60)


def test_the_key_is_requested_and_stored_in_the_browser_only(
    service: Service, admin: httpx.Client, backup_folder: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    """An invalid key is refused, the cookie is HttpOnly, and another session must give the key itself."""
    write_sample(sample_records(60, 1), backup_folder / "phone", OutputFormat.FOLDER, seed=1, keys=KEYS)
    address = "/-/archives/phone"
    assert "This backup is encrypted" in admin.get(address).text
    refused = admin.post(f"{address}/-key", data={"key": "abc123", "account": "<b>"})
    assert refused.status_code == 422
    assert "&lt;b&gt;" in refused.text
    assert "abc123" not in refused.text
    assert admin.post(f"{address}/-key", data={}).status_code == 422
    response = admin.post(f"{address}/-key", data={"key": str(SET_B.pool), "account": str(SET_B.aci)})
    assert response.status_code == 303
    cookie = response.headers["set-cookie"].lower()
    assert "httponly" in cookie
    assert "samesite=strict" in cookie
    assert "max-age" not in cookie
    wait_for(lambda: "Importing the backup" not in admin.get(address).text, 60)
    assert "Forget key" in admin.get(address).text
    check_first_picture(admin, address)
    files = [path.read_bytes() for path in service.settings.data.rglob("*") if path.is_file()]
    assert not any(str(SET_B.pool).encode() in content for content in files)
    with service.logged_in() as other:
        assert "This backup is encrypted" in other.get(address).text
    assert admin.post(f"{address}/-forget", headers=EMPTY_FORM).status_code == 303
    assert "This backup is encrypted" in admin.get(address).text
    captured = capfd.readouterr()
    assert str(SET_B.pool) not in captured.out + captured.err
    files = [path.read_bytes() for path in service.settings.data.rglob("*") if path.is_file()]
    assert files
    assert not any(str(SET_B.pool).encode() in content for content in files)


def test_forms_of_other_sites_are_refused(admin: httpx.Client, backup_folder: Path) -> None:
    """A cross-site request is refused, and an unknown action is not found."""
    sent = admin.post("/-/archives/broken.binproto/-again", headers={**EMPTY_FORM, "Sec-Fetch-Site": "cross-site"})
    assert sent.status_code == 403
    assert admin.post("/-/archives/broken.binproto/-nothing", headers=EMPTY_FORM).status_code == 404
