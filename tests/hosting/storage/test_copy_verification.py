"""Verification of the checksums of local copies."""

import os
import shutil
import time
from collections.abc import Iterator
from pathlib import Path

import pytest
import structlog

from holdfast.hosting.app import App
from holdfast.hosting.git.history import refresh_commit_graph
from holdfast.hosting.git.program import run
from holdfast.hosting.storage import copy_verification
from holdfast.hosting.storage.copy_verification import VERIFIED_FILE, VERIFIED_SECONDS, CopyVerifier
from holdfast.hosting.storage.local_copies import STATE_FILE, UNPACK_LIMIT
from tests.hosting.repository_helpers import make_people
from tests.hosting.storage.log_helpers import LogRepository, snapshot

ALL = 2**40


@pytest.fixture
def ship(app: App) -> LogRepository:
    """Make a repository whose copy has a pack of its own, a loose object and all derived files."""
    log_repository = LogRepository(app, make_people(app.database, "ada")[0])
    for _ in range(UNPACK_LIMIT):
        log_repository.commit()
    app.copies.tidy(log_repository.id)
    folder = app.copies.open(log_repository.row).folder
    refresh_commit_graph(folder)
    # Newer versions of git write this file by themselves.
    (pack,) = folder.glob("objects/pack/*.pack")
    run(folder, "index-pack", "--rev-index", str(pack))
    log_repository.commit()
    app.copies.open(log_repository.row)
    return log_repository


@pytest.fixture
def verifier(ship: LogRepository) -> Iterator[CopyVerifier]:
    """Make a verifier of the copies."""
    opened = CopyVerifier(ship.app.copies)
    yield opened
    opened.close()


def flip(path: Path, at: int = -30) -> None:
    """Flip a bit of a file in place."""
    path.chmod(0o600)
    with path.open("r+b") as file:
        file.seek(at, os.SEEK_END if at < 0 else os.SEEK_SET)
        (byte,) = file.read(1)
        file.seek(-1, os.SEEK_CUR)
        file.write(bytes([byte ^ 1]))


@pytest.mark.parametrize("at", [12, -25, -5])
@pytest.mark.parametrize(
    "pattern",
    [
        "objects/pack/*.pack",
        "objects/pack/*.idx",
        "objects/pack/*.bitmap",
        "objects/pack/*.rev",
        "objects/pack/multi-pack-index",
        "objects/info/commit-graphs/*.graph",
        "objects/??/*",
    ],
)
def test_a_corrupt_copy_is_deleted_and_rebuilt(
    ship: LogRepository, verifier: CopyVerifier, pattern: str, at: int
) -> None:
    """A flipped bit is found in the content and in the checksum of every kind of file."""
    folder = ship.app.folders.path(ship.id)
    flip(next(folder.glob(pattern)), at)
    verifier.run(ALL)
    assert not folder.exists()
    assert snapshot(ship.app.copies.open(ship.row).folder) == ship.refs()
    verifier.run(ALL)
    assert folder.exists()


def test_an_intact_copy_is_read_once_a_day(ship: LogRepository, verifier: CopyVerifier) -> None:
    """An intact copy stays, and a copy that was rebuilt is read again."""
    folder = ship.app.folders.path(ship.id)
    files = [path for path in (folder / "objects").rglob("*") if path.is_file()]
    checksummed = [path for path in files if path.parent.name in {"pack", "commit-graphs"}]
    checksummed = [path for path in checksummed if path.name != "commit-graph-chain"]
    loose = [path for path in files if len(path.parent.name) == 2]
    size = sum(path.stat().st_size for path in checksummed + loose) - 20 * len(checksummed)
    assert [verifier.run(ALL), verifier.run(ALL)] == [size, 0]
    assert folder.exists()
    now = time.time()
    for seconds, read in ((VERIFIED_SECONDS - 60, 0), (VERIFIED_SECONDS + 60, size)):
        os.utime(folder / VERIFIED_FILE, (now - seconds, now - seconds))
        assert verifier.run(ALL) == read
    ship.app.copies.discard(ship.id)
    ship.app.copies.open(ship.row)
    assert verifier.run(ALL) > 0


def test_a_run_reads_a_part_and_the_next_one_continues(
    ship: LogRepository, verifier: CopyVerifier, monkeypatch: pytest.MonkeyPatch
) -> None:
    """What a run reads is bounded, also within a large pack, and corruption is found by a later run."""
    monkeypatch.setattr(copy_verification, "CHUNK", 100)
    folder = ship.app.folders.path(ship.id)
    flip(next(folder.glob("objects/??/*")), 12)
    runs = 0
    while folder.exists():
        assert verifier.run(200) <= 300
        runs += 1
    assert 10 < runs < 1000


def test_copies_that_were_verified_longest_ago_are_first(ship: LogRepository, verifier: CopyVerifier) -> None:
    """Otherwise a copy could be left out for ever."""
    other = LogRepository(ship.app, make_people(ship.app.database, "bob")[0])
    other.commit()
    ship.app.copies.open(other.row)
    verifier.run(ALL)
    marks = [ship.app.folders.path(item.id) / VERIFIED_FILE for item in (ship, other)]
    for order in (marks, marks[::-1]):
        for age, mark in zip((3, 2), order, strict=True):
            os.utime(mark, (1, time.time() - age * VERIFIED_SECONDS))
        verifier.run(1)
        verifier.run(10)
        assert [mark.stat().st_atime == 1 for mark in order][1]
        verifier.run(ALL)


def test_corruption_of_the_object_store_is_logged_and_the_copy_stays(
    ship: LogRepository, verifier: CopyVerifier
) -> None:
    """A copy of hard links is built from the same files again; `holdfast admin doctor --deep` reports them."""
    ship.commit(size=300_000)
    folder = ship.app.copies.open(ship.row).folder
    (pack,) = (path for path in folder.glob("objects/pack/*.pack") if path.stat().st_nlink > 1)
    flip(pack)
    with structlog.testing.capture_logs() as logged:
        verifier.run(ALL)
    (entry,) = (entry for entry in logged if entry["event"] == "pack corrupt in the object store")
    assert (entry["repository_id"], entry["pack"]) == (ship.id, pack.name)
    assert folder.exists()
    assert verifier.run(ALL) == 0


def test_a_folder_that_is_not_a_copy_is_not_read(ship: LogRepository, verifier: CopyVerifier) -> None:
    """Without a state file it may be the only data."""
    (ship.app.folders.path(ship.id) / STATE_FILE).unlink()
    assert verifier.run(ALL) == 0


def test_a_copy_that_is_deleted_meanwhile_is_no_error(
    ship: LogRepository, verifier: CopyVerifier, monkeypatch: pytest.MonkeyPatch
) -> None:
    """An eviction between two runs ends the verification of a copy, which is not created again."""
    monkeypatch.setattr(copy_verification, "CHUNK", 100)
    verifier.run(100)
    folder = ship.app.folders.path(ship.id)
    shutil.rmtree(folder)
    verifier.run(ALL)
    assert not folder.exists()


def test_one_process_of_a_machine_verifies(ship: LogRepository, verifier: CopyVerifier) -> None:
    """Another one takes over when it ends."""
    assert verifier.run(1) > 0
    other = CopyVerifier(ship.app.copies)
    assert other.run(ALL) == 0
    verifier.close()
    assert other.run(ALL) > 0
    other.close()
