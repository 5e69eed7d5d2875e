"""The local web server for one archive."""

import hashlib
import shutil
from collections.abc import Iterator
from pathlib import Path

import httpx
import pytest

from holdfast.backup import archives, encrypt_archive
from holdfast.secret import Secret
from holdfast.web.chats.single_archive import build
from tests.backup.archives.histories import PASSPHRASE
from tests.shared_server import SharedServer
from tests.web.chats.page_helpers import stored_media

TOKEN = "one-time-token"


@pytest.fixture
def client(archive_file: Path, shared_server: SharedServer) -> Iterator[httpx.Client]:
    """Serve the archive; the client has not been let in yet."""
    with (
        shared_server.serving(build(archive_file, Secret(TOKEN), shared_server.port)) as url,
        httpx.Client(base_url=url, timeout=60) as client,
    ):
        yield client


def enter(client: httpx.Client) -> None:
    """Open the URL with the token that the command prints."""
    response = client.get(f"/open/{TOKEN}")
    assert (response.status_code, response.headers["location"]) == (303, "/")


def test_the_url_works_once(client: httpx.Client) -> None:
    """The first browser gets an HttpOnly cookie, and every other browser is refused with status 403."""
    assert client.get("/").status_code == 403
    response = client.get(f"/open/{TOKEN}")
    assert response.status_code == 303
    cookie = response.headers["set-cookie"].lower()
    assert "httponly" in cookie
    assert "samesite=strict" in cookie
    assert "Chats" in client.get("/").text
    assert client.get(f"/open/{TOKEN}").headers["location"] == "/"
    with httpx.Client(base_url=client.base_url) as other:
        for path in (f"/open/{TOKEN}", "/open/", "/open/x", "/", "/search?q=a", "/media/x"):
            refused = other.get(path)
            assert refused.status_code == 403
            assert "set-cookie" not in refused.headers
        other.cookies.set(next(iter(client.cookies)), "guessed")
        assert other.get("/").status_code == 403


def test_prefetching_does_not_use_up_the_url(client: httpx.Client) -> None:
    """HEAD requests and prefetches do not use up the token."""
    assert client.head(f"/open/{TOKEN}").status_code == 204
    assert client.get(f"/open/{TOKEN}", headers={"Sec-Purpose": "prefetch"}).status_code == 204
    enter(client)


@pytest.mark.parametrize("host", ["evil.example", "evil.example:80", "localhost", "127.0.0.1", ""])
def test_only_its_own_host_names_are_accepted(client: httpx.Client, host: str) -> None:
    """Other Host headers are refused, which prevents DNS rebinding."""
    enter(client)
    for path in ("/", f"/open/{TOKEN}", "/static/mark.svg"):
        assert client.get(path, headers={"Host": host}).status_code in {400, 421}
    port = client.base_url.port
    assert client.get("/", headers={"Host": f"localhost:{port}"}).status_code == 200


def test_only_safe_methods_are_accepted(client: httpx.Client) -> None:
    """Methods that could change something are answered with 405."""
    enter(client)
    for method in ("POST", "PUT", "DELETE", "OPTIONS", "PATCH"):
        assert client.request(method, "/").status_code == 405


def test_files_are_served_in_ranges_and_are_inert(client: httpx.Client, archive_file: Path) -> None:
    """A file has a content security policy of its own, which runs nothing."""
    enter(client)
    digest = stored_media(archive_file)[0][0]
    whole = client.get(f"/media/{digest}")
    assert whole.status_code == 200
    assert whole.headers["content-security-policy"] == "default-src 'none'; sandbox"
    assert whole.headers["x-content-type-options"] == "nosniff"
    part = client.get(f"/media/{digest}", headers={"Range": "bytes=2-5"})
    assert (part.status_code, part.content) == (206, whole.content[2:6])


def test_an_encrypted_archive_is_shown_with_its_files(
    archive_file: Path, tmp_path: Path, shared_server: SharedServer
) -> None:
    """Files are decrypted while they are sent, also in ranges, and a changed file is not found."""
    pytest.importorskip("sqlcipher3", reason="the extra `encryption` is not installed")
    place = tmp_path / "encrypted.db"
    shutil.copy(archive_file, place)
    shutil.copytree(f"{archive_file}-media", f"{place}-media")
    encrypt_archive(place, PASSPHRASE)
    with archives.open(place, passphrase=PASSPHRASE) as opened:
        key = opened.key
        (name, digest, path, size) = opened.connection.execute(
            "SELECT media_name, sha256, path, size FROM media ORDER BY size DESC"
        ).fetchone()
        (message,) = opened.connection.execute(
            "SELECT message_id FROM attachment WHERE media_name = ?", (name,)
        ).fetchone()
    with (
        shared_server.serving(build(place, Secret(TOKEN), shared_server.port, key)) as url,
        httpx.Client(base_url=url, timeout=60) as client,
    ):
        enter(client)
        assert f"media/{digest}" in client.get(f"/to/{message}", follow_redirects=True).text
        whole = client.get(f"/media/{digest}")
        assert (whole.status_code, len(whole.content)) == (200, size)
        assert hashlib.sha256(whole.content).hexdigest() == digest
        assert whole.headers["content-security-policy"] == "default-src 'none'; sandbox"
        for header, status, content in (
            ("bytes=2-5", 206, whole.content[2:6]),
            ("bytes=-3", 206, whole.content[-3:]),
            ("bytes=0-0,5-6", 200, whole.content),
            (f"bytes={size}-", 416, b""),
        ):
            part = client.get(f"/media/{digest}", headers={"Range": header})
            assert (part.status_code, part.content) == (status, content), header
        file = Path(f"{place}-media") / path
        file.write_bytes(file.read_bytes()[:-1])
        assert client.get(f"/media/{digest}").status_code == 404


def test_pages_are_guarded_and_missing_ones_are_pages(client: httpx.Client) -> None:
    """Pages have a content security policy, and a missing page has the navigation."""
    enter(client)
    page = client.get("/")
    assert "script-src 'self'" in page.headers["content-security-policy"]
    missing = client.get("/nope")
    assert missing.status_code == 404
    assert "All chats" in missing.text
    to = client.get(f"/to/{page.text.partition('/chat/')[2][:1]}")
    assert to.status_code in {303, 404}
