"""Dumps of database tables."""

import json
from pathlib import Path

from sqlalchemy import func, select

from holdfast.hosting.app import App
from holdfast.hosting.data_folder import open_database
from holdfast.hosting.snapshot import rows
from holdfast.hosting.store import migrate
from holdfast.hosting.store.tables import packs
from holdfast.settings import Settings
from tests.hosting.repository_helpers import make_people
from tests.hosting.storage.log_helpers import LogRepository


def rows_in(path: Path) -> list[str]:
    """Return the rows of a dump, sorted; the columns may stand in another order in another database."""
    columns, *lines = (json.loads(line) for line in path.read_text().splitlines())
    return sorted(str(sorted(zip(columns, line, strict=True))) for line in lines)


def test_dumped_rows_round_trip(app: App, tmp_path: Path) -> None:
    """A dump that is loaded and dumped again has the same rows, and ids are not reused."""
    first, second = tmp_path / "first", tmp_path / "second"
    first.mkdir()
    second.mkdir()
    with app.database.snapshot() as connection:
        counts = rows.dump(connection, first)
        numbers = rows.read_sequences(connection)
    with open_database(Settings(data=tmp_path / "copy")) as copy:
        assert rows.is_blank(copy)
        migrate.upgrade(copy)
        with copy.write() as connection:
            rows.load(connection, first)
            rows.write_sequences(connection, numbers)
        with copy.snapshot() as connection:
            assert rows.dump(connection, second) == counts
            kept = rows.read_sequences(connection)
        assert {name: kept[name] for name in kept if name != "users"}.items() <= numbers.items()
        assert kept["repositories"] == 3
        rows.wipe(copy)
        assert rows.is_blank(copy)
    assert counts["repositories"] == 2
    assert "leases" not in counts
    for path in first.iterdir():
        assert rows_in(path) == rows_in(second / path.name), path.name


def test_a_snapshot_is_consistent(app: App, tmp_path: Path) -> None:
    """A change that another transaction makes while the snapshot is read is not in it."""
    with app.database.snapshot() as connection:
        rows.read_sequences(connection)
        before = connection.exec_driver_sql("SELECT count(*) FROM users").scalar_one()
        with app.database.write() as writing:
            writing.exec_driver_sql("UPDATE users SET full_name = 'changed'")
        names = connection.exec_driver_sql("SELECT count(*) FROM users WHERE full_name = 'changed'").scalar_one()
    assert (before, names) == (3, 0)


def test_replaced_packs_are_not_dumped(app: App, tmp_path: Path) -> None:
    """Packs that a compaction replaced are still stored, but are not part of a dump."""
    repository = LogRepository(app, make_people(app.database, "grace")[0], "compacted")
    for _ in range(5):
        repository.commit()
    assert app.compactor.compact(repository.id)
    with app.database.snapshot() as connection:
        counts = rows.dump(connection, tmp_path)
        total, live = (
            connection.execute(select(func.count()).select_from(packs).where(condition)).scalar_one()
            for condition in (packs.c.id > 0, packs.c.superseded_at == 0)
        )
    assert live < total
    header, *lines = (tmp_path / "packs.jsonl").read_text().splitlines()
    assert counts["packs"] == len(lines) == live
    column = json.loads(header).index("superseded_at")
    assert {json.loads(line)[column] for line in lines} == {0}
