"""Responses with the content of blobs and LFS objects."""

import hashlib
from collections.abc import Iterator

import pytest

from holdfast.hosting.access import Actor
from holdfast.hosting.app import App
from holdfast.hosting.file_responses import blobs
from holdfast.hosting.file_responses.blobs import CommittedFile, blob_response, find_file, media_response
from holdfast.hosting.http.errors import ApiError
from holdfast.hosting.lfs.pointer import LfsPointer
from holdfast.hosting.request_context import RequestContext
from holdfast.hosting.services import repositories
from holdfast.hosting.services.repositories import NewRepository
from holdfast.hosting.services.revisions import open_git, resolve_commit
from holdfast.hosting.store import lfs
from holdfast.hosting.store.accounts import find_user
from tests.hosting.services.scenario import accessed

LARGE = b"a large file, or so its pointer says\n"
POINTER = LfsPointer(hashlib.sha256(LARGE).hexdigest(), len(LARGE))
FILES = {"page.html": b"<script>alert(1)</script>", "dir/b.txt": b"text\n", "large.bin": POINTER.format()}


def find(app: App, path: str, *, is_private: bool = False, **headers: str) -> CommittedFile:
    """Make a repository, and find a file in it for a request."""
    user = find_user(app.database, "admin")
    ship = repositories.create(app, user, user, NewRepository(name="ship", is_private=is_private), FILES)
    target = accessed(app, Actor(user), ship)
    lines = [(name.replace("_", "-").encode(), value.encode()) for name, value in headers.items()]
    request = RequestContext(app, {"type": "http", "method": "GET", "query_string": b"", "headers": lines})
    repo = open_git(app, target)
    return find_file(request, target, repo, resolve_commit(repo, target, "main"), path)


def test_a_file_is_served_with_its_media_type(app: App) -> None:
    """An HTML file is served as plain text with a sandbox policy, so that no browser runs it."""
    file = find(app, "page.html")
    response = blob_response(file)
    assert (response.status_code, response.body) == (200, FILES["page.html"])
    assert response.headers["Content-Type"].startswith("text/plain")
    assert response.headers["Cache-Control"].startswith("public")
    assert response.headers["ETag"] == f'"{file.entry.id}"'
    assert "sandbox" in response.headers["Content-Security-Policy"]
    assert file.request.response_headers["X-Gitea-Object-Type"] == "file"


@pytest.mark.parametrize("path", ["dir", "gone.txt", "dir/gone.txt", "page.html/x", "", "../a"])
def test_an_entry_without_content_is_not_found(app: App, path: str) -> None:
    """Directories, missing files and invalid paths have status 404."""
    with pytest.raises(ApiError) as excinfo:
        find(app, path)
    assert excinfo.value.status == 404


def test_a_range_of_a_file_is_served(app: App) -> None:
    """A range has status 206, its bytes and a `Content-Range` header."""
    response = blob_response(find(app, "dir/b.txt", range="bytes=1-2"))
    assert (response.status_code, response.body) == (206, b"ex")
    assert response.headers["Content-Range"] == "bytes 1-2/5"


def test_a_large_file_is_streamed(app: App, monkeypatch: pytest.MonkeyPatch) -> None:
    """The body of a large file is an iterator, which does not run on the event loop."""
    monkeypatch.setattr(blobs, "QUICK_BYTES", 3)
    response = blob_response(find(app, "dir/b.txt"))
    assert isinstance(response.pieces, Iterator)
    assert b"".join(response.pieces) == b"text\n"


def test_private_files_are_not_cached_by_others(app: App) -> None:
    """A file of a private repository has `Cache-Control: private`, so that proxies do not cache it."""
    assert blob_response(find(app, "dir/b.txt", is_private=True)).headers["Cache-Control"].startswith("private")


def test_a_pointer_without_an_object_is_served_as_it_is(app: App) -> None:
    """Only an LFS pointer whose object is linked to the repository leads to the object."""
    pointer = find(app, "large.bin")
    response = media_response(pointer)
    assert (response.then, response.body) == (None, POINTER.format())
    lfs.link(app.database, pointer.target.repository, POINTER.oid, POINTER.size)
    assert media_response(pointer).then is not None


def test_a_cached_file_is_answered_with_304(app: App) -> None:
    """A request with the matching `If-None-Match` header gets status 304 without a body."""
    tag = hashlib.sha1(b"blob 5\0text\n", usedforsecurity=False).hexdigest()
    response = blob_response(find(app, "dir/b.txt", if_none_match=f'"{tag}"'))
    assert (response.status_code, response.body) == (304, b"")
