"""Clones, fetches and archives with real git over HTTP."""

import gzip
import os
import socket
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import httpx
import pytest

from holdfast.hosting.git.program import run
from holdfast.hosting.git_server import upload_pack
from tests.conftest import wait_for
from tests.hosting.git.oracle import new_repository
from tests.hosting.git.serving import Client, Served, pkt, serve


@pytest.fixture
def served(tmp_path: Path) -> Iterator[Served]:
    """Serve one empty repository."""
    with serve(tmp_path / "data") as running:
        new_repository(running.folders.path(1))
        yield running


@pytest.fixture
def ada(tmp_path: Path) -> Client:
    """Return a git client with an empty folder."""
    (tmp_path / "ada").mkdir()
    return Client(tmp_path / "ada")


@pytest.fixture
def work(ada: Client, served: Served) -> Client:
    """Clone the empty repository and push a first commit."""
    ada.git("clone", "--quiet", served.address(1), "work")
    mine = ada.within("work")
    mine.commit()
    mine.git("push", "--quiet", "origin", "main")
    return mine


@pytest.mark.parametrize("version", [0, 1, 2])
def test_a_clone_has_everything(work: Client, served: Served, ada: Client, version: int) -> None:
    """A clone in each protocol version has all branches and tags and passes `git fsck`."""
    work.git("tag", "--annotate", "--message", "first", "v1")
    work.git("push", "--quiet", "origin", "v1", "main:side")
    ada.git("-c", f"protocol.version={version}", "clone", "--quiet", served.address(1), "copy")
    copy = ada.within("copy")
    assert copy.head() == work.head()
    assert copy.head("v1") == work.head("v1")
    assert copy.head("origin/side") == work.head()
    copy.git("fsck", "--strict")


@pytest.mark.parametrize("version", [0, 2])
def test_a_fetch_transfers_new_objects(work: Client, served: Served, ada: Client, version: int) -> None:
    """A clone pulls commits that were pushed after it was made, in protocols 0 and 2."""
    ada.git("clone", "--quiet", served.address(1), "copy")
    newest = [work.commit(content=f"{number}\n") for number in range(5)][-1]
    work.git("push", "--quiet", "origin", "main")
    copy = ada.within("copy")
    copy.git("-c", f"protocol.version={version}", "pull", "--quiet")
    assert copy.head() == newest


@pytest.mark.parametrize("version", [0, 2])
def test_a_shallow_clone_can_be_deepened(work: Client, served: Served, ada: Client, version: int) -> None:
    """A shallow clone has one commit, can push, and gets the other commits with `--unshallow`."""
    for number in range(5):
        work.commit(content=f"{number}\n")
    work.git("push", "--quiet", "origin", "main")
    ada.git("-c", f"protocol.version={version}", "clone", "--quiet", "--depth=1", served.address(1), "copy")
    copy = ada.within("copy")
    assert copy.git("rev-list", "--count", "HEAD").strip() == "1"
    commit_id = copy.commit("other.txt")
    copy.git("push", "--quiet", "origin", "main")
    assert ada.git("ls-remote", served.address(1), "main").startswith(commit_id)
    copy.git("-c", f"protocol.version={version}", "fetch", "--quiet", "--unshallow")
    assert copy.git("rev-list", "--count", "HEAD").strip() == "7"


def test_a_partial_clone_fetches_files_when_they_are_read(work: Client, served: Served, ada: Client) -> None:
    """A blobless clone has no blobs at first and fetches one when its content is read."""
    work.commit(content="second\n")
    work.git("push", "--quiet", "origin", "main")
    ada.git("clone", "--quiet", "--no-checkout", "--filter=blob:none", served.address(1), "copy")
    copy = ada.within("copy")
    missing = copy.git("rev-list", "--objects", "--all", "--missing=print")
    assert sum(line.startswith("?") for line in missing.splitlines()) == 2
    assert copy.git("show", "HEAD~1:file.txt") == "hello\n"


def test_an_archive_can_be_requested(work: Client, served: Served) -> None:
    """The request of `git archive --remote` is answered with a tar file on the first band."""
    body = pkt(b"argument --format=tar\n") + pkt(b"argument main\n") + b"0000"
    response = httpx.post(f"{served.address(1)}/git-upload-archive", content=body)
    assert response.content.startswith(pkt(b"ACK\n") + b"0000")
    assert b"file.txt" in response.content
    assert b"hello\n" in response.content


def test_hidden_refs_are_not_advertised(work: Client, served: Served, ada: Client) -> None:
    """Refs below `refs/holdfast` are not in the list of refs."""
    run(served.folders.path(1), "update-ref", "refs/holdfast/kept", work.head())
    assert "refs/holdfast" not in ada.git("ls-remote", served.address(1))


def test_a_compressed_request_is_understood(work: Client, served: Served) -> None:
    """A gzip request gets the same response; damaged gzip data gets 400 and a bomb 413."""
    body = pkt(b"command=ls-refs\n") + b"0001" + pkt(b"ref-prefix refs/heads/\n") + b"0000"
    headers = {"content-encoding": "gzip", "git-protocol": "version=2"}
    url = f"{served.address(1)}/git-upload-pack"
    plain = httpx.post(url, content=body, headers={"git-protocol": "version=2"})
    assert work.head().encode() in plain.content
    assert httpx.post(url, content=gzip.compress(body), headers=headers).content == plain.content
    assert httpx.post(url, content=gzip.compress(body)[:-9], headers=headers).status_code == 400
    assert httpx.post(url, content=b"nonsense", headers=headers).status_code == 400
    assert httpx.post(url, content=gzip.compress(bytes(50_000_000)), headers=headers).status_code == 413


def test_a_request_that_is_too_large_is_refused(work: Client, served: Served) -> None:
    """A request above the size limit gets 413."""
    response = httpx.post(f"{served.address(1)}/git-upload-pack", content=bytes(upload_pack.MOST_ASKED + 1))
    assert response.status_code == 413


@pytest.mark.parametrize("body", [b"", b"nonsense", b"0032want " + b"0" * 40 + b"\n00000009done\n", b"ffff"])
def test_any_request_is_answered_or_refused(work: Client, served: Served, body: bytes) -> None:
    """An invalid request gets 200 or 400, and the service answers the next request."""
    response = httpx.post(f"{served.address(1)}/git-upload-pack", content=body)
    assert response.status_code in {200, 400}
    assert httpx.get(f"{served.address(1)}/info/refs?service=git-upload-pack").status_code == 200


@pytest.mark.parametrize(
    ("header", "passed"),
    [
        (None, {}),
        ("", {}),
        ("version=2", {"GIT_PROTOCOL": "version=2"}),
        ("version=1:version=2:agent=x", {"GIT_PROTOCOL": "version=2"}),
        ("version=3", {}),
        ("version=2\nLD_PRELOAD=x", {}),
        ("x=y:version=0", {"GIT_PROTOCOL": "version=0"}),
    ],
)
def test_only_valid_protocol_versions_are_passed_on(header: str | None, passed: dict[str, str]) -> None:
    """Only a known protocol version of the header is passed to git as GIT_PROTOCOL."""
    assert upload_pack.protocol_variables(header) == passed


def test_the_process_of_a_disconnected_client_is_ended(work: Client, served: Served) -> None:
    """The git process ends when the client disconnects in the middle of a large response."""
    fill(served, 30_000_000)
    with slow_fetch(served) as responses:
        pieces = responses.iter_raw()
        assert next(pieces)
        assert served.processes()
    wait_for(lambda: not served.processes())


@pytest.mark.long
def test_a_client_that_does_not_read_times_out(work: Client, served: Served) -> None:
    """The git process ends after the idle timeout if the client does not read the response."""
    served.idle_timeout = 0.5
    fill(served, 30_000_000)
    with slow_fetch(served) as responses:
        assert responses.status_code == 200
        wait_for(lambda: not served.processes())


@contextmanager
def slow_fetch(served: Served) -> Iterator[httpx.Response]:
    """Fetch the large file over a connection that holds little of it."""
    body = pkt(b"command=fetch\n") + b"0001" + pkt(b"want " + head(served).encode()) + pkt(b"done") + b"0000"
    transport = httpx.HTTPTransport(socket_options=[(socket.SOL_SOCKET, socket.SO_RCVBUF, 65536)])
    url, headers = f"{served.address(1)}/git-upload-pack", {"git-protocol": "version=2"}
    with (
        httpx.Client(transport=transport) as client,
        client.stream("POST", url, content=body, headers=headers) as response,
    ):
        yield response


def fill(served: Served, size: int) -> None:
    """Commit a large file of incompressible content."""
    path = served.folders.path(1)
    blob = run(path, "hash-object", "-w", "--stdin", input=os.urandom(size)).decode().strip()
    tree = run(path, "mktree", input=f"100644 blob {blob}\tlarge\n".encode()).decode().strip()
    who = {
        f"GIT_{role}_{what}": "ada@example.org" for role in ("AUTHOR", "COMMITTER") for what in ("NAME", "EMAIL")
    }
    commit = run(path, "commit-tree", tree, "-m", "large", variables=who).decode().strip()
    run(path, "update-ref", "refs/heads/large", commit)


def head(served: Served) -> str:
    """Return the commit with the large file."""
    return run(served.folders.path(1), "rev-parse", "refs/heads/large").decode().strip()
