"""`holdfast version`."""

import json

import pytest

from holdfast import __version__, backup
from tests.cli.conftest import Run


@pytest.mark.parametrize("compiled", [True, False])
def test_version_says_whether_the_core_is_compiled(
    run: Run, monkeypatch: pytest.MonkeyPatch, *, compiled: bool
) -> None:
    """The output says whether the core is compiled, and a note helps if it is not."""
    monkeypatch.setattr(backup, "COMPILED", compiled)
    result = run("version")
    assert f"Holdfast {__version__}" in result.out
    assert ("core compiled" if compiled else "core interpreted") in result.out
    assert ("C compiler" in result.err) is not compiled


def test_version_as_json(run: Run) -> None:
    """With `--json` the version, core, Python and machine are one document."""
    document = json.loads(run("version", "--json").out)
    assert document["holdfast"] == __version__
    assert document["core"] == ("compiled" if backup.COMPILED else "interpreted")
    assert set(document) == {"holdfast", "core", "python", "machine"}


def test_the_option_says_the_version_in_one_line(run: Run) -> None:
    """`--version` prints the first line of `version`, and the command after it is not run."""
    first = run("version").out.splitlines(keepends=True)[0]
    assert run("--version").out == first
    result = run("--version", "backup", "info", "no-such-file")
    assert (result.status, result.out) == (0, first)
