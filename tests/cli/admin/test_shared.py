"""Terminal escaping in the output of `holdfast admin`."""

import pytest

from holdfast.cli.admin.shared import print_table


def test_what_others_wrote_does_not_steer_the_terminal(capsys: pytest.CaptureFixture[str]) -> None:
    """Escape sequences are removed from a table, and Rich markup in it is printed as text."""
    print_table(("name",), [("\x1b[31mred [bold]not bold[/bold]\n",)])
    output = capsys.readouterr().out
    assert "\x1b" not in output
    assert "[bold]not bold[/bold]" in output
