"""`holdfast archive`."""

from tests.cli.conftest import Run


def test_the_group_says_what_it_will_hold(run: Run) -> None:
    """Nothing is ready, and the help says so instead of pretending."""
    assert "No command is ready yet" in run("archive", "--help").out
    assert run("archive", "import").status == 2
