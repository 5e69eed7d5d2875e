"""All checks of the doctor, and its repairs."""

import os
import shutil
from collections.abc import Callable
from pathlib import Path

import pytest
from sqlalchemy import select, text, update

from holdfast.hosting.app import App
from holdfast.hosting.doctor.checks import examine, repair
from holdfast.hosting.git import refs
from holdfast.hosting.git.folders import make_private_folder
from holdfast.hosting.git.packs import decode_pack, encode_pack
from holdfast.hosting.storage.local_copies import create_repository
from holdfast.hosting.store import repository_log
from holdfast.hosting.store.tables import packs, repositories

OID = "ab" * 32
Hurt = Callable[[App], None]


def sql(*statements: str) -> Hurt:
    """Return a function that runs an SQL statement without the checks of the services."""

    def hurt(app: App) -> None:
        with app.database.write() as connection:
            for statement in statements:
                connection.execute(text(statement))

    return hurt


def orphan_copy(app: App) -> None:
    """Create a local copy without a row in the database."""
    folder = app.folders.path(77)
    make_private_folder(folder.parent)
    create_repository(folder, "main")


def change_pack(app: App, change: Callable[[bytes], bytes]) -> None:
    """Change the pack of a repository in its row, without the checks of the log."""
    with app.database.write() as connection:
        (row,) = connection.execute(select(packs.c.id, packs.c.content).where(packs.c.repository_id == 1))
        content = change(row.content)
        connection.execute(update(packs).where(packs.c.id == row.id).values(content=content, size=len(content)))
        connection.execute(update(repositories).where(repositories.c.id == 1).values(size=len(content)))


def lose_objects(app: App) -> None:
    """Lose every object of a repository."""
    sql("DELETE FROM packs WHERE repository_id = 1", "UPDATE repositories SET size = 0 WHERE id = 1")(app)


def lose_blob(app: App) -> None:
    """Lose the only file of a repository, and keep its commit and tree."""

    def without_blobs(content: bytes) -> bytes:
        return encode_pack(item for item in decode_pack(content) or [] if item.kind != "blob")

    change_pack(app, without_blobs)


def flip_byte(app: App) -> None:
    """Change one byte of a pack."""
    change_pack(app, lambda content: content[:20] + bytes([content[20] ^ 1]) + content[21:])


def old_object(app: App) -> None:
    """Write an old LFS object that belongs to no repository."""
    path = app.settings.data / "lfs" / OID[:2] / OID[2:4] / OID
    make_private_folder(path.parent)
    path.write_bytes(b"large")
    os.utime(path, (1, 1))


def wrong_size(app: App) -> None:
    """Write an LFS object that is shorter than its row says."""
    old_object(app)
    sql(f"INSERT INTO lfs_links (repository_id, oid, size) VALUES (1, '{OID}', 100)")(app)


def old_attachment(app: App) -> None:
    """Write an old attachment without a row in the database."""
    path = app.settings.data / "attachments" / "ab" / "abcd"
    make_private_folder(path.parent)
    path.write_bytes(b"file")
    os.utime(path, (1, 1))


ATTACHED = "INSERT INTO attachments (uuid, repository_id, name, size, digest) VALUES ('abcd', 1, 'a', 5, '')"


def short_attachment(app: App) -> None:
    """Write an attachment that is shorter than its row says."""
    old_attachment(app)
    sql(ATTACHED)(app)


def old_chat_part(app: App) -> None:
    """Write an old part of a chat backup without a row in the database."""
    path = app.settings.data / "chats" / "ab" / "abcd"
    make_private_folder(path.parent)
    path.write_bytes(b"part")
    os.utime(path, (1, 1))


CHAT_PART = (
    (
        "INSERT INTO chat_backups (uuid, owner_id, name, state, size, fingerprint) "
        "VALUES ('u', 1, 'a', 'complete', 5, '')"
    ),
    "INSERT INTO chat_backup_files (backup_id, path, size) VALUES (1, 'a', 5)",
    "INSERT INTO chat_backup_parts (file_id, start, size, uuid) VALUES (1, 0, 5, 'abcd')",
)


def short_chat_part(app: App) -> None:
    """Write a part of a chat backup that is shorter than its row says."""
    old_chat_part(app)
    sql(*CHAT_PART)(app)


def open_to_all(app: App) -> None:
    """Make the data folder readable for all users of the machine."""
    app.settings.data.chmod(0o755)


ISSUE = "INSERT INTO issues (repository_id, number, title) VALUES (1, 5, 'five')"
COUNTED = "UPDATE repositories SET last_issue = 5, open_issues = 1 WHERE id = 1"
COMMENT = "INSERT INTO comments (issue_id, kind, repository_id) SELECT id, 'comment', 2 FROM issues"
LABEL = (
    "INSERT INTO labels (repository_id, name, color) VALUES (1, 'bug', 'ff0000')",
    (
        "INSERT INTO issue_labels (issue_id, label_id, repository_id)"
        " SELECT issues.id, labels.id, 1 FROM issues, labels"
    ),
)
WOUNDS = [
    (orphan_copy, ["copy-without-row"], True),
    (lose_objects, ["damaged"], False),
    (lose_blob, ["damaged"], False),
    (flip_byte, ["unreadable"], False),
    (sql("UPDATE repositories SET size = 5 WHERE id = 1"), ["size"], True),
    (sql("UPDATE repositories SET version = -1 WHERE id = 1"), ["not-adopted"], False),
    (old_object, ["lfs-unlinked"], False),
    (wrong_size, ["lfs-size"], False),
    (old_attachment, ["attachment-unused"], False),
    (short_attachment, ["attachment-size"], False),
    (sql(ATTACHED), ["attachment-missing"], False),
    (old_chat_part, ["chat-part-unused"], False),
    (short_chat_part, ["chat-part-size"], False),
    (sql(*CHAT_PART), ["chat-part-missing"], False),
    (open_to_all, ["permissions"], True),
    (sql("UPDATE repositories SET default_branch = 'gone' WHERE id = 1"), ["default-branch"], True),
    (sql("UPDATE repositories SET is_empty = true WHERE id = 1"), ["empty"], True),
    (sql("UPDATE repositories SET branch_count = 9 WHERE id = 1"), ["branch-count"], True),
    (sql("UPDATE repositories SET open_pulls = 3 WHERE id = 2"), ["issue-count"], True),
    (sql(ISSUE, COUNTED, "UPDATE repositories SET last_issue = 4 WHERE id = 1"), ["issue-number"], True),
    (sql(ISSUE, COUNTED, "UPDATE issues SET comment_count = 2"), ["comment-count"], True),
    (sql(ISSUE, COUNTED, COMMENT, "UPDATE issues SET comment_count = 1"), ["comment-count"], True),
    (sql(ISSUE, COUNTED, *LABEL, "UPDATE issue_labels SET is_closed = true"), ["label-rows"], True),
    (sql(ISSUE, COUNTED, *LABEL, "UPDATE issue_labels SET repository_id = 2"), ["label-rows"], True),
    (sql("INSERT INTO name_redirects (folded_name, user_id) VALUES ('admin', 1)"), ["redirect"], True),
    (
        sql("INSERT INTO repository_redirects (owner_id, folded_name, repository_id) VALUES (1, 'full', 2)"),
        ["redirect"],
        True,
    ),
    (sql(f"INSERT INTO lfs_links (repository_id, oid, size) VALUES (1, '{OID}', 5)"), ["lfs-missing"], False),
    (sql("UPDATE alembic_version SET version_num = '0001'"), ["migrations"], None),
]


def test_an_intact_installation_has_no_findings(app: App) -> None:
    """A deep check reads every object of an intact installation and reports both repositories as checked."""
    seen: list[int] = []
    assert list(examine(app, deep=True, passed=seen.append)) == []
    assert seen == [1, 2]


@pytest.mark.parametrize(("hurt", "found", "heals"), WOUNDS)
def test_damage_is_found_and_repaired_where_that_is_safe(
    app: App,
    hurt: Hurt,
    found: list[str],
    heals: bool | None,  # noqa: FBT001  # a parameter of the test
) -> None:
    """Each finding has a place, a description and advice, and after a successful repair it is not found again."""
    hurt(app)
    findings = list(examine(app, deep=True))
    assert [finding.kind.value for finding in findings] == found
    (finding,) = findings
    assert finding.where
    assert finding.what
    assert finding.kind.advice
    if heals is None:
        return
    assert repair(finding) is heals
    assert [again.kind.value for again in examine(app, deep=True)] == ([] if heals else found)


def test_an_orphaned_copy_is_moved_aside_and_not_deleted(app: App) -> None:
    """An orphaned copy stays in `lost-and-found`, as it may be the only one if the database is the wrong one."""
    orphan_copy(app)
    (finding,) = examine(app)
    repair(finding)
    (set_aside,) = (app.settings.data / "lost-and-found").iterdir()
    assert (set_aside / "HEAD").read_text() == "ref: refs/heads/main\n"
    assert not app.folders.exists(77)


def test_a_repair_makes_the_first_branch_the_default(app: App) -> None:
    """After the repair the HEAD of the local copy names the branch that exists."""
    sql("UPDATE repositories SET default_branch = 'gone' WHERE id = 1")(app)
    assert refs.head(app.copies.update(1)) == "gone"
    (finding,) = examine(app)
    repair(finding)
    assert refs.head(app.copies.update(1)) == "main"


@pytest.mark.parametrize("hurt", [shutil.rmtree, lambda folder: (folder / "HEAD").write_text("nonsense\n")])
def test_local_copies_are_not_checked(app: App, hurt: Callable[[Path], object]) -> None:
    """A missing or damaged local copy is no finding, as it can be rebuilt from the database and object store."""
    hurt(app.copies.update(1).folder)
    assert list(examine(app, deep=True)) == []


@pytest.fixture
def stored(app: App, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Move the pack of a repository to the object store, delete its copy, and return the file."""
    monkeypatch.setattr("holdfast.hosting.storage.pack_files.INLINE_LIMIT", 0)
    assert app.compactor.collect_garbage(1, retention_seconds=0)
    app.copies.discard(1)
    with app.database.read() as connection:
        (pack,) = repository_log.live_packs(connection, 1, 0)
    assert app.store.folder is not None
    return app.store.folder / pack.store_key


def test_packs_of_the_object_store_are_checked(app: App, stored: Path) -> None:
    """A deep check of intact packs in the object store has no findings."""
    assert stored.exists()
    assert list(examine(app, deep=True)) == []


@pytest.mark.parametrize("suffix", [".pack", ".idx"])
def test_a_pack_missing_from_the_object_store_is_found_without_reading_any(
    app: App, stored: Path, suffix: str
) -> None:
    """A missing pack or index is found by a quick check and by a deep one."""
    stored.with_suffix(suffix).unlink()
    assert [finding.kind.value for finding in examine(app)] == ["pack-missing"]
    assert [finding.kind.value for finding in examine(app, deep=True)] == ["pack-missing", "unreadable"]


def test_a_pack_that_was_changed_in_the_object_store_is_found_by_reading_it(app: App, stored: Path) -> None:
    """Only a deep check finds a changed byte, because the size of the pack is the same."""
    content = bytearray(stored.read_bytes())
    content[len(content) // 2] ^= 1
    stored.chmod(0o600)
    stored.write_bytes(content)
    assert list(examine(app)) == []
    (finding,) = examine(app, deep=True)
    assert finding.kind.value in {"damaged", "unreadable"}
    assert finding.where == "admin/full"
