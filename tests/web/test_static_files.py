"""Static files: caching, compression and missing files."""

import asyncio
import gzip
from collections.abc import Callable
from pathlib import Path

import httpx
import pytest

from holdfast.web.static_files import StaticAssets
from tests.conftest import Service


def test_a_script_is_served_with_caching_headers(service: Service) -> None:
    """A script has `nosniff` and an ETag, and If-None-Match is answered with status 304."""
    with service.client() as client:
        response = client.get("/static/lines.js")
        assert response.headers["content-type"].startswith("text/javascript")
        assert response.headers["x-content-type-options"] == "nosniff"
        again = client.get("/static/lines.js", headers={"If-None-Match": response.headers["etag"]})
    assert again.status_code == 304


@pytest.mark.parametrize(
    ("method", "path", "status"),
    [("GET", "/static/missing.js", 404), ("GET", "/static/", 404), ("POST", "/static/lines.js", 405)],
)
def test_a_missing_file_is_a_404_page(service: Service, method: str, path: str, status: int) -> None:
    """An unknown file has status 404, and an unsupported method 405."""
    with service.client() as client:
        response = client.request(method, path)
    assert response.status_code == status
    assert "<title>Not found" in response.text


SCRIPT = "editor-AB12CD34.js"
CONTENT = "edit();" * 1000
Get = Callable[..., httpx.Response]


@pytest.fixture
def bundles(tmp_path: Path) -> Get:
    """Serve a folder with a script that is stored compressed and one that is not."""
    folder = tmp_path / "bundles"
    folder.mkdir()
    (folder / f"{SCRIPT}.gz").write_bytes(gzip.compress(CONTENT.encode()))
    (folder / "chunk-SMALL123.js").write_text("small();")
    (folder / "manifest.json").write_text("{}")
    assets = StaticAssets(tmp_path)

    def get(path: str, method: str = "GET", **headers: str) -> httpx.Response:
        async def ask() -> httpx.Response:
            transport = httpx.ASGITransport(assets)
            async with httpx.AsyncClient(transport=transport, base_url="http://localhost") as client:
                return await client.request(method, path, headers=headers)

        return asyncio.run(ask())

    return get


@pytest.mark.parametrize("encoding", ["gzip, br", "identity"])
def test_a_bundled_script_is_compressed_for_who_accepts_it(bundles: Get, encoding: str) -> None:
    """The file name has a hash, so the response is immutable; other origins may load it."""
    get = bundles(f"/bundles/{SCRIPT}", **{"Accept-Encoding": encoding})
    assert (get.status_code, get.text) == (200, CONTENT)
    sent = int(get.headers["content-length"])
    if encoding == "identity":
        assert "content-encoding" not in get.headers
        assert sent == len(CONTENT)
    else:
        assert get.headers["content-encoding"] == "gzip"
        assert sent < 100
        known = {"Accept-Encoding": encoding, "If-None-Match": get.headers["etag"]}
        assert bundles(f"/bundles/{SCRIPT}", **known).status_code == 304
    assert get.headers["content-type"] == "text/javascript; charset=utf-8"
    assert get.headers["cache-control"] == "public, max-age=31536000, immutable"
    assert get.headers["vary"] == "Accept-Encoding"
    assert get.headers["access-control-allow-origin"] == "*"


def test_a_small_script_is_not_compressed(bundles: Get) -> None:
    """A script that is not stored compressed is sent as it is, and is immutable too."""
    get = bundles("/bundles/chunk-SMALL123.js", **{"Accept-Encoding": "gzip"})
    assert get.text == "small();"
    assert "content-encoding" not in get.headers
    assert "immutable" in get.headers["cache-control"]


@pytest.mark.parametrize(
    ("method", "path", "status"),
    [
        ("GET", "/bundles/gone-AB12CD34.js", 404),
        ("GET", f"/bundles/../{SCRIPT}", 404),
        ("POST", f"/bundles/{SCRIPT}", 405),
        ("GET", "/bundles/", 404),
    ],
)
def test_a_missing_bundle_is_not_cached(bundles: Get, method: str, path: str, status: int) -> None:
    """A page from before an upgrade may request scripts that no longer exist."""
    get = bundles(path, method)
    assert get.status_code == status
    assert "immutable" not in get.headers.get("cache-control", "")


def test_other_files_are_not_cached_as_immutable(bundles: Get) -> None:
    """The content of the manifest may change under the same name."""
    get = bundles("/bundles/manifest.json")
    assert get.status_code == 200
    assert "cache-control" not in get.headers
    assert "access-control-allow-origin" not in get.headers
