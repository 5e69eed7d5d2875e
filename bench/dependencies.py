"""What dependencies cost: a chain and a star of a thousand issues, and a list of blockers in many repositories."""

import asyncio
import tempfile
import time
from itertools import pairwise
from pathlib import Path
from statistics import median

import httpx
from sqlalchemy import Engine, event, insert

from bench.harness import Figure
from bench.load import rate
from bench.service import served_apart
from holdfast.hosting.data_folder import open_database, prepare
from holdfast.hosting.store import accounts, issues, repositories, tokens
from holdfast.hosting.store.accounts import Account
from holdfast.hosting.store.database import Database
from holdfast.hosting.store.issues import NewIssue
from holdfast.hosting.store.prepared_statements import Bind, Statement
from holdfast.hosting.store.tables import issue_dependencies
from holdfast.secret import Secret
from holdfast.server.app import build
from holdfast.settings import Settings

__all__ = ["figures"]

SIZE = 1000
ROUNDS = 5
CHAIN, STAR, LIST = ("/api/v1/repos/admin/" + name for name in ("chain/issues", "star/issues", "list/issues"))
Request = tuple[str, str, object, int]
"""A method, a path, a body, and the status of the answer."""


def place(database: Database, owner: Account, name: str, count: int) -> list[int]:
    """Make a repository with so many issues, and return their ids."""
    with database.write() as connection:
        made = repositories.add_repository(connection, owner, name, default_branch="main")
    repository = repositories.repository_by_id(database, made)
    return [issues.open_issue(database, repository, owner, NewIssue(title="One")).id for _ in range(count)]


def fill(settings: Settings) -> str:
    """Make a chain, a star and a list; return a token."""
    with open_database(settings) as database:
        prepare(database, settings)
        admin = accounts.find_user(database, "admin")
        chain = place(database, admin, "chain", SIZE)
        # One more than the star has rays, for what is added while measuring.
        star = place(database, admin, "star", SIZE + 1)
        [target] = place(database, admin, "list", 1)
        blockers = [
            number
            for index in range(20)
            for number in place(database, admin, f"place-{index}", 3 if index < 10 else 2)
        ]
        pairs = [
            *pairwise(chain),
            *((ray, star[0]) for ray in star[1:SIZE]),
            *((target, number) for number in blockers),
        ]
        with database.write() as connection:
            rows = [{"issue_id": one, "blocker_id": other} for one, other in pairs]
            connection.execute(insert(issue_dependencies), rows)
        return tokens.create_token(database, admin, "bench", ("all",))[1].reveal()


def queries(settings: Settings, path: str, headers: dict[str, str]) -> int:
    """Count the statements one answer takes."""
    asked: list[str] = []
    rows = Database.rows

    def counted(self: Database, statement: Statement, **binds: Bind) -> list[tuple[object, ...]]:
        asked.append(statement.text("sqlite"))
        return rows(self, statement, **binds)

    def note(*arguments: object) -> None:
        if not str(arguments[2]).startswith("BEGIN"):
            asked.append(str(arguments[2]))

    async def ask_here() -> None:
        transport = httpx.ASGITransport(build(settings))
        async with httpx.AsyncClient(transport=transport, base_url="http://127.0.0.1") as client:
            answer = await client.get(path, headers=headers)
            assert len(answer.json()) == 50, answer.text

    # What goes past the engine on the bare driver is counted where it does.
    Database.rows = counted  # type: ignore[method-assign]  # and put back below
    event.listen(Engine, "before_cursor_execute", note)
    try:
        asyncio.run(ask_here())
    finally:
        event.remove(Engine, "before_cursor_execute", note)
        Database.rows = rows  # type: ignore[method-assign]  # as it was
    return len(asked)


def figures() -> list[Figure]:
    """Serve on one processor and ask from another."""
    with tempfile.TemporaryDirectory() as name:
        settings = Settings(data=Path(name), admin_password=Secret("a-password-for-a-benchmark"))
        headers = {"Authorization": f"token {fill(settings)}"}
        counted = queries(settings, f"{LIST}/1/dependencies?limit=50", headers)
        with served_apart(settings, name) as (port, _):
            return [
                Figure("50 blockers in 20 repositories", counted, "queries", most=6),
                Figure("that list", rate(port, f"{LIST}/1/dependencies?limit=50", headers), "req/s"),
                *around(port, headers),
            ]


def around(port: int, headers: dict[str, str]) -> list[Figure]:
    """Change and look at the chain and the star; what changes something is undone, which is not counted."""
    first_of_chain = {"index": 1, "owner": "admin", "name": "chain"}
    ray = {"index": SIZE + 1}
    beside = f"{STAR}/{SIZE + 1}/dependencies"
    steps: list[tuple[str, float, Request, Request | None]] = [
        (f"a circle of {SIZE} is refused", 250, ("POST", f"{CHAIN}/{SIZE}/dependencies", {"index": 1}, 409), None),
        (
            f"a chain of {SIZE} gets longer",
            250,
            ("POST", beside, first_of_chain, 201),
            ("DELETE", beside, first_of_chain, 201),
        ),
        (
            f"a star of {SIZE} gets a ray",
            250,
            ("POST", f"{STAR}/1/blocks", ray, 201),
            ("DELETE", f"{STAR}/1/blocks", ray, 201),
        ),
        ("the graph of the chain", 500, ("GET", f"{CHAIN}/1/dependencies/graph", None, 200), None),
        ("the graph of the star", 500, ("GET", f"{STAR}/1/dependencies/graph", None, 200), None),
        ("everything the hub blocks in one list", 1000, ("GET", f"{STAR}/1/blocks?limit={SIZE}", None, 200), None),
        ("the first page of what is ready", 250, ("GET", f"{STAR}?ready=true", None, 200), None),
        (
            "the hub closes, and a thousand are told",
            2000,
            ("PATCH", f"{STAR}/1", {"state": "closed"}, 201),
            ("PATCH", f"{STAR}/1", {"state": "open"}, 201),
        ),
    ]
    found = []
    with httpx.Client(base_url=f"http://127.0.0.1:{port}", headers=headers, timeout=60) as client:
        for name, most, request, undo in steps:
            taken = []
            for _ in range(ROUNDS):
                taken.append(ask(client, request))
                if undo is not None:
                    ask(client, undo)
            found.append(Figure(name, median(taken), "ms", most=most))
    return found


def ask(client: httpx.Client, request: Request) -> float:
    """Send a request, and return how many milliseconds the answer took."""
    method, path, body, status = request
    began = time.perf_counter()
    answer = client.request(method, path, json=body)
    taken = (time.perf_counter() - began) * 1000
    assert answer.status_code == status, answer.text
    return taken
