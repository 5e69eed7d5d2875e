"""The programs of the checkout (`python -m bench`, `python -m tools.lock` and so on) say how they are used."""

import runpy
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.conftest import ROOT

FOLDERS = ("bench", "fuzz", "tools", "tests")
# Clients of other projects, which the tests start in an environment of their own.
CLIENTS = ROOT / "tests" / "compat" / "clients"


def programs() -> list[str]:
    """List the modules of the checkout that can be run, as `python -m` names them."""
    sources = [
        path
        for folder in FOLDERS
        for path in (ROOT / folder).rglob("*.py")
        if not path.is_relative_to(CLIENTS) and "node_modules" not in path.parts
    ]
    found = [path.relative_to(ROOT) for path in sources if '\nif __name__ == "__main__":' in path.read_text()]
    return sorted(".".join(path.with_suffix("").parts) for path in found)


@pytest.fixture(params=programs())
def program(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, request: pytest.FixtureRequest) -> Iterator[str]:
    """Each program in turn; it must write nothing to the folder it is run in."""
    monkeypatch.chdir(tmp_path)
    # Tests of this process may have imported the module already.
    monkeypatch.delitem(sys.modules, request.param, raising=False)
    yield request.param
    assert not list(tmp_path.iterdir())


def run(program: str, argument: str, monkeypatch: pytest.MonkeyPatch) -> int | str | None:
    """Run a program with an argument, and return its exit status."""
    monkeypatch.setattr(sys, "argv", [program, argument])
    with pytest.raises(SystemExit) as ended:
        runpy.run_module(program, run_name="__main__")
    return ended.value.code


def test_a_program_explains_its_usage(
    program: str, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """`--help` prints the usage, and does nothing else."""
    assert run(program, "--help", monkeypatch) == 0
    name = program.removesuffix(".__main__")
    command = "installed_check.py" if name == "tools.installed_check" else f"python -m {name}"
    assert capsys.readouterr().out.startswith(f"usage: {command} [-h]")


def test_a_program_refuses_an_option_it_does_not_have(
    program: str, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """A mistyped option is an error with the usage, not the name of a file."""
    assert run(program, "--no-such-option", monkeypatch) == 2
    assert capsys.readouterr().err.startswith("usage: ")


@pytest.mark.parametrize(
    ("program", "argument"), [("bench.__main__", "unknown"), ("tools.mirror", "README.md")], indirect=["program"]
)
def test_a_program_names_an_argument_it_does_not_know(
    program: str, argument: str, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """A mistyped benchmark or module is named in the error."""
    assert run(program, argument, monkeypatch) == 2
    assert argument in capsys.readouterr().err.splitlines()[-1]
