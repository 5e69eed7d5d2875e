"""An SSH server in a thread, and real SSH clients for it."""

import asyncio
import socket
import subprocess
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import asyncssh

from holdfast.hosting.access import Actor
from holdfast.hosting.app import App
from holdfast.hosting.git_server.ssh import GitSsh
from holdfast.hosting.services import ssh_keys
from holdfast.hosting.services.ssh_keys import NewSshKey
from holdfast.hosting.store import ssh_keys as store
from holdfast.hosting.store.accounts import Account
from holdfast.hosting.store.repositories import Repository
from holdfast.hosting.store.ssh_keys import SshKey
from tests.hosting.git_client import Git
from tests.hosting.ssh_key_helpers import new_key, public_text

__all__ = ["SshClient", "SshService", "add_deploy_key", "add_user_key", "serve_ssh"]


class SshService:
    """A running server, and the folder for the files of its clients."""

    def __init__(self, app: App, port: int, folder: Path, server: GitSsh) -> None:
        self.app = app
        self.port = port
        self.folder = folder
        self.server = server

    def client(self, key: asyncssh.SSHKey, name: str = "ada", user: str = "git") -> "SshClient":
        """Return a client with one key."""
        path = self.folder / name
        path.mkdir(exist_ok=True)
        file = path / "id"
        file.unlink(missing_ok=True)
        file.touch(mode=0o600)
        file.write_bytes(key.export_private_key("openssh"))
        return SshClient(self, path, file, user)


class SshClient:
    """OpenSSH and git without any user configuration."""

    def __init__(self, service: SshService, folder: Path, key: Path, user: str) -> None:
        known = service.folder / "known_hosts"
        options = (
            *("-F", "/dev/null", "-i", str(key), "-o", "IdentitiesOnly=yes", "-o", "IdentityAgent=none"),
            *("-o", "StrictHostKeyChecking=yes", "-o", f"UserKnownHostsFile={known}"),
        )
        self.command = ["ssh", *options]
        self.address = f"ssh://{user}@localhost:{service.port}"
        self._login = ["-p", str(service.port), f"{user}@localhost"]
        self._folder = folder

    def ssh(self, *words: str, options: tuple[str, ...] = ()) -> subprocess.CompletedProcess[str]:
        """Run ssh and return the completed process, also when it failed."""
        command = [*self.command, *options, *self._login, *words]
        return subprocess.run(
            command, capture_output=True, text=True, check=False, timeout=60, stdin=subprocess.DEVNULL
        )

    def git(self, name: str = "work", **variables: str) -> Git:
        """Return a folder for git to work in."""
        git = Git(self._folder / name)
        git.environment.update(GIT_SSH_COMMAND=" ".join(self.command), **variables)
        return git

    def clone(self, repository: str, name: str = "work") -> Git:
        """Clone a repository."""
        git = self.git(name)
        git("clone", "-q", f"{self.address}/{repository}.git", ".")
        return git


def add_user_key(app: App, user: Account, title: str = "laptop") -> asyncssh.SSHKey:
    """Give a user a new key."""
    key = new_key()
    ssh_keys.add(app, Actor(user), user, NewSshKey(title, public_text(key)))
    return key


def add_deploy_key(
    app: App, repository: Repository, *, is_read_only: bool = False
) -> tuple[asyncssh.SSHKey, SshKey]:
    """Give a repository a new deploy key."""
    key = new_key()
    parsed = ssh_keys.parse(public_text(key))
    stored = store.create_key(
        app.database,
        repository,
        title="CI",
        content=parsed.content,
        fingerprint=parsed.fingerprint,
        is_read_only=is_read_only,
    )
    return key, stored


@contextmanager
def serve_ssh(app: App, folder: Path) -> Iterator[SshService]:
    """Serve SSH in a thread; afterwards no session is left."""
    folder.mkdir(exist_ok=True)
    keys = [new_key()]
    started, stopping = threading.Event(), threading.Event()
    running: list[SshService] = []
    with socket.create_server(("127.0.0.1", 0)) as listening:
        port = listening.getsockname()[1]
        lines = [f"[localhost]:{port} {key.export_public_key('openssh').decode().strip()}\n" for key in keys]
        (folder / "known_hosts").write_text("".join(lines))

        async def serve() -> None:
            server = GitSsh(app)
            await server.listen(listening, keys)
            running.append(SshService(app, port, folder, server))
            started.set()
            while not stopping.is_set():  # noqa: ASYNC110  # it is set by another thread
                await asyncio.sleep(0.02)
            await server.stop(5)

        thread = threading.Thread(target=asyncio.run, args=(serve(),))
        thread.start()
        assert started.wait(10)
        try:
            yield running[0]
        finally:
            stopping.set()
            thread.join()
