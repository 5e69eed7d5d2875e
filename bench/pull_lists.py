"""What a page of open pull requests costs when there are many, against few."""

import multiprocessing
import os
import tempfile
import time
from contextlib import closing
from pathlib import Path
from statistics import median

import httpx

from bench.harness import Figure
from bench.service import Whole, serve
from holdfast.hosting.access import Actor, RepositoryAccess, repository_access
from holdfast.hosting.app import App
from holdfast.hosting.data_folder import prepare
from holdfast.hosting.services import file_commits, pulls
from holdfast.hosting.services.file_changes import FileChange
from holdfast.hosting.services.file_commits import FileCommit
from holdfast.hosting.services.file_contents import FileContent
from holdfast.hosting.services.issues import IssueDraft
from holdfast.hosting.services.repositories import NewRepository, create
from holdfast.hosting.store import accounts, repositories, tokens
from holdfast.secret import Secret
from holdfast.settings import Settings

__all__ = ["figures"]

FEW, MANY = 30, 1000
ROUNDS = 41


def fill(app: App, name: str, count: int) -> None:
    """Make a repository with so many open pull requests, each of one commit."""
    user = accounts.find_user(app.database, "admin")
    actor = Actor(user, by_password=True)
    number = create(app, user, user, NewRepository(name=name), {"README.md": b"A list.\n"}).id
    for index in range(count):
        repository = repositories.repository_by_id(app.database, number)
        target = RepositoryAccess(repository, repository_access(actor, repository, ()))
        change = FileChange(operation="create", path=f"new-{index}", content=FileContent(b"new\n"))
        wanted = FileCommit(changes=[change], branch="main", new_branch=f"fix-{index}")
        file_commits.commit(app, actor, target, wanted)
        pulls.create(app, actor, target, IssueDraft(title=f"Fix {index}"), head=f"fix-{index}", base="main")


def figures() -> list[Figure]:
    """Ask for the first page of both in turn."""
    with tempfile.TemporaryDirectory() as name:
        settings = Settings(data=Path(name), admin_password=Secret("a-password-for-a-benchmark"))
        with closing(App.open(settings)) as app:
            prepare(app.database, settings)
            for repository, count in (("few", FEW), ("many", MANY)):
                fill(app, repository, count)
            admin = accounts.find_user(app.database, "admin")
            token = tokens.create_token(app.database, admin, "bench", ("all",))[1].reveal()
        context = multiprocessing.get_context("spawn")
        listening = context.Queue()
        arguments = (Whole(Settings(data=settings.data)), listening, f"{name}/log", os.sched_getaffinity(0))
        server = context.Process(target=serve, args=arguments, daemon=True)
        server.start()
        try:
            times = ask(listening.get(timeout=60), token)
        finally:
            server.terminate()
            server.join()
    few, many = (median(times[repository]) for repository in ("few", "many"))
    return [
        Figure(f"a page of {FEW} of {FEW} open pull requests", few * 1000, "ms"),
        Figure(f"a page of {FEW} of {MANY:,} open pull requests", many * 1000, "ms"),
        Figure("many, against few", many / few, "times", most=2),
    ]


def ask(port: int, token: str) -> dict[str, list[float]]:
    """Return the seconds of each answer."""
    times: dict[str, list[float]] = {"few": [], "many": []}
    headers = {"Authorization": f"token {token}"}
    with httpx.Client(base_url=f"http://127.0.0.1:{port}/api/v1", headers=headers, timeout=60) as client:
        for _ in range(ROUNDS):
            for repository, taken in times.items():
                started = time.perf_counter()
                answer = client.get(f"/repos/admin/{repository}/pulls", params={"state": "open", "limit": FEW})
                taken.append(time.perf_counter() - started)
                assert len(answer.json()) == FEW, answer.text
    return times
