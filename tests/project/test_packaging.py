"""The container image, compose files, systemd units and proxy configurations."""

import json
import os
import re
import shutil
import signal
import subprocess
import sys
from pathlib import Path

import httpx
import pytest
import yaml  # type: ignore[import-untyped]  # it exports no types
from tools.distributions import export_sources

from holdfast.settings import describe
from tests.conftest import ROOT, wait_for
from tests.project.project_files import schema_errors
from tests.s3_server import free_port

PACKAGING = ROOT / "packaging"
COMPOSE = sorted((PACKAGING / "compose").glob("*.yaml"))
VARIABLES = {setting.variable for setting in describe()}


@pytest.mark.parametrize(
    ("file", "guide"),
    [
        ("Dockerfile", "containers.md"),
        ("compose/one-machine.yaml", "containers.md"),
        ("systemd/holdfast.service", "running.md"),
        ("nginx/holdfast.conf", "running.md"),
        ("caddy/Caddyfile", "running.md"),
    ],
)
def test_the_guide_shows_the_file(file: str, guide: str) -> None:
    """The guide contains the tested file unchanged, so that a reader can copy it from there."""
    assert f"\n{(PACKAGING / file).read_text()}```\n" in (ROOT / "docs/guides" / guide).read_text()


def test_every_variable_is_a_setting() -> None:
    """The service does not start with an unknown variable."""
    files = [path for path in PACKAGING.rglob("*") if path.is_file() and path.suffix != ".json"]
    assert len(files) > 10
    for path in files:
        for name in re.findall(r"\bHOLDFAST_[A-Z0-9_]*[A-Z0-9]\b", path.read_text()):
            assert name in VARIABLES or name == "HOLDFAST_NODE", f"{path.name}: {name}"


@pytest.mark.parametrize("path", COMPOSE, ids=lambda path: path.name)
def test_compose_files_fit_the_schema(path: Path, tmp_path: Path) -> None:
    """Every file is valid against the published schema, and a misspelt key is reported."""
    assert schema_errors("vendor.compose-spec", path) == ""
    broken = tmp_path / path.name
    broken.write_text(path.read_text().replace("stop_grace_period", "stop_grace"))
    assert "stop_grace" in schema_errors("vendor.compose-spec", broken)


@pytest.mark.parametrize("path", COMPOSE, ids=lambda path: path.name)
def test_containers_of_the_service_have_no_rights(path: Path) -> None:
    """Containers have a read-only root, no capabilities and a grace period to stop."""
    services = yaml.safe_load(path.read_text())["services"]
    own = [one for one in services.values() if "build" in one]
    assert own
    for service in own:
        assert service["read_only"] is True
        assert service["tmpfs"] == ["/tmp"]
        assert service["cap_drop"] == ["ALL"]
        assert service["security_opt"] == ["no-new-privileges:true"]
        assert service["stop_grace_period"] == "45s"
        assert (path.parent / service["build"]["context"] / service["build"]["dockerfile"]).is_file()


def instructions() -> list[tuple[str, str]]:
    """Read the instructions of the Dockerfile, with continued lines joined."""
    text = re.sub(r"^#.*\n", "", (PACKAGING / "Dockerfile").read_text(), flags=re.MULTILINE)
    lines = re.sub(r"\\\n\s*", "", text).splitlines()
    return [(word, rest) for line in lines if line for word, _, rest in [line.partition(" ")]]


def test_the_image_runs_without_rights() -> None:
    """The last stage of the image runs as a user that is not root, without gcc, and checks `/readyz`."""
    stages = [index for index, (word, _) in enumerate(instructions()) if word == "FROM"]
    assert len(stages) == 3
    last = dict(instructions()[stages[-1] :])
    assert last["USER"] == "10001:10001"
    assert last["VOLUME"] == "/data"
    assert "HOLDFAST_DATA=/data" in last["ENV"]
    assert "/readyz" in last["HEALTHCHECK"]
    assert json.loads(last["CMD"]) == ["holdfast", "serve"]
    assert "gcc" not in " ".join(rest for word, rest in instructions()[stages[-1] :] if word == "RUN")


@pytest.mark.long
@pytest.mark.timeout(900)
def test_the_commands_of_the_image_make_a_service_that_runs(tmp_path: Path) -> None:
    """The commands of the Dockerfile, run in a folder without compiling, build a service that runs."""
    root, checkout = tmp_path / "root", tmp_path / "checkout"
    export_sources(ROOT, checkout)
    stages = [index for index, (word, _) in enumerate(instructions()) if word == "FROM"]
    environment = {**os.environ, "HOLDFAST_PURE": "1"}
    (root / "src").mkdir(parents=True)
    shutil.rmtree(checkout / "src/holdfast/web/static/bundles", ignore_errors=True)
    for word, rest in instructions()[stages[0] + 1 : stages[-1]]:
        if word == "COPY" and rest.startswith("--from=assets "):
            # Both stages have the same folder here.
            assert (root / rest.split()[1].lstrip("/") / "manifest.json").is_file()
        elif word == "COPY":
            *sources, target = rest.split()
            for source in sources:
                if (checkout / source).is_dir():
                    shutil.copytree(checkout / source, root / "src" / target, dirs_exist_ok=True)
                else:
                    shutil.copy(checkout / source, root / "src" / target)
        elif word == "RUN" and not rest.startswith("apt-get"):
            command = rest.replace("/opt/", f"{root}/opt/").replace("python -m", f"{sys.executable} -m", 1)
            subprocess.run(command, shell=True, check=True, cwd=root / "src", env=environment)
        else:
            assert word == "FROM" or (word, rest.partition(" ")[0]) in {("WORKDIR", "/src"), ("RUN", "apt-get")}
    shutil.rmtree(root / "src")
    assert list(root.rglob("site-packages/holdfast/web/static/bundles/editor-*.js.gz"))
    before = {path: path.stat().st_mtime_ns for path in root.rglob("*") if not path.is_symlink()}
    last = dict(instructions()[stages[-1] :])
    port = free_port()
    settings = dict(re.findall(r"(\w+)=(\S+)", last["ENV"]))
    settings |= {"PATH": f"{root}/opt/holdfast/bin:{os.environ['PATH']}", "HOLDFAST_DATA": str(tmp_path / "data")}
    settings |= {"HOLDFAST_PORT": str(port), "HOLDFAST_HOST": "127.0.0.1"}
    program = shutil.which(json.loads(last["CMD"])[0], path=settings["PATH"])
    assert program == f"{root}/opt/holdfast/bin/holdfast"
    health = json.loads(last["HEALTHCHECK"].partition("CMD ")[2])
    health = [f"{root}/opt/holdfast/bin/{health[0]}", health[1], health[2].replace("3000", str(port))]
    assert subprocess.run(health, check=False, capture_output=True, env=settings).returncode != 0
    process = subprocess.Popen([program, "serve"], env=settings, cwd=tmp_path)
    try:
        wait_for(
            lambda: subprocess.run(health, check=False, capture_output=True, env=settings).returncode == 0, 90
        )
        assert httpx.get(f"http://127.0.0.1:{port}/api/v1/version").is_success
        process.send_signal(signal.SIGTERM)
        assert process.wait(60) == 0
    finally:
        if process.poll() is None:
            process.kill()
            process.wait()
    assert {path: path.stat().st_mtime_ns for path in root.rglob("*") if not path.is_symlink()} == before


def test_systemd_units_are_valid(tmp_path: Path) -> None:
    """`systemd-analyze` finds no problem in the units and finds a misspelled key."""
    program = shutil.which("systemd-analyze")
    if program is None:
        pytest.skip("no systemd-analyze: install the distribution's package (Debian: apt-get install systemd)")
    units = sorted((PACKAGING / "systemd").iterdir())
    assert len(units) == 3
    for unit in units:
        # The commands of this machine stand for those of the service.
        text = unit.read_text().replace("/opt/holdfast/bin/holdfast", "/bin/true")
        (tmp_path / unit.name).write_text(text)
    for unit in units:
        assert unit_problems(program, tmp_path / unit.name) == []
    (tmp_path / units[0].name).write_text(units[0].read_text().replace("ExecStart=", "ExecStrat="))
    assert unit_problems(program, tmp_path / units[0].name) != []


@pytest.mark.parametrize("unit", ["holdfast.service", "holdfast-backup.service"])
def test_services_of_systemd_are_sandboxed(unit: str, tmp_path: Path) -> None:
    """`systemd-analyze` rates what a service could do at 2.0 of 10 at most, and one without a sandbox above it."""
    program = shutil.which("systemd-analyze")
    if program is None:
        pytest.skip("no systemd-analyze: install the distribution's package (Debian: apt-get install systemd)")
    text = (PACKAGING / "systemd" / unit).read_text()
    check = [program, "security", "--offline=true", "--threshold=20", "--no-pager", str(tmp_path / unit)]
    (tmp_path / unit).write_text(text)
    completed = subprocess.run(check, check=False, capture_output=True, text=True)
    assert completed.returncode == 0, completed.stdout
    (tmp_path / unit).write_text(text.replace("SystemCallFilter=", "#"))
    assert subprocess.run(check, check=False, capture_output=True).returncode != 0


def test_commands_of_units_need_no_package_of_the_distribution() -> None:
    """A minimal system has a shell and find, but no `/bin/kill`, which belongs to procps in Debian."""
    for unit in (PACKAGING / "systemd").glob("*.service"):
        programs = re.findall(r"^Exec\w+=(\S+)", unit.read_text(), re.MULTILINE)
        assert set(programs) <= {"/opt/holdfast/bin/holdfast", "/bin/sh", "/usr/bin/find"}


def unit_problems(program: str, unit: Path) -> list[str]:
    """Return the problems that `systemd-analyze verify` reports about this unit, without those of others."""
    completed = subprocess.run([program, "verify", unit], check=False, capture_output=True, text=True)
    return [line for line in completed.stderr.splitlines() if unit.name in line]


def test_the_configuration_of_nginx_is_valid(tmp_path: Path) -> None:
    """`nginx -t` accepts the configuration with a test certificate and refuses a misspelled directive."""
    program = shutil.which("nginx", path=f"{os.environ['PATH']}:/usr/sbin")
    if program is None:
        pytest.skip("no nginx: install the distribution's package (Debian: apt-get install nginx-light)")
    key, certificate = tmp_path / "key.pem", tmp_path / "certificate.pem"
    request = ["openssl", "req", "-x509", "-newkey", "rsa:2048", "-nodes", "-subj", "/CN=git.example.org"]
    subprocess.run([*request, "-keyout", key, "-out", certificate], check=True, capture_output=True)
    text = (PACKAGING / "nginx/holdfast.conf").read_text()
    text = re.sub(r"ssl_certificate .*;", f"ssl_certificate {certificate};", text)
    text = re.sub(r"ssl_certificate_key .*;", f"ssl_certificate_key {key};", text)
    text = text.replace("listen 80", "listen 8080").replace(":80;", ":8080;").replace("443", "8443")
    (tmp_path / "site.conf").write_text(text)
    main = tmp_path / "nginx.conf"
    main.write_text(
        f"pid {tmp_path}/pid; error_log stderr; events {{}} "
        f"http {{ access_log off; include {tmp_path}/site.conf; }}"
    )
    check = [program, "-t", "-q", "-p", str(tmp_path), "-c", str(main)]
    completed = subprocess.run(check, check=False, capture_output=True, text=True)
    assert completed.returncode == 0, completed.stderr
    (tmp_path / "site.conf").write_text(text.replace("proxy_buffering off;", "proxy_bufering off;"))
    assert subprocess.run(check, check=False, capture_output=True).returncode != 0
