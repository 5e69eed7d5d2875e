"""The examples of the command reference, compared with the output of the commands."""

import os
import shlex
import shutil
import subprocess
import sys
import threading
from collections.abc import Callable
from pathlib import Path

import pytest
from tools import examples, reference
from tools.examples import Example, Step

from holdfast.cli import main
from holdfast.hosting.data_folder import open_database
from holdfast.hosting.storage.instance import establish
from holdfast.hosting.store import accounts, tokens
from holdfast.settings import Settings
from tests.hosting.api_clients import ServiceClients
from tests.hosting.conftest import clients

__all__ = ["clients"]

SETUPS, EXAMPLES = examples.read()
# What runs until it is stopped, or sets a variable of its process.
PROCESSES = ("holdfast serve", "holdfast archive serve", "holdfast completion")
COMMANDS = [one for one in EXAMPLES.values() if one.setup != "service" and one.command not in PROCESSES]

Shell = Callable[[str], str]


@pytest.fixture
def shell(capsys: pytest.CaptureFixture[str]) -> Shell:
    """Return a function that runs a line: `holdfast` in this process (also with `2> file`), or another program."""
    status = 0

    def call(line: str) -> str:
        nonlocal status
        if line == "echo $?":
            printed, status = f"{status}\n", 0
            return printed
        assert status == 0, f"the line before `{line}` failed"
        program, *arguments = shlex.split(line)
        if program != "holdfast":
            return subprocess.run(["sh", "-c", line], check=True, capture_output=True, text=True).stdout
        file = arguments[-1] if arguments[-2:-1] == ["2>"] else None
        capsys.readouterr()
        status = main(arguments[:-2] if file else arguments)
        captured = capsys.readouterr()
        if file is None:
            return captured.err + captured.out
        Path(file).write_text(captured.err)
        return captured.out

    return call


@pytest.fixture(scope="session")
def setup_folders() -> dict[str, Path]:
    """Keep the folder of each set-up once it is made."""
    return {}


@pytest.fixture
def enter_setup(
    setup_folders: dict[str, Path],
    shell: Shell,
    tmp_path: Path,
    tmp_path_factory: pytest.TempPathFactory,
    monkeypatch: pytest.MonkeyPatch,
) -> Callable[[str], None]:
    """Go to a copy of the folder of a set-up."""
    monkeypatch.setenv("COLUMNS", "80")

    def call(setup: str) -> None:
        if setup in {"data", "admin"}:
            monkeypatch.setenv("HOLDFAST_DATA", "data")
        if setup not in setup_folders:
            folder = tmp_path_factory.mktemp(setup)
            monkeypatch.chdir(folder)
            if setup == "admin":
                settings = Settings(data=Path("data"))
                with open_database(settings) as database:
                    establish(database, settings)
            for line in SETUPS[setup].lines:
                shell(line)
            assert shell("echo $?") == "0\n"
            setup_folders[setup] = folder
        path = tmp_path / "example"
        shutil.copytree(setup_folders[setup], path)
        monkeypatch.chdir(path)

    return call


def run_example(example: Example, shell: Shell) -> None:
    """Run every command of an example, and compare its output."""
    for step in example.steps:
        printed = shell(step.line)
        assert step.matches(printed), f"$ {step.line}\n{printed}"
    assert shell("echo $?") == "0\n"


def test_every_command_has_an_example_that_types_it() -> None:
    """Each command has an example that runs it, and no example is for an unknown command."""
    names = {" ".join(command.words) for command in reference.commands()}
    assert set(EXAMPLES) == names
    for example in EXAMPLES.values():
        assert any(step.line.startswith(example.command) for step in example.steps), example.command


def test_a_page_says_how_its_backup_was_made() -> None:
    """A page shows the `sample` command of its setup, so that a reader can get the same output."""
    for setup in SETUPS.values():
        for line in setup.lines:
            assert " sample " not in line or f"`{line}`" in setup.text


@pytest.mark.parametrize("example", COMMANDS, ids=lambda example: example.command)
def test_an_example_prints_what_its_page_says(
    example: Example, shell: Shell, enter_setup: Callable[[str], None]
) -> None:
    """Each command of an example prints the output of its page, in a folder with only its setup."""
    enter_setup(example.setup)
    run_example(example, shell)


@pytest.mark.parametrize("settings", ["sqlite"], indirect=True)
@pytest.mark.parametrize("command", [name for name, one in EXAMPLES.items() if one.setup == "service"])
def test_an_example_with_a_service_prints_what_its_page_says(
    command: str,
    clients: ServiceClients,
    shell: Shell,
    enter_setup: Callable[[str], None],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """Each command of an example prints the output of its page, against a running service."""
    clients.user("ada").post("/user/repos", json={"name": "snapshots", "private": True})
    _, value = tokens.create_token(clients.database, accounts.find_user(clients.database, "ada"), "push", ("all",))
    monkeypatch.setenv("HOLDFAST_TOKEN", value.reveal())
    monkeypatch.setenv("HOLDFAST_SERVER", clients.service.url)
    enter_setup("service")
    run_example(EXAMPLES[command], shell)


@pytest.mark.long
@pytest.mark.parametrize("command", PROCESSES)
def test_an_example_that_needs_a_process_prints_what_its_page_says(
    command: str, enter_setup: Callable[[str], None]
) -> None:
    """The example prints the lines of its page when it runs as a process of its own."""
    enter_setup(EXAMPLES[command].setup)
    (step,) = EXAMPLES[command].steps
    process = subprocess.Popen(
        [sys.executable, "-m", *shlex.split(step.line)],
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        env={**os.environ, "HOLDFAST_PORT": "0", "HOLDFAST_WORKERS": "1"},
    )
    # What never prints the last line is ended, so that the failure shows what it did print.
    limit = threading.Timer(90, process.kill)
    limit.start()
    try:
        assert process.stdout is not None
        printed = ""
        while not step.matches(printed):
            line = process.stdout.readline()
            assert line, printed
            printed += line
    finally:
        limit.cancel()
        process.kill()
        process.communicate()


@pytest.mark.parametrize(
    ("output", "printed", "fits"),
    [
        ("a\n", "a  \n", True),
        ("a\n", "a\nb\n", False),
        ("a\n...\n", "a\nb\nc\n", True),
        ("a\n...\nc\n", "a\nb\nc\n", True),
        ("a\n...\n", "a\n", False),
        ("a ... c\n", "a b c\n", True),
        ("a ..... c\n", "a b c\n", True),
        ("a ...\n", "a b\nc\n", False),
        ("a.c\n", "abc\n", False),
        ("", "a\n", False),
        ("", "", True),
    ],
)
def test_an_ellipsis_matches_varying_output(output: str, printed: str, *, fits: bool) -> None:
    """An ellipsis matches text within a line or whole lines, and other text must be equal."""
    assert Step("holdfast", output).matches(printed) is fits
