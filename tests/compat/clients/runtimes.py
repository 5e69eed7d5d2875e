"""Runs third-party clients, each in its own runtime, and reports what is not installed."""

import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

__all__ = ["go_client", "javascript", "program", "python", "run"]

HERE = Path(__file__).parent
# `make clients` puts them beside the virtualenv the tests run in.
INSTALLED = Path(f"{sys.prefix}-clients")
SECONDS = 100


def program(name: str, package: str) -> str:
    """Find a program of the distribution."""
    result = shutil.which(name)
    if result is None:
        pytest.skip(f"no {name}: install the distribution's package (Debian: apt-get install {package})")
    return result


def installed(path: Path) -> str:
    """Find what `make clients` installs."""
    if not path.exists():
        pytest.skip(f"{path} is missing: run `make clients`")
    return str(path)


def python(script: str) -> list[str]:
    """Return the command that runs a client written in Python."""
    return [installed(INSTALLED / "bin" / "python"), "-W", "error", str(HERE / "python" / script)]


def javascript(script: str) -> list[str]:
    """Return the command that runs a client written in JavaScript."""
    node = program("node", "nodejs npm")
    installed(HERE / "js" / "node_modules" / ".done")
    return [node, str(HERE / "js" / script)]


def go_client() -> list[str]:
    """Return the command that runs the client written in Go."""
    if not (INSTALLED / "bin" / "go-client").exists():
        program("go", "golang")
    return [installed(INSTALLED / "bin" / "go-client")]


def run(command: list[str], *, folder: Path, fails: bool = False, **environment: str) -> str:
    """Run a program without the developer's own settings; when it fails, fail with its output."""
    inherited = {name: os.environ[name] for name in ("PATH", "LANG") if name in os.environ}
    result = subprocess.run(
        command,
        cwd=folder,
        env={
            **inherited,
            "HOME": str(folder),
            "GIT_TERMINAL_PROMPT": "0",
            "GIT_CONFIG_NOSYSTEM": "1",
            **environment,
        },
        capture_output=True,
        text=True,
        check=False,
        timeout=SECONDS,
    )
    output = result.stdout + result.stderr
    assert (result.returncode != 0) == fails, f"{' '.join(command)}\n{output}"
    return output
