"""`pip install holdfast` without extras: its size, its commands, and no modules of the server."""

import json
import shutil
import subprocess
from collections.abc import Callable
from pathlib import Path

import pytest

from holdfast.cli.extras import SERVER_MODULES
from tests.backup.streams import sample, stream_of
from tests.project.conftest import Distributions, make_environment, uv

MOST_PACKAGES = 20
MOST_MEGABYTES = 60
SIZE_FILE = "installed-bytes"
Command = Callable[..., subprocess.CompletedProcess[str]]


@pytest.fixture(scope="module")
def environment(distributions: Distributions, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Install the wheel and its locked dependencies into an empty environment."""
    folder = tmp_path_factory.mktemp("core") / "venv"
    make_environment(folder, ["runtime"], distributions.compiled)
    # pip writes bytecode when it installs, uv when it is asked to.
    subprocess.run([folder / "bin/python", "-m", "compileall", "-q", "-j", "2", folder / "lib"], check=True)
    size = sum(path.stat().st_size for path in (folder / "lib").rglob("*") if path.is_file())
    (folder / SIZE_FILE).write_text(str(size))
    return folder


@pytest.fixture
def holdfast(environment: Path, tmp_path: Path) -> Command:
    """Return a function that runs the installed command in an empty folder."""

    def run(*arguments: str) -> subprocess.CompletedProcess[str]:
        command: list[str | Path] = [environment / "bin/holdfast", *arguments]
        return subprocess.run(command, check=False, capture_output=True, text=True, cwd=tmp_path)

    return run


@pytest.mark.long
@pytest.mark.timeout(600)
def test_the_core_install_is_small(environment: Path) -> None:
    """The core install has at most 20 packages and 60 MB, Holdfast and all bytecode included."""
    listed = json.loads(uv(["pip", "list", "--python", environment, "--format", "json"]))
    names = {package["name"] for package in listed}
    assert "holdfast" in names
    assert len(names) <= MOST_PACKAGES
    assert int((environment / SIZE_FILE).read_text()) <= MOST_MEGABYTES * 1_000_000


@pytest.mark.long
@pytest.mark.timeout(600)
def test_the_commands_for_backups_work_alone(holdfast: Command, tmp_path: Path) -> None:
    """Commands that read, convert, redact, export and archive backups work without the server extra."""
    (tmp_path / "chats.binproto").write_bytes(stream_of(sample()))
    for arguments in (
        ["backup", "info", "chats.binproto"],
        ["backup", "convert", "chats.binproto", "chats.jsonl"],
        ["backup", "info", "chats.jsonl"],
        ["backup", "redact", "chats.binproto", "redacted.binproto"],
        ["backup", "export", "chats.binproto", "pages"],
        ["archive", "import", "all.db", "chats.binproto"],
        ["archive", "stats", "all.db"],
        ["version"],
        ["settings"],
        ["completion", "bash"],
    ):
        completed = holdfast(*arguments)
        assert (completed.returncode, completed.stderr) == (0, ""), arguments
    assert "frames" in holdfast("backup", "info", "chats.binproto").stdout
    assert holdfast("backup", "info", "no-such-file").returncode not in {0, 1}


@pytest.mark.long
@pytest.mark.timeout(600)
@pytest.mark.parametrize(
    "arguments",
    [["serve", "--data", "x"], ["admin", "user", "list", "--data", "x"], ["archive", "serve", "all.db"]],
)
def test_commands_of_the_server_name_their_extra(holdfast: Command, tmp_path: Path, arguments: list[str]) -> None:
    """A server command without the server extra prints how to install it and writes no file."""
    completed = holdfast(*arguments)
    assert completed.returncode == 1
    assert completed.stderr == "error: this command needs the server: pip install 'holdfast[server]'\n"
    assert list(tmp_path.iterdir()) == []


@pytest.mark.long
@pytest.mark.timeout(600)
def test_no_module_of_the_server_is_installed(environment: Path) -> None:
    """Modules of the server extra cannot be found in the core install, except two that rich needs."""
    program = f"import importlib.util; print([m for m in {sorted(SERVER_MODULES)} if importlib.util.find_spec(m)])"
    command = [str(environment / "bin/python"), "-c", program]
    completed = subprocess.run(command, check=True, capture_output=True, text=True)
    # rich needs these two.
    assert completed.stdout.strip() == "['markdown_it', 'pygments']"
    assert shutil.which("holdfast", path=str(environment / "bin"))
