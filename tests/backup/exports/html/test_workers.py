"""Pages rendered by several processes are equal to those of one process."""

import os
import random
from datetime import timedelta, timezone, tzinfo
from pathlib import Path
from typing import Any
from zoneinfo import ZoneInfo

import pytest

from holdfast.backup import archives
from holdfast.backup.exports.choice import ChatSelection
from holdfast.backup.exports.html import workers, write_html
from holdfast.backup.exports.html.workers import RenderPool
from tests.backup.archives.histories import copies, import_backups, items, write
from tests.backup.exports.html.exported_pages import read_files, replace_some_media

FIJI = ZoneInfo("Pacific/Fiji")


@pytest.fixture(scope="module")
def archive_path(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Make an archive with files beside it, and with pages that are too long for one."""
    folder = tmp_path_factory.mktemp("pool")
    header, parsed = copies(1500)
    for n, item in enumerate(items(parsed)):
        if item.standardMessage.HasField("text") and n % 3:
            item.standardMessage.text.body = f"{n} long " * 200
            del item.standardMessage.text.bodyRanges[:]
    import_backups(folder / "chats.db", write(folder / "one", header, parsed))
    replace_some_media(folder / "chats.db", random.Random(1))
    return folder / "chats.db"


@pytest.fixture
def pools(monkeypatch: pytest.MonkeyPatch) -> list[RenderPool]:
    """Let every export be worth it, and list the pools that were started."""
    monkeypatch.setattr(workers, "MIN_MESSAGES", 1)
    monkeypatch.setattr(os, "sched_getaffinity", lambda _process: {0, 1, 2})
    created: list[RenderPool] = []
    begin = RenderPool.__init__

    def noticed(self: RenderPool, *given: Any) -> None:
        begin(self, *given)
        created.append(self)

    monkeypatch.setattr(RenderPool, "__init__", noticed)
    return created


def export(path: Path, out: Path, choice: ChatSelection | None = None, **more: Any) -> dict[str, bytes]:
    """Export an archive to pages, and read them."""
    options: dict[str, Any] = {"media": True, "search": True, "zone": FIJI} | more
    with archives.open(path) as opened:
        write_html(opened, out, choice or ChatSelection(), **options)
    return read_files(out)


@pytest.fixture(scope="module")
def single_process_export(archive_path: Path, tmp_path_factory: pytest.TempPathFactory) -> dict[str, bytes]:
    """Export as one process does it."""
    summary = export(archive_path, tmp_path_factory.mktemp("alone") / "out")
    assert any("-2.html" in name for name in summary)
    assert any(name.startswith("media/") for name in summary)
    return summary


def test_several_draw_what_one_would(
    archive_path: Path, single_process_export: dict[str, bytes], tmp_path: Path, pools: list[RenderPool]
) -> None:
    """Three processes give the files of one process byte by byte, and end with the export.

    A second export writes nothing and starts no processes.
    """
    progress: list[tuple[int, int]] = []
    exported = export(archive_path, tmp_path / "out", progress=lambda *counts: progress.append(counts))
    assert exported == single_process_export
    (many,) = pools
    assert len(many.processes) == 3
    assert all(process.returncode is not None for process in many.processes)
    assert progress[-1] == (1500, 1500)
    with archives.open(archive_path) as opened:
        second = write_html(opened, tmp_path / "out", ChatSelection(), media=True, search=True, zone=FIJI)
    assert (second.written, second.removed) == (0, 0)
    # What is there already needs no one else.
    assert len(pools) == 1


def test_a_choice_and_other_options_are_theirs_too(
    archive_path: Path, tmp_path: Path, pools: list[RenderPool]
) -> None:
    """Worker processes use the selected chats and period, and the options for media and search."""
    with archives.open(archive_path) as opened:
        chats = tuple(chat.id for chat in opened.chats()[:5])
    choice = ChatSelection(chats, 1_650_000_000_000, 1_740_000_000_000)
    several = export(archive_path, tmp_path / "several", choice, media=False, search=False)
    assert len(pools) == 1
    pools[0].close()
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(workers, "MIN_MESSAGES", 1 << 60)
        assert export(archive_path, tmp_path / "one", choice, media=False, search=False) == several


@pytest.mark.parametrize("pages", [0, 7])
def test_those_who_are_gone_are_not_missed(
    archive_path: Path,
    single_process_export: dict[str, bytes],
    tmp_path: Path,
    pools: list[RenderPool],
    monkeypatch: pytest.MonkeyPatch,
    *,
    pages: int,
) -> None:
    """The exporting process renders the pages of worker processes that were killed."""
    fetch, fetched = RenderPool.fetch, 0

    def fetched_until(self: RenderPool, worker: int) -> Any:
        nonlocal fetched
        if fetched == pages:
            for process in self.processes:
                process.kill()
                process.wait()
        fetched += 1
        return fetch(self, worker)

    monkeypatch.setattr(RenderPool, "fetch", fetched_until)
    assert export(archive_path, tmp_path / "out") == single_process_export
    assert len(pools) == 1


@pytest.mark.parametrize("zone", [timezone(timedelta(hours=3)), FIJI])
def test_nobody_is_hired_who_could_not_tell_the_time(
    archive_path: Path, tmp_path: Path, pools: list[RenderPool], zone: tzinfo
) -> None:
    """A time zone without a name cannot be passed to worker processes, so none are started."""
    export(archive_path, tmp_path / "out", zone=zone)
    assert len(pools) == (zone is FIJI)
