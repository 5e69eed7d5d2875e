"""Pages are rendered again only if their inputs changed, and an incremental export equals a fresh one."""

import json
import random
import shutil
import tempfile
from datetime import UTC
from pathlib import Path
from typing import Any
from zoneinfo import ZoneInfo

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from holdfast.backup import archives
from holdfast.backup.errors import ExportRefused
from holdfast.backup.exports.choice import ChatSelection
from holdfast.backup.exports.folder import ExportSummary
from holdfast.backup.exports.html import chat_export, pagination, sources, write_html
from holdfast.backup.exports.html.bubbles import bubble, plain_bubble
from tests.backup.archives.histories import copies, import_backups, items, write, write_later
from tests.backup.exports.html.exported_pages import MANIFEST, read_files, replace_some_media
from tests.examples import examples

PAGE = 7
STEPS = ("import", "media", "spoil", "choose", "again")


@pytest.fixture(autouse=True)
def small_pages(monkeypatch: pytest.MonkeyPatch) -> None:
    """Let a page hold few messages, and some messages be too long for it."""
    monkeypatch.setattr(pagination, "PAGE_MESSAGES", PAGE)
    monkeypatch.setattr(chat_export, "PAGE_SIZE", 4_000)


@pytest.fixture
def rendered_messages(monkeypatch: pytest.MonkeyPatch) -> list[int]:
    """List the messages that are drawn."""
    seen: list[int] = []

    def noticed(message: Any, *more: Any, **named: Any) -> str:
        seen.append(message.id)
        return bubble(message, *more, **named)

    def noticed_plain(number: int, *more: Any, **named: Any) -> str:
        seen.append(number)
        return plain_bubble(number, *more, **named)

    monkeypatch.setattr(chat_export, "bubble", noticed)
    monkeypatch.setattr(chat_export, "plain_bubble", noticed_plain)
    return seen


@pytest.fixture
def archive_path(tmp_path: Path) -> Path:
    """Make an archive that a test may change."""
    import_backups(tmp_path / "chats.db", write(tmp_path / "one", *copies(120)))
    return tmp_path / "chats.db"


def export(path: Path, out: Path, choice: ChatSelection | None = None, **more: Any) -> ExportSummary:
    """Export an archive to pages."""
    options: dict[str, Any] = {"media": True, "search": True, "zone": UTC} | more
    with archives.open(path) as opened:
        return write_html(opened, out, choice or ChatSelection(), **options)


def execute(path: Path, *statements: str) -> None:
    """Change an archive by hand."""
    with archives.open(path, create=True) as opened:
        for statement in statements:
            opened.connection.execute(statement)


def change_files(out: Path, rng: random.Random) -> None:
    """Change, remove and add files of an export by hand."""
    pages = sorted(path for path in out.glob("chats/*/*") if path.is_file())
    for path in rng.sample(pages, min(2, len(pages))):
        if rng.random() < 0.5:
            path.unlink()
        else:
            path.write_text("mine")


def export_despite_changes(archive: Path, out: Path, choice: ChatSelection, **more: Any) -> None:
    """Export; if the export refuses to overwrite a changed file, delete that file and export again."""
    while True:
        try:
            export(archive, out, choice, **more)
        except ExportRefused as refused:
            (foreign,) = [path for path in out.glob("chats/*/*") if f"{path} exists and" in str(refused)]
            assert foreign.read_text() == "mine"
            foreign.unlink()
        else:
            return


@settings(max_examples=examples(6))
@given(
    st.integers(0, 2**32), st.lists(st.sampled_from(["import", "media", "spoil", "choose", "again"]), max_size=4)
)
def test_an_export_over_an_older_one_is_as_a_fresh_one(seed: int, steps: list[str]) -> None:
    """Its files equal those of a new export byte by byte.

    That holds after imports, changed media, other selections and changes of its files by hand.
    """
    rng = random.Random(seed)
    choice = ChatSelection()
    with tempfile.TemporaryDirectory() as folder:
        path, out = Path(folder) / "chats.db", Path(folder) / "out"
        for n, step in enumerate(["import", "import", *steps]):
            if step == "import":
                days, half = rng.randrange(40), rng.random() < 0.5
                backup = write_later(
                    Path(folder) / str(n),
                    rng,
                    days=days,
                    half_known=half,
                    duplicates=rng.random() < 0.3,
                    messages=60,
                )
                import_backups(path, backup)
            elif step == "media":
                replace_some_media(path, rng)
            elif step == "spoil":
                change_files(out, rng)
            elif step == "choose":
                since = rng.choice((None, 1_600_000_000_000, 1_700_000_000_000))
                choice = ChatSelection(since_ms=since, until_ms=rng.choice((None, 1_720_000_000_000)))
            zone = rng.choice((UTC, UTC, UTC, ZoneInfo("America/St_Johns")))
            search = rng.random() < 0.7
            export_despite_changes(path, out, choice, zone=zone, search=search)
            export(path, Path(folder) / f"fresh{n}", choice, zone=zone, search=search)
            fresh = read_files(Path(folder) / f"fresh{n}")
            # What somebody has changed and no export needs any more is theirs.
            kept = {name: text for name, text in read_files(out).items() if text != b"mine" or name in fresh}
            assert kept == fresh


def test_what_is_unchanged_is_not_drawn(archive_path: Path, tmp_path: Path, rendered_messages: list[int]) -> None:
    """A second export renders no message and writes no file."""
    first = export(archive_path, tmp_path / "out")
    assert len(rendered_messages) == 120
    second = export(archive_path, tmp_path / "out")
    assert len(rendered_messages) == 120
    assert (second.written, second.unchanged, second.removed) == (0, first.written, 0)


def test_a_new_message_draws_its_page_and_the_one_before(
    archive_path: Path, tmp_path: Path, rendered_messages: list[int]
) -> None:
    """A new message renders its page and at most one more, and the export equals a new one."""
    export(archive_path, tmp_path / "out")
    header, parsed = copies(120)
    newest = max(item.dateSent for item in items(parsed))
    last = next(frame for frame in reversed(parsed) if frame.chatItem.HasField("incoming"))
    fresh = type(last).FromString(last.SerializeToString())
    fresh.chatItem.dateSent = fresh.chatItem.incoming.dateReceived = newest + 1000
    fresh.chatItem.standardMessage.text.body = "news"
    header.backupTimeMs += 1
    rendered_messages.clear()
    import_backups(archive_path, write(tmp_path / "two", header, [*parsed, fresh]))
    summary = export(archive_path, tmp_path / "out")
    assert 0 < len(rendered_messages) <= 2 * PAGE
    assert summary.written < 15
    export(archive_path, tmp_path / "fresh")
    assert read_files(tmp_path / "out") == read_files(tmp_path / "fresh")


def test_only_pages_that_name_somebody_are_drawn_when_a_name_changes(
    archive_path: Path, tmp_path: Path, rendered_messages: list[int]
) -> None:
    """A changed name renders some but not all messages again, and the export equals a new one."""
    export(archive_path, tmp_path / "out")
    rendered_messages.clear()
    author = "SELECT min(author_id) FROM reaction"
    execute(archive_path, f"UPDATE recipient SET name = 'Somebody Else' WHERE id = ({author})")
    export(archive_path, tmp_path / "out")
    assert 0 < len(rendered_messages) < 120
    export(archive_path, tmp_path / "fresh")
    assert read_files(tmp_path / "out") == read_files(tmp_path / "fresh")
    assert any(b"Somebody Else" in content for content in read_files(tmp_path / "out").values())


def test_another_program_draws_everything(
    archive_path: Path, tmp_path: Path, rendered_messages: list[int], monkeypatch: pytest.MonkeyPatch
) -> None:
    """All pages are rendered again if another version of the program has written them."""
    export(archive_path, tmp_path / "out")
    monkeypatch.setattr(sources, "program_digest", lambda: "another")
    export(archive_path, tmp_path / "out")
    assert len(rendered_messages) == 240


def test_what_another_import_may_have_read_otherwise_is_drawn(
    archive_path: Path, tmp_path: Path, rendered_messages: list[int]
) -> None:
    """All pages are rendered again if the backup was imported at another time."""
    export(archive_path, tmp_path / "out")
    execute(archive_path, "UPDATE snapshot SET imported_ms = imported_ms + 1")
    export(archive_path, tmp_path / "out")
    assert len(rendered_messages) == 240


@pytest.mark.parametrize("value", [1, "x", [], ["a", [], [], "b"], ["", [[], [], [], [], [], []], [[]], ""]])
def test_notes_that_nobody_wrote_are_none(archive_path: Path, tmp_path: Path, value: object) -> None:
    """Invalid notes in the manifest are ignored, and the export equals a new one."""
    out = tmp_path / "out"
    export(archive_path, out)
    lines = [json.loads(line) for line in (out / MANIFEST).read_text().splitlines()]
    for line in lines:
        if "note" in line:
            line["value"] = value
    (out / MANIFEST).write_text("\n".join(json.dumps(line) for line in lines))
    export(archive_path, out)
    export(archive_path, tmp_path / "fresh")
    assert read_files(out) == read_files(tmp_path / "fresh")


def test_an_older_list_without_notes_is_understood(archive_path: Path, tmp_path: Path) -> None:
    """A manifest without notes is read, and no file is written again."""
    out = tmp_path / "out"
    first = export(archive_path, out)
    lines = [line for line in (out / MANIFEST).read_text().splitlines() if '"note"' not in line]
    (out / MANIFEST).write_text("\n".join(lines))
    second = export(archive_path, out)
    assert (second.written, second.unchanged) == (0, first.written)


def test_a_run_that_was_broken_off_leaves_nothing_stale(
    archive_path: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Pages that an interrupted export has written are not taken for those of an earlier export."""
    out = tmp_path / "out"
    export(archive_path, out)
    shutil.copy(archive_path, tmp_path / "before.db")
    execute(archive_path, "UPDATE recipient SET name = name || '!'")
    original, count = chat_export.ChatWriter.write, 0

    def broken(self: chat_export.ChatWriter, *more: Any) -> int:
        nonlocal count
        count += 1
        if count > 3:
            raise KeyboardInterrupt
        return original(self, *more)

    with monkeypatch.context() as patched, pytest.raises(KeyboardInterrupt):
        patched.setattr(chat_export.ChatWriter, "write", broken)
        export(archive_path, out)
    export(tmp_path / "before.db", out)
    export(tmp_path / "before.db", tmp_path / "fresh")
    assert read_files(out) == read_files(tmp_path / "fresh")
