"""Helpers for tests of `holdfast backup`: a stream, a key file for no backup, and failing commands."""

from holdfast.cli.exit_codes import ExitCode
from tests.backup.container.vectors import SET_A
from tests.backup.streams import HEADER, empty_frame, record
from tests.cli.conftest import CommandResult

__all__ = ["FRAME_STREAM", "OTHER_KEY_FILE", "check_failure"]

# A header, and frames without content: one account, 3 recipients and 12345 chat items.
FRAME_STREAM = record(HEADER) + empty_frame(1) + empty_frame(2) * 3 + empty_frame(4) * 12345
# A valid key file, but of another account than that of the sample backups.
OTHER_KEY_FILE = f"{SET_A.pool}\naccount-id = {SET_A.aci}"


def check_failure(result: CommandResult, status: ExitCode, *words: str) -> None:
    """Check that a command failed with one line on standard error, which has these words, and no other output."""
    assert result.status == status, result.err
    assert result.err.startswith("error: ")
    assert result.err.count("\n") == 1
    assert "Traceback" not in result.err
    assert result.out == ""
    for word in words:
        assert word in result.err
