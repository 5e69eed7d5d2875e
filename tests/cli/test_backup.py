"""`holdfast backup`."""

from pathlib import Path

import pytest

from holdfast.backup import archives
from holdfast.cli.exit_codes import ExitCode
from tests.cli.backup_helpers import FRAME_STREAM, check_failure
from tests.cli.conftest import Run


@pytest.mark.parametrize(
    "arguments",
    [
        ("info",),
        ("validate",),
        ("convert", "{out}"),
        ("extract", "{out}"),
        ("redact", "{out}"),
        ("repair", "{out}"),
    ],
)
def test_every_command_says_what_a_file_of_another_kind_is(
    run: Run, tmp_path: Path, arguments: tuple[str, ...]
) -> None:
    """An archive of Holdfast and a chat exported by WhatsApp are recognised and reported in one line."""
    own = tmp_path / "mine.archive"
    archives.open(own, create=True).close()
    chat = tmp_path / "chat.txt"
    chat.write_text("31.12.20, 23:59 - Jörg: Frohes Neues!\n" * 16)
    command, *rest = arguments
    target = str(tmp_path / "out.binproto")
    for file, expected in ((own, "an archive of Holdfast"), (chat, "a chat that WhatsApp exported")):
        result = run("backup", command, str(file), *(argument.format(out=target) for argument in rest))
        check_failure(result, ExitCode.UNREADABLE, expected)
        check_failure(
            run("archive", "import", str(tmp_path / "new.archive"), str(file)), ExitCode.UNREADABLE, expected
        )


def test_damage_is_said_with_its_place(spawn: Run) -> None:
    """The exit status is 3 and the line names frame and byte."""
    result = spawn("backup", "info", "-", data=FRAME_STREAM[:-1])
    check_failure(result, ExitCode.UNREADABLE, "the file ends in the middle of a record (frame 12349, byte ")
