"""What a fork of a repository of 100 MB costs."""

import random
import tempfile
import time
from contextlib import closing
from pathlib import Path
from statistics import median

from bench.harness import Figure
from bench.imported import import_repository
from holdfast.hosting.access import Actor, RepositoryAccess
from holdfast.hosting.app import App
from holdfast.hosting.data_folder import open_database, prepare
from holdfast.hosting.git.program import run
from holdfast.hosting.services import forks, repositories
from holdfast.hosting.store import accounts
from holdfast.hosting.store.repositories import find_repository
from holdfast.settings import Settings

__all__ = ["figures"]

MEGABYTES = 100
ROUNDS = 9
MOST_MILLISECONDS = 50


def fill(folder: Path) -> None:
    """Fill a repository with files that do not compress."""
    noise = random.Random(1)
    lines = [b"commit refs/heads/main\n", b"committer A <a@example.org> 1 +0000\n", b"data 1\n", b"x\n"]
    for number in range(MEGABYTES):
        content = noise.randbytes(2**20)
        lines += [f"M 100644 inline file-{number}\ndata {len(content)}\n".encode(), content, b"\n"]
    run(folder, "fast-import", "--quiet", input=b"".join(lines), timeout=600)


def figures() -> list[Figure]:
    """Measure."""
    with tempfile.TemporaryDirectory() as place:
        settings = Settings(data=Path(place))
        with open_database(settings) as database:
            prepare(database, settings)
        with closing(App.open(settings)) as app:
            import_repository(app, "large", fill)
            admin = accounts.find_user(app.database, "admin")
            parent = find_repository(app.database, "admin", "large")
            times = []
            for number in range(ROUNDS):
                owner = make_owner(app, f"owner{number}")
                actor = Actor(owner)
                target = RepositoryAccess(parent, repositories.permissions_in(app, Actor(admin), parent))
                started = time.perf_counter()
                forks.fork(app, actor, target)
                times.append(time.perf_counter() - started)
    return [Figure("fork of a repository of 100 MB", median(times) * 1000, "ms", most=MOST_MILLISECONDS)]


def make_owner(app: App, name: str) -> accounts.Account:
    """Create a user who cannot log in."""
    with app.database.write() as connection:
        number = accounts.add_account(connection, name)
    return accounts.find_account(app.database, number)
