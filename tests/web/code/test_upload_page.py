"""The form that uploads files."""

from pathlib import Path

import httpx

from holdfast.backup.conversion import OutputFormat
from holdfast.web.code.upload_page import plain_name
from holdfast_demo.sample import sample_records
from holdfast_demo.sample_writer import write_sample
from tests.backup.archives.histories import copies, write
from tests.backup.streams import KEYS
from tests.hosting.api_clients import ServiceClients
from tests.hosting.git_client import Git
from tests.web.browser import visitor

AT = "/ada/Notes"


def test_several_files_come_in_one_commit(clients: ServiceClients, git: Git, ada: httpx.Client) -> None:
    """New and existing files are stored byte for byte, under their names without the sender's folders."""
    assert 'value="dir"' in ada.get(f"{AT}/_upload/main/dir").text
    sent = [
        ("files", ("C:\\Users\\ada\\a b.txt", b"one\r\n")),
        ("files", ("b.bin", bytes(range(256)) * 8000)),
        ("files", ("sub/100% näme?.txt", b"new")),
    ]
    response = ada.post(f"{AT}/_upload/main/dir", data={"folder": "dir", "target": "here"}, files=sent)
    assert (response.status_code, response.headers["location"]) == (303, f"{AT}/src/branch/main/dir")
    site = clients.open("")
    assert site.get(f"{AT}/raw/branch/main/dir/a b.txt").content == b"one\r\n"
    assert site.get(f"{AT}/raw/branch/main/dir/b.bin").content == bytes(range(256)) * 8000
    assert site.get(f"{AT}/raw/branch/main/dir/100%25%20n%C3%A4me%3F.txt").content == b"new"
    commits = clients.anonymous.get("/repos/ada/Notes/commits").json()
    assert len(commits) == 3
    assert commits[0]["commit"]["message"] == "Upload 3 files\n"


def test_an_invalid_upload_is_refused(clients: ServiceClients, git: Git, ada: httpx.Client) -> None:
    """No file, too many files, invalid paths, duplicate names and malformed forms create no commit."""
    nothing = ada.post(f"{AT}/_upload/main", data={"folder": "x"}, files=[("files", ("", b""))])
    assert nothing.status_code == 422
    assert "Choose at least one file" in nothing.text
    many = [("files", (f"{number}.txt", b"x")) for number in range(201)]
    assert "At most 200" in ada.post(f"{AT}/_upload/main", files=many).text
    for folder, name in ((".git", "config"), ("README.md", "x"), ("", ".git"), ("", "..")):
        refused = ada.post(f"{AT}/_upload/main", data={"folder": folder}, files=[("files", (name, b"x"))])
        assert refused.status_code == 422, (folder, name)
        assert 'role="alert"' in refused.text
    twice = [("files", ("a.txt", b"1")), ("files", ("a.txt", b"2"))]
    assert ada.post(f"{AT}/_upload/main", files=twice).status_code == 422
    torn = ada.post(
        f"{AT}/_upload/main", content=b"--x\r\nbroken", headers={"Content-Type": "multipart/form-data; boundary=x"}
    )
    assert torn.status_code == 422
    assert visitor(clients).post(f"{AT}/_upload/main", files=many[:1]).status_code == 303
    assert len(clients.anonymous.get("/repos/ada/Notes/commits").json()) == 2


def test_uploading_a_plain_backup_to_a_public_repository_shows_a_warning(
    clients: ServiceClients, git: Git, ada: httpx.Client, tmp_path: Path
) -> None:
    """The upload must be confirmed; an encrypted backup or a private repository needs no confirmation."""
    plain = write(tmp_path / "phone.binproto", *copies()).read_bytes()
    write_sample(sample_records(20, 1), tmp_path / "sealed", OutputFormat.CONTAINER, seed=1, keys=KEYS)
    assert "This repository is public" in ada.get(f"{AT}/_upload/main").text
    warned = ada.post(f"{AT}/_upload/main", files=[("files", ("phone.binproto", plain))])
    assert warned.status_code == 422
    assert "unencrypted chat backup" in warned.text
    assert 'name="plain"' in warned.text
    assert clients.anonymous.get("/repos/ada/Notes/contents/phone.binproto").status_code == 404
    sealed = [("files", ("phone.backup", (tmp_path / "sealed").read_bytes()))]
    assert ada.post(f"{AT}/_upload/main", files=sealed).status_code == 303
    response = ada.post(f"{AT}/_upload/main", data={"plain": "1"}, files=[("files", ("phone.binproto", plain))])
    assert response.status_code == 303
    clients.open("/api/v1", "ada").patch("/repos/ada/Notes", json={"private": True})
    assert "This repository is public" not in ada.get(f"{AT}/_upload/main").text
    assert ada.post(f"{AT}/_upload/main", files=[("files", ("2.binproto", plain))]).status_code == 303


def test_names_are_taken_without_their_folders() -> None:
    """Some browsers send the path of a file, of which only the last part is used."""
    assert [plain_name(name) for name in ("a", "x/a", "C:\\x\\a", "/", "")] == ["a", "a", "a", "", ""]
