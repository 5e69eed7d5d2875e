"""What a push of many branches and the next listing of refs cost, against a local bare repository.

A push is recorded in the database, and the local copy is updated by its next reader. Without the listing, the cost
of a push would be part of the figure for the next one.
"""

import argparse
import hashlib
import multiprocessing
import os
import struct
import subprocess
import tempfile
import time
from pathlib import Path
from statistics import median

import httpx

from bench.harness import Figure
from bench.service import Whole, serve
from holdfast.hosting.app import App
from holdfast.hosting.data_folder import open_database, prepare
from holdfast.hosting.services import repositories
from holdfast.hosting.store import accounts
from holdfast.secret import Secret
from holdfast.settings import Settings

__all__ = ["figures"]

ROUNDS = 3
BRANCHES = 10_000
# Git takes time that grows with the square of their number.
DELETED = 500
ZERO = "0" * 40
PASSWORD = "a-password-for-a-benchmark"
ENVIRONMENT = {
    **os.environ,
    "GIT_TERMINAL_PROMPT": "0",
    "GIT_CONFIG_GLOBAL": "/dev/null",
    **{f"GIT_{who}_{what}": "bench@example.org" for who in ("AUTHOR", "COMMITTER") for what in ("NAME", "EMAIL")},
}


def git(folder: Path, *arguments: str) -> str:
    """Run git in a folder and return what it printed."""
    ran = subprocess.run(
        ["git", "-C", str(folder), *arguments],
        check=True,
        env=ENVIRONMENT,
        text=True,
        stdout=subprocess.PIPE,
    )
    return ran.stdout


def request(count: int, old: str, new: str) -> bytes:
    """Write what a client sends to move branches from one commit to another, both of which are there already.

    Git's own client is not measured: over HTTP it takes time that grows with the square of the number of refs.
    """
    capabilities = "\0report-status object-format=sha1"
    lines = [f"{old} {new} refs/heads/b{number:05}{capabilities * (not number)}" for number in range(count)]
    commands = b"".join(b"%04x%s" % (len(line) + 4, line.encode()) for line in lines) + b"0000"
    head = b"PACK" + struct.pack(">II", 2, 0)
    return commands if new == ZERO else commands + head + hashlib.sha1(head, usedforsecurity=False).digest()


def take_locally(folder: Path, body: bytes) -> float:
    """Have plain git take a push and list the refs, and return the seconds both took."""
    started = time.perf_counter()
    command = ["git", "receive-pack", "--stateless-rpc", str(folder)]
    ran = subprocess.run(command, input=body, env=ENVIRONMENT, stdout=subprocess.PIPE, check=True)
    assert b"ng refs/" not in ran.stdout
    listing = ["git", "upload-pack", "--advertise-refs", str(folder)]
    subprocess.run(listing, env=ENVIRONMENT, stdout=subprocess.PIPE, check=True)
    return time.perf_counter() - started


def take_served(url: str, body: bytes) -> float:
    """Have the service take a push and list the refs, and return the seconds both took."""
    started = time.perf_counter()
    headers = {"Content-Type": "application/x-git-receive-pack-request"}
    answer = httpx.post(f"{url}/git-receive-pack", content=body, headers=headers, timeout=600)
    answer.raise_for_status()
    assert b"ng refs/" not in answer.content
    httpx.get(f"{url}/info/refs?service=git-upload-pack", timeout=600).raise_for_status()
    return time.perf_counter() - started


def figures(count: int = BRANCHES, rounds: int = ROUNDS) -> list[Figure]:
    """Create, move and delete the same branches both ways in turn, in one run."""
    with tempfile.TemporaryDirectory() as name:
        place = Path(name)
        work = place / "work"
        git(place, "init", "--quiet", "--initial-branch=main", "work")
        commits = []
        for number in range(2):
            git(work, "commit", "--quiet", "--allow-empty", "--message", f"commit {number}")
            commits.append(git(work, "rev-parse", "HEAD").strip())
        settings = Settings(data=place / "data", admin_password=Secret(PASSWORD))
        with open_database(settings) as database:
            prepare(database, settings)
        host = App.open(settings)
        admin = accounts.find_user(host.database, "admin")
        for number in range(rounds):
            repositories.create(host, admin, admin, repositories.NewRepository(name=f"many{number}"))
        host.close()
        context = multiprocessing.get_context("spawn")
        listening = context.Queue()
        whole = Whole(Settings(data=settings.data))
        arguments = (whole, listening, f"{name}/log", os.sched_getaffinity(0))
        server = context.Process(target=serve, args=arguments, daemon=True)
        server.start()
        port = listening.get(timeout=60)
        first, second = commits
        steps = {
            "created": request(count, ZERO, first),
            "moved": request(count, first, second),
            "deleted": request(DELETED, second, ZERO),
        }
        local: dict[str, list[float]] = {step: [] for step in steps}
        served: dict[str, list[float]] = {step: [] for step in steps}
        for number in range(rounds):
            bare = place / f"bare{number}.git"
            url = f"http://admin:{PASSWORD}@127.0.0.1:{port}/admin/many{number}.git"
            git(place, "init", "--quiet", "--bare", bare.name)
            for target in (str(bare), url):
                git(work, "push", "--quiet", target, "main")
            for step, body in steps.items():
                local[step].append(take_locally(bare, body))
                served[step].append(take_served(url, body))
        server.terminate()
        server.join()
    made = []
    for step in steps:
        here, there = median(local[step]), median(served[step])
        number = DELETED if step == "deleted" else count
        made += [
            Figure(f"{number:,} branches {step} in a local bare repository", here, "s"),
            Figure(f"{number:,} branches {step} over the service", there, "s"),
            Figure("over the service, against the local one", there / here, "times", most=2.0),
        ]
    return made


if __name__ == "__main__":
    parser = argparse.ArgumentParser(prog="python -m bench.push")
    parser.add_argument("count", type=int, help="how many branches are pushed")
    for figure in figures(parser.parse_args().count, 1):
        print(figure.line())
