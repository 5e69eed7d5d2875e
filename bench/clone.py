"""What a clone costs over the service, against git's own over `file://`."""

import multiprocessing
import os
import subprocess
import tempfile
import time
from pathlib import Path
from statistics import median

from bench.harness import Figure
from bench.history import make_history
from bench.service import Whole, serve
from holdfast.hosting.app import App
from holdfast.hosting.data_folder import open_database, prepare
from holdfast.hosting.services import repositories
from holdfast.hosting.store import accounts
from holdfast.secret import Secret
from holdfast.settings import Settings

__all__ = ["figures"]

ROUNDS = 5
FILES, COMMITS = 5_000, 10_000


def fill(settings: Settings) -> Path:
    """Make the repository the way the service keeps it after its housekeeping, and return its folder."""
    with open_database(settings) as database:
        prepare(database, settings)
    host = App.open(settings)
    admin = accounts.find_user(host.database, "admin")
    made = repositories.create(host, admin, admin, repositories.NewRepository(name="large"))
    folder = host.folders.existing(made.id)
    make_history(folder, files=FILES, commits=COMMITS)
    subprocess.run(["git", "-C", str(folder), "gc", "--quiet"], check=True)
    host.close()
    return folder


def clone(source: str, target: Path) -> float:
    """Clone once and return the seconds it took."""
    environment = {**os.environ, "GIT_TERMINAL_PROMPT": "0"}
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
        over_http, over_file = [], []
        for number in range(ROUNDS):
            over_http.append(clone(f"http://127.0.0.1:{port}/admin/large.git", place / f"http{number}"))
            over_file.append(clone(f"file://{folder}", place / f"file{number}"))
        server.terminate()
        server.join()
    return [
        Figure(f"git clone over file://, {FILES:,} files, {COMMITS:,} commits", median(over_file), "s"),
        Figure("git clone from the service", median(over_http), "s"),
        Figure("from the service, against file://", median(over_http) / median(over_file), "times", most=1.3),
    ]
