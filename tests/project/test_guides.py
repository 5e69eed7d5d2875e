"""The commands of the guides, run on the sample they are written for."""

import re
import shlex
from pathlib import Path

import pytest

from holdfast.backup import archives, exports
from holdfast.backup.conversion import OutputFormat
from holdfast.cli import main
from holdfast_demo.sample import sample_records
from holdfast_demo.sample_writer import write_sample
from tests.conftest import ROOT

GUIDES = ROOT / "docs" / "guides"
# What needs a backup of one's own, asks for a passphrase, or does not end.
OTHER = ("SignalBackups", "archive serve", "parquet", "archive encrypt", "archive decrypt", "archive passphrase")


def commands(guide: str) -> list[str]:
    """List the commands about an archive in the blocks of a guide."""
    blocks = re.findall(r"^```sh\n(.*?)^```", (GUIDES / guide).read_text(), re.MULTILINE | re.DOTALL)
    lines = [line for block in blocks for line in block.splitlines() if line.startswith("holdfast archive")]
    return [line for line in lines if not any(word in line for word in OTHER)]


@pytest.fixture(scope="session")
def archive_folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Make the archive that the guides name."""
    folder = tmp_path_factory.mktemp("guides")
    write_sample(sample_records(5000, 1), folder / "demo.binproto", OutputFormat.STREAM, seed=1)
    assert main(["archive", "import", str(folder / "chats.db"), str(folder / "demo.binproto")]) == 0
    return folder


@pytest.mark.parametrize("line", [*commands("archive.md"), *commands("exporting.md")])
def test_a_command_of_a_guide_finds_something(
    line: str, archive_folder: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """Each command of the guides exits with 0 and prints something."""
    monkeypatch.chdir(archive_folder)
    assert main(shlex.split(line, comments=True)[1:]) == 0
    assert capsys.readouterr().out.strip()


def test_filters_of_the_table_find_something(archive_folder: Path) -> None:
    """Each search filter in the table of the guide has at least one hit."""
    table = (GUIDES / "archive.md").read_text().partition("| in the query | finds |")[2].partition("\n\n")[0]
    filters = re.findall(r"`((?:chat|from|is|kind|has|since|until):[^`]+)`", table)
    assert len(filters) > 8
    with archives.open(archive_folder / "chats.db") as opened:
        for row in filters:
            assert opened.search(row, limit=1).hits, row


def test_the_choice_of_the_example_is_a_chat(archive_folder: Path) -> None:
    """The chat that the example of the guide selects exists and has messages."""
    (name,) = re.findall(r"hb.ChatSelection\(chats=\(\"(.+?)\",\)", (GUIDES / "exporting.md").read_text())
    with archives.open(archive_folder / "chats.db") as opened:
        export_result = exports.export(
            opened,
            archive_folder / "choice",
            "json",
            exports.ChatSelection((name,), since_ms=1_600_000_000_000),
            media=False,
        )
    assert export_result.written
    assert list((archive_folder / "choice" / "messages").rglob("*.jsonl"))
