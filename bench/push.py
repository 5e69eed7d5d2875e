"""What a push of many branches costs over the service, against a local bare repository."""

import multiprocessing
import os
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from statistics import median

from bench.harness import Figure
from bench.service import Whole, serve
from holdfast.hosting import repositories
from holdfast.hosting.data import open_database, prepare
from holdfast.hosting.host import Host
from holdfast.hosting.store import accounts
from holdfast.secret import Secret
from holdfast.settings import Settings

__all__ = ["figures"]

ROUNDS = 3
BRANCHES = 5_000
# Git takes time that grows with the square of their number.
DELETED = 500
PASSWORD = "a-password-for-a-benchmark"
ENVIRONMENT = {
    **os.environ,
    "GIT_TERMINAL_PROMPT": "0",
    "GIT_CONFIG_GLOBAL": "/dev/null",
    **{f"GIT_{who}_{what}": "bench@example.org" for who in ("AUTHOR", "COMMITTER") for what in ("NAME", "EMAIL")},
}


def git(folder: Path, *arguments: str, given: str = "") -> str:
    """Run git in a folder and return what it printed."""
    ran = subprocess.run(
        ["git", "-C", str(folder), *arguments],
        check=True,
        env=ENVIRONMENT,
        input=given,
        text=True,
        stdout=subprocess.PIPE,
    )
    return ran.stdout


def point_branches(work: Path, count: int, commit: str) -> None:
    """Point all branches of a working copy at a commit."""
    lines = "".join(f"update refs/heads/b{number:05} {commit}\n" for number in range(count))
    git(work, "update-ref", "--stdin", given=lines)


def push(work: Path, target: str, *refspecs: str) -> float:
    """Push once and return the seconds it took."""
    started = time.perf_counter()
    git(work, "push", "--quiet", "--force", target, *refspecs)
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
        host = Host.open(settings)
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
        steps = {"created": commits[0], "moved": commits[1], "deleted": ""}
        local: dict[str, list[float]] = {step: [] for step in steps}
        served: dict[str, list[float]] = {step: [] for step in steps}
        for number in range(rounds):
            git(place, "init", "--quiet", "--bare", f"bare{number}.git")
            targets = (
                (local, f"file://{place}/bare{number}.git"),
                (served, f"http://admin:{PASSWORD}@127.0.0.1:{port}/admin/many{number}.git"),
            )
            for _, target in targets:
                push(work, target, "main")
            for step, commit in steps.items():
                if commit:
                    point_branches(work, count, commit)
                for into, target in targets:
                    refspecs: tuple[str, ...] = ("refs/heads/b*:refs/heads/b*",)
                    if not commit:
                        refspecs = tuple(f":refs/heads/b{one:05}" for one in range(DELETED))
                    into[step].append(push(work, target, *refspecs))
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
    for figure in figures(int(sys.argv[1]), 1):
        print(figure.line())
