"""What the pages of a pull request cost that changes 200 files, against those of one that changes one."""

import hashlib
import tempfile
from contextlib import closing
from pathlib import Path
from statistics import median

from bench.harness import Figure
from bench.service import served_apart
from bench.website import timed
from holdfast.hosting.access import Actor, RepositoryAccess, repository_access
from holdfast.hosting.app import App
from holdfast.hosting.data_folder import prepare
from holdfast.hosting.services import file_commits, pulls
from holdfast.hosting.services.file_changes import FileChange
from holdfast.hosting.services.file_commits import FileCommit
from holdfast.hosting.services.file_contents import FileContent
from holdfast.hosting.services.issues import IssueDraft
from holdfast.hosting.services.repositories import NewRepository, create
from holdfast.hosting.store import accounts, repositories
from holdfast.secret import Secret
from holdfast.settings import Settings

__all__ = ["figures"]

FILES = 200
ROUNDS = 21
AT = "/admin/ship/pulls"


def text(number: int, change: str = "") -> bytes:
    """Return a file of 40 lines, of which a change replaces one in the middle and adds one at the end."""
    lines = [f"line {line} of file {number}" for line in range(40)]
    if change:
        lines[20] = change
        lines.append(change)
    return "\n".join([*lines, ""]).encode()


def blob_id(content: bytes) -> str:
    """Return the id that git gives to a file."""
    return hashlib.sha1(b"blob %d\0%s" % (len(content), content), usedforsecurity=False).hexdigest()


def fill(app: App) -> None:
    """Make a repository with two pull requests: one of all files, and one of a single file."""
    user = accounts.find_user(app.database, "admin")
    actor = Actor(user, by_password=True)
    files = {f"src/d{number % 10}/f{number}.py": text(number) for number in range(FILES)}
    number = create(app, user, user, NewRepository(name="ship"), files).id
    for branch, count in (("all", FILES), ("one", 1)):
        repository = repositories.repository_by_id(app.database, number)
        target = RepositoryAccess(repository, repository_access(actor, repository, ()))
        changes = [
            FileChange(
                operation="update",
                path=path,
                content=FileContent(text(index, "changed")),
                sha=blob_id(files[path]),
            )
            for index, path in enumerate(list(files)[:count])
        ]
        wanted = FileCommit(changes=changes, branch="main", new_branch=branch)
        file_commits.commit(app, actor, target, wanted)
        pulls.create(app, actor, target, IssueDraft(title=f"Change {branch}"), head=branch, base="main")


def figures() -> list[Figure]:
    """Serve on one processor and ask from another."""
    with tempfile.TemporaryDirectory() as name:
        settings = Settings(data=Path(name) / "data", admin_password=Secret("a-password-for-a-benchmark"))
        with closing(App.open(settings)) as app:
            prepare(app.database, settings)
            fill(app)
        with served_apart(settings, name) as (port, _):
            return measured(port)


def measured(port: int) -> list[Figure]:
    """Open each page for the first time, then again and again."""
    pages = {
        f"the conversation of a pull request of {FILES} files": (f"{AT}/1", 100.0),
        f"the changes of {FILES} files": (f"{AT}/1/files", 100.0),
        "the changes of one file": (f"{AT}/2/files", None),
        f"the commits of a pull request of {FILES} files": (f"{AT}/1/commits", None),
    }
    found: list[Figure] = []
    for what, (path, most) in pages.items():
        cold = timed(port, path)
        warm = median(timed(port, path) for _ in range(ROUNDS))
        found += [Figure(f"{what}, first time", cold, "ms"), Figure(f"{what}, then", warm, "ms", most=most)]
    return found
