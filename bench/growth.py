"""How answers slow down as tables grow: the same lists over a hundred rows and over a hundred thousand.

Both hosts run in this process and take turns. The rows are written with SQL, with all that the service keeps about
them. What counts is the ratio of the two times, of the processor: a list by index has one near 1 at any page.
"""

import asyncio
import gc
import itertools
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from statistics import median

import httpx
from sqlalchemy import Connection, text

from bench.harness import Figure
from holdfast.hosting.data_folder import open_database, prepare
from holdfast.hosting.store import accounts, tokens
from holdfast.secret import Secret
from holdfast.server.app import build
from holdfast.settings import Settings

__all__ = ["figures"]

FEW, MANY = 100, 100_000
ROUNDS = 5
MOST = 3.0
# Not promised. The issues with a label are only in the order of creation in an index; in another order, the middle
# page is found by looking up the label of half of all issues. And every text with the words of a mention is read.
COUNTED = frozenset({"issues with a common label by update", "issues that mention a user whom most mention"})
NUMBERS = "WITH RECURSIVE numbers(n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM numbers WHERE n < :rows) "
# So many issues have the rare word, and so many the label, the milestone and the assignee.
RARE, SOME = 100, 2000


def some(column: str, most: int) -> str:
    """Return the condition that holds for so many rows, or for all if there are fewer."""
    return f"{column} % ((:rows + {most - 1}) / {most}) = 0"


TITLE = f"'Issue ' || n || CASE WHEN {some('n', RARE)} THEN ' zanzibar' ELSE '' END"
# The columns of issues that the rows of their labels have too.
COPIED = "repository_id, is_pull, is_closed, created_at"
LABELLED = f"INSERT INTO issue_labels (issue_id, label_id, {COPIED})"
FILL = (
    (
        "INSERT INTO repositories (owner_id, name, folded_name, default_branch, created_at, updated_at)"
        " SELECT :owner, 'many-' || n, 'many-' || n, 'main', 1000 + n, 1000 + n FROM numbers WHERE n <= :rows / 10"
    ),
    (
        "INSERT INTO users (name, folded_name, full_name, password_hash, is_admin, created_at)"
        " SELECT 'person-' || n, 'person-' || n, 'Person ' || n, '', false, 1000 FROM numbers"
        " WHERE n <= :rows / 10"
    ),
    (
        "INSERT INTO users (name, folded_name, full_name, password_hash, is_admin, created_at)"
        " VALUES ('somebody', 'somebody', '', '', false, 1000)"
    ),
    (
        "INSERT INTO issues (repository_id, number, is_pull, author_id, title, body, is_closed,"
        " closed_at, created_at,"
        " updated_at, due_at, comment_count, milestone_id)"
        f" SELECT :place, n, n % 10 = 0, :owner, {TITLE}, 'The boats of the harbour leave at"
        f" noon, says number ' || n,"
        " n % 2 = 0, (1 - n % 2) * (2000 + n), 1000 + n, 3000 + (n * 7919) % 100000, (n % 3) * n, n % 3,"
        f" CASE WHEN {some('n', SOME)} THEN :milestone END FROM numbers"
    ),
    (
        "INSERT INTO comments (issue_id, repository_id, kind, author_id, body, created_at, updated_at)"
        " SELECT id, :place, 'comment', :owner, 'Seen by @somebody at ' || number, created_at, created_at"
        " FROM issues JOIN (SELECT 1 AS nth UNION ALL SELECT 2) ON nth <= comment_count"
    ),
    f"{LABELLED} SELECT id, :label, {COPIED} FROM issues WHERE {some('number', SOME)}",
    f"{LABELLED} SELECT id, :common, {COPIED} FROM issues WHERE number % 3 = 0",
    f"INSERT INTO issue_assignees (issue_id, user_id) SELECT id, :owner FROM issues WHERE {some('number', SOME)}",
    (
        "INSERT INTO notifications (user_id, repository_id, issue_id, status, created_at, updated_at)"
        " SELECT :owner, repository_id, id, 'unread', 1, updated_at FROM issues"
    ),
    (
        "INSERT INTO stars (repository_id, user_id, created_at)"
        " SELECT :place, id, 1 FROM users WHERE folded_name LIKE 'person-%'"
    ),
)
LABEL = "INSERT INTO labels (repository_id, name, color) VALUES (:place, '{}', 'ff0000') RETURNING id"
COUNTS = (
    "UPDATE repositories SET last_issue = :rows, star_count = :rows / 10,"
    " open_issues = (SELECT count(*) FROM issues WHERE repository_id = :place AND NOT is_closed AND NOT is_pull),"
    " open_pulls = (SELECT count(*) FROM issues WHERE repository_id = :place AND NOT is_closed AND is_pull),"
    " closed_issues = (SELECT count(*) FROM issues WHERE repository_id = :place AND is_closed AND NOT is_pull),"
    " closed_pulls = (SELECT count(*) FROM issues WHERE repository_id = :place AND is_closed AND is_pull)"
    " WHERE id = :place"
)
ISSUES = "/repos/admin/growth/issues"
ORDERS = (
    "newest",
    "oldest",
    "recentupdate",
    "recentclose",
    "mostcomment",
    "leastcomment",
    "nearduedate",
    "farduedate",
)
# Names and paths, and how long the list is: the number of rows divided by this, but not more than the last.
CASES: tuple[tuple[str, str, int] | tuple[str, str, int, int], ...] = (
    ("open issues", ISSUES, 2),
    ("issues in any state", f"{ISSUES}?state=all", 1),
    *((f"issues by {order}", f"{ISSUES}?state=all&sort={order}", 1) for order in ORDERS),
    ("pull requests", "/repos/admin/growth/pulls?state=all", 10),
    ("issues with a label", f"{ISSUES}?state=all&labels=bug", 1, SOME),
    ("issues with a common label", f"{ISSUES}?state=all&labels=all", 3),
    ("open issues with a common label", f"{ISSUES}?labels=all", 6),
    ("issues with a common label by update", f"{ISSUES}?state=all&labels=all&sort=recentupdate", 3),
    ("issues of a milestone", f"{ISSUES}?state=all&milestones=first", 1, SOME),
    ("issues with an assignee", f"{ISSUES}?state=all&assigned_by=admin", 1, SOME),
    ("issues with a rare word", f"{ISSUES}?state=all&q=zanzibar", 1, RARE),
    ("issues of an author", f"{ISSUES}?state=all&created_by=admin", 1),
    ("issues of an author who has none", f"{ISSUES}?state=all&sort=recentupdate&created_by=person-7", 0),
    ("pull requests of a branch", "/repos/admin/growth/pulls?state=all&head=topic", 0),
    ("issues that mention nobody", f"{ISSUES}?state=all&mentioned_by=boats", 0),
    ("issues that mention a user whom none mentions", f"{ISSUES}?state=all&mentioned_by=person-7", 0),
    ("issues that mention a user whom most mention", f"{ISSUES}?state=all&mentioned_by=somebody", 0),
    ("search of everything", "/repos/issues/search?state=all", 1),
    ("search of everything with a common label", "/repos/issues/search?state=all&labels=all", 3),
    ("search of everything for a rare word", "/repos/issues/search?state=all&q=zanzibar", 1, RARE),
    ("comments of a repository", f"{ISSUES}/comments", 1),
    ("repositories", "/repos/search", 10),
    ("repositories, updated last", "/repos/search?sort=updated&order=desc", 10),
    ("repositories by name", "/repos/search?q=many-7", 100),
    ("repositories by a rare part of a name", "/repos/search?q=ny-77", 900),
    ("repositories by a text that none has", "/repos/search?q=no-such-name&includeDesc=true&sort=updated", 0),
    ("repositories by a topic that none has", "/repos/search?q=boats&topic=true", 0),
    ("users", "/users/search?q=person", 10),
    ("users by a rare part of a name", "/users/search?q=on-77", 900),
    ("users by two characters that none has", "/users/search?q=zz", 0),
    ("users of the site", "/admin/users", 10),
    ("notifications", "/notifications", 1),
    ("stargazers", "/repos/admin/growth/stargazers", 10),
)


def fill(settings: Settings, rows: int) -> str:
    """Write so many rows of everything; return a token."""
    with open_database(settings) as database:
        prepare(database, settings)
        admin = accounts.find_user(database, "admin")
        with database.write() as connection:
            fill_tables(connection, admin.id, rows)
        return tokens.create_token(database, admin, "bench", ("all",))[1].reveal()


def fill_tables(connection: Connection, owner: int, rows: int) -> None:
    """Write the rows of a repository and of everything beside it."""
    values = {"owner": owner, "rows": rows}
    values["place"] = connection.execute(
        text(
            "INSERT INTO repositories (owner_id, name, folded_name, default_branch, created_at, updated_at)"
            " VALUES (:owner, 'growth', 'growth', 'main', 1, 1) RETURNING id"
        ),
        values,
    ).scalar_one()
    for name, sql in (
        ("label", "INSERT INTO labels (repository_id, name, color) VALUES (:place, 'bug', 'ff0000') RETURNING id"),
        (
            "common",
            "INSERT INTO labels (repository_id, name, color) VALUES (:place, 'all', 'ff0000') RETURNING id",
        ),
        ("milestone", "INSERT INTO milestones (repository_id, title) VALUES (:place, 'first') RETURNING id"),
    ):
        values[name] = connection.execute(text(sql), values).scalar_one()
    for statement in FILL:
        table, _, selected = statement.partition(" SELECT ")
        numbered = f"{table} {NUMBERS} SELECT {selected}" if "FROM numbers" in statement else statement
        connection.execute(text(numbered), values)
    connection.execute(text(COUNTS), values)


def pages_of(path: str, rows: int, share: int, most: int = MANY) -> Iterator[tuple[str, str]]:
    """Return the first, the middle and the last page of a list."""
    joined = path + ("&" if "?" in path else "?")
    last = max(min(rows // share, most) // 30, 1) if share else 1
    for name, number in (("first", 1), ("middle", last // 2), ("last", last)):
        yield name, f"/api/v1{joined}page={max(number, 1)}"


@contextmanager
def hosts(folder: Path) -> Iterator[dict[int, tuple[httpx.AsyncClient, dict[str, str]]]]:
    """Open a host with few rows and one with many."""
    opened = {}
    for rows in (FEW, MANY):
        settings = Settings(data=folder / str(rows), admin_password=Secret("a-password-for-a-benchmark"))
        headers = {"Authorization": f"token {fill(settings, rows)}"}
        transport = httpx.ASGITransport(build(Settings(data=settings.data)))
        client = httpx.AsyncClient(transport=transport, base_url="http://127.0.0.1", timeout=120)
        opened[rows] = (client, headers)
    yield opened


async def measure(opened: dict[int, tuple[httpx.AsyncClient, dict[str, str]]]) -> list[Figure]:
    """Ask both hosts for every page in turn."""
    found = []
    numbers = itertools.count()
    for name, path, *length in CASES:
        pages = {rows: dict(pages_of(path, rows, *length)) for rows in (FEW, MANY)}
        for page in ("first", "middle", "last") if length[0] else ("first",):
            taken: dict[int, list[float]] = {FEW: [], MANY: []}
            for _ in range(ROUNDS):
                for rows, (client, headers) in opened.items():
                    gc.collect()
                    # Another client each time: a response that is kept for one would be sent from memory.
                    mine = {**headers, "User-Agent": f"bench {next(numbers)}"}
                    began = time.process_time()
                    answer = await client.get(pages[rows][page], headers=mine)
                    taken[rows].append(time.process_time() - began)
                    assert answer.status_code == 200, answer.text
            ratio = median(taken[MANY]) / median(taken[FEW])
            found.append(Figure(f"{name}, {page} page", ratio, "times", most=None if name in COUNTED else MOST))
    return found


def figures() -> list[Figure]:
    """Fill both hosts and ask them in turn."""
    with tempfile.TemporaryDirectory() as name, hosts(Path(name)) as opened:
        return asyncio.run(measure(opened))
