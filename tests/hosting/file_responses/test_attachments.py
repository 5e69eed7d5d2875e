"""Downloads of attachments."""

import asyncio
from collections.abc import AsyncIterator
from pathlib import Path

import pytest

from holdfast.hosting.access import Actor
from holdfast.hosting.app import App
from holdfast.hosting.file_responses.attachments import attachment_response
from holdfast.hosting.http.endpoints import RawResponse
from holdfast.hosting.request_context import RequestContext
from holdfast.hosting.services import release_assets, releases, repositories
from holdfast.hosting.services.repositories import NewRepository
from holdfast.hosting.store.accounts import find_user
from holdfast.hosting.store.attachments import Attachment
from holdfast.hosting.store.releases import ReleaseFields
from tests.hosting.services.scenario import Caller, accessed


def attached(app: App, folder: Path, *, is_private: bool = False) -> tuple[Caller, Attachment]:
    """Attach a page of HTML to a release."""
    user = find_user(app.database, "admin")
    new = NewRepository(name="private" if is_private else "ship", is_private=is_private)
    ship = repositories.create(app, user, user, new, {"a.txt": b"one\n"})
    caller = (app, Actor(user), accessed(app, Actor(user), ship))
    (folder / "file").write_bytes(b"<script>0123456789")
    release = releases.create(*caller, ReleaseFields(tag_name="v1"))
    return caller, release_assets.add(*caller, release, name="a b.html", path=folder / "file")


@pytest.fixture
def file(app: App, tmp_path: Path) -> tuple[Caller, Attachment]:
    """Attach a file to a release of a public repository."""
    return attached(app, tmp_path)


def respond(file: tuple[Caller, Attachment], method: str = "GET", **headers: str) -> RawResponse:
    """Request the file."""
    (app, _, target), attachment = file
    lines = [(name.replace("_", "-").encode(), value.encode()) for name, value in headers.items()]
    request = RequestContext(app, {"type": "http", "method": method, "query_string": b"", "headers": lines})
    return attachment_response(request, target, attachment)


def count_downloads(file: tuple[Caller, Attachment]) -> int:
    """Return how often the file was downloaded, and begin to count again."""
    downloads = file[0][0].downloads
    number = len(downloads)
    downloads.clear()
    return number


def test_a_file_is_downloaded_and_not_shown(file: tuple[Caller, Attachment]) -> None:
    """An HTML file has the type `application/octet-stream` and is sent as an attachment."""
    response = respond(file)
    assert (response.status_code, response.headers["Content-Type"]) == (200, "application/octet-stream")
    assert response.headers["Content-Disposition"] == 'attachment; filename="a b.html"'
    assert response.headers["ETag"] == f'"{file[1].digest}"'
    assert response.headers["Cache-Control"].startswith("public")
    assert count_downloads(file) == 1


def test_a_private_file_is_not_cached_by_others(app: App, tmp_path: Path) -> None:
    """A file of a private repository has `Cache-Control: private`, so that proxies do not cache it."""
    assert respond(attached(app, tmp_path, is_private=True)).headers["Cache-Control"].startswith("private")


def test_a_cached_file_is_answered_with_304(file: tuple[Caller, Attachment]) -> None:
    """A response with status 304 does not count as a download."""
    assert respond(file, if_none_match=f'"{file[1].digest}"').status_code == 304
    assert respond(file, if_none_match='"other"').status_code == 200
    assert count_downloads(file) == 1


def test_a_download_in_parts_is_counted_once(file: tuple[Caller, Attachment]) -> None:
    """The range that begins at 0 counts; other ranges, HEAD requests and unsatisfiable ranges do not."""
    first, rest = respond(file, range="bytes=0-7"), respond(file, range="bytes=8-")
    assert [part.headers["Content-Range"] for part in (first, rest)] == ["bytes 0-7/18", "bytes 8-17/18"]
    assert count_downloads(file) == 1
    respond(file, "HEAD")
    assert respond(file, range="bytes=99-").status_code == 416
    assert count_downloads(file) == 0


def test_the_content_is_read_from_the_object_store(file: tuple[Caller, Attachment]) -> None:
    """The body of a response is the whole file or the requested range."""

    async def body(response: RawResponse) -> bytes:
        assert isinstance(response.pieces, AsyncIterator)
        return b"".join([piece async for piece in response.pieces])

    assert asyncio.run(body(respond(file))) == b"<script>0123456789"
    assert asyncio.run(body(respond(file, range="bytes=8-11"))) == b"0123"
