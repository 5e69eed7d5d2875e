"""The distributions of a release: reproducible builds, and installation into an empty environment."""

import os
import shutil
import signal
import subprocess
from pathlib import Path

import httpx
import pytest
from tools import installed_check
from tools.distributions import build, export_sources

from tests.conftest import ROOT, wait_for
from tests.project.conftest import Distributions, make_environment, uv
from tests.s3_server import free_port

pytestmark = [pytest.mark.long, pytest.mark.timeout(1200)]


def check_installed(environment: Path, core: str) -> str:
    """Read, convert, import and search a backup with the installed package."""
    command: list[str | Path] = [environment / "bin/python", installed_check.__file__, core]
    return subprocess.run(command, check=True, capture_output=True, text=True, cwd=environment).stdout


def test_two_builds_have_the_same_bytes(
    distributions: Distributions, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A build at another path gives the same files, so that a published release can be verified."""
    date = subprocess.run(
        ["git", "log", "-1", "--format=%ct"], check=True, cwd=ROOT, capture_output=True, text=True
    )
    elsewhere = tmp_path / "a checkout at a longer path"
    export_sources(ROOT, elsewhere)
    subprocess.run(["git", "init", "--quiet", elsewhere], check=True)
    monkeypatch.setenv("SOURCE_DATE_EPOCH", date.stdout.strip())
    monkeypatch.setenv("TMPDIR", str(tmp_path))
    second = build(elsewhere, tmp_path / "again")
    first = [distributions.sdist, distributions.compiled, distributions.pure, distributions.demo]
    assert {path.name: path.read_bytes() for path in second} == {path.name: path.read_bytes() for path in first}


def test_the_wheel_imports_a_backup_and_serves(distributions: Distributions, tmp_path: Path) -> None:
    """The compiled wheel works in a new environment, and its service answers requests and stops on SIGTERM."""
    assert "manylinux" in distributions.compiled.name
    environment = tmp_path / "venv"
    make_environment(environment, ["runtime", "server"], distributions.compiled, distributions.demo)
    assert "core compiled: works" in check_installed(environment, "compiled")
    port = free_port()
    settings = {
        "PATH": os.environ["PATH"],
        "HOLDFAST_DATA": str(tmp_path / "data"),
        "HOLDFAST_PORT": str(port),
        "HOLDFAST_ADMIN_PASSWORD": "a-password-for-tests",
    }
    process = subprocess.Popen([environment / "bin/holdfast", "serve"], env=settings, cwd=tmp_path)
    try:
        address = f"http://127.0.0.1:{port}"
        wait_for(lambda: is_ready(f"{address}/readyz"), seconds=60)
        user = httpx.get(f"{address}/api/v1/user", auth=("admin", "a-password-for-tests"))
        assert user.json()["login"] == "admin"
        assert httpx.get(address).status_code == 200
        process.send_signal(signal.SIGTERM)
        assert process.wait(60) == 0
    finally:
        if process.poll() is None:
            process.kill()
            process.wait()


def is_ready(url: str) -> bool:
    """Return whether a service is ready."""
    try:
        return httpx.get(url).is_success
    except httpx.TransportError:
        return False


def test_the_sdist_and_the_pure_wheel_work_interpreted(
    distributions: Distributions, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The pure wheel and an uncompiled source install work, for platforms without a compiled wheel."""
    environment = tmp_path / "venv"
    make_environment(environment, ["runtime", "build"], distributions.pure)
    assert "core interpreted: works" in check_installed(environment, "interpreted")
    shutil.copy(distributions.sdist, tmp_path)
    monkeypatch.setenv("HOLDFAST_PURE", "1")
    into: list[str | Path] = ["--python", environment, "--reinstall", "--no-deps", "--no-build-isolation"]
    uv(["pip", "install", *into, tmp_path / distributions.sdist.name])
    assert "core interpreted: works" in check_installed(environment, "interpreted")
