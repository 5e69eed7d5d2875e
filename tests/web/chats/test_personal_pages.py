"""The chat backups of users: reading, sharing, renaming, exporting and deleting them."""

import io
import time
import zipfile
from collections.abc import Iterator
from contextlib import ExitStack
from pathlib import Path
from typing import get_args

import httpx
import pytest
from sqlalchemy import select

from holdfast.backup.container.attachments import content_path
from holdfast.backup.conversion import OutputFormat
from holdfast.backup.exports.zip_file import PROBLEMS
from holdfast.hosting.services.chat_backups import object_key
from holdfast.hosting.store import accounts
from holdfast.hosting.store import chat_backups as store
from holdfast.hosting.store.tables import chat_backup_files, chat_backup_parts
from holdfast.secret import Secret
from holdfast.web.chats import export_process
from holdfast.web.chats.attachment_channel import AttachmentServer
from holdfast.web.chats.export_worker import ExportForm
from holdfast.web.chats.import_limits import ImportQueueFull, acquire_slot
from holdfast_demo.sample import sample_records
from holdfast_demo.sample_writer import write_sample
from tests.backup.archives.histories import copies, write
from tests.backup.container.vectors import SET_B
from tests.backup.streams import KEYS
from tests.conftest import Service, wait_for
from tests.web.chats.encrypted_conversations import (
    damage,
    exported_locally,
    import_folder,
    picture_names,
    unzipped,
    write_folder,
)
from tests.web.chats.page_helpers import EMPTY_FORM, check_first_picture
from tests.web.chats.upload_helpers import begin, files_below, log_in, upload_all, zip_archive

LIST = "/-/conversations"
FORMS: tuple[ExportForm, ...] = get_args(ExportForm)


@pytest.fixture
def people(service: Service) -> Iterator[dict[str, httpx.Client]]:
    """Log in three people and the administrator."""
    clients = {}
    for name in ("ada", "bob", "eve"):
        accounts.create_user(service.database, name, Secret("long enough"))
        clients[name] = service.client()
        log_in(clients[name], name)
    with service.logged_in() as admin:
        admin.headers["accept"] = "text/html"
        yield {**clients, "admin": admin}
    for client in clients.values():
        client.close()


@pytest.fixture
def plain(tmp_path: Path) -> bytes:
    """Make an unencrypted backup."""
    return write(tmp_path / "one", *copies()).read_bytes()


def imported(client: httpx.Client, address: str) -> str:
    """Wait until a conversation is imported, and return its first page."""
    wait_for(lambda: "Importing the backup" not in client.get(f"{address}/").text, 60)
    return client.get(f"{address}/").text


def test_a_backup_is_private_until_it_is_shared(people: dict[str, httpx.Client], plain: bytes) -> None:
    """Others get status 404; a user it is shared with can read it but not change it."""
    ada, bob, eve, admin = people.values()
    assert "No chat backups yet" in ada.get(LIST).text
    address = upload_all(ada, "one <b>.binproto", {"one <b>.binproto": plain})
    assert 'aria-label="Conversation"' in imported(ada, address)
    assert "one &lt;b&gt;.binproto" in ada.get(LIST).text
    assert ada.get(f"{address}/search?q=the").status_code == 200
    assert ada.get(f"{address}/nope").status_code == 404
    reading = ("", "/", "/search?q=the", "/people", "/about", "/-settings")
    for client in (bob, eve, admin):
        assert {client.get(f"{address}{path}").status_code for path in reading} == {404}
        assert "one &lt;b&gt;" not in client.get(LIST).text
    shared = ada.post(f"{address}/-share", data={"user": "Bob"})
    assert shared.headers["location"] == f"{address}/-settings#people"
    assert "Shared with bob." in ada.get(f"{address}/-settings").text
    assert "Shared with you" in bob.get(LIST).text
    assert bob.get(f"{address}/people").status_code == 200
    assert "-settings" not in bob.get(f"{address}/").text
    assert bob.post(f"{address}/-again", headers=EMPTY_FORM).status_code == 403
    for deed in ("-rename", "-share", "-unshare", "-delete", "-cancel"):
        form = {"name": "x", "user": "eve", "user_id": "1", "confirm": "one <b>.binproto"}
        assert {client.post(f"{address}/{deed}", data=form).status_code for client in (bob, eve, admin)} == {404}
    assert bob.get(f"{address}/-settings").status_code == 404
    number = str(accounts_id(people, "bob"))
    assert ada.post(f"{address}/-unshare", data={"user_id": number, "user": "bob"}).status_code == 303
    assert "Shared with nobody" in ada.get(f"{address}/-settings").text
    assert {bob.get(f"{address}{path}").status_code for path in reading} == {404}
    with httpx.Client(base_url=ada.base_url, headers={"accept": "text/html"}) as visitor:
        assert visitor.get(f"{address}/").headers["location"].startswith("/login?next=")


def accounts_id(people: dict[str, httpx.Client], name: str) -> int:
    """Return the id of a user."""
    return int(people["admin"].get(f"/api/v1/users/{name}", headers={"accept": "*/*"}).json()["id"])


def test_a_backup_is_renamed_and_deleted_by_its_name(
    service: Service, people: dict[str, httpx.Client], plain: bytes
) -> None:
    """Invalid forms are refused, and deleting removes the stored files and the import."""
    ada = people["ada"]
    address = upload_all(ada, "one", {"one": plain})
    imported(ada, address)
    refused = ada.post(f"{address}/-rename", data={"name": " "})
    assert refused.status_code == 422
    assert "Name is required." in refused.text
    assert ada.post(f"{address}/-rename", data={"name": "Holidays"}).status_code == 303
    assert "Holidays" in ada.get(LIST).text
    for problem, form in (
        ("There is no user or organization named nobody.", {"user": "nobody"}),
        ("This backup is your own", {"user": "ada"}),
    ):
        response = ada.post(f"{address}/-share", data=form)
        assert response.status_code in {404, 422}
        assert problem.casefold() in response.text.casefold()
        assert 'value="Holidays"' in response.text
    wrong = ada.post(f"{address}/-delete", data={"confirm": "one"})
    assert wrong.status_code == 422
    assert "type Holidays to confirm" in wrong.text
    assert ada.post(f"{address}/-cancel", headers=EMPTY_FORM).status_code == 404
    assert ada.post(f"{address}/-delete", data={"confirm": "holidays"}).headers["location"] == LIST
    assert "Chat backup Holidays deleted." in ada.get(LIST).text
    assert ada.get(f"{address}/").status_code == 404
    assert not [path for path in (service.settings.data / "chats").rglob("*") if path.is_file()]
    entries = service.settings.data / "cache" / "chats"
    wait_for(lambda: not list(entries.rglob("chats.db")))


def test_a_folder_stays_encrypted_and_its_pictures_are_read_from_the_store(
    service: Service, people: dict[str, httpx.Client], tmp_path: Path
) -> None:
    """Each reader gives the key; nothing of the folder is stored decrypted."""
    ada, bob = people["ada"], people["bob"]
    write_sample(sample_records(60, 1), tmp_path / "SignalBackups", OutputFormat.FOLDER, seed=1, keys=KEYS)
    address = upload_all(ada, "SignalBackups", files_below(tmp_path / "SignalBackups"), is_folder=True)
    ada.post(f"{address}/-share", data={"user": "bob"})
    for client in (ada, bob):
        assert "This backup is encrypted" in client.get(f"{address}/").text
        response = client.post(f"{address}/-key", data={"key": str(SET_B.pool), "account": str(SET_B.aci)})
        assert response.status_code == 303
        assert "Forget key" in imported(client, address)
        check_first_picture(client, address)
    assert not list((service.settings.data / "cache" / "chats").rglob("source"))
    number = str(accounts_id(people, "bob"))
    ada.post(f"{address}/-unshare", data={"user_id": number})
    sealed = service.settings.data / "cache" / "chats"
    wait_for(lambda: len(list(sealed.rglob("sealed"))) == 1)
    assert ada.post(f"{address}/-forget", headers=EMPTY_FORM).status_code == 303
    assert "This backup is encrypted" in ada.get(f"{address}/").text


@pytest.mark.parametrize("damaged", [False, True])
def test_a_zipped_folder_is_uploaded_with_a_form(
    people: dict[str, httpx.Client], tmp_path: Path, *, damaged: bool
) -> None:
    """The form works without JavaScript, and a damaged archive is reported on the page."""
    ada = people["ada"]
    write_sample(sample_records(60, 1), tmp_path / "SignalBackups", OutputFormat.FOLDER, seed=1, keys=KEYS)
    files = files_below(tmp_path / "SignalBackups")
    content = bytearray(zip_archive(files))
    if damaged:
        (main,) = (body for path, body in files.items() if path.endswith("/main"))
        content[content.index(main) + len(main) // 2] ^= 0xFF
    sent = ada.post(LIST, files={"file": ("SignalBackups.zip", bytes(content))})
    assert sent.status_code == 303
    address = sent.headers["location"].rstrip("/")
    assert "This backup is encrypted" in ada.get(f"{address}/").text
    response = ada.post(f"{address}/-key", data={"key": str(SET_B.pool), "account": str(SET_B.aci)})
    if damaged:
        said = "This backup cannot be read: main in the ZIP archive is damaged."
        # It is said once, here or on the next page.
        wait_for(lambda: said in response.text or said in ada.get(f"{address}/").text, 60)
    else:
        assert "Forget key" in imported(ada, address)
        check_first_picture(ada, address)


def test_readers_export_what_they_can_read(people: dict[str, httpx.Client], plain: bytes, tmp_path: Path) -> None:
    """The owner and a reader get HTML and JSON; for everybody else the page is not found."""
    ada, bob, eve, admin = people.values()
    address = upload_all(ada, "one <b>.binproto", {"one": plain})
    not_ready = ada.post(f"{address}/-export", data={"form": "json"})
    assert not_ready.headers["location"] == f"{address}/"
    imported(ada, address)
    ada.post(f"{address}/-share", data={"user": "bob"})
    for client in (ada, bob):
        assert "Download HTML" in client.get(f"{address}/-export").text
        for form, name in (("html", "index.html"), ("json", "export.json")):
            sent = client.post(f"{address}/-export", data={"form": form})
            assert sent.status_code == 200
            assert sent.headers["content-type"] == "application/zip"
            assert sent.headers["cache-control"] == "no-store"
            assert sent.headers["content-disposition"].startswith("attachment;")
            assert name in zipfile.ZipFile(io.BytesIO(sent.content)).namelist()
    assert ada.post(f"{address}/-export", data={"form": "parquet"}).status_code == 422
    for client in (eve, admin):
        assert client.get(f"{address}/-export").status_code == 404
        assert client.post(f"{address}/-export", data={"form": "json"}).status_code == 404
    write_sample(sample_records(60, 1), tmp_path / "one.backup", OutputFormat.CONTAINER, seed=1, keys=KEYS)
    sealed = upload_all(ada, "one.backup", {"one.backup": (tmp_path / "one.backup").read_bytes()})
    assert ada.get(f"{sealed}/-export").headers["location"] == f"{sealed}/"
    ada.post(f"{sealed}/-key", data={"key": str(SET_B.pool), "account": str(SET_B.aci)})
    imported(ada, sealed)
    assert "missing-attachments.txt" in ada.get(f"{sealed}/-export").text
    sent = ada.post(f"{sealed}/-export", data={"form": "json"})
    names = zipfile.ZipFile(io.BytesIO(sent.content)).namelist()
    assert "export.json" in names
    # A single file has no attachments beside it, so none is missing.
    assert not [name for name in names if name.startswith("media/") or name == PROBLEMS]


def test_a_conversation_links_to_its_export_while_it_can_be_read(
    people: dict[str, httpx.Client], tmp_path: Path
) -> None:
    """An encrypted one has no link before its key is given, after a wrong key, and when the key is forgotten."""
    write_sample(sample_records(60, 1), tmp_path / "one.backup", OutputFormat.CONTAINER, seed=1, keys=KEYS)
    ada = people["ada"]
    address = upload_all(ada, "one.backup", {"one.backup": (tmp_path / "one.backup").read_bytes()})
    link = f'href="{address}/-export"'
    locked = ada.get(f"{address}/").text
    assert "This backup is encrypted" in locked
    assert link not in locked
    wrong = ada.post(f"{address}/-key", data={"key": "0" * 63})
    assert wrong.status_code == 422
    assert link not in wrong.text
    give_key(ada, address)
    assert link in imported(ada, address)
    assert link in ada.get(f"{address}/-export").text
    assert ada.post(f"{address}/-forget", headers=EMPTY_FORM).status_code == 303
    assert link not in ada.get(f"{address}/").text


def give_key(client: httpx.Client, address: str) -> None:
    """Import an encrypted backup with its key."""
    client.post(f"{address}/-key", data={"key": str(SET_B.pool), "account": str(SET_B.aci)})
    assert "Forget key" in imported(client, address)


def upload_folder(client: httpx.Client, files: dict[str, bytes], method: int | None) -> str:
    """Upload a folder as it is, or as a ZIP archive that is compressed with a method."""
    if method is None:
        return upload_all(client, "SignalBackups", files, is_folder=True)
    return upload_all(client, "SignalBackups", {"SignalBackups.zip": zip_archive(files, method)})


@pytest.mark.parametrize("method", [None, zipfile.ZIP_DEFLATED])
def test_the_attachments_of_an_encrypted_folder_are_exported(
    service: Service, people: dict[str, httpx.Client], tmp_path: Path, method: int | None
) -> None:
    """Each reader with the key gets the export of the folder itself, and nothing of it is stored decrypted."""
    ada, bob, eve, admin = people.values()
    phone = tmp_path / "SignalBackups"
    write_folder(phone)
    address = upload_folder(ada, files_below(phone), method)
    ada.post(f"{address}/-share", data={"user": "bob"})
    give_key(ada, address)
    assert bob.post(f"{address}/-export", data={"form": "html"}).headers["location"] == f"{address}/"
    give_key(bob, address)
    data = service.settings.data
    before = {path for path in data.rglob("*") if path.is_file()}
    exports: list[tuple[ExportForm, httpx.Client]] = [("html", ada), ("json", ada), ("json", bob)]
    for form, client in exports:
        sent = client.post(f"{address}/-export", data={"form": form})
        assert sent.status_code == 200
        expected, problems = exported_locally(phone, tmp_path / f"{form} {client is ada}", form)
        assert sum(name.startswith("media/") for name in expected) > 5
        assert not problems
        assert unzipped(sent.content) == expected
    written = {path for path in data.rglob("*") if path.is_file()} - before
    assert {path.name.rstrip("01") for path in written if "chats" in path.parts} <= {"exporting"}
    for client in (eve, admin):
        assert client.post(f"{address}/-export", data={"form": "json"}).status_code == 404


@pytest.mark.parametrize("zipped", [False, True])
def test_an_export_goes_on_without_damaged_and_missing_attachments(
    service: Service, people: dict[str, httpx.Client], tmp_path: Path, *, zipped: bool
) -> None:
    """They are listed in a file of the ZIP archive, in the words of the command; the others are exported."""
    ada = people["ada"]
    phone = tmp_path / "SignalBackups"
    write_folder(phone)
    names = picture_names(import_folder(phone))
    damage(content_path(phone / "files", names[0]))
    content_path(phone / "files", names[1]).unlink()
    files = files_below(phone)
    if zipped:
        content = bytearray(zip_archive(files))
        lost = files[f"SignalBackups/files/{names[2][:2]}/{names[2]}"]
        content[content.index(lost) + 20] ^= 1
        address = upload_all(ada, "SignalBackups", {"SignalBackups.zip": bytes(content)})
        listed = [f"attachment {names[2]} cannot be read: its file is damaged"]
    else:
        address = upload_all(ada, "SignalBackups", files, is_folder=True)
        with service.database.read() as connection:
            ((part,),) = connection.execute(
                select(chat_backup_parts.c.uuid)
                .join(chat_backup_files, chat_backup_files.c.id == chat_backup_parts.c.file_id)
                .where(chat_backup_files.c.path == f"SignalBackups/files/{names[2][:2]}/{names[2]}")
            ).fetchall()
        (service.settings.data / object_key(part)).unlink()
        listed = [f"attachment {names[2]} is not in the content store"]
    listed += [
        f"attachment {names[0]} is damaged: its MAC does not match",
        f"attachment {names[1]} is not in the content store",
    ]
    give_key(ada, address)
    content_path(phone / "files", names[2]).unlink()
    for form in FORMS:
        sent = ada.post(f"{address}/-export", data={"form": form})
        assert sent.status_code == 200
        result = unzipped(sent.content)
        assert sorted(result.pop(PROBLEMS).decode().splitlines()) == sorted(listed)
        assert set(result) == set(exported_locally(phone, tmp_path / form, form)[0])


@pytest.fixture
def served(monkeypatch: pytest.MonkeyPatch) -> list[bool]:
    """Slow down the responses to requests for attachments, and return a list of them."""
    responses: list[bool] = []
    respond = AttachmentServer.respond

    def respond_slowly(server: AttachmentServer) -> bool:
        time.sleep(0.2)
        responses.append(respond(server))
        return responses[-1]

    monkeypatch.setattr(AttachmentServer, "respond", respond_slowly)
    monkeypatch.setattr(export_process, "CHECK_INTERVAL_S", 0)
    return responses


def wait_for_slots(service: Service) -> None:
    """Wait until no export is running."""
    (folder,) = (service.settings.data / "cache" / "chats").iterdir()

    def are_free() -> bool:
        with ExitStack() as stack:
            try:
                for _ in range(2):
                    stack.enter_context(acquire_slot(folder, 2, "exporting"))
            except ImportQueueFull:
                return False
        return True

    wait_for(are_free)


def test_an_export_ends_when_the_client_disconnects(
    service: Service, people: dict[str, httpx.Client], tmp_path: Path, served: list[bool]
) -> None:
    """The process ends and its slot is free, long before all attachments are read."""
    ada = people["ada"]
    phone = tmp_path / "SignalBackups"
    write_folder(phone)
    address = upload_all(ada, "SignalBackups", files_below(phone), is_folder=True)
    give_key(ada, address)
    with ada.stream("POST", f"{address}/-export", data={"form": "json"}) as response:
        assert response.status_code == 200
    wait_for_slots(service)
    assert len(served) < 5


@pytest.mark.parametrize("is_forgotten", [True, False])
def test_an_export_ends_when_its_reader_loses_access(
    service: Service, people: dict[str, httpx.Client], tmp_path: Path, served: list[bool], *, is_forgotten: bool
) -> None:
    """After the key was forgotten, or the share was revoked on another node, the download is aborted."""
    ada, bob = people["ada"], people["bob"]
    phone = tmp_path / "SignalBackups"
    write_folder(phone)
    address = upload_all(ada, "SignalBackups", files_below(phone), is_folder=True)
    ada.post(f"{address}/-share", data={"user": "bob"})
    give_key(bob, address)
    bob_id = accounts_id(people, "bob")
    content = b""
    with (
        bob.stream("POST", f"{address}/-export", data={"form": "json"}) as response,
        pytest.raises(httpx.RemoteProtocolError),
    ):
        assert response.status_code == 200
        if is_forgotten:
            assert bob.post(f"{address}/-forget", headers=EMPTY_FORM).status_code == 303
        else:
            backup = store.find_backup(service.database, address.rpartition("/")[2])
            store.remove_share(service.database, backup, bob_id)
        for piece in response.iter_bytes():
            content += piece
    assert not zipfile.is_zipfile(io.BytesIO(content))
    wait_for_slots(service)
    assert len(served) < 15


def test_a_failed_export_is_reported_on_a_page(
    service: Service, people: dict[str, httpx.Client], plain: bytes
) -> None:
    """The export of a damaged import is answered with a page and status 503, not with a download."""
    ada = people["ada"]
    address = upload_all(ada, "one", {"one": plain})
    imported(ada, address)
    (archive,) = (service.settings.data / "cache" / "chats").rglob("chats.db")
    archive.write_bytes(b"no archive")
    failed = ada.post(f"{address}/-export", data={"form": "html"})
    assert failed.status_code == 503
    assert "The export could not be made" in failed.text
    assert f'href="{address}/-export"' in failed.text


def test_an_export_that_must_wait_keeps_its_link(
    service: Service, people: dict[str, httpx.Client], plain: bytes
) -> None:
    """While two exports are running, the page of a third says when to try again and links to the export."""
    ada = people["ada"]
    address = upload_all(ada, "one", {"one": plain})
    imported(ada, address)
    (folder,) = (service.settings.data / "cache" / "chats").iterdir()
    with acquire_slot(folder, 2, "exporting"), acquire_slot(folder, 2, "exporting"):
        waiting = ada.post(f"{address}/-export", data={"form": "html"})
    assert waiting.status_code == 503
    assert "Try again in" in waiting.text
    assert f'href="{address}/-export"' in waiting.text


def test_an_interrupted_upload_is_listed_and_can_be_cancelled(
    service: Service, people: dict[str, httpx.Client]
) -> None:
    """An unfinished upload cannot be opened, and cancelling it deletes its files."""
    ada, bob = people["ada"], people["bob"]
    begun = begin(ada, "half.backup", {"half.backup": b"x" * 2_000_000})
    assert begun.send(0, 0, b"x" * 2**20).status_code == 204
    page = ada.get(LIST).text
    assert "Interrupted uploads" in page
    assert "1.9 MiB of 10.0 GiB used" in page
    number = begun.address.rpartition("/")[2]
    assert ada.get(f"{LIST}/{number}/").status_code == 404
    assert ada.get(f"{LIST}/{number}/-settings").status_code == 404
    assert bob.post(f"{LIST}/{number}/-cancel", headers=EMPTY_FORM).status_code == 404
    assert ada.post(f"{LIST}/{number}/-cancel", headers=EMPTY_FORM).status_code == 303
    assert "Upload of half.backup cancelled." in ada.get(LIST).text
    assert not [path for path in (service.settings.data / "chats").rglob("*") if path.is_file()]


def test_tokens_and_impersonating_administrators_read_no_backup(
    people: dict[str, httpx.Client], plain: bytes
) -> None:
    """A backup is read only in a session of its user, not by `sudo` and not with an access token."""
    ada, admin = people["ada"], people["admin"]
    address = upload_all(ada, "one", {"one": plain})
    assert admin.get(f"{address}/", params={"sudo": "ada"}).status_code in {403, 404}
    assert admin.get(LIST, params={"sudo": "ada"}).status_code in {200, 403}
    assert address not in admin.get(LIST, params={"sudo": "ada"}).text
    response = ada.post(
        "/api/v1/users/ada/tokens", json={"name": "t", "scopes": ["all"]}, auth=("ada", "long enough")
    )
    token = {"Authorization": f"token {response.json()['sha1']}"}
    with httpx.Client(base_url=ada.base_url, headers={"accept": "text/html", **token}) as client:
        assert client.get(f"{address}/").status_code == 403
        assert client.get(LIST).status_code == 403
