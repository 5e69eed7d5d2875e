"""What the largest pages cost: a file of 20,000 lines, a commit of 5,000, an issue with 500 dependencies."""

import tempfile
from contextlib import closing
from pathlib import Path
from statistics import median

from sqlalchemy import insert

from bench.harness import Figure
from bench.pull_pages import blob_id
from bench.service import served_apart
from bench.website import fetched, timed
from holdfast.hosting.access import Actor, RepositoryAccess, repository_access
from holdfast.hosting.app import App
from holdfast.hosting.data_folder import prepare
from holdfast.hosting.services import file_commits
from holdfast.hosting.services.file_changes import FileChange
from holdfast.hosting.services.file_commits import FileCommit
from holdfast.hosting.services.file_contents import FileContent
from holdfast.hosting.services.repositories import NewRepository, create
from holdfast.hosting.store import accounts, issues, repositories
from holdfast.hosting.store.issues import NewIssue
from holdfast.hosting.store.tables import issue_dependencies
from holdfast.secret import Secret
from holdfast.settings import Settings

__all__ = ["figures"]

LINES, CHANGED, DEPENDENCIES = 20_000, 5_000, 500
ROUNDS = 21
AT = "/admin/long"
# Limits of a page that is opened again: milliseconds, and KB before compression.
SLOWEST, LARGEST = 60.0, 200


def source(changed: int = 0) -> bytes:
    """Return a Python file of 20,000 lines, with so many of them changed."""
    functions = []
    for number in range(LINES // 4):
        result = "width" if number < changed else "length"
        functions.append(
            f"def area_{number}(length: int, width: int) -> int:\n"
            f'    """Return the area of rectangle {number}, in square metres."""\n'
            f"    return length * width + {number}  # {result}\n\n"
        )
    return "".join(functions).encode()


def fill(app: App) -> str:
    """Commit the file and a change of it, and open the issues; return the id of the second commit."""
    user = accounts.find_user(app.database, "admin")
    actor = Actor(user, by_password=True)
    before = source()
    number = create(app, user, user, NewRepository(name="long"), {"areas.py": before}).id
    repository = repositories.repository_by_id(app.database, number)
    target = RepositoryAccess(repository, repository_access(actor, repository, ()))
    change = FileChange(
        operation="update", path="areas.py", content=FileContent(source(CHANGED)), sha=blob_id(before)
    )
    commit = file_commits.commit(app, actor, target, FileCommit(changes=[change])).commit
    first, *blockers = (
        issues.open_issue(app.database, repository, user, NewIssue(title=f"Measure rectangle {index}")).id
        for index in range(DEPENDENCIES + 1)
    )
    with app.database.write() as connection:
        rows = [{"issue_id": first, "blocker_id": blocker} for blocker in blockers]
        connection.execute(insert(issue_dependencies), rows)
    return commit.id


def figures() -> list[Figure]:
    """Serve on one processor and ask from another."""
    with tempfile.TemporaryDirectory() as name:
        settings = Settings(data=Path(name) / "data", admin_password=Secret("a-password-for-a-benchmark"))
        with closing(App.open(settings)) as app:
            prepare(app.database, settings)
            commit = fill(app)
        with served_apart(settings, name) as (port, _):
            return measured(port, commit)


def measured(port: int, commit: str) -> list[Figure]:
    """Open each page for the first time, then again and again."""
    pages = {
        f"a file of {LINES:,} lines": f"{AT}/src/branch/main/areas.py",
        "its blame": f"{AT}/blame/branch/main/areas.py",
        f"a commit that changes {CHANGED:,} lines": f"{AT}/commit/{commit}",
        f"an issue with {DEPENDENCIES} dependencies": f"{AT}/issues/1",
        "their list": f"{AT}/issues/1/dependencies/list",
        "their graph": f"{AT}/issues/1/dependencies",
    }
    found: list[Figure] = []
    largest = 0.0
    for what, path in pages.items():
        cold = timed(port, path)
        warm = median(timed(port, path) for _ in range(ROUNDS))
        largest = max(largest, len(fetched(port, path, packed=False)) / 1024)
        found += [Figure(f"{what}, first time", cold, "ms"), Figure(f"{what}, then", warm, "ms", most=SLOWEST)]
    found.append(Figure("the largest of these pages", largest, "KB", most=LARGEST))
    return found
