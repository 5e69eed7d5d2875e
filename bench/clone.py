"""What a clone costs over the service, against git's own over `file://`, and over SSH against HTTP."""

import multiprocessing
import os
import socket
import subprocess
import tempfile
import time
from contextlib import closing
from pathlib import Path
from statistics import median

import asyncssh

from bench.harness import Figure
from bench.history import make_history
from bench.imported import import_repository
from bench.service import Whole, serve
from holdfast import logs
from holdfast.hosting.access import Actor
from holdfast.hosting.app import App
from holdfast.hosting.data_folder import open_database, prepare
from holdfast.hosting.services import ssh_keys
from holdfast.hosting.services.ssh_keys import NewSshKey
from holdfast.hosting.store.accounts import find_user
from holdfast.secret import Secret
from holdfast.server.ssh_process import serve_ssh
from holdfast.settings import Settings

__all__ = ["figures"]

ROUNDS = 5
FILES, COMMITS = 5_000, 10_000


def fill(settings: Settings) -> Path:
    """Make the repository the way the service keeps it after its housekeeping, and return its folder."""
    with open_database(settings) as database:
        prepare(database, settings)
    with closing(App.open(settings)) as host:
        return import_repository(host, "large", lambda folder: make_history(folder, files=FILES, commits=COMMITS))


def add_key(settings: Settings, file: Path) -> None:
    """Give the administrator a key for SSH, and write it to a file."""
    key = asyncssh.generate_private_key("ssh-ed25519")
    file.touch(mode=0o600)
    file.write_bytes(key.export_private_key("openssh"))
    with closing(App.open(settings)) as host:
        admin = find_user(host.database, "admin")
        ssh_keys.add(host, Actor(admin), admin, NewSshKey("bench", key.export_public_key("openssh").decode()))


def run_ssh(settings: Settings, listening: "multiprocessing.Queue[int]", log: str) -> None:
    """Serve SSH until the process is ended."""
    with Path(log).open("w", encoding="utf-8") as stream, socket.create_server(("127.0.0.1", 0)) as server:
        logs.configure(style="json", level="info", stream=stream)
        port = server.getsockname()[1]
        parent_gone, _parent = os.pipe()
        serve_ssh(settings, server, lambda: listening.put(port), parent_gone)


def clone(source: str, target: Path, key: Path | None = None) -> float:
    """Clone once, over SSH with a key, and return the seconds it took."""
    ssh = f"ssh -F /dev/null -i {key} -o IdentitiesOnly=yes -o IdentityAgent=none"
    known = f"-o StrictHostKeyChecking=accept-new -o UserKnownHostsFile={key}.hosts"
    environment = {**os.environ, "GIT_TERMINAL_PROMPT": "0", "GIT_SSH_COMMAND": f"{ssh} {known}"}
    started = time.perf_counter()
    subprocess.run(["git", "clone", "--quiet", source, str(target)], check=True, env=environment)
    return time.perf_counter() - started


def figures() -> list[Figure]:
    """Clone both ways in turn, in one run."""
    with tempfile.TemporaryDirectory() as name:
        place = Path(name)
        settings = Settings(data=place / "data", admin_password=Secret("a-password-for-a-benchmark"))
        folder = fill(settings)
        context = multiprocessing.get_context("spawn")
        listening = context.Queue()
        whole = Whole(Settings(data=settings.data))
        processors = os.sched_getaffinity(0)
        arguments = (whole, listening, f"{name}/log", processors)
        server = context.Process(target=serve, args=arguments, daemon=True)
        server.start()
        port = listening.get(timeout=60)
        key = place / "key"
        add_key(settings, key)
        over_ssh_at = context.Queue()
        ssh = context.Process(target=run_ssh, args=(Settings(data=settings.data), over_ssh_at, f"{name}/log-ssh"))
        ssh.start()
        ssh_port = over_ssh_at.get(timeout=60)
        over_http, over_ssh, over_file = [], [], []
        for number in range(ROUNDS):
            over_http.append(clone(f"http://127.0.0.1:{port}/admin/large.git", place / f"http{number}", key))
            over_ssh.append(clone(f"ssh://git@127.0.0.1:{ssh_port}/admin/large.git", place / f"ssh{number}", key))
            over_file.append(clone(f"file://{folder}", place / f"file{number}", key))
        for process in (server, ssh):
            process.terminate()
            process.join()
    return [
        Figure(f"git clone over file://, {FILES:,} files, {COMMITS:,} commits", median(over_file), "s"),
        Figure("git clone from the service", median(over_http), "s"),
        Figure("from the service, against file://", median(over_http) / median(over_file), "times", most=1.3),
        Figure("git clone from the service over SSH", median(over_ssh), "s"),
        # The fastest of each: on a busy machine the others say more about its other work.
        Figure("over SSH, against over HTTP", min(over_ssh) / min(over_http), "times", most=1.2),
    ]
