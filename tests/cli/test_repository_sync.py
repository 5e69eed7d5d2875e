"""`holdfast backup push` and `pull`, with a real service."""

import json
import random
from collections.abc import Callable
from pathlib import Path

import pytest

from holdfast.backup.conversion import OutputFormat
from holdfast.cli.repository_sync import is_for, pattern
from holdfast.hosting.store import accounts, tokens
from holdfast_demo.sample import sample_records
from holdfast_demo.sample_writer import write_sample
from tests.backup.archives.histories import copies, import_backups, write, write_later
from tests.backup.streams import KEY_FILE, KEYS
from tests.cli.conftest import CommandResult, Run
from tests.hosting.api_clients import ServiceClients
from tests.hosting.conftest import clients

__all__ = ["clients"]

Push = Callable[..., CommandResult]


@pytest.fixture
def push(clients: ServiceClients, run: Run, monkeypatch: pytest.MonkeyPatch) -> Push:
    """Return a function that runs commands as Ada, who has an empty repository and a token."""
    ada = clients.user("ada")
    ada.post("/user/repos", json={"name": "snaps", "private": True})
    _, value = tokens.create_token(clients.database, accounts.find_user(clients.database, "ada"), "push", ("all",))
    monkeypatch.setenv("HOLDFAST_TOKEN", value.reveal())
    monkeypatch.setenv("HOLDFAST_SERVER", clients.service.url)

    def call(*arguments: str) -> CommandResult:
        result = run("backup", *arguments)
        assert value.reveal() not in result.out + result.err
        return result

    return call


def commit_messages(clients: ServiceClients) -> list[str]:
    """Return the messages of all commits, the newest first."""
    commits = clients.open("/api/v1", "ada").get("/repos/ada/snaps/commits").json()
    return [commit["commit"]["message"] for commit in commits]


def test_snapshots_follow_one_another(clients: ServiceClients, push: Push, tmp_path: Path) -> None:
    """Each push is one commit with an LFS pointer, the same file gives none, and each version can be pulled."""
    first = write(tmp_path / "one.binproto", *copies())
    second = write_later(tmp_path / "two.binproto", random.Random(2), days=3)
    target = "ada/snaps:phone/my chats.binproto"
    assert push("push", str(first), target).status == 0
    assert "up to date" in push("push", str(first), target).out
    data = json.loads(push("push", str(second), target, "--json").out)
    assert data["changed"]
    newest, oldest = commit_messages(clients)
    assert oldest.startswith("First snapshot: 60 messages in ")
    assert newest.startswith("Snapshot: ")
    assert " gone" in newest
    assert " changed" in newest
    raw = clients.open("/api/v1", "ada").get("/repos/ada/snaps/raw/phone/my chats.binproto").text
    assert raw.startswith("version https://git-lfs")
    attributes = clients.open("/api/v1", "ada").get("/repos/ada/snaps/raw/.gitattributes").text
    assert attributes == '"/phone/my chats.binproto" filter=lfs diff=lfs merge=lfs -text\n'
    assert push("pull", target, str(tmp_path / "back")).status == 0
    assert (tmp_path / "back").read_bytes() == second.read_bytes()
    assert push("pull", target, str(tmp_path / "back")).status == 1
    commits = clients.open("/api/v1", "ada").get("/repos/ada/snaps/commits").json()
    assert push("pull", target, str(tmp_path / "back"), "--force", "--ref", commits[1]["sha"]).status == 0
    assert (tmp_path / "back").read_bytes() == first.read_bytes()


def test_encrypted_ones_tell_what_the_key_lets_them(clients: ServiceClients, push: Push, tmp_path: Path) -> None:
    """The commit message of an encrypted backup has its changes only if the key is given."""
    for name, count in (("one", 60), ("two", 80)):
        write_sample(sample_records(count, 1), tmp_path / name, OutputFormat.CONTAINER, seed=1, keys=KEYS)
    (tmp_path / "key").write_text(KEY_FILE)
    assert push("push", str(tmp_path / "one"), "ada/snaps:a.backup").status == 0
    assert (
        push("push", str(tmp_path / "two"), "ada/snaps:a.backup", "--key-file", str(tmp_path / "key")).status == 0
    )
    import_backups(tmp_path / "a.db", write(tmp_path / "plain", *copies()))
    assert push("push", str(tmp_path / "a.db"), "ada/snaps").status == 0
    archive, newest, oldest = commit_messages(clients)
    assert "encrypted" in oldest
    assert "messages" not in oldest
    assert newest.startswith("Snapshot: ")
    assert "added" in newest
    assert archive.startswith("Archive: 60 messages in ")


def test_what_cannot_be_done_is_said_in_one_line(
    clients: ServiceClients, push: Push, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Unknown repositories, files and hosts, a wrong token and invalid addresses are errors in one line."""
    file = str(write(tmp_path / "one", *copies()))
    for arguments in (
        ("push", file, "ada/none"),
        ("push", file, "nobody"),
        ("push", file, "ada/snaps:../x"),
        ("push", str(tmp_path), "ada/snaps"),
        ("push", file, "ada/snaps", "--server", "ftp://x"),
        ("push", file, "ada/snaps", "--server", "http://127.0.0.1:1"),
        ("pull", "ada/snaps:none", str(tmp_path / "out")),
        ("push", file, "ada/snaps", "--token", "wrong"),
    ):
        result = push(*arguments)
        assert result.status in {1, 2, 3}, arguments
        assert result.err.startswith("error: ")
        assert result.err.count("\n") == 1
    assert not (tmp_path / "out").exists()
    monkeypatch.delenv("HOLDFAST_SERVER")
    assert push("push", file, "ada/snaps").status == 2


def test_patterns_fit_one_path_only() -> None:
    """A `.gitattributes` pattern matches one path only: spaces are quoted and wildcards escaped."""
    assert pattern("a b/c*.db") == '"/a b/c[*].db"'
    assert pattern("plain.db") == "/plain.db"
    assert is_for("a/x.db", "*.db filter=lfs diff=lfs")
    assert is_for("x.db", "/x.db filter=lfs")
    assert not is_for("x.db", "*.db -filter")
    assert not is_for("x", "* filter")


def test_what_is_not_encrypted_goes_to_a_public_repository_only_when_that_is_said(
    clients: ServiceClients, push: Push, tmp_path: Path
) -> None:
    """A plain file is pushed to a public repository only with `--allow-public`."""
    ada = clients.open("/api/v1", "ada")
    ada.post("/user/repos", json={"name": "open", "private": False})
    plain = write(tmp_path / "plain.binproto", *copies())
    import_backups(tmp_path / "chats.db", plain)
    write_sample(sample_records(60, 1), tmp_path / "sealed", OutputFormat.CONTAINER, seed=1, keys=KEYS)
    for name in ("plain.binproto", "chats.db"):
        result = push("push", str(tmp_path / name), "ada/open")
        assert (result.status, result.out) == (1, "")
        warning, refusal = result.err.splitlines()
        assert warning.startswith(f"warning: ada/open is public and {name} is not encrypted")
        assert refusal.startswith("error: nothing was stored in ada/open")
        assert "--allow-public" in refusal
    assert ada.get("/repos/ada/open").json()["empty"]
    assert push("push", str(tmp_path / "sealed"), "ada/open").status == 0
    result = push("push", str(plain), "ada/open", "--allow-public")
    assert (result.status, result.err.splitlines()[0]) == (
        0,
        "warning: ada/open is public and plain.binproto is not encrypted: anyone could read its messages",
    )
    assert "warning" not in push("push", str(plain), "ada/snaps").err
