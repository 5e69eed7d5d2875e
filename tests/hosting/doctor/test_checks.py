"""The whole examination: what is hurt is found, named and, where that is safe, healed."""

import os
import shutil
import time
from collections.abc import Callable

import pytest
from sqlalchemy import text

from holdfast.hosting.app import App
from holdfast.hosting.doctor.checks import examine, repair
from holdfast.hosting.git import refs
from holdfast.hosting.git.folders import make_private_folder
from holdfast.hosting.git.repository import open_repository

OID = "ab" * 32
Hurt = Callable[[App], None]


def sql(*statements: str) -> Hurt:
    """Make what changes the database behind everybody's back."""

    def hurt(app: App) -> None:
        with app.database.write() as connection:
            for statement in statements:
                connection.execute(text(statement))

    return hurt


def orphan_folder(app: App) -> None:
    """Leave a folder whose row was never kept."""
    folder = app.folders.create(77)
    os.utime(folder, (1, 1))


def lose_folder(app: App) -> None:
    """Remove a repository's folder."""
    shutil.rmtree(app.folders.path(1))


def unlink_objects(app: App) -> None:
    """Remove every object of a repository."""
    for path in app.folders.path(1).glob("objects/??/*"):
        path.unlink()


def break_head(app: App) -> None:
    """Write nonsense into HEAD."""
    (app.folders.path(1) / "HEAD").write_text("nonsense\n")


def move_head(app: App) -> None:
    """Let HEAD name another branch than the default."""
    (app.folders.path(1) / "HEAD").write_text("ref: refs/heads/other\n")


def grow(app: App) -> None:
    """Let a folder take more room than is said."""
    (app.folders.path(2) / "objects" / "pack" / "tmp_pack_big").write_bytes(bytes(3 << 20))


def old_object(app: App) -> None:
    """Leave a large file no repository has."""
    path = app.settings.data / "lfs" / OID[:2] / OID[2:4] / OID
    make_private_folder(path.parent)
    path.write_bytes(b"large")
    os.utime(path, (1, 1))


def wrong_size(app: App) -> None:
    """Let a large file be shorter than it was."""
    old_object(app)
    sql(f"INSERT INTO lfs_links (repository_id, oid, size) VALUES (1, '{OID}', 100)")(app)


def open_to_all(app: App) -> None:
    """Let everybody read the data folder."""
    app.settings.data.chmod(0o755)


ISSUE = "INSERT INTO issues (repository_id, number, title) VALUES (1, 5, 'five')"
COUNTED = "UPDATE repositories SET last_issue = 5, open_issues = 1 WHERE id = 1"
MOVE = (
    "INSERT INTO ref_updates (repository_id, ref, old, new, created_at) "
    f"VALUES (1, 'refs/heads/new', '{'0' * 40}', '{'1' * 40}', 1000)"
)
WOUNDS = [
    (orphan_folder, ["folder-without-row"], True),
    (lose_folder, ["folder-missing"], False),
    (unlink_objects, ["damaged"], False),
    (break_head, ["unreadable"], False),
    (move_head, ["head"], True),
    (grow, ["size"], True),
    (old_object, ["lfs-unlinked"], False),
    (wrong_size, ["lfs-size"], False),
    (open_to_all, ["permissions"], True),
    (sql("UPDATE repositories SET default_branch = 'gone' WHERE id = 1"), ["default-branch"], True),
    (sql("UPDATE repositories SET is_empty = true WHERE id = 1"), ["empty"], True),
    (sql("UPDATE repositories SET branch_count = 9 WHERE id = 1"), ["branch-count"], True),
    (sql("UPDATE repositories SET object_format = 'sha256' WHERE id = 1"), ["object-format"], False),
    (sql("UPDATE repositories SET open_pulls = 3 WHERE id = 2"), ["issue-count"], True),
    (sql(ISSUE, COUNTED, "UPDATE repositories SET last_issue = 4 WHERE id = 1"), ["issue-number"], True),
    (sql(ISSUE, COUNTED, "UPDATE issues SET comment_count = 2"), ["comment-count"], True),
    (sql("INSERT INTO name_redirects (folded_name, user_id) VALUES ('admin', 1)"), ["redirect"], True),
    (
        sql("INSERT INTO repository_redirects (owner_id, folded_name, repository_id) VALUES (1, 'full', 2)"),
        ["redirect"],
        True,
    ),
    (sql(MOVE), ["ref-update"], True),
    (sql(f"INSERT INTO lfs_links (repository_id, oid, size) VALUES (1, '{OID}', 5)"), ["lfs-missing"], False),
    (sql("UPDATE alembic_version SET version_num = '0001'"), ["migrations"], None),
]


def test_nothing_is_found_where_all_is_well(app: App) -> None:
    """Also when every object is read."""
    seen: list[int] = []
    assert list(examine(app, deep=True, passed=seen.append)) == []
    assert seen == [1, 2]


@pytest.mark.parametrize(("hurt", "found", "heals"), WOUNDS)
def test_what_is_hurt_is_found_and_healed_where_that_is_safe(
    app: App,
    hurt: Hurt,
    found: list[str],
    heals: bool | None,  # noqa: FBT001
) -> None:
    """Each finding has a place, a sentence and an advice; healing it twice finds nothing the second time."""
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


def test_a_folder_nobody_claims_is_set_aside_and_not_deleted(app: App) -> None:
    """A person can look at it."""
    orphan_folder(app)
    (finding,) = examine(app)
    repair(finding)
    (kept,) = (app.settings.data / "lost-and-found").iterdir()
    assert (kept / "HEAD").read_text() == "ref: refs/heads/main\n"
    assert not app.folders.exists(77)


def test_a_repository_that_is_being_made_is_no_finding(app: App) -> None:
    """Its folder is there a moment before its row."""
    app.folders.create(77)
    assert list(examine(app)) == []
    assert len(list(examine(app, now=time.time() + 3600))) == 1


def test_healing_points_head_at_the_branch_people_chose(app: App) -> None:
    """The database knows what they chose."""
    move_head(app)
    (finding,) = examine(app)
    repair(finding)
    assert refs.head(open_repository(app.folders.path(1))) == "main"
