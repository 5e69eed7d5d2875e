"""A service behind the proxies whose configurations are in `packaging/`."""

import os
import re
import shutil
import ssl
import subprocess
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import httpx
import pytest

from tests.conftest import ROOT, wait_for
from tests.nodes.cluster import AUTH, Node, run_git
from tests.s3_server import free_port

PACKAGING = ROOT / "packaging"
# Above the size from which nginx writes a body to a file, or refuses it, unless it is told otherwise.
MEBIBYTES = 24


def program(name: str, package: str) -> str:
    """Find a program of the distribution."""
    found = shutil.which(name, path=f"{os.environ['PATH']}:/usr/sbin")
    if found is None:
        pytest.skip(f"no {name}: install the distribution's package (Debian: apt-get install {package})")
    return found


def make_certificate(folder: Path) -> tuple[Path, Path]:
    """Make a certificate for this machine, and its key."""
    key, certificate = folder / "key.pem", folder / "certificate.pem"
    request = ["openssl", "req", "-x509", "-newkey", "rsa:2048", "-nodes", "-subj", "/CN=localhost"]
    names = ["-addext", "subjectAltName=DNS:localhost"]
    subprocess.run([*request, *names, "-keyout", key, "-out", certificate], check=True, capture_output=True)
    return certificate, key


def nginx(folder: Path, port: int, service: int) -> list[str | Path]:
    """Write the configuration with the addresses of this machine, and return the command."""
    certificate, key = make_certificate(folder)
    text = (PACKAGING / "nginx/holdfast.conf").read_text()
    text = re.sub(r"ssl_certificate .*;", f"ssl_certificate {certificate};", text)
    text = re.sub(r"ssl_certificate_key .*;", f"ssl_certificate_key {key};", text)
    text = re.sub(r"server_name .*;", "server_name localhost;", text)
    text = re.sub(r"listen \[::\].*;", "", text).replace("listen 80;", f"listen 127.0.0.1:{free_port()};")
    text = text.replace("listen 443", f"listen 127.0.0.1:{port}").replace("127.0.0.1:3000", f"127.0.0.1:{service}")
    (folder / "site.conf").write_text(text)
    temporary = "".join(
        f"{name}_temp_path {folder}/{name}; " for name in ("client_body", "proxy", "fastcgi", "uwsgi", "scgi")
    )
    main = folder / "nginx.conf"
    main.write_text(
        f"daemon off; pid {folder}/pid; error_log stderr; events {{}} "
        f"http {{ access_log off; {temporary} include {folder}/site.conf; }}"
    )
    return [program("nginx", "nginx-light"), "-p", folder, "-c", main]


def caddy(folder: Path, port: int, service: int) -> list[str | Path]:
    """Write the configuration with the addresses of this machine, and return the command."""
    certificate, key = make_certificate(folder)
    text = (PACKAGING / "caddy/Caddyfile").read_text()
    text = text.replace("git.example.org {", f"localhost:{port} {{\n\ttls {certificate} {key}", 1)
    text = text.replace("127.0.0.1:3000", f"127.0.0.1:{service}")
    file = folder / "Caddyfile"
    file.write_text(f"{{\n\tadmin off\n\tauto_https disable_redirects\n}}\n{text}")
    return [program("caddy", "caddy"), "run", "--config", file, "--adapter", "caddyfile"]


@contextmanager
def run_proxy(folder: Path, kind: str) -> Iterator[tuple[Node, str, httpx.Client]]:
    """Run a service behind a proxy; yield the service, the address of the proxy, and a client of it."""
    port = free_port()
    url = f"https://localhost:{port}"
    settings = {
        "HOLDFAST_ADMIN_PASSWORD": AUTH[1],
        "HOLDFAST_WORKERS": "1",
        "HOLDFAST_ROOT_URL": url,
        "HOLDFAST_LOGIN_FAILURES": "3",
    }
    node = Node(folder / "data", settings)
    command = {"nginx": nginx, "caddy": caddy}[kind](folder, port, node.port)
    environment = {**os.environ, "HOME": str(folder), "XDG_DATA_HOME": str(folder)}
    node.start()
    try:
        with (folder / "proxy.log").open("wb") as log:
            process = subprocess.Popen(command, env=environment, stdout=log, stderr=log)
        try:
            context = ssl.create_default_context(cafile=folder / "certificate.pem")
            with httpx.Client(base_url=url, verify=context, timeout=60) as client:
                wait_for(lambda: is_ready(client), 60)
                yield node, url, client
        finally:
            process.terminate()
            process.wait(30)
    finally:
        node.kill()


def is_ready(client: httpx.Client) -> bool:
    """Return whether the service is ready, through the proxy."""
    try:
        return client.get("/readyz").status_code == 200
    except httpx.HTTPError:
        return False


@pytest.mark.long
@pytest.mark.parametrize("kind", ["nginx", "caddy"])
def test_git_pages_and_limits_work_behind_the_proxy(
    kind: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A large push and a clone by HTTPS, pages with the public URL, and limits by the address of the client."""
    monkeypatch.setenv("GIT_SSL_CAINFO", str(tmp_path / "certificate.pem"))
    with run_proxy(tmp_path, kind) as (node, url, client):
        created = client.post("/api/v1/user/repos", json={"name": "boats", "auto_init": True}, auth=AUTH)
        assert created.status_code == 201, created.text
        assert created.json()["clone_url"] == f"{url}/admin/boats.git"
        remote = url.replace("://", f"://{AUTH[0]}:{AUTH[1]}@") + "/admin/boats.git"
        run_git("clone", "-q", remote, str(tmp_path / "work"))
        (tmp_path / "work/large").write_bytes(os.urandom(MEBIBYTES << 20))
        run_git("add", ".", folder=tmp_path / "work")
        run_git("commit", "-qm", "large", folder=tmp_path / "work")
        run_git("push", "-q", "origin", "HEAD", folder=tmp_path / "work")
        run_git("clone", "-q", remote, str(tmp_path / "again"))
        assert (tmp_path / "again/large").read_bytes() == (tmp_path / "work/large").read_bytes()

        assert client.get("/login").status_code == 200
        # The service knows only by a header that the client came by HTTPS.
        cookies = client.post("/login", data={"name": AUTH[0], "password": AUTH[1]}).headers.get_list("set-cookie")
        assert cookies
        assert all("; secure" in cookie.lower() for cookie in cookies)
        assert "boats" in client.get("/admin/boats").text
        assert client.get("/metrics").status_code == 404
        # Also without the rule of the proxy.
        forwarded = {"X-Forwarded-For": "192.0.2.1"}
        assert httpx.get(f"{node.url}/metrics", headers=forwarded).status_code == 403

        responses = [
            client.get("/api/v1/user", auth=("nobody", f"wrong-{n}"), headers={"X-Forwarded-For": f"192.0.2.{n}"})
            for n in range(8)
        ]
        assert responses[0].status_code == 401
        assert responses[-1].status_code == 429
