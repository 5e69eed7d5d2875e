"""Fetching from remotes: checked addresses, redirects, protocols, timeouts and credentials."""

import subprocess
import time
from pathlib import Path
from typing import Any

import pytest

from holdfast.hosting.errors import RemoteFailed
from holdfast.hosting.git.remotes import GitRemote, RemoteLimits, configuration_for, fetch, list_refs
from holdfast.hosting.storage.local_copies import create_repository
from tests.hosting.git.oracle import commit, git, new_repository
from tests.hosting.services.http_stub import HttpStub, http_stub

LIMITS = RemoteLimits(20, 1024 * 1024)


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """Make an empty repository in a folder of its own."""
    path = tmp_path / "aside" / "repository.git"
    create_repository(path, "main")
    return path


def remote(stub: HttpStub, host: str = "git.example.invalid", authorization: str = "") -> GitRemote:
    """Return a repository on the stub under another name."""
    return GitRemote(f"http://{host}:{stub.port}/a.git", host, stub.port, ("127.0.0.1",), authorization)


def advertised() -> bytes:
    """Return a correct advertisement: the length of its line is computed."""
    line = b"0" * 40 + b" capabilities^{}\0multi_ack agent=git/2.39\n"
    head = b"# service=git-upload-pack\n"
    return b"%04x%s0000%04x%s0000" % (len(head) + 4, head, len(line) + 4, line)


def test_git_connects_to_the_checked_address_whatever_the_name_resolves_to(folder: Path) -> None:
    """The given address is used for an unknown host name, and the credentials are in a header."""
    with http_stub({"/a.git/info/refs": (200, advertised())}) as stub:
        remote_refs = list_refs(folder, remote(stub, authorization="Basic YTpi"), LIMITS)
    assert remote_refs.targets == {}
    assert [(request.host, request.authorization) for request in stub.seen] == [
        (f"git.example.invalid:{stub.port}", "Basic YTpi")
    ]


def test_git_follows_no_redirect(folder: Path) -> None:
    """A redirect of the remote server is not followed, so that it cannot choose another address."""
    with http_stub({"/b.git/info/refs": (200, advertised())}) as stub:
        stub.redirects["/a.git/info/refs"] = (
            f"http://127.0.0.1:{stub.port}/b.git/info/refs?service=git-upload-pack"
        )
        with pytest.raises(RemoteFailed):
            list_refs(folder, remote(stub), LIMITS)
    assert [request.path for request in stub.seen] == ["/a.git/info/refs"]


@pytest.mark.parametrize(
    "address",
    ["file://{source}", "{source}", "ssh://127.0.0.1/a", "ext::git upload-pack {source}", "git://127.0.0.1/a"],
)
def test_git_uses_no_other_protocol(folder: Path, tmp_path: Path, address: str) -> None:
    """A fetch fails for every protocol but HTTP, even from a repository that such an address could reach."""
    source = new_repository(tmp_path / "source.git")
    commit(source, {b"a": b"secret"})
    given = GitRemote(address.format(source=source), "127.0.0.1", 80, ("127.0.0.1",))
    with pytest.raises(RemoteFailed):
        fetch(folder, given, LIMITS)
    assert git(folder, "for-each-ref") == b""


def test_a_slow_server_times_out(folder: Path) -> None:
    """A server that does not answer within the seconds of `migration_timeout` is an error that names it."""
    with http_stub({"/a.git/info/refs": (200, advertised())}, delay=30) as stub:
        started = time.monotonic()
        with pytest.raises(RemoteFailed, match="migration_timeout"):
            list_refs(folder, remote(stub), RemoteLimits(0.2, 1024 * 1024))
        assert time.monotonic() - started < 25


def test_the_credentials_are_in_no_argument_and_in_no_file(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Credentials are given as configuration of the process; no argument, no file and no repr has them."""
    started: list[str] = []
    popen = subprocess.Popen

    def note(arguments: list[str], **options: Any) -> Any:
        started.append(" ".join(arguments))
        return popen(arguments, **options)

    monkeypatch.setattr(subprocess, "Popen", note)
    with http_stub({}) as stub:
        given = remote(stub, authorization="Basic c2VjcmV0")
        with pytest.raises(RemoteFailed, match="no repository at this address"):
            fetch(folder, given, LIMITS)
    assert ("http.extraHeader", "Authorization: Basic c2VjcmV0") in configuration_for(given)
    assert started
    assert "c2VjcmV0" not in " ".join([*started, repr(given)])
    for path in folder.parent.rglob("*"):
        assert path.is_dir() or b"c2VjcmV0" not in path.read_bytes()


def test_several_addresses_and_ipv6_are_given_to_git() -> None:
    """Addresses are given in the syntax of `http.curloptResolve`; a literal address needs no entry."""
    both = GitRemote("https://a.example/b", "a.example", 443, ("192.0.2.1", "2001:db8::1"))
    assert configuration_for(both) == [("http.curloptResolve", "a.example:443:192.0.2.1,[2001:db8::1]")]
    assert configuration_for(GitRemote("https://192.0.2.1/b", "192.0.2.1", 443, ("192.0.2.1",))) == []
