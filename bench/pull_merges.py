"""What merging a pull request costs, against a commit of one file."""

import statistics
import tempfile
import time
from contextlib import closing
from pathlib import Path

from bench.harness import Figure
from holdfast.hosting.access import Actor, RepositoryAccess, repository_access
from holdfast.hosting.app import App
from holdfast.hosting.data_folder import prepare
from holdfast.hosting.services import file_commits, pull_merges, pulls
from holdfast.hosting.services.file_changes import FileChange
from holdfast.hosting.services.file_commits import FileCommit
from holdfast.hosting.services.file_contents import FileContent
from holdfast.hosting.services.issues import IssueDraft
from holdfast.hosting.services.pull_merges import MergeOrder
from holdfast.hosting.services.repositories import NewRepository, create
from holdfast.hosting.store import accounts, repositories
from holdfast.secret import Secret
from holdfast.settings import Settings

__all__ = ["figures"]

ROUNDS = 21
FILES = 20


class Place:
    """A repository with files in it, and its owner."""

    def __init__(self, app: App) -> None:
        self.app = app
        self.actor = Actor(accounts.find_user(app.database, "admin"), by_password=True)
        user = accounts.find_user(app.database, "admin")
        files = {f"d{number % 10}/f{number}": b"old" for number in range(200)}
        self.number = create(app, user, user, NewRepository(name="ship"), files).id

    @property
    def target(self) -> RepositoryAccess:
        """The repository as it is now."""
        repository = repositories.repository_by_id(self.app.database, self.number)
        return RepositoryAccess(repository, repository_access(self.actor, repository, ()))

    def commit(self, branch: str, files: dict[str, bytes], source: str = "") -> None:
        """Commit new files."""
        changes = [
            FileChange(operation="create", path=path, content=FileContent(content))
            for path, content in files.items()
        ]
        wanted = FileCommit(changes=changes, branch=source or branch, new_branch=branch if source else "")
        file_commits.commit(self.app, self.actor, self.target, wanted)

    def open_pull(self, number: int) -> int:
        """Open a pull request of some files while its base goes on, and return its number."""
        branch = f"fix-{number}"
        self.commit(branch, {f"d{one % 10}/new-{number}-{one}": b"new" for one in range(FILES)}, source="main")
        self.commit("main", {f"other-{number}": b"meanwhile"})
        return pulls.create(
            self.app, self.actor, self.target, IssueDraft(title="Fix it"), head=branch, base="main"
        ).number

    def merge(self, number: int, style: str) -> None:
        """Merge a pull request."""
        issue = pulls.find(self.app, self.target, number)
        assert pull_merges.merge(self.app, self.actor, self.target, issue, MergeOrder(style=style))


def figures() -> list[Figure]:
    """Measure commits and merges in turn."""
    times: dict[str, list[float]] = {"commit": [], "merge": [], "squash": []}
    with tempfile.TemporaryDirectory() as scratch:
        settings = Settings(data=Path(scratch), admin_password=Secret("a-password-for-a-benchmark"))
        with closing(App.open(settings)) as app:
            prepare(app.database, settings)
            place = Place(app)
            for number in range(ROUNDS):
                for style in ("merge", "squash"):
                    pull = place.open_pull(2 * number + (style == "squash"))
                    started = time.perf_counter()
                    place.merge(pull, style)
                    times[style].append(time.perf_counter() - started)
                started = time.perf_counter()
                place.commit("main", {f"d{number % 10}/single-{number}": b"one"})
                times["commit"].append(time.perf_counter() - started)
    once = {name: statistics.median(taken) for name, taken in times.items()}
    return [
        Figure("commit of one file", once["commit"] * 1000, "ms"),
        Figure(f"merge of {FILES} files", once["merge"] * 1000, "ms"),
        Figure(f"merge of {FILES} files, in commits of one", once["merge"] / once["commit"], "times", most=3),
        Figure(f"squash of {FILES} files, in commits of one", once["squash"] / once["commit"], "times", most=3),
    ]
