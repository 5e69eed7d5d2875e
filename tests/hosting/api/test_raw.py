"""The raw file endpoint: media types, ranges, caching and LFS objects."""

import base64
from email.parser import BytesParser
from pathlib import Path

import httpx
import pytest

from holdfast.hosting.file_responses import blobs as served
from holdfast.hosting.store import repositories
from tests.hosting.api.file_helpers import LARGE, OID, POINTER, commit_all, make_files
from tests.hosting.api_clients import PASSWORD, ServiceClients
from tests.hosting.git_client import Git
from tests.hosting.repository_helpers import READ, let_in

RAW = "/repos/ada/Notes/raw"
MEDIA = "/repos/ada/Notes/media"
BOTH = pytest.mark.parametrize("at", [RAW, MEDIA])


@pytest.fixture
def git(clients: ServiceClients, tmp_path: Path) -> Git:
    """Push the repository that the tests read."""
    return make_files(clients, tmp_path)


def upload(clients: ServiceClients, content: bytes = LARGE, oid: str = OID) -> None:
    """Store the object of the LFS pointer."""
    store = clients.open("/ada/Notes.git/info/lfs", "ada")
    response = store.put(f"/objects/{oid}/{len(content)}", content=content)
    assert response.status_code == 200, response.text


@BOTH
def test_a_file_is_served_unchanged(clients: ServiceClients, git: Git, at: str) -> None:
    """A file is served with the headers that browsers and caches need."""
    response = clients.anonymous.get(f"{at}/README.md")
    assert (response.status_code, response.content) == (200, b"# Notes\n")
    headers = response.headers
    assert headers["x-gitea-object-type"] == headers["x-service-object-type"] == "file"
    assert headers["etag"] == f'"{git("rev-parse", "main:README.md")}"'
    assert headers["last-modified"] == "Mon, 06 May 2024 05:08:09 GMT"
    assert headers["content-length"] == "8"
    assert headers["content-type"] == "text/plain; charset=utf-8"
    assert headers["content-disposition"] == "inline; filename=README.md"
    assert headers["access-control-expose-headers"] == "Content-Disposition"
    assert headers["x-content-type-options"] == "nosniff"
    assert headers["content-security-policy"] == "default-src 'none'; style-src 'unsafe-inline'; sandbox"
    assert headers["cache-control"] == "public, max-age=21600"


@BOTH
def test_head_returns_headers_without_a_body(clients: ServiceClients, git: Git, at: str) -> None:
    """HEAD returns the headers of GET and no body."""
    head, got = clients.anonymous.head(f"{at}/README.md"), clients.anonymous.get(f"{at}/README.md")
    volatile = {"date", "x-request-id"}
    assert {k: v for k, v in head.headers.items() if k not in volatile} == {
        k: v for k, v in got.headers.items() if k not in volatile
    }
    assert head.content == b""


PATHS: list[tuple[str, dict[str, str], bytes]] = [
    ("dir/sub/file.txt", {}, b"deeper\n"),
    ("main/dir/sub/file.txt", {}, b"deeper\n"),
    ("HEAD/dir/sub/file.txt", {}, b"deeper\n"),
    ("feature/x/dir/sub/file.txt", {}, b"deep\n"),
    ("v1.0/dir/sub/file.txt", {}, b"deep\n"),
    ("v2.0/dir/sub/file.txt", {}, b"deeper\n"),
    ("dir/sub/file.txt", {"ref": "v1.0"}, b"deep\n"),
    ("dir/sub/file.txt", {"ref": " feature/x "}, b"deep\n"),
    ("sub/file.txt", {"ref": "feature/x/dir"}, b"deep\n"),
    ("dir/sub/file.txt", {"ref": " "}, b"deeper\n"),
    ("dir/sub/file.txt", {"ref": "refs/heads/feature/x"}, b"deep\n"),
    ("dir/sub/file.txt", {"ref": "refs/tags/v1.0"}, b"deep\n"),
    ("dir%2Fsub%2Ffile.txt", {"ref": "v1.0"}, b"deep\n"),
    ("feature%2Fx%2Fdir%2Fsub%2Ffile.txt", {}, b"deep\n"),
    ("dir/100%25%20n%C3%A4me%3F.txt", {}, b"odd\n"),
]


@BOTH
def test_a_path_may_begin_with_a_ref(clients: ServiceClients, git: Git, at: str) -> None:
    """A ref is the beginning of the path or the query parameter, which may have the full name of a ref."""
    for path, query, content in PATHS:
        response = clients.anonymous.get(f"{at}/{path}", params=query)
        assert (response.status_code, response.content) == (200, content), path


@BOTH
def test_an_unknown_ref_in_the_path_or_the_query_is_not_found(clients: ServiceClients, git: Git, at: str) -> None:
    """An unknown ref gives the same 404 in the path and in the query, and never a file of another branch."""
    for ref in ("nowhere", "feature/y", "refs/heads/nowhere", "refs/pull/1/head", "0" * 12):
        before = clients.anonymous.get(f"{at}/{ref}/README.md")
        beside = clients.anonymous.get(f"{at}/README.md", params={"ref": ref})
        assert (before.status_code, before.json()) == (beside.status_code, beside.json()), ref
        assert (before.status_code, before.json()["message"]) == (404, "not found"), ref


def test_a_path_may_begin_with_a_commit(clients: ServiceClients, git: Git) -> None:
    """A path may begin with a whole commit id, but not with a shortened one."""
    commit = git("rev-parse", "v1.0")
    assert clients.anonymous.get(f"{RAW}/{commit}/dir/sub/file.txt").content == b"deep\n"
    assert clients.anonymous.get(f"{RAW}/dir/sub/file.txt", params={"ref": commit}).content == b"deep\n"
    assert clients.anonymous.get(f"{RAW}/{commit[:12]}/dir/sub/file.txt").status_code == 404
    response = clients.anonymous.get(f"{RAW}/{'e' * 40}/README.md")
    assert (response.status_code, response.json()["message"]) == (404, "unable to find a git ref")


@BOTH
def test_a_path_that_is_not_a_file_is_not_found(clients: ServiceClients, git: Git, at: str) -> None:
    """Missing paths, directories and submodules give 404."""
    for path in ("nothing", "dir", "main", "lib", "lib/x", "link/file.txt", "main/", ".git/config"):
        response = clients.anonymous.get(f"{at}/{path}")
        assert (response.status_code, response.json()["message"]) == (404, "not found"), path


@BOTH
def test_files_of_an_empty_repository_are_not_found(clients: ServiceClients, at: str) -> None:
    """Every file of an empty repository gives 404 with a message of its own."""
    clients.account("ada")
    clients.anonymous.post("/user/repos", json={"name": "Notes"}, auth=("ada", PASSWORD))
    response = clients.anonymous.get(f"{at}/README.md")
    assert (response.status_code, response.json()["message"]) == (404, "repository is empty")


@BOTH
def test_a_link_is_its_target(clients: ServiceClients, git: Git, at: str) -> None:
    """A symbolic link is served as the text of its target, and is not followed."""
    response = clients.anonymous.get(f"{at}/link")
    assert response.content == b"dir/sub"
    assert response.headers["x-gitea-object-type"] == response.headers["x-service-object-type"] == "symlink"


@BOTH
def test_a_cached_file_is_answered_with_304(clients: ServiceClients, git: Git, at: str) -> None:
    """If-None-Match compares the entity tag; If-Modified-Since counts only without If-None-Match."""
    path = f"{at}/README.md"
    tag = f'"{git("rev-parse", "main:README.md")}"'
    for given in (tag, f"W/{tag}", f'"other", {tag}', "*"):
        response = clients.anonymous.get(path, headers={"If-None-Match": given})
        assert (response.status_code, response.content, response.headers["etag"]) == (304, b"", tag)
        assert response.headers["cache-control"] == "public, max-age=21600"
    for given in ("Mon, 06 May 2024 05:08:09 GMT", "Wed, 06 May 2026 05:08:09 GMT"):
        response = clients.anonymous.get(path, headers={"If-Modified-Since": given})
        assert (response.status_code, response.headers["last-modified"]) == (304, "Mon, 06 May 2024 05:08:09 GMT")
    # Its time is known by now.
    response = clients.anonymous.get(path, headers={"If-None-Match": tag})
    assert response.headers["last-modified"] == "Mon, 06 May 2024 05:08:09 GMT"
    for headers in (
        {"If-None-Match": '"other"'},
        {"If-None-Match": tag.strip('"')},
        {"If-Modified-Since": "Mon, 06 May 2024 05:08:08 GMT"},
        {"If-Modified-Since": "nonsense"},
        {"If-Modified-Since": "Mon, 06 May 99999 05:08:08 GMT"},
        {"If-None-Match": '"other"', "If-Modified-Since": "Wed, 06 May 2026 05:08:09 GMT"},
    ):
        assert clients.anonymous.get(path, headers=headers).status_code == 200


@BOTH
def test_a_range_can_be_requested(clients: ServiceClients, git: Git, at: str) -> None:
    """A range has a start, a start and an end, or the length of a suffix."""
    for wanted, content, content_range in (
        ("bytes=0-0", b"#", "bytes 0-0/8"),
        ("bytes=2-4", b"Not", "bytes 2-4/8"),
        ("bytes=2-", b"Notes\n", "bytes 2-7/8"),
        ("bytes=2-999", b"Notes\n", "bytes 2-7/8"),
        ("bytes=-3", b"es\n", "bytes 5-7/8"),
        ("bytes=-99", b"# Notes\n", "bytes 0-7/8"),
        ("bytes=99-,1-1", b" ", "bytes 1-1/8"),
    ):
        response = clients.anonymous.get(f"{at}/README.md", headers={"Range": wanted})
        assert (response.status_code, response.content) == (206, content)
        assert response.headers["content-range"] == content_range
        assert response.headers["content-length"] == str(len(content))


def test_a_range_outside_the_file_is_refused(clients: ServiceClients, git: Git) -> None:
    """The 416 response has the size of the file in `Content-Range`."""
    for wanted in ("bytes=8-", "bytes=99-100", "bytes=-0", "bytes=8-9,10-"):
        response = clients.anonymous.get(f"{RAW}/README.md", headers={"Range": wanted})
        assert (response.status_code, response.headers["content-range"]) == (416, "bytes */8")
        assert response.headers["content-type"].startswith("text/plain")
    assert clients.anonymous.get(f"{RAW}/empty", headers={"Range": "bytes=0-"}).status_code == 416


def test_a_range_of_a_response_without_a_body_is_ignored(clients: ServiceClients, git: Git) -> None:
    """HEAD ignores a range and returns the length of the whole file."""
    response = clients.anonymous.head(f"{RAW}/README.md", headers={"Range": "bytes=2-4"})
    assert (response.status_code, response.headers["content-length"]) == (200, "8")


def test_an_invalid_range_is_ignored(clients: ServiceClients, git: Git) -> None:
    """An invalid range is ignored, as RFC 9110 says, and the whole file is served."""
    for wanted in (
        "lines=1-2",
        "bytes",
        "bytes=",
        "bytes=-",
        "bytes=a-b",
        "bytes=0-,0-,0-",
        "bytes=5-2",
        "bytes=0-1,5-2",
    ):
        response = clients.anonymous.get(f"{RAW}/README.md", headers={"Range": wanted})
        assert (response.status_code, response.content) == (200, b"# Notes\n")


def parts_of(response: httpx.Response) -> list[tuple[str | None, str | None, bytes]]:
    """Return the parts of a multipart response."""
    head = f"Content-Type: {response.headers['content-type']}\r\n\r\n".encode()
    message = BytesParser().parsebytes(head + response.content)
    return [
        (part["content-type"], part["content-range"], bytes(part.get_payload(decode=True) or b""))
        for part in message.walk()
        if not part.is_multipart()
    ]


def test_several_ranges_can_be_requested(
    clients: ServiceClients, git: Git, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Each part has its own `Content-Range`, whether the file is read at once or in chunks."""
    for most in (served.QUICK_BYTES, 1):
        monkeypatch.setattr(served, "QUICK_BYTES", most)
        response = clients.anonymous.get(f"{RAW}/README.md", headers={"Range": "bytes=0-1, 4-5,-1"})
        assert response.status_code == 206
        assert int(response.headers["content-length"]) == len(response.content)
        kind = "text/plain; charset=utf-8"
        assert parts_of(response) == [
            (kind, "bytes 0-1/8", b"# "),
            (kind, "bytes 4-5/8", b"te"),
            (kind, "bytes 7-7/8", b"\n"),
        ]


def test_if_range_with_another_tag_ignores_the_range(clients: ServiceClients, git: Git) -> None:
    """A file that has changed since the tag or the time of If-Range is served whole."""
    tag = f'"{git("rev-parse", "main:README.md")}"'
    for given, status in (
        (tag, 206),
        ('"other"', 200),
        (f"W/{tag}", 200),
        ("Mon, 06 May 2024 05:08:09 GMT", 206),
        ("Mon, 06 May 2024 05:08:08 GMT", 200),
    ):
        response = clients.anonymous.get(f"{RAW}/README.md", headers={"Range": "bytes=0-0", "If-Range": given})
        assert response.status_code == status


def test_large_files_are_streamed(clients: ServiceClients, git: Git) -> None:
    """A large file is served with its length, whole or by range."""
    content = bytes(range(256)) * 4096 * 9
    (git.folder / "big").write_bytes(content)
    commit_all(git, "big")
    git("push", "-q", "origin", "main")
    response = clients.anonymous.get(f"{RAW}/big")
    assert response.content == content
    assert response.headers["content-length"] == str(len(content))
    assert response.headers["content-type"] == "application/octet-stream"
    part = clients.anonymous.get(f"{RAW}/big", headers={"Range": "bytes=1000000-9000000"})
    assert part.content == content[1_000_000:9_000_001]
    assert clients.anonymous.head(f"{RAW}/big").headers["content-length"] == str(len(content))


def test_a_private_file_is_not_cached_by_others(clients: ServiceClients, tmp_path: Path) -> None:
    """A private file has a private `Cache-Control` header, and strangers get 404 for every kind of request."""
    git = make_files(clients, tmp_path, private=True)
    guest = clients.account("guest")
    let_in(clients.database, repositories.find_repository(clients.database, "ada", "Notes"), guest, READ)
    upload(clients)
    tag = f'"{git("rev-parse", "main:README.md")}"'
    nobody = clients.user("nobody")
    for path in (f"{RAW}/README.md", f"{MEDIA}/README.md", f"{MEDIA}/large.bin"):
        for stranger in (clients.anonymous, nobody):
            for headers in ({}, {"If-None-Match": tag}, {"Range": "bytes=0-"}):
                assert stranger.get(path, headers=headers).status_code == 404
        response = clients.with_token(guest).get(path)
        assert (response.status_code, response.headers["cache-control"]) == (200, "private, max-age=21600")


def test_an_lfs_pointer_is_replaced_by_its_object(clients: ServiceClients, git: Git) -> None:
    """The media endpoint serves the LFS object if it is there, otherwise the pointer, as the raw endpoint does."""
    path = f"{MEDIA}/large.bin"
    assert clients.anonymous.get(path).text == POINTER
    upload(clients)
    assert clients.anonymous.get(f"{RAW}/large.bin").text == POINTER
    response = clients.anonymous.get(path)
    assert (response.status_code, response.content) == (200, LARGE)
    assert response.headers["etag"] == f'"{OID}"'
    assert response.headers["content-length"] == str(len(LARGE))
    assert response.headers["content-disposition"] == "inline; filename=large.bin"
    assert response.headers["x-service-object-type"] == "file"
    assert response.headers["content-security-policy"].endswith("sandbox")
    modified = response.headers["last-modified"]
    for headers in ({"If-None-Match": f'"{OID}"'}, {"If-Modified-Since": modified}):
        fresh = clients.anonymous.get(path, headers=headers)
        assert (fresh.status_code, fresh.headers["etag"]) == (304, f'"{OID}"')
        assert fresh.headers["last-modified"] == modified
    part = clients.anonymous.get(path, headers={"Range": "bytes=2-6"})
    assert (part.status_code, part.content) == (206, LARGE[2:7])
    both = clients.anonymous.get(path, headers={"Range": "bytes=0-0,2-6"})
    assert [content for _, _, content in parts_of(both)] == [b"a", b"large"]
    assert clients.anonymous.head(path).headers["content-length"] == str(len(LARGE))


def test_a_pointer_is_served_when_its_object_is_missing(clients: ServiceClients, git: Git) -> None:
    """The LFS pointer is served if the store has lost the object that the repository should have."""
    upload(clients)
    for file in (clients.service.settings.data / "lfs").rglob(OID):
        file.unlink()
    response = clients.anonymous.get(f"{MEDIA}/large.bin")
    assert (response.status_code, response.text) == (200, POINTER)
    assert response.headers["etag"] == f'"{git("rev-parse", "main:large.bin")}"'


def test_an_lfs_object_of_another_repository_is_not_served(clients: ServiceClients, git: Git) -> None:
    """A pointer to an LFS object of another repository does not give access to the object."""
    upload(clients)
    clients.anonymous.post("/user/repos", json={"name": "Thief"}, auth=("ada", PASSWORD))
    refused = git.try_to("push", "-q", git("remote", "get-url", "origin").replace("Notes", "Thief"), "main")
    assert "the LFS objects of large.bin are missing" in refused.stderr
    body = {"content": base64.b64encode(POINTER.encode()).decode()}
    response = clients.anonymous.post("/repos/ada/Thief/contents/large.bin", json=body, auth=("ada", PASSWORD))
    assert response.status_code == 201
    assert clients.anonymous.get("/repos/ada/Thief/media/large.bin").text == POINTER


def test_no_file_is_served_as_a_page(clients: ServiceClients, git: Git) -> None:
    """HTML, scripts and XML are served as plain text, and SVG with a sandbox policy."""
    files: list[tuple[str, bytes, str, str | None]] = [
        ("page.html", b"<!doctype html><script>alert(1)</script>", "text/plain; charset=utf-8", "sandbox"),
        ("a.js", b"alert(1)", "text/plain; charset=utf-8", "sandbox"),
        ("p.svg", b"<svg><script>alert(1)</script></svg>", "image/svg+xml", "sandbox"),
        ("p.pdf", b"%PDF-1.4\n", "application/pdf", "default-src 'none'; style-src 'unsafe-inline'"),
        ("p.mp3", b"ID3\x03\x00", "audio/mpeg", None),
        ("x.xml", b"<?xml version='1.0'?><html/>", "text/plain; charset=utf-8", "sandbox"),
    ]
    for name, content, _, _ in files:
        (git.folder / name).write_bytes(content)
    commit_all(git, "more")
    git("push", "-q", "origin", "main")
    for name, _, kind, policy in files:
        headers = clients.anonymous.get(f"{RAW}/{name}").headers
        assert headers["content-type"] == kind
        assert headers.get_list("x-content-type-options") == ["nosniff"]
        given = headers.get("content-security-policy")
        assert given is None if policy is None else given is not None and given.endswith(policy)


@BOTH
def test_a_name_a_branch_once_had_is_not_taken_for_a_path(clients: ServiceClients, git: Git, at: str) -> None:
    """The former name of a renamed branch gives 404, in the path and as the query parameter."""
    auth = ("ada", PASSWORD)
    response = clients.anonymous.post("/repos/ada/Notes/branches", json={"new_branch_name": "before"}, auth=auth)
    assert response.status_code == 201
    assert clients.anonymous.get(f"{at}/before/README.md").status_code == 200
    renamed = clients.anonymous.patch("/repos/ada/Notes/branches/before", json={"name": "after"}, auth=auth)
    assert renamed.status_code == 204
    gone = clients.anonymous.get(f"{at}/before/README.md")
    assert (gone.status_code, gone.json()["message"]) == (404, "unable to find a git ref")
    assert clients.anonymous.get(f"{at}/README.md", params={"ref": "before"}).status_code == 404
    assert clients.anonymous.get(f"{at}/after/README.md").status_code == 200
