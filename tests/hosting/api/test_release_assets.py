"""Release assets: upload, download, rename and delete."""

from typing import Any

import httpx
import pytest

from tests.conftest import wait_for
from tests.hosting.api_clients import ServiceClients

HOME = "/repos/ada/ship"
CONTENT = bytes(range(256)) * 40


@pytest.fixture
def ada(clients: ServiceClients) -> httpx.Client:
    """Give Ada a repository with a release, and return her client."""
    client = clients.user("ada")
    client.post("/user/repos", json={"name": "ship", "auto_init": True, "private": True})
    return client


@pytest.fixture
def assets(ada: httpx.Client) -> str:
    """Make a release, and return the path of its files."""
    release = ada.post(f"{HOME}/releases", json={"tag_name": "v1/x"}).json()
    return f"{HOME}/releases/{release['id']}/assets"


def upload(ada: httpx.Client, assets: str, name: str = "ship.bin", content: bytes = CONTENT) -> dict[str, Any]:
    """Upload a file as a form."""
    response = ada.post(assets, files={"attachment": (name, content)})
    assert response.status_code == 201, response.text
    body: dict[str, Any] = response.json()
    return body


def test_a_file_is_uploaded_as_a_form_or_as_the_body(ada: httpx.Client, assets: str) -> None:
    """The name in the query replaces that of the form; both kinds of uploads are listed."""
    form = upload(ada, assets)
    assert (form["name"], form["size"], form["download_count"]) == ("ship.bin", len(CONTENT), 0)
    renamed = ada.post(assets, params={"name": "b.bin"}, files={"attachment": ("x", b"1"), "other": ("y", b"2")})
    assert (renamed.status_code, renamed.json()["name"], renamed.json()["size"]) == (201, "b.bin", 1)
    raw = ada.post(assets, params={"name": "ö 1.txt"}, content=b"raw")
    assert (raw.status_code, raw.json()["name"], raw.json()["size"]) == (201, "ö 1.txt", 3)
    listed = ada.get(assets).json()
    assert listed == [form, renamed.json(), raw.json()]
    assert ada.get(assets.removesuffix("/assets")).json()["assets"] == listed
    assert ada.get(f"{assets}/{form['id']}").json() == form
    for one, content in zip(listed, (CONTENT, b"1", b"raw"), strict=True):
        assert ada.get(one["browser_download_url"]).content == content


def test_invalid_uploads_are_refused(ada: httpx.Client, assets: str) -> None:
    """Duplicate, missing and invalid names, damaged forms and unknown releases are refused."""
    asset = upload(ada, assets)
    other = upload(ada, assets, "other.bin")
    for taken in (
        ada.post(assets, files={"attachment": ("ship.bin", b"x")}),
        ada.patch(f"{assets}/{other['id']}", json={"name": "ship.bin"}),
    ):
        assert taken.status_code == 409
        assert taken.json()["message"] == "an attachment with this name exists already [name: ship.bin]"
    assert ada.post(assets, content=b"x").status_code == 400
    assert ada.post(assets, files={"file": ("a", b"x")}).status_code == 400
    headers = {"Content-Type": "multipart/form-data; boundary=x"}
    assert ada.post(assets, content=b"no form", headers=headers).status_code == 400
    assert ada.post(assets, content=b"x", headers={"Content-Type": "multipart/form-data"}).status_code == 400
    for name in ("a/b", "..", "a\\b", "a\nb", "x" * 256):
        assert ada.post(assets, params={"name": name}, content=b"x").status_code == 422, name
        assert ada.patch(f"{assets}/{asset['id']}", json={"name": name}).status_code == 422, name
    assert ada.get(f"{assets}/999999").status_code == 404
    assert ada.post(f"{HOME}/releases/999999/assets", params={"name": "a"}, content=b"x").status_code == 404
    assert len(ada.get(assets).json()) == 2


def test_a_file_is_renamed_and_deleted(ada: httpx.Client, assets: str) -> None:
    """The former URL of a renamed file gives 404."""
    asset = upload(ada, assets)
    renamed = ada.patch(f"{assets}/{asset['id']}", json={"name": "new.bin"})
    assert (renamed.status_code, renamed.json()["name"]) == (201, "new.bin")
    assert ada.get(asset["browser_download_url"]).status_code == 404
    assert ada.get(renamed.json()["browser_download_url"]).content == CONTENT
    assert ada.delete(f"{assets}/{asset['id']}").status_code == 204
    assert ada.get(assets).json() == []
    assert ada.get(renamed.json()["browser_download_url"]).status_code == 404


def test_assets_are_downloaded_and_counted(ada: httpx.Client, assets: str, clients: ServiceClients) -> None:
    """Assets support ranges and conditional requests, are sent as attachments, and whole downloads are counted."""
    asset = upload(ada, assets, "page.html", b"<script>alert(1)</script>" + CONTENT)
    url = asset["browser_download_url"]
    whole = ada.get(url)
    assert whole.headers["content-type"] == "application/octet-stream"
    assert whole.headers["content-disposition"] == "attachment; filename=page.html"
    assert whole.headers["x-content-type-options"] == "nosniff"
    assert "private" in whole.headers["cache-control"]
    part = ada.get(url, headers={"Range": "bytes=5-9"})
    assert (part.status_code, part.content) == (206, whole.content[5:10])
    assert part.headers["content-range"] == f"bytes 5-9/{asset['size']}"
    assert ada.get(url, headers={"Range": f"bytes={asset['size']}-"}).status_code == 416
    assert ada.get(url, headers={"If-None-Match": whole.headers["etag"]}).status_code == 304
    assert ada.head(url).headers["content-length"] == str(asset["size"])
    by_uuid = ada.get(f"{clients.service.url}/attachments/{asset['uuid']}")
    assert by_uuid.content == whole.content
    # Two whole downloads; they are written every few seconds.
    wait_for(lambda: ada.get(f"{assets}/{asset['id']}").json()["download_count"] == 2, 30)


def test_permissions_are_checked_at_every_download(
    ada: httpx.Client, assets: str, clients: ServiceClients
) -> None:
    """Files of a private repository or a draft give 404 to others; the latest release is a redirect."""
    asset = upload(ada, assets)
    eve = clients.user("eve")
    urls = (asset["browser_download_url"], f"{clients.service.url}/attachments/{asset['uuid']}")
    for url in urls:
        for client in (eve, clients.anonymous):
            assert client.get(url).status_code == 404
    ada.patch(HOME, json={"private": False})
    for url in urls:
        assert clients.anonymous.get(url).content == CONTENT
    latest = clients.anonymous.get(f"{clients.service.url}/ada/ship/releases/latest", follow_redirects=False)
    assert (latest.status_code, latest.headers["location"].endswith("/ada/ship/releases/tag/v1/x")) == (302, True)
    ada.patch(assets.removesuffix("/assets"), json={"draft": True})
    for url in urls:
        assert eve.get(url).status_code == 404
        assert ada.get(url).status_code == 200
    assert clients.anonymous.get(f"{clients.service.url}/ada/ship/releases/latest").status_code == 404
    assert ada.get(f"{clients.service.url}/attachments/nowhere").status_code == 404
