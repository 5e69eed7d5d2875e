"""Uploads in the browser: by the form, and in chunks by the script."""

import os
import socket
from collections.abc import Iterator
from pathlib import Path

import httpx
import pytest

from holdfast import logs
from holdfast.backup.conversion import OutputFormat
from holdfast.hosting.store import accounts
from holdfast.secret import Secret
from holdfast.settings import Settings
from holdfast_demo.sample import sample_records
from holdfast_demo.sample_writer import write_sample
from tests.backup.archives.histories import copies, import_backups, write
from tests.backup.streams import KEYS
from tests.conftest import ADMIN_PASSWORD, Service
from tests.web.chats.upload_helpers import UPLOADS, begin, log_in

LIST = "/-/conversations"
MB = 2**20
JSON = {"Accept": "application/json"}


@pytest.fixture
def settings(settings: Settings) -> Settings:
    """Let users have a few megabytes."""
    return Settings(
        data=settings.data,
        database_url=settings.database_url,
        admin_password=Secret(ADMIN_PASSWORD),
        chat_storage_mb=12,
    )


@pytest.fixture
def ada(service: Service) -> Iterator[httpx.Client]:
    """Log a user in."""
    accounts.create_user(service.database, "ada", Secret("long enough"))
    with service.client() as client:
        log_in(client, "ada")
        yield client


@pytest.fixture
def plain(tmp_path: Path) -> bytes:
    """Make an unencrypted backup."""
    return write(tmp_path / "one", *copies()).read_bytes()


def stored(service: Service) -> list[Path]:
    """Return the files of the object store."""
    return [path for path in (service.settings.data / "chats").rglob("*") if path.is_file()]


def test_a_form_uploads_one_file_without_a_script(service: Service, ada: httpx.Client, plain: bytes) -> None:
    """The name is that of the file, without the folder that some browsers send."""
    sent = ada.post(LIST, files={"file": ("C:\\chats\\one.binproto", plain)})
    assert sent.status_code == 303
    assert sent.headers["location"].startswith(f"{LIST}/")
    assert "one.binproto uploaded." in ada.get(LIST).text
    assert ada.get(sent.headers["location"]).status_code == 200
    assert len(stored(service)) == 1


@pytest.mark.parametrize("case", ["nothing", "no name", "text", "archive", "empty", "cut", "large"])
def test_a_refused_form_is_reported_and_not_stored(
    service: Service, ada: httpx.Client, plain: bytes, tmp_path: Path, case: str
) -> None:
    """A missing, empty, unsupported, truncated or too large file is refused, and nothing is stored."""
    import_backups(tmp_path / "chats.db", write(tmp_path / "two", *copies()))
    archive = (tmp_path / "chats.db").read_bytes()
    if case == "nothing":
        sent = ada.post(LIST, files={"other": ("a", b"b")})
    elif case == "cut":
        kind = {"Content-Type": "multipart/form-data; boundary=x"}
        sent = ada.post(
            LIST, content=b'--x\r\nContent-Disposition: form-data; name="file"; filename="a', headers=kind
        )
    else:
        name, content = {
            "no name": ("", b"abc"),
            "text": ("notes.txt", b"nothing of interest"),
            "archive": ("chats.db", archive),
            "empty": ("empty", b""),
            "large": ("large.binproto", plain + bytes(12 * MB)),
        }[case]
        sent = ada.post(LIST, files={"file": (name, content)})
    status, words = {
        "nothing": (400, "The form has no file file."),
        "no name": (422, "choose a file"),
        "text": (422, "This is not a chat backup"),
        "archive": (422, "This is an archive, which is not opened here"),
        "empty": (422, "there is nothing in what you chose"),
        "cut": (400, ""),
        "large": (413, "may have 12 MB in total, and have 0 MB already"),
    }[case]
    assert sent.status_code == status
    assert words in sent.text
    assert "No chat backups yet" in ada.get(LIST).text
    assert "Interrupted" not in ada.get(LIST).text
    assert stored(service) == []


def test_a_body_that_is_far_too_large_is_not_read(ada: httpx.Client) -> None:
    """A form whose body is larger than the limit has status 413, before any of the body is sent."""
    headers = {"Content-Type": "multipart/form-data; boundary=x", "Content-Length": str(13 * MB)}
    request = ada.build_request("POST", LIST, headers=headers)
    lines = [f"POST {LIST} HTTP/1.1", *(f"{name}: {value}" for name, value in request.headers.items()), "", ""]
    with socket.create_connection((request.url.host, request.url.port), 10) as connection:
        connection.sendall("\r\n".join(lines).encode())
        assert connection.recv(65_536).startswith(b"HTTP/1.1 413 ")


def test_chunks_are_sent_at_the_offset_the_server_has(service: Service, ada: httpx.Client, plain: bytes) -> None:
    """A wrong offset is answered with the right one, and an upload that is begun again continues."""
    content = plain + plain
    begun = begin(ada, "one", {"one": content})
    assert begun.chunk_bytes == 8 * MB
    assert begun.received == [0]
    wrong = begun.send(0, 5, content)
    assert (wrong.status_code, wrong.headers["upload-offset"]) == (409, "0")
    assert wrong.json()["message"] == "The next chunk of this file begins at 0."
    for offset in ("", "-1", "x", "9" * 17, "\u00b2"):
        headers = [(b"Upload-Offset", offset.encode("latin-1")), (b"Accept", b"application/json")]
        assert ada.patch(f"{begun.address}/0", content=b"x", headers=headers).status_code == 400
    assert begun.send(0, 0, content + b"x").status_code == 413
    assert begun.send(0, 0, bytes(8 * MB + 1)).status_code == 413
    assert begun.send(0, 0, content[:10]).status_code == 422
    assert begun.send(1, 0, content).status_code == 404
    assert begun.complete().status_code == 409
    sent = begun.send(0, 0, content)
    assert (sent.status_code, sent.headers["upload-offset"]) == (204, str(len(content)))
    again = begin(ada, "one", {"one": content})
    assert again.address == begun.address
    assert again.received == [len(content)]
    assert begun.send(0, 0, content).headers["upload-offset"] == str(len(content))
    assert begun.complete().status_code == 200
    assert begun.complete().status_code == 404
    assert len(stored(service)) == 1


def test_a_connection_that_ends_within_a_chunk_stores_nothing(
    service: Service, ada: httpx.Client, plain: bytes
) -> None:
    """An interrupted chunk is discarded and can be sent again."""
    begun = begin(ada, "one", {"one": plain})

    def interrupted() -> Iterator[bytes]:
        yield plain[:100]
        raise ConnectionAbortedError

    headers = {"Upload-Offset": "0", "Content-Length": str(len(plain))}
    with pytest.raises(ConnectionAbortedError):
        ada.patch(f"{begun.address}/0", content=interrupted(), headers=headers)
    assert begin(ada, "one", {"one": plain}).received == [0]
    assert stored(service) == []
    assert begun.send(0, 0, plain).status_code == 204
    assert begun.complete().status_code == 200


def test_a_folder_without_a_backup_is_deleted(service: Service, ada: httpx.Client) -> None:
    """Completing an upload of a folder without a backup is refused and deletes the upload."""
    begun = begin(ada, "photos", {"photos/a.jpg": b"1", "photos/files/b": b"2"}, is_folder=True)
    for position, content in enumerate((b"1", b"2")):
        assert begun.send(position, 0, content).status_code == 204
    done = begun.complete()
    assert done.status_code == 422
    assert done.json()["message"].startswith("There is no chat backup in this folder")
    assert begun.complete().status_code == 404
    assert stored(service) == []


def test_errors_for_the_script_are_sentences(service: Service, ada: httpx.Client) -> None:
    """Invalid lists of files have a message to show; visitors and cross-site requests are refused."""
    for files, status, words in (
        ([{"path": "x", "size": 13 * MB}], 413, "Your chat backups may have 12 MB in total"),
        ([], 422, "Files: choose one file or a folder."),
        ([{"path": "../x", "size": 1}], 422, "Files: a path is"),
        ([{"path": "x"}], 422, ""),
        ([{"path": "x", "size": "many"}], 422, ""),
    ):
        sent = ada.post(UPLOADS, json={"name": "x", "files": files}, headers=JSON)
        assert sent.status_code == status, sent.text
        assert sent.json()["message"].startswith(words)
    with service.client() as visitor:
        described = {"name": "x", "files": [{"path": "x", "size": 1}]}
        assert visitor.post(UPLOADS, json=described, headers=JSON).status_code == 401
    described = {"name": "x", "files": [{"path": "x", "size": 1}]}
    other = {"Sec-Fetch-Site": "cross-site"}
    assert ada.post(UPLOADS, json=described, headers=other).status_code == 403


def test_only_its_user_adds_to_an_upload(service: Service, ada: httpx.Client, plain: bytes) -> None:
    """The upload of another user is not found, also for an administrator."""
    begun = begin(ada, "one", {"one": plain})
    with service.logged_in() as admin:
        headers = {"Upload-Offset": "0", **JSON}
        assert admin.patch(f"{begun.address}/0", content=plain, headers=headers).status_code == 404
        assert admin.post(f"{begun.address}/complete", headers=JSON).status_code == 404
    assert stored(service) == []


def test_the_name_of_an_uploaded_file_is_not_logged(
    ada: httpx.Client, tmp_path: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    """The log has the request of an upload, and not the name of the file."""
    logs.configure(level="info")
    path = tmp_path / "one.backup"
    write_sample(sample_records(20, 1), path, OutputFormat.CONTAINER, seed=1, keys=KEYS)
    name = f"private-{os.urandom(4).hex()}.backup"
    sent = ada.post(LIST, files={"file": (name, path.read_bytes())})
    assert "This backup is encrypted" in ada.get(sent.headers["location"]).text
    captured = capfd.readouterr()
    assert f"path={LIST} " in captured.out + captured.err
    assert name not in captured.out + captured.err
