"""What the commands of `holdfast admin` have in common."""

import pytest

from holdfast.cli.admin.shared import print_table


def test_what_others_wrote_does_not_steer_the_terminal(capsys: pytest.CaptureFixture[str]) -> None:
    """Neither by signs nor by what looks like our own markup."""
    print_table(("name",), [("\x1b[31mred [bold]not bold[/bold]\n",)])
    output = capsys.readouterr().out
    assert "\x1b" not in output
    assert "[bold]not bold[/bold]" in output
