"""Creation of backups, also while the service runs."""

import os
import shutil
import sqlite3
import subprocess
import tarfile
import threading
from collections.abc import Callable, Iterator
from contextlib import ExitStack, closing, contextmanager
from pathlib import Path

import httpx
import pytest
from sqlalchemy import insert, text

from holdfast.hosting.app import App
from holdfast.hosting.data_folder import open_database
from holdfast.hosting.doctor.checks import examine
from holdfast.hosting.errors import DatabaseError, NoData, SnapshotError, SnapshotRefused, WrongDataFolder
from holdfast.hosting.git.fsck import fsck
from holdfast.hosting.services import maintenance
from holdfast.hosting.snapshot.create import create_snapshot, estimate
from holdfast.hosting.snapshot.restore import restore
from holdfast.hosting.store import accounts, repository_log, tokens
from holdfast.hosting.store.encryption import INSTANCE_FILE
from holdfast.hosting.store.repositories import find_repository
from holdfast.hosting.store.tables import issues, packs, repositories
from holdfast.settings import Settings
from tests.conftest import Service, wait_for
from tests.tls import PLAIN


def git(folder: Path, *words: str) -> str:
    """Run git with an identity, and return its output."""
    identity = {
        f"GIT_{who}_{what}": "x@example.org" for who in ("AUTHOR", "COMMITTER") for what in ("NAME", "EMAIL")
    }
    environment = {"PATH": os.environ["PATH"], "HOME": str(folder), "GIT_TERMINAL_PROMPT": "0", **identity}
    done = subprocess.run(["git", *words], cwd=folder, env=environment, capture_output=True, check=True, text=True)
    return done.stdout.strip()


class Load:
    """Threads that create repositories, push and open issues, and record what was acknowledged."""

    def __init__(self, service: Service, folder: Path) -> None:
        self.service = service
        self.folder = folder
        self.stop = threading.Event()
        self.pushed: dict[str, str] = {}
        self.issues: set[str] = set()
        self.collected: set[int] = set()
        self.failures: list[Exception] = []
        admin = accounts.find_user(service.database, "admin")
        _, self.token = tokens.create_token(service.database, admin, "load", ("all",))

    def make_repositories(self, who: int) -> None:
        """Make a repository and push to it several times, over HTTP with real git; delete some again."""
        headers = {"Authorization": f"token {self.token.reveal()}"}
        with httpx.Client(
            base_url=f"{self.service.url}/api/v1", headers=headers, timeout=60, verify=PLAIN
        ) as client:
            turn = 0
            while not self.stop.is_set():
                turn += 1
                name = f"r{who}-{turn}"
                assert client.post("/user/repos", json={"name": name}).status_code == 201
                work = self.folder / name
                work.mkdir()
                git(work, "init", "-q", "-b", "main")
                address = self.service.url.replace("//", f"//admin:{self.token.reveal()}@")
                for commit in range(3):
                    (work / f"file{commit}").write_bytes(os.urandom(2000))
                    git(work, "add", ".")
                    git(work, "commit", "-q", "-m", f"commit {commit}")
                    git(work, "push", "-q", "--force", f"{address}/admin/{name}.git", "main")
                    self.pushed[name] = git(work, "rev-parse", "HEAD")
                if turn % 4 == 0:
                    self.pushed.pop(name)
                    assert client.delete(f"/repos/admin/{name}").status_code == 204

    def open_issues(self) -> None:
        """Open issues in a repository the way the store does: the number and the counter in one transaction."""
        database = self.service.database
        number = 0
        while not self.stop.is_set():
            number += 1
            with database.write() as connection:
                first = connection.execute(text("SELECT min(id) FROM repositories")).scalar_one()
                if first is None:
                    continue
                row = {"repository_id": first, "number": number, "title": f"issue {number}"}
                connection.execute(insert(issues), row)
                connection.execute(
                    repositories.update()
                    .where(repositories.c.id == first)
                    .values(last_issue=number, open_issues=repositories.c.open_issues + 1)
                )
            self.issues.add(f"issue {number}")

    def collect(self) -> None:
        """Pack everything again and again, which moves every object, and delete what was replaced at once."""
        host = App.open(self.service.settings)
        while not self.stop.is_set():
            numbers = repository_log.repositories_with_packs(host.database, at_least=1)
            self.collected.update(maintenance.collect_garbage(host, numbers).compacted)
            with host.database.write() as connection:
                connection.execute(packs.update().where(packs.c.superseded_at > 0).values(superseded_at=1))
            maintenance.delete_packs(host)
        host.close()

    def guarded(self, work: Callable[[], None]) -> None:
        """Run a function, and record its exception."""
        try:
            work()
        except Exception as error:  # noqa: BLE001  # the test looks at them
            self.failures.append(error)
            self.stop.set()

    @contextmanager
    def going_on(self) -> Iterator[None]:
        """Run the threads until the end of the block."""
        works = [
            lambda: self.make_repositories(0),
            lambda: self.make_repositories(1),
            self.open_issues,
            self.collect,
        ]
        threads = [threading.Thread(target=self.guarded, args=(work,)) for work in works]
        for thread in threads:
            thread.start()
        try:
            yield
        finally:
            self.stop.set()
            for thread in threads:
                thread.join()


@pytest.mark.long
@pytest.mark.timeout(300)
def test_a_backup_made_under_load_is_whole(service: Service, tmp_path: Path) -> None:
    """A backup contains everything that was acknowledged before it began.

    Its repositories are intact, and the doctor finds nothing after a restore.
    """
    load = Load(service, tmp_path)
    with ExitStack() as stack:
        stack.enter_context(load.going_on())
        wait_for(lambda: load.stop.is_set() or (len(load.pushed) >= 4 and len(load.issues) > 20), 120)
        for turn in range(3):
            before, issues_before = dict(load.pushed), set(load.issues)
            create_snapshot(service.settings, tmp_path / f"backup{turn}.tar")
            after = dict(load.pushed)
            stays = {name: commit for name, commit in before.items() if name in after}
            other = Settings(data=tmp_path / f"other{turn}")
            restore(other, tmp_path / f"backup{turn}.tar")
            check_restored(other, stays, issues_before)
    for failure in load.failures:
        raise failure
    assert load.collected


def check_restored(other: Settings, pushed: dict[str, str], names: set[str]) -> None:
    """Compare a restored installation with the pushes and issues that were acknowledged."""
    host = App.open(other)
    assert list(examine(host, deep=True)) == []
    for name, commit in pushed.items():
        repository = find_repository(host.database, "admin", name)
        folder = host.copies.update(repository.id).folder
        assert fsck(folder).whole
        # A later push may be in it too; the commit that was acknowledged is there in any case.
        git(folder, "--git-dir", ".", "merge-base", "--is-ancestor", commit, "refs/heads/main")
    with host.database.read() as connection:
        titles = set(connection.execute(text("SELECT title FROM issues")).scalars())
    assert names <= titles
    host.close()


@pytest.mark.parametrize(
    ("target", "problem"),
    [
        ("backup.zip", "must end with"),
        ("backup.tar.zst", "must end with"),
        ("there.tar", "never overwritten"),
        ("no/such/folder.tar", "does not exist"),
        ("data/inside.tar", "cannot be written into its own data folder"),
    ],
)
@pytest.mark.parametrize("settings", ["sqlite"], indirect=True)
def test_an_invalid_target_of_a_backup_is_refused(app: App, tmp_path: Path, target: str, problem: str) -> None:
    """The error says why the target is refused, and nothing is written."""
    (tmp_path / "there.tar").write_bytes(b"precious")
    before = sorted(tmp_path.rglob("*"))
    with pytest.raises(SnapshotRefused, match=problem):
        create_snapshot(app.settings, tmp_path / target)
    assert sorted(tmp_path.rglob("*")) == before
    assert (tmp_path / "there.tar").read_bytes() == b"precious"


def test_there_must_be_something_to_back_up(tmp_path: Path) -> None:
    """A missing data folder and a database without tables are errors, and no file is written."""
    with pytest.raises(NoData, match="no Holdfast data in"):
        create_snapshot(Settings(data=tmp_path / "none"), tmp_path / "backup.tar")
    with open_database(Settings(data=tmp_path / "data")) as database, database.read():
        pass
    with pytest.raises(NoData, match="is empty"):
        create_snapshot(Settings(data=tmp_path / "data"), tmp_path / "backup.tar")
    assert [path.name for path in tmp_path.iterdir()] == ["data"]


@pytest.mark.parametrize(
    ("revision", "problem"), [("0030", "of an earlier version"), ("9999", "by a newer Holdfast")]
)
def test_a_database_of_another_version_is_not_backed_up(
    app: App, tmp_path: Path, revision: str, problem: str
) -> None:
    """The error says whether this version is too old or has not been started yet."""
    with app.database.write() as connection:
        connection.execute(text("UPDATE alembic_version SET version_num = :revision"), {"revision": revision})
    with pytest.raises(DatabaseError, match=problem):
        create_snapshot(app.settings, tmp_path / "backup.tar")


@pytest.mark.parametrize("settings", ["sqlite"], indirect=True)
def test_databases_among_the_files_are_copied_at_one_moment(app: App, tmp_path: Path) -> None:
    """A SQLite file is copied with the content of its write-ahead log, and symbolic links are left out."""
    with closing(sqlite3.connect(app.settings.data / "archive.sqlite3")) as archive:
        archive.execute("PRAGMA journal_mode = WAL")
        archive.execute("CREATE TABLE messages (body TEXT)")
        archive.execute("INSERT INTO messages VALUES ('hello')")
        archive.commit()
        (app.settings.data / "link").symlink_to("/etc/passwd")
        create_snapshot(app.settings, tmp_path / "backup.tar")
    other = Settings(data=tmp_path / "other")
    restore(other, tmp_path / "backup.tar")
    with closing(sqlite3.connect(other.data / "archive.sqlite3")) as archive:
        assert archive.execute("SELECT body FROM messages").fetchall() == [("hello",)]
    assert not (other.data / "link").exists()
    assert estimate(app.settings) > 0


@pytest.mark.parametrize("settings", ["sqlite"], indirect=True)
def test_stored_objects_that_are_databases_are_backed_up_unchanged(app: App, tmp_path: Path) -> None:
    """Users may upload a SQLite database, or a file that only begins like one."""
    with closing(sqlite3.connect(tmp_path / "boats.sqlite3")) as boats:
        boats.execute("CREATE TABLE boats (name TEXT)")
        boats.commit()
    contents = {
        "lfs/aa/bb/aabb": (tmp_path / "boats.sqlite3").read_bytes(),
        "attachments/cc/ccdd": b"SQLite format 3\0 and nothing more",
        "chats/ee/eeff": b"SQLite format 3\0" + bytes(5000),
    }
    for key, content in contents.items():
        app.store.put(key, content)
    create_snapshot(app.settings, tmp_path / "backup.tar")
    with tarfile.open(tmp_path / "backup.tar") as written:
        for key, content in contents.items():
            member = written.extractfile(f"files/{key}")
            assert member is not None
            assert member.read() == content
    assert [path.name for path in (app.settings.data / "lfs/aa/bb").iterdir()] == ["aabb"]


@pytest.mark.parametrize("settings", ["sqlite"], indirect=True)
def test_caches_and_copies_are_not_backed_up(app: App, tmp_path: Path) -> None:
    """The cache of conversations, the owner mark of a bucket and the local copies are not in a backup."""
    app.copies.update(1)
    stored = app.settings.data / "cache" / "chats" / "sealed"
    stored.parent.mkdir(parents=True)
    stored.write_bytes(b"x")
    (app.settings.data / "bucket-owner").write_bytes(b"x")
    create_snapshot(app.settings, tmp_path / "whole.tar")
    with tarfile.open(tmp_path / "whole.tar") as written:
        names = written.getnames()
    assert not [name for name in names if "cache" in name or "bucket" in name or "repositories/" in name]


def test_a_backup_without_a_pack_that_was_not_deleted_is_refused(
    app: App, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A missing pack is an error, because a restore of such a backup would lose its objects."""
    monkeypatch.setattr("holdfast.hosting.storage.pack_files.INLINE_LIMIT", 0)
    app.compactor.collect_garbage(1, retention_seconds=0)
    (pack,) = (app.settings.data / "packs").rglob("*.pack")
    pack.unlink()
    with pytest.raises(SnapshotError, match=pack.name):
        create_snapshot(app.settings, tmp_path / "backup.tar")
    assert not (tmp_path / "backup.tar").exists()


def test_a_backup_without_a_repository_that_is_not_adopted_is_refused(app: App, tmp_path: Path) -> None:
    """A repository that is not adopted is only in its folder, which is no part of a backup."""
    with app.database.write() as connection:
        connection.execute(repositories.update().where(repositories.c.id == 1).values(version=-1))
    with pytest.raises(SnapshotError, match="not adopted"):
        create_snapshot(app.settings, tmp_path / "backup.tar")
    assert not (tmp_path / "backup.tar").exists()


def test_a_backup_needs_no_copy(app: App, tmp_path: Path) -> None:
    """A backup that is made without the local copies of repositories can be restored completely."""
    shutil.rmtree(app.folders.root)
    create_snapshot(app.settings, tmp_path / "backup.tar")
    other = Settings(data=tmp_path / "other")
    restore(other, tmp_path / "backup.tar")
    with closing(App.open(other)) as restored:
        assert list(examine(restored, deep=True)) == []


def test_the_folder_of_another_database_is_not_backed_up(app: App, tmp_path: Path) -> None:
    """A data folder that does not belong to the database is an error."""
    (app.settings.data / INSTANCE_FILE).unlink()
    with pytest.raises(WrongDataFolder):
        create_snapshot(app.settings, tmp_path / "backup.tar")
    assert not (tmp_path / "backup.tar").exists()


@pytest.mark.parametrize("settings", ["sqlite"], indirect=True)
def test_a_backup_is_private(app: App, tmp_path: Path) -> None:
    """The file has mode 600 even with a umask of 0, because it contains all secrets."""
    before = os.umask(0)
    try:
        create_snapshot(app.settings, tmp_path / "backup.tar")
    finally:
        os.umask(before)
    assert (tmp_path / "backup.tar").stat().st_mode & 0o777 == 0o600
