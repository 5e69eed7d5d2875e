"""Git over SSH with real clients: authentication, permissions, limits and error messages."""

import asyncio
import os
import socket
import time
from collections.abc import AsyncGenerator, Iterator
from contextlib import AbstractAsyncContextManager
from pathlib import Path
from typing import Any

import asyncssh
import msgspec
import pytest
from structlog.testing import capture_logs

from holdfast.client_address import TrustedProxies
from holdfast.hosting.access import Actor
from holdfast.hosting.app import App
from holdfast.hosting.git import corruption, process
from holdfast.hosting.git.program import run
from holdfast.hosting.git_server import receive_pack, ssh, upload_pack
from holdfast.hosting.git_server.ssh import parse_command
from holdfast.hosting.http.errors import ApiError
from holdfast.hosting.services import ssh_keys as key_service
from holdfast.hosting.store import accounts, protections, repository_log
from holdfast.hosting.store import ssh_keys as store
from holdfast.hosting.store.accounts import Account
from holdfast.hosting.store.protections import ProtectionRule
from holdfast.hosting.store.repositories import Repository
from tests.conftest import wait_for
from tests.hosting.repository_helpers import READ, WRITE, add_commit, let_in, make_people, make_repository
from tests.hosting.ssh_key_helpers import new_key
from tests.hosting.ssh_server import SshService, add_deploy_key, add_user_key, serve_ssh


@pytest.fixture
def service(app: App, tmp_path: Path) -> Iterator[SshService]:
    """Serve SSH."""
    with serve_ssh(app, tmp_path / "ssh") as running:
        yield running


@pytest.fixture
def ada(app: App) -> Account:
    """Return a user."""
    return make_people(app.database, "ada")[0]


@pytest.fixture
def boats(app: App, ada: Account) -> Repository:
    """Return a private repository with a commit on main."""
    repository = make_repository(app.database, ada, "boats", is_private=True)
    add_commit(app.database, repository, "main")
    return repository


def refs_of(app: App, repository: Repository) -> dict[str, str]:
    """Return the refs as they are recorded."""
    with app.database.read() as connection:
        return repository_log.read_refs(connection, repository.id)


def connected(
    service: SshService, key: asyncssh.SSHKey
) -> AbstractAsyncContextManager[asyncssh.SSHClientConnection]:
    """Connect with asyncssh's own client, which can do what OpenSSH does not."""
    return asyncssh.connect(
        "localhost", service.port, username="git", client_keys=[key], known_hosts=None, config=[]
    )


def test_a_repository_is_cloned_pushed_and_fetched(service: SshService, ada: Account, boats: Repository) -> None:
    """Pushed branches are recorded, and another clone pulls the commit."""
    client = service.client(add_user_key(service.app, ada))
    work = client.clone("ada/boats")
    other = client.clone("ada/boats", "other")
    commit = work.commit("b", "b")
    work("push", "-q", "origin", "HEAD:main", "HEAD:side")
    recorded = refs_of(service.app, boats)
    assert (recorded["refs/heads/main"], recorded["refs/heads/side"]) == (commit, commit)
    other("pull", "-q")
    assert other("rev-parse", "HEAD") == commit
    assert boats.id in service.app.pushed


@pytest.mark.parametrize("version", [0, 2])
def test_shallow_and_partial_clones_fetch_what_they_lack(
    service: SshService, ada: Account, boats: Repository, version: int
) -> None:
    """In the conversation of protocol 0, and in the separate requests of protocol 2."""
    client = service.client(add_user_key(service.app, ada))
    work = client.clone("ada/boats")
    for number in range(5):
        work.commit(f"f{number}", "x" * number)
    work("push", "-q", "origin", "HEAD:main")
    address = f"{client.address}/ada/boats.git"
    shallow, blobless = client.git("shallow"), client.git("blobless")
    shallow("-c", f"protocol.version={version}", "clone", "-q", "--depth=1", address, ".")
    assert shallow("rev-list", "--count", "HEAD") == "1"
    shallow("-c", f"protocol.version={version}", "fetch", "-q", "--unshallow")
    assert shallow("rev-list", "--count", "HEAD") == "6"
    blobless(
        "-c", f"protocol.version={version}", "clone", "-q", "--filter=blob:none", "--no-checkout", address, "."
    )
    assert blobless("show", "HEAD:f4") == "xxxx"
    assert boats.id in service.app.pushed


def test_a_second_clone_runs_no_git(
    service: SshService, ada: Account, boats: Repository, monkeypatch: pytest.MonkeyPatch
) -> None:
    """It is answered from the cache of clones, as over HTTP; a fetch after a push is not."""
    runs: list[str] = []

    def stream(folder: Path, *arguments: str, **options: Any) -> AsyncGenerator[bytes, None]:
        runs.append(arguments[0])
        return process.stream(folder, *arguments, **options)

    monkeypatch.setattr(upload_pack, "stream", stream)
    client = service.client(add_user_key(service.app, ada))
    first = client.clone("ada/boats")
    assert len(runs) == 3
    second = client.clone("ada/boats", "second")
    assert len(runs) == 3
    second("fsck", "--strict")
    commit = first.commit("b", "b")
    first("push", "-q", "origin", "HEAD:main")
    second("pull", "-q")
    assert second("rev-parse", "HEAD") == commit
    assert len(runs) > 3
    assert boats.id in service.app.pushed


@pytest.mark.parametrize(
    ("sent", "status"),
    [
        (b"", 0),
        (b"0000", 0),
        (b"0014command=ls-refs\n0000", 0),
        (b"0014command=ls-", 0),
        (b"zzzz", 1),
        (b"-001", 1),
        (b"0003", 1),
        (b"0013command=nothing0000", 1),
    ],
)
def test_each_request_of_protocol_2_is_answered_or_refused(
    service: SshService, ada: Account, boats: Repository, sent: bytes, status: int
) -> None:
    """Also if packets arrive byte by byte, are truncated, or have no length; the session ends with the input."""
    del boats
    key = add_user_key(service.app, ada)

    async def attempt() -> tuple[int | None, bytes]:
        async with connected(service, key) as connection:
            session = await connection.create_process(
                "git-upload-pack ada/boats.git", encoding=None, env={"GIT_PROTOCOL": "version=2"}
            )
            for number in range(len(sent)):
                session.stdin.write(sent[number : number + 1])
                await asyncio.sleep(0.002)
            session.stdin.write_eof()
            ended = await asyncio.wait_for(session.wait(), 20)
            assert isinstance(ended.stdout, bytes)
            return ended.exit_status, ended.stdout

    code, output = asyncio.run(attempt())
    assert code == status
    assert output.startswith(b"000eversion 2\n")
    assert (b"refs/heads/main\n" in output) is (b"ls-refs" in sent)


def test_a_session_without_requests_times_out(
    service: SshService, ada: Account, boats: Repository, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A client that holds its session open without a request is disconnected."""
    del boats
    monkeypatch.setattr(ssh, "IDLE_TIMEOUT", 0.5)
    key = add_user_key(service.app, ada)

    async def attempt() -> int | None:
        async with connected(service, key) as connection:
            session = await connection.create_process(
                "git-upload-pack ada/boats.git", encoding=None, env={"GIT_PROTOCOL": "version=2"}
            )
            return (await asyncio.wait_for(session.wait(), 20)).exit_status

    assert asyncio.run(attempt()) == 1


def test_a_client_that_does_not_read_a_cached_clone_times_out(
    service: SshService, ada: Account, boats: Repository, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Its session ends like that of a client that does not read what git sends."""
    client = service.client(add_user_key(service.app, ada))
    work = client.clone("ada/boats")
    work.commit("large", os.urandom(8_000_000).hex())
    work("push", "-q", "origin", "HEAD:main")
    client.clone("ada/boats", "copy")
    monkeypatch.setattr(ssh, "IDLE_TIMEOUT", 1.0)
    key = add_user_key(service.app, ada, "desk")
    head = refs_of(service.app, boats)["refs/heads/main"]
    request = b"0012command=fetch\n0001000dofs-delta0032want %s\n0009done\n0000" % head.encode()

    async def attempt() -> None:
        async with connected(service, key) as connection:
            session = await connection.create_process(
                "git-upload-pack ada/boats.git", encoding=None, env={"GIT_PROTOCOL": "version=2"}
            )
            assert await session.stdout.readexactly(14) == b"000eversion 2\n"
            session.stdin.write(request)
            await asyncio.to_thread(wait_for, lambda: not service.server.sessions, 20)
            assert len(await session.stdout.read()) > 100_000

    for _ in range(2):
        asyncio.run(attempt())


def test_a_damaged_copy_is_rebuilt_after_a_clone_has_failed(
    service: SshService, ada: Account, boats: Repository
) -> None:
    """As over HTTP: the first clone fails, and the second one has everything."""
    client = service.client(add_user_key(service.app, ada))
    folder = service.app.copies.path(boats)
    blob = run(folder, "ls-tree", "--object-only", "main").decode().strip()
    (folder / "objects" / blob[:2] / blob[2:]).unlink()
    with pytest.raises(AssertionError):
        client.clone("ada/boats", "first")
    wait_for(lambda: str(folder) in corruption.reported)
    assert (
        client.clone("ada/boats", "second")("rev-parse", "HEAD") == refs_of(service.app, boats)["refs/heads/main"]
    )


def test_a_push_that_only_deletes_ends(service: SshService, ada: Account, boats: Repository) -> None:
    """A push that only deletes has no pack, and it ends although the client keeps its input open."""
    add_commit(service.app.database, boats, "side")
    work = service.client(add_user_key(service.app, ada)).clone("ada/boats")
    began = time.monotonic()
    work("push", "-q", "origin", ":side")
    assert time.monotonic() - began < 30
    assert "refs/heads/side" not in refs_of(service.app, boats)


def test_a_push_ends_when_git_does(service: SshService, ada: Account, boats: Repository) -> None:
    """A push ends with the exit status of git even if the client has not closed its input."""
    add_commit(service.app.database, boats, "side")
    key = add_user_key(service.app, ada)
    line = f"{refs_of(service.app, boats)['refs/heads/side']} {'0' * 40} refs/heads/side\0report-status".encode()

    async def attempt() -> int | None:
        async with connected(service, key) as connection:
            process = await connection.create_process("git-receive-pack ada/boats.git", encoding=None)
            process.stdin.write(b"%04x%s0000" % (len(line) + 4, line))
            ended = await asyncio.wait_for(process.wait(), 20)
            assert isinstance(ended.stdout, bytes)
            assert b"ok refs/heads/side" in ended.stdout
            return ended.exit_status

    assert asyncio.run(attempt()) == 0
    assert "refs/heads/side" not in refs_of(service.app, boats)


def test_protocol_version_2_is_spoken(service: SshService, ada: Account, boats: Repository) -> None:
    """The protocol version is that of the GIT_PROTOCOL variable of the client."""
    del boats
    client = service.client(add_user_key(service.app, ada))
    git = client.git(GIT_TRACE_PACKET="1")
    for version, expected in (("2", True), ("0", False)):
        done = git.try_to("-c", f"protocol.version={version}", "ls-remote", f"{client.address}/ada/boats.git")
        assert done.returncode == 0
        assert ("< version 2" in done.stderr) is expected


def test_an_unknown_key_is_refused_with_a_message(service: SshService, ada: Account, boats: Repository) -> None:
    """The client prints that its keys are unknown to the service, not only "permission denied"."""
    del boats, ada
    done = service.client(new_key()).ssh("git-upload-pack", "ada/boats.git")
    assert done.returncode == 255
    assert "None of your keys is known here" in done.stderr


def test_another_user_name_is_refused_with_a_message(service: SshService, ada: Account) -> None:
    """A known key with a user name other than `git` is refused with a message that names `git`."""
    done = service.client(add_user_key(service.app, ada), user="ada").ssh("git-upload-pack", "ada/boats.git")
    assert done.returncode == 255
    assert "Connect as the user git" in done.stderr


def test_there_is_no_shell(service: SshService, ada: Account) -> None:
    """A client without a command gets its user name, and terminals, SFTP and other commands are refused."""
    client = service.client(add_user_key(service.app, ada))
    forced = client.ssh(options=("-tt",))
    assert (forced.returncode, forced.stdout) == (255, "")
    assert "PTY allocation request failed" in forced.stderr
    greeted = client.ssh()
    assert (greeted.returncode, greeted.stdout) == (1, "")
    assert "you are ada" in greeted.stderr
    for words in (["ls"], ["git", "gc"], ["git-upload-pack"], ["sh", "-c", "git-upload-pack"], ["git-shell"]):
        refused = client.ssh(*words)
        assert (refused.returncode, refused.stdout) == (1, "")
        assert refused.stderr.startswith("Holdfast: ")
    sftp = client.ssh("-s", "sftp")
    assert sftp.returncode != 0


def test_archives_are_refused_with_a_hint(service: SshService, ada: Account, boats: Repository) -> None:
    """`git archive --remote` over SSH is refused with a message."""
    del boats
    client = service.client(add_user_key(service.app, ada))
    done = client.git().try_to("archive", f"--remote={client.address}/ada/boats.git", "main")
    assert done.returncode != 0
    assert "git archive is not served over SSH" in done.stderr


def test_nothing_is_forwarded(service: SshService, ada: Account) -> None:
    """Port forwarding is refused in both directions."""
    key = add_user_key(service.app, ada)

    async def attempt() -> None:
        async with connected(service, key) as connection:
            with pytest.raises(asyncssh.ChannelOpenError):
                await connection.open_connection("localhost", service.port)
            with pytest.raises(asyncssh.ChannelListenError):
                await connection.forward_remote_port("", 0, "localhost", 1)

    asyncio.run(attempt())


def test_permissions_are_those_of_the_user(service: SshService, ada: Account, boats: Repository) -> None:
    """A private repository is "not found" without access, read-only for readers and writable for writers."""
    app = service.app
    bob, eve, carol = make_people(app.database, "bob", "eve", "carol")
    let_in(app.database, boats, bob, WRITE)
    let_in(app.database, boats, carol, READ)
    del ada
    stranger = service.client(add_user_key(app, eve), "eve")
    hidden = stranger.git().try_to("ls-remote", f"{stranger.address}/ada/boats.git")
    missing = stranger.git().try_to("ls-remote", f"{stranger.address}/ada/nothing.git")
    assert "Holdfast: repository not found" in hidden.stderr
    assert hidden.stderr == missing.stderr
    reader = service.client(add_user_key(app, carol), "carol").clone("ada/boats")
    reader.commit("c", "c")
    refused = reader.try_to("push", "origin", "HEAD:main")
    assert "you may not write to this repository" in refused.stderr
    writer = service.client(add_user_key(app, bob), "bob").clone("ada/boats")
    commit = writer.commit("b", "b")
    writer("push", "-q", "origin", "HEAD:main")
    assert refs_of(app, boats)["refs/heads/main"] == commit


def test_a_user_who_may_not_sign_in_is_refused(service: SshService, ada: Account, boats: Repository) -> None:
    """The key of a user who may not sign in is refused with the reason."""
    del boats
    client = service.client(add_user_key(service.app, ada))
    accounts.change_account(service.app.database, ada, may_not_log_in=True)
    done = client.git().try_to("ls-remote", f"{client.address}/ada/boats.git")
    assert "prohibited from signing in" in done.stderr


def test_a_key_that_was_deleted_opens_no_session(service: SshService, ada: Account, boats: Repository) -> None:
    """A deleted key cannot start a command on a connection that was open before its deletion."""
    del boats
    key = add_user_key(service.app, ada)

    async def attempt() -> str:
        async with connected(service, key) as connection:
            listed, _ = key_service.list_keys(service.app, Actor(ada), ada, skip=0, limit=10)
            store.delete_key(service.app.database, listed[0])
            done = await connection.run("git-upload-pack ada/boats.git")
            return str(done.stderr)

    assert "this key was removed" in asyncio.run(attempt())


def test_a_deploy_key_has_access_to_its_repository_only(
    service: SshService, ada: Account, boats: Repository
) -> None:
    """A key with write access pushes, a read-only key cannot, and other repositories are not found."""
    app = service.app
    other = make_repository(app.database, ada, "other")
    add_commit(app.database, other, "main")
    writer = service.client(add_deploy_key(app, boats)[0], "writer")
    work = writer.clone("ada/boats")
    commit = work.commit("b", "b")
    work("push", "-q", "origin", "HEAD:main")
    assert refs_of(app, boats)["refs/heads/main"] == commit
    refused = writer.git("x").try_to("ls-remote", f"{writer.address}/ada/other.git")
    assert "repository not found" in refused.stderr
    reader = service.client(add_deploy_key(app, boats, is_read_only=True)[0], "reader").clone("ada/boats")
    reader.commit("c", "c")
    refused = reader.try_to("push", "origin", "HEAD:main")
    assert "this deploy key may only read" in refused.stderr


@pytest.mark.parametrize("allowed", [True, False])
def test_branch_protection_applies_to_deploy_keys(
    service: SshService, ada: Account, boats: Repository, *, allowed: bool
) -> None:
    """A deploy key needs `push_whitelist_deploy_keys`, even if the list of users has the owner."""
    app = service.app
    rule = ProtectionRule(
        enable_push=True,
        enable_push_whitelist=True,
        push_users=(ada.id,),
        push_whitelist_deploy_keys=allowed,
    )
    protections.create_protection(app.database, boats, "main", rule)
    work = service.client(add_deploy_key(app, boats)[0]).clone("ada/boats")
    work.commit("b", "b")
    done = work.try_to("push", "origin", "HEAD:main")
    assert (done.returncode == 0) is allowed
    assert ("Not allowed to push to protected branch main" in done.stderr) is not allowed


def test_a_refused_pack_is_reported_with_its_reason(service: SshService, ada: Account, boats: Repository) -> None:
    """A push over the limit is refused while its client still sends, and the client reads the reason."""
    app = service.app
    work = service.client(add_user_key(app, ada)).clone("ada/boats")
    (work.folder / "large").write_bytes(os.urandom(4 * 2**20))
    work("add", "large")
    work("commit", "-q", "-m", "large")
    app.settings = msgspec.structs.replace(app.settings, max_push_mb=1)
    before = refs_of(app, boats)
    done = work.try_to("push", "origin", "HEAD:main")
    assert done.returncode != 0
    assert "pack exceeds maximum allowed size" in done.stderr
    assert refs_of(app, boats) == before


def test_too_many_connections_are_closed(service: SshService, ada: Account) -> None:
    """Connections count before they authenticate, and a closed one makes room for another."""
    app = service.app
    app.settings = msgspec.structs.replace(app.settings, ssh_max_connections=2)
    client = service.client(add_user_key(app, ada))
    held = [socket.create_connection(("localhost", service.port)) for _ in range(2)]
    assert all(connection.recv(100).startswith(b"SSH-2.0-Holdfast") for connection in held)
    assert client.ssh().returncode == 255
    for connection in held:
        connection.close()
    wait_for(lambda: "you are ada" in client.ssh().stderr)


def test_an_address_has_its_own_limit(service: SshService) -> None:
    """Connections are limited for each address, except for trusted proxies."""
    app = service.app
    app.settings = msgspec.structs.replace(app.settings, ssh_max_connections_per_address=1)
    with (
        socket.create_connection(("localhost", service.port)) as first,
        socket.create_connection(("localhost", service.port)) as second,
    ):
        assert first.recv(100)
        assert second.recv(100)
    untrusting = ssh.GitSsh(app)
    untrusting._proxies = TrustedProxies("10.0.0.1")
    one, two, three = (ssh.SshConnection(untrusting) for _ in range(3))
    assert untrusting.admit(one, "192.0.2.1")
    assert not untrusting.admit(two, "192.0.2.1")
    assert untrusting.admit(three, "192.0.2.2")
    untrusting.release(one)
    untrusting.release(two)
    assert untrusting.admit(two, "192.0.2.1")


def test_a_client_that_tries_many_keys_is_disconnected(
    service: SshService, ada: Account, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A client that offers too many unknown keys is disconnected with a message."""
    del ada
    monkeypatch.setattr(ssh, "MOST_KEYS_TRIED", 2)

    async def attempt() -> None:
        await asyncssh.connect(
            "localhost",
            service.port,
            username="git",
            client_keys=[new_key() for _ in range(4)],
            known_hosts=None,
            config=[],
        )

    with pytest.raises(asyncssh.DisconnectError, match="Too many keys were tried"):
        asyncio.run(attempt())


def test_the_last_use_of_a_key_is_recorded(service: SshService, ada: Account) -> None:
    """The time of the last use is kept in memory, to be written later with others."""
    client = service.client(add_user_key(service.app, ada))
    client.ssh()
    (used,) = service.app.used_ssh_keys.values()
    assert abs(used - time.time()) < 60


def test_sessions_of_a_connection_are_limited(
    service: SshService, ada: Account, boats: Repository, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A connection cannot have more concurrent commands than the limit."""
    del boats
    monkeypatch.setattr(ssh, "MOST_SESSIONS_PER_CONNECTION", 1)
    key = add_user_key(service.app, ada)

    async def attempt() -> None:
        async with connected(service, key) as connection:
            first = await connection.create_process("git-upload-pack ada/boats.git", encoding=None)
            assert await first.stdout.read(4)
            with pytest.raises(asyncssh.ChannelOpenError):
                await connection.create_process("git-upload-pack ada/boats.git")

    asyncio.run(attempt())
    wait_for(lambda: not service.server.sessions)


def test_closed_channels_do_not_count_towards_the_limit(
    service: SshService, ada: Account, monkeypatch: pytest.MonkeyPatch
) -> None:
    """More channels than the limit can follow each other on a connection, because closed ones do not count."""
    monkeypatch.setattr(ssh, "MOST_SESSIONS_PER_CONNECTION", 2)
    key = add_user_key(service.app, ada)

    async def attempt() -> None:
        async with connected(service, key) as connection:
            for _ in range(4):
                done = await connection.run("git-upload-pack nothing")
                assert done.exit_status == 1

    asyncio.run(attempt())


@pytest.mark.parametrize(
    ("variables", "is_refused"),
    [
        ({f"NAME_{number}": "x" for number in range(10)}, False),
        ({f"NAME_{number}": "x" for number in range(100)}, True),
        ({"NAME": "x" * 20_000, "OTHER": "x" * 20_000, "THIRD": "x" * 30_000}, True),
    ],
)
def test_the_size_of_an_environment_is_limited(
    service: SshService,
    ada: Account,
    boats: Repository,
    monkeypatch: pytest.MonkeyPatch,
    *,
    variables: dict[str, str],
    is_refused: bool,
) -> None:
    """A connection is closed if its variables are too many or too large for memory."""
    del boats
    monkeypatch.setattr(ssh, "ENVIRONMENT_CHECKED_EVERY", 0.05)
    key = add_user_key(service.app, ada)

    async def attempt() -> bool:
        async with connected(service, key) as connection:
            await connection.create_process("git-receive-pack ada/boats.git", env=variables, encoding=None)
            try:
                await asyncio.wait_for(connection.wait_closed(), 30 if is_refused else 0.5)
            except TimeoutError:
                return False
            return True

    with capture_logs() as logged:
        assert asyncio.run(attempt()) is is_refused
    assert ("too large an environment" in [line.get("reason") for line in logged]) is is_refused


def test_refused_connections_are_logged(service: SshService, ada: Account) -> None:
    """A refused connection is logged with its reason, so that an administrator can notice such attempts."""
    with capture_logs() as logged:
        service.client(new_key()).ssh("git-upload-pack", "ada/boats.git")
        service.client(add_user_key(service.app, ada), user="ada").ssh("git-upload-pack", "ada/boats.git")
    refused = [line["reason"] for line in logged if line["event"] == "SSH connection refused"]
    assert refused == ["unknown key", "another user name"]


def test_a_client_that_does_not_log_in_is_disconnected(app: App, tmp_path: Path) -> None:
    """A client that does not authenticate is disconnected after `ssh_login_timeout`."""
    app.settings = msgspec.structs.replace(app.settings, ssh_login_timeout=1)
    with (
        serve_ssh(app, tmp_path / "ssh") as service,
        socket.create_connection(("localhost", service.port), timeout=20) as connection,
    ):
        while connection.recv(65536):
            pass


def test_a_connection_without_a_session_is_closed(
    service: SshService, ada: Account, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A connection is closed when no session is open on it for a while after its last one."""
    monkeypatch.setattr(ssh, "IDLE_CONNECTION_SECONDS", 0.5)
    key = add_user_key(service.app, ada)

    async def attempt() -> None:
        async with connected(service, key) as connection:
            await connection.run("git-upload-pack nothing")
            await asyncio.wait_for(connection.wait_closed(), 20)

    asyncio.run(attempt())


def test_a_client_that_goes_away_leaves_no_command_behind(
    service: SshService, ada: Account, boats: Repository
) -> None:
    """A disconnect ends the git process of a fetch or of a partial push, and no ref changes."""
    key = add_user_key(service.app, ada)
    before = refs_of(service.app, boats)

    async def attempt(command: str, sent: bytes) -> None:
        async with connected(service, key) as connection:
            process = await connection.create_process(command, encoding=None)
            assert await process.stdout.read(4)
            process.stdin.write(sent)
            await asyncio.sleep(0.2)
            assert len(service.server.sessions) == 1
            connection.abort()

    asyncio.run(attempt("git-upload-pack ada/boats.git", b""))
    wait_for(lambda: not service.server.sessions)
    new = "1" * 40
    line = f"{before['refs/heads/main']} {new} refs/heads/main\0report-status".encode()
    push = b"%04x%s0000PACK\0\0\0\2\0\0\0\5" % (len(line) + 4, line)
    asyncio.run(attempt("git-receive-pack ada/boats.git", push))
    wait_for(lambda: not service.server.sessions and not receive_pack.running)
    assert refs_of(service.app, boats) == before


def test_an_unexpected_error_is_logged_and_not_shown(
    service: SshService, ada: Account, boats: Repository, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The client gets the id of the request and not the message of the exception, which is logged."""
    del boats

    def fail(*_arguments: object, **_more: object) -> None:
        raise ZeroDivisionError("a secret")

    monkeypatch.setattr(ssh, "open_key_session", fail)
    with capture_logs() as logged:
        done = service.client(add_user_key(service.app, ada)).ssh("git-upload-pack", "ada/boats.git")
    assert done.returncode == 1
    assert "internal error; request " in done.stderr
    assert "a secret" not in done.stderr
    (line,) = [line for line in logged if line["event"] == "SSH session failed"]
    assert isinstance(line["exc_info"], ZeroDivisionError)


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("git-upload-pack 'ada/boats.git'", ("git-upload-pack", "ada", "boats", "")),
        ("git upload-pack '/ada/boats'", ("git-upload-pack", "ada", "boats", "")),
        ("git-receive-pack ada/boats.git/", ("git-receive-pack", "ada", "boats", "")),
        ("git-lfs-authenticate ada/boats.git download", ("git-lfs-authenticate", "ada", "boats", "download")),
        ("git-lfs-authenticate ada/boats upload 1234", ("git-lfs-authenticate", "ada", "boats", "upload")),
    ],
)
def test_commands_are_parsed(text: str, expected: tuple[str, ...]) -> None:
    """A command is parsed with or without a leading slash, a trailing slash and `.git`."""
    assert msgspec.structs.astuple(parse_command(text)) == expected


@pytest.mark.parametrize(
    "text",
    [
        *("", "git", "git-upload-pack", "git-upload-pack ''", "git-upload-pack a", "git-upload-pack a/b/c"),
        *(
            "git-upload-pack a/b c/d",
            "git-upload-pack 'a/b",
            "git-receive-pack --x a/b",
            "ls",
            "git-lfs-transfer a/b",
        ),
        *("git-lfs-authenticate a/b", "git-lfs-authenticate a/b delete", "git-upload-pack " + "a/" + "b" * 5000),
    ],
)
def test_other_commands_are_refused(text: str) -> None:
    """A command other than those of git, or without exactly one repository, gets 400."""
    with pytest.raises(ApiError) as excinfo:
        parse_command(text)
    assert excinfo.value.status == 400
