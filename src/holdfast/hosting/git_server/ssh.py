"""Git over SSH: clone, fetch and push with the keys of users and repositories; there is no shell.

All clients connect as the same SSH user and are identified by their key. asyncssh handles every authentication
request in its own task, so the key whose signature was verified is the one in the task's context. A session runs
one git command, with the same permissions, limits and push code as smart HTTP.
"""

import asyncio
import os
import re
import shlex
import socket
import time
from collections import Counter
from collections.abc import AsyncGenerator, AsyncIterator, Callable, Sequence
from contextlib import aclosing, suppress
from contextvars import ContextVar
from functools import partial
from pathlib import Path
from typing import Any, Final
from urllib.parse import quote

import asyncssh
import msgspec
import structlog
from anyio import to_thread

from holdfast import logs
from holdfast.client_address import TrustedProxies, network_of
from holdfast.hosting import metrics, traces
from holdfast.hosting.app import App
from holdfast.hosting.errors import BodyDamaged, BodyTooLarge, GitFailed, GitTimedOut
from holdfast.hosting.failures import error_response
from holdfast.hosting.git_server import lfs_tokens, receive_pack, upload_pack
from holdfast.hosting.git_server.fetch_cache import FetchCache
from holdfast.hosting.git_server.key_session import KeySession, current_key, key_user, open_key_session
from holdfast.hosting.http.errors import ApiError
from holdfast.hosting.services.pushes import RepositoryPush
from holdfast.hosting.store import ssh_keys
from holdfast.hosting.store.repositories import Repository
from holdfast.hosting.store.ssh_keys import SshKey

__all__ = ["GitSsh", "parse_command"]

CHUNK: Final = 128 * 1024
# The maximum number of keys a client may offer; OpenSSH offers those of its agent one after the other.
MOST_KEYS_TRIED: Final = 20
MOST_SESSIONS_PER_CONNECTION: Final = 10
# Limits of the environment a client may set in a session; git sets one variable.
MOST_VARIABLES: Final = 64
MOST_VARIABLE_BYTES: Final = 64 * 1024
ENVIRONMENT_CHECKED_EVERY: Final = 0.5
# For a connection without a session, such as the idle master of a multiplexing client.
IDLE_CONNECTION_SECONDS: Final = 300.0
# git-lfs uploads files between the ref advertisement of a push and the push itself.
IDLE_TIMEOUT: Final = 2 * 3600.0
KEEPALIVE_SECONDS: Final = 60
LONGEST_COMMAND: Final = 4096
# The last use of a key is written at most this often.
USE_IS_NOTED_EVERY: Final = 60
COMMANDS: Final = ("git-upload-pack", "git-receive-pack", "git-upload-archive", "git-lfs-authenticate")
REPOSITORY: Final = re.compile(r"/?(?P<owner>[^/]+)/(?P<name>[^/]+?)(?:\.git)?/?")
# Modern algorithms with a low cost: AES-GCM is several times as fast here as ChaCha20-Poly1305.
CIPHERS: Final = ("aes128-gcm@openssh.com", "aes256-gcm@openssh.com", "aes256-ctr", "aes128-ctr")
UNKNOWN_KEY: Final = (
    "None of your keys is known here. Add the public key to your account, or to the repository as a deploy key, "
    "and check that your SSH client offers it."
)
TOO_MANY_KEYS: Final = (
    "Too many keys were tried; name one with IdentityFile and IdentitiesOnly in your SSH settings."
)
log = structlog.get_logger(__name__)
validated_key: ContextVar[SshKey | None] = ContextVar("validated_key", default=None)

Process = asyncssh.SSHServerProcess[bytes]


class SshCommand(msgspec.Struct, frozen=True):
    """A command that a client runs: a git service, and its repository."""

    service: str
    owner: str
    name: str
    operation: str = ""
    """The operation of `git-lfs-authenticate`: download or upload."""

    @property
    def writes(self) -> bool:
        """Whether it requires write access."""
        return self.service == "git-receive-pack" or self.operation == "upload"


def parse_command(text: str) -> SshCommand:
    """Parse a command line of git or git-lfs; raise a 400 error for anything else."""
    try:
        words = shlex.split(text) if len(text) <= LONGEST_COMMAND else []
    except ValueError:
        words = []
    if words[:1] == ["git"] and len(words) > 1:
        words = [f"git-{words[1]}", *words[2:]]
    if not words or words[0] not in COMMANDS:
        raise ApiError(400, "only git and git-lfs are served here; there is no shell")
    service, *arguments = words
    operation = ""
    if service == "git-upload-archive":
        raise ApiError(400, "git archive is not served over SSH; download the archive from the website or the API")
    if service == "git-lfs-authenticate":
        # Old versions of git-lfs add the id of an object.
        operation = arguments[1] if len(arguments) in {2, 3} else ""
        if operation not in {"download", "upload"}:
            raise ApiError(400, "git-lfs-authenticate takes a repository, and download or upload")
        arguments = arguments[:1]
    match = REPOSITORY.fullmatch(arguments[0]) if len(arguments) == 1 else None
    if match is None:
        raise ApiError(400, "the repository must be named as owner/name.git")
    return SshCommand(service, match["owner"], match["name"], operation)


class GitSsh:
    """The SSH server of a process: its listener, connections and sessions."""

    def __init__(self, app: App) -> None:
        self.app = app
        self.sessions: set[asyncio.Task[None]] = set()
        self._proxies = TrustedProxies(app.settings.trusted_proxies)
        self._connections: dict[SshConnection, str] = {}
        self._by_address: Counter[str] = Counter()
        self._listener: asyncssh.SSHAcceptor | None = None

    async def listen(self, server: socket.socket, host_keys: Sequence[asyncssh.SSHKey]) -> None:
        """Accept connections on a listening socket."""
        self._listener = await asyncssh.listen(
            sock=server,
            server_factory=partial(SshConnection, self),
            server_host_keys=list(host_keys),
            server_version="Holdfast",
            encoding=None,
            encryption_algs=list(CIPHERS),
            # Packs are compressed already, and a compressed stream would be a decompression bomb.
            compression_algs=["none"],
            login_timeout=self.app.settings.ssh_login_timeout,
            keepalive_interval=KEEPALIVE_SECONDS,
            allow_pty=False,
            line_editor=False,
            agent_forwarding=False,
            x11_forwarding=False,
            gss_host=None,
            config=[],
        )

    async def stop(self, grace_seconds: float) -> None:
        """Accept no more connections, wait for the sessions, and close the connections."""
        if self._listener is not None:
            self._listener.close()
        if self.sessions:
            await asyncio.wait(self.sessions, timeout=grace_seconds)
        for connection in list(self._connections):
            connection.close("The service is stopping.")
        await receive_pack.finish()

    def admit(self, connection: "SshConnection", peer: str) -> bool:
        """Add a connection; return false if there are too many, in total or from its address."""
        settings = self.app.settings
        address = "" if not peer or self._proxies.trusts(peer) else network_of(peer)
        if len(self._connections) >= settings.ssh_max_connections:
            return False
        if address and self._by_address[address] >= settings.ssh_max_connections_per_address:
            return False
        self._connections[connection] = address
        self._by_address[address] += 1
        return True

    def release(self, connection: "SshConnection") -> None:
        """Remove a closed connection."""
        address = self._connections.pop(connection, None)
        if address is not None:
            self._by_address[address] -= 1
            if not self._by_address[address]:
                del self._by_address[address]

    def note_use(self, key: SshKey) -> None:
        """Record the use of a key, to be written later."""
        now = int(time.time())
        if now - key.last_used_at >= USE_IS_NOTED_EVERY:
            self.app.used_ssh_keys[key.id] = now


class SshConnection(asyncssh.SSHServer):
    """One connection: authenticates a key, and opens sessions for it."""

    def __init__(self, server: GitSsh) -> None:
        self._server = server
        self._app = server.app
        self._connection: asyncssh.SSHServerConnection | None = None
        self._tried: set[str] = set()
        self._key: SshKey | None = None
        self._channels = 0
        self._sessions = 0
        self._idle: asyncio.TimerHandle | None = None

    def connection_made(self, conn: asyncssh.SSHServerConnection) -> None:
        """Close the connection immediately if there are too many."""
        self._connection = conn
        peer = conn.get_extra_info("peername") or ("",)
        if not self._server.admit(self, str(peer[0])):
            log.warning("SSH connection refused", reason="too many connections")
            asyncio.get_running_loop().call_soon(conn.abort)

    def connection_lost(self, exc: Exception | None) -> None:  # noqa: ARG002  # asyncssh's signature
        """Remove the connection."""
        self._server.release(self)
        if self._idle is not None:
            self._idle.cancel()

    def close(self, reason: str, code: int = asyncssh.DISC_BY_APPLICATION) -> None:
        """Close the connection with a message, which clients show."""
        if self._connection is not None:
            self._connection.disconnect(code, reason)

    def begin_auth(self, username: str) -> bool:  # noqa: ARG002  # asyncssh's signature
        """Require authentication."""
        return True

    def public_key_auth_supported(self) -> bool:
        """Offer public key authentication, the only method that can succeed."""
        return True

    async def validate_public_key(self, username: str, key: asyncssh.SSHKey) -> bool:
        """Return whether a key is known; its signature is verified afterwards."""
        fingerprint = key.get_fingerprint("sha256")
        self._tried.add(fingerprint)
        if len(self._tried) > MOST_KEYS_TRIED:
            log.warning("SSH connection refused", reason="too many keys tried")
            self.close(TOO_MANY_KEYS, asyncssh.DISC_NO_MORE_AUTH_METHODS_AVAILABLE)
            return False
        if username != self._app.settings.ssh_user:
            return False
        try:
            ssh_key = await to_thread.run_sync(ssh_keys.key_by_fingerprint, self._app.database, fingerprint)
        except Exception as error:  # noqa: BLE001  # any error denies access
            log.warning("SSH key not looked up", error=type(error).__name__)
            self.close("The service is not available at the moment; try again later.")
            return False
        validated_key.set(ssh_key)
        return ssh_key is not None

    def kbdint_auth_supported(self) -> bool:
        """Offer keyboard-interactive, which clients try after their keys, to tell them that no key is known."""
        return True

    def get_kbdint_challenge(self, username: str, lang: str, submethods: str) -> bool:  # noqa: ARG002  # asyncssh's signature
        """Close the connection with a message."""
        user = self._app.settings.ssh_user
        reason = "unknown key" if username == user else "another user name"
        log.warning("SSH connection refused", reason=reason)
        message = UNKNOWN_KEY if username == user else f"Connect as the user {user}; the key says who you are."
        self.close(message, asyncssh.DISC_NO_MORE_AUTH_METHODS_AVAILABLE)
        return False

    def auth_completed(self) -> None:
        """Store the key whose signature was verified."""
        self._key = validated_key.get()
        if self._key is not None:
            self._server.note_use(self._key)
        self._wait_for_session()

    def session_requested(self) -> Any:
        """Open a session, unless there are too many."""
        if self._key is None:
            return False
        if self._channels >= MOST_SESSIONS_PER_CONNECTION:
            log.warning("SSH session refused", reason="too many sessions of the connection")
            return False
        if len(self._server.sessions) >= self._app.settings.ssh_max_connections:
            log.warning("SSH session refused", reason="too many sessions")
            return False
        self._channels += 1
        return SshChannel(self._start, self._close_channel, self._refuse_environment)

    def _close_channel(self) -> None:
        self._channels -= 1

    def _refuse_environment(self) -> None:
        log.warning("SSH connection refused", reason="too large an environment")
        self.close("Too many environment variables were sent.", asyncssh.DISC_PROTOCOL_ERROR)

    def _wait_for_session(self) -> None:
        """Close the connection after `IDLE_CONNECTION_SECONDS` without a session."""
        if self._idle is not None:
            self._idle.cancel()
        if not self._sessions:
            loop = asyncio.get_running_loop()
            self._idle = loop.call_later(IDLE_CONNECTION_SECONDS, self.close, "The connection was idle.")

    def _start(self, process: Process) -> None:
        """Run the command of a session in its own task."""
        assert self._key is not None  # noqa: S101  # a session requires a key
        self._sessions += 1
        self._wait_for_session()
        task = asyncio.create_task(SshSession(self._server, self._key, process).run())
        self._server.sessions.add(task)

        def ended(ended_task: asyncio.Task[None]) -> None:
            self._server.sessions.discard(ended_task)
            self._sessions -= 1
            self._wait_for_session()

        task.add_done_callback(ended)


class SshChannel(asyncssh.SSHServerProcess[bytes]):
    """The channel of a session, which may be open before it has a command and after the command has ended.

    A client may set environment variables as long as it is open, and asyncssh stores all of them: their number and
    size are checked periodically.
    """

    def __init__(
        self,
        on_started: Callable[[Process], None],
        on_closed: Callable[[], None],
        on_large_environment: Callable[[], None],
    ) -> None:
        super().__init__(on_started, None, 0, False)
        self._on_closed = on_closed
        self._on_large_environment = on_large_environment
        self._check: asyncio.TimerHandle | None = None

    def connection_made(self, chan: Any) -> None:
        """Start checking the environment."""
        super().connection_made(chan)
        self._check_environment(chan)

    def _check_environment(self, channel: asyncssh.SSHServerChannel[bytes]) -> None:
        variables = channel.get_environment_bytes()
        size = sum(len(name) + len(value) for name, value in variables.items())
        if len(variables) > MOST_VARIABLES or size > MOST_VARIABLE_BYTES:
            self._on_large_environment()
            return
        loop = asyncio.get_running_loop()
        self._check = loop.call_later(ENVIRONMENT_CHECKED_EVERY, self._check_environment, channel)

    def connection_lost(self, exc: Exception | None) -> None:
        """Record that the channel is closed."""
        if self._check is not None:
            self._check.cancel()
        super().connection_lost(exc)
        self._on_closed()


class SshSession:
    """One session, which runs one git command."""

    def __init__(self, server: GitSsh, key: SshKey, process: Process) -> None:
        self._server = server
        self._app = server.app
        self._key = key
        self._process = process
        self._repository: Repository | None = None
        self._path = "/"
        self._route = "none"

    async def run(self) -> None:
        """Run the command, send its exit status, and log it; it is cancelled when the client disconnects."""
        request = os.urandom(8).hex()
        logs.REQUEST.set(request)
        began = time.perf_counter()
        with traces.start_request("SSH") as span:
            work = asyncio.create_task(self._respond())
            closed = asyncio.create_task(self._process.wait_closed())
            try:
                await asyncio.wait({work, closed}, return_when=asyncio.FIRST_COMPLETED)
            finally:
                work.cancel()
                closed.cancel()
                await asyncio.wait({work, closed})
            status = 499 if work.cancelled() else work.result()
            span.end_request(self._route, status, request)
        with suppress(OSError, asyncssh.Error):
            self._process.exit(0 if status < 400 else 1)
        seconds = time.perf_counter() - began
        metrics.count_request("SSH", self._route, status, seconds)
        logs.request_line("SSH", self._path, status, round(seconds * 1000, 1), request)

    async def _respond(self) -> int:
        """Run the command; return the status code it would have over HTTP."""
        try:
            try:
                return await self._execute()
            except ApiError:
                raise
            except (BodyDamaged, OSError, asyncssh.Error) as error:
                if self._process.is_closing():
                    return 499
                raise await self._explained(error) from None
            except Exception as error:  # noqa: BLE001  # unknown errors are logged
                raise await self._explained(error) from None
        except ApiError as refusal:
            with suppress(OSError, asyncssh.Error):
                self._process.stderr.write(f"Holdfast: {refusal.message}\n".encode(errors="replace"))
            return refusal.status

    async def _explained(self, error: Exception) -> ApiError:
        """Return the error to report to the client."""
        if isinstance(error, BodyTooLarge):
            return ApiError(413, str(error))
        if isinstance(error, GitFailed) and not isinstance(error, GitTimedOut):
            # git has reported the error to the client, in its protocol.
            log.warning("git command failed", command=error.command)
            return ApiError(400, "git could not answer this request")
        refusal = await error_response(self._app, error, self._repository)
        if refusal is None:
            log.error("SSH session failed", exc_info=error)
            refusal = ApiError(500, f"internal error; request {logs.REQUEST.get()}")
        return refusal

    async def _execute(self) -> int:
        text = self._process.command
        if self._process.subsystem is not None:
            raise ApiError(400, "only git and git-lfs are served here; there is no SFTP")
        if text is None:
            raise ApiError(400, await to_thread.run_sync(self._greeting))
        command = parse_command(text)
        self._route = f"/{{owner}}/{{repo}}.git/{command.service}"
        self._path = f"/{command.owner}/{command.name}.git/{command.service}"
        session = await to_thread.run_sync(self._open, command)
        self._repository = session.repository
        if command.service == "git-lfs-authenticate":
            self._process.stdout.write(self._authenticate_lfs(session, command))
            return 200
        folder = await to_thread.run_sync(self._app.copies.path, session.repository)
        protocol = self._process.env.get("GIT_PROTOCOL")
        body = input_of(self._process)
        if command.service == "git-receive-pack":
            answer = self._receive(session, folder, body, protocol)
        else:
            cache = FetchCache(self._app, session.repository)
            answer = upload_pack.converse(folder, body, protocol=protocol, idle_timeout=IDLE_TIMEOUT, cache=cache)
        stdout = self._process.stdout
        async with aclosing(answer):
            async for chunk in answer:
                stdout.write(chunk)
                # git is not waited for while the response comes from the cache.
                await asyncio.wait_for(stdout.drain(), IDLE_TIMEOUT)
        return 200

    def _open(self, command: SshCommand) -> KeySession:
        key = self._key
        return open_key_session(
            self._app, key.id, key.fingerprint, command.owner, command.name, writing=command.writes
        )

    def _authenticate_lfs(self, session: KeySession, command: SshCommand) -> bytes:
        """Return the response to `git-lfs-authenticate`: the URL of the LFS API, and a token for it."""
        token = lfs_tokens.create(self._app, session, uploads=command.writes)
        path = f"{quote(session.repository.owner.name)}/{quote(session.repository.name)}"
        answer = {
            "href": f"{self._app.root}/{path}.git/info/lfs",
            "header": {"Authorization": f"Bearer {token}"},
            "expires_in": lfs_tokens.EXPIRES_IN,
        }
        return msgspec.json.encode(answer)

    def _receive(
        self, session: KeySession, folder: Path, body: AsyncIterator[bytes], protocol: str | None
    ) -> AsyncGenerator[bytes, None]:
        pushing = RepositoryPush(
            self._app,
            session.repository,
            session.user,
            deploy_key=session.key if session.is_deploy_key else None,
            only_branches=session.only_branches,
        )
        return receive_pack.receive_pack(
            folder,
            body,
            hooks=self._app.folders.hooks,
            judge=pushing.judge,
            update=pushing.update,
            protocol=protocol,
            max_bytes=self._app.settings.max_push_mb * 2**20,
            idle_timeout=IDLE_TIMEOUT,
            stateless=False,
        )

    def _greeting(self) -> str:
        """Return the message for a client that requests a shell: the owner of its key, and that there is none."""
        key = current_key(self._app, self._key.id, self._key.fingerprint)
        user = key_user(self._app, key)
        who = "this is a deploy key" if user is None else f"you are {user.name}"
        return f"the key is right, {who}; there is no shell, only git"


async def input_of(process: Process) -> AsyncIterator[bytes]:
    """Yield the input of a client; raise `BodyDamaged` if it sends a signal."""
    while True:
        try:
            chunk = await process.stdin.read(CHUNK)
        except (asyncssh.BreakReceived, asyncssh.SignalReceived, asyncssh.TerminalSizeChanged):
            raise BodyDamaged("the client interrupted its request") from None
        if not chunk:
            return
        yield chunk
