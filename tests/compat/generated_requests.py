"""Requests generated from the OpenAPI document: no response may be a 5xx or differ from the document.

`python -m tests.compat.generated_requests SECONDS` runs for that long, with another seed each time, against two
processes of the service; on PostgreSQL if HOLDFAST_TEST_DATABASE_URL names an empty database.
"""

import argparse
import os
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path

import httpx

from holdfast.hosting.data_folder import open_database
from holdfast.hosting.store import accounts, tokens
from holdfast.secret import Secret
from holdfast.settings import Settings
from tests.conftest import ADMIN_PASSWORD, Service, wait_for
from tests.hosting.api_clients import ServiceClients
from tests.hosting.permission_matrix import create_matrix

__all__ = ["fill_service", "send_requests"]

CONFIGURATION = Path(__file__).with_name("schemathesis.toml")
SPARES = 8


def fill_service(service: Service) -> dict[str, str]:
    """Create the users and repositories of the permission matrix and some more; return a token of each user."""
    with ExitStack() as stack:
        clients = ServiceClients(service, stack)
        cast = create_matrix(clients)
        for number in range(SPARES):
            name = f"spare-{number}"
            for client, path, body in (
                (cast.callers["owner"], "/user/repos", {"name": name, "auto_init": True}),
                (cast.callers["owner"], "/orgs", {"username": f"org-{name}"}),
                (cast.callers["admin"], "/admin/users", {"username": name, "email": f"{name}@example.org"}),
            ):
                response = client.post(path, json={"password": "spare-spare-spare", **body})
                assert response.status_code == 201, response.text
    results = {}
    for name in ("admin", "owner"):
        account = accounts.find_user(service.database, name)
        results[name] = tokens.create_token(service.database, account, "generated requests", ("all",))[1].reveal()
    return results


def send_requests(url: str, token: str, *, seconds: int, seed: int) -> str:
    """Send generated requests for some time; fail with the report when a response is wrong."""
    with tempfile.TemporaryDirectory() as folder:
        result = subprocess.run(
            [
                *(sys.executable, "-m", "schemathesis.cli", "--config-file", str(CONFIGURATION)),
                *("run", f"{url}/api/openapi.json", "--max-time", str(seconds), "--seed", str(seed), "--no-color"),
                *("--header", f"Authorization: token {token}", "--suppress-health-check", "all"),
                *("--max-failures", "25", "--continue-on-failure", "--warnings", "off"),
            ],
            capture_output=True,
            text=True,
            check=False,
            cwd=folder,
        )
    report = result.stdout + result.stderr
    assert result.returncode == 0, report
    return report


@contextmanager
def serving(folder: Path) -> Iterator[Service]:
    """Run the service as in production, with two processes."""
    server = os.environ.get("HOLDFAST_TEST_DATABASE_URL")
    settings = Settings(data=folder / "data", database_url=Secret(server) if server else None)
    environment = {**os.environ, "HOLDFAST_ADMIN_PASSWORD": ADMIN_PASSWORD, "HOLDFAST_WORKERS": "2"}
    if server:
        environment["HOLDFAST_DATABASE_URL"] = server
    log = folder / "log"
    with log.open("wb") as output:
        process = subprocess.Popen(
            [sys.executable, "-m", "holdfast", "serve", "--port", "0", "--data", str(settings.data)],
            env=environment,
            stdout=output,
            stderr=subprocess.STDOUT,
        )
    try:
        wait_for(lambda: "http://localhost:" in log.read_text(), 60)
        port = log.read_text().partition("http://localhost:")[2].split()[0]
        url = f"http://127.0.0.1:{port}"
        wait_for(lambda: is_up(url), 60)
        with open_database(settings) as database:
            yield Service(url, settings, database)
    finally:
        process.terminate()
        process.wait(30)
        trouble = [line for line in log.read_text().splitlines() if "error" in line.lower() or "Traceback" in line]
        sys.stdout.write("\n".join([*trouble[:50], ""]))


def is_up(url: str) -> bool:
    """Return whether the service responds."""
    try:
        return httpx.get(f"{url}/api/v1/version").status_code == 200
    except httpx.TransportError:
        return False


def main() -> None:
    """Send requests for the given time, half of it as the administrator and half as an ordinary user."""
    parser = argparse.ArgumentParser(prog="python -m tests.compat.generated_requests")
    parser.add_argument("seconds", nargs="?", type=int, default=120, help="for how long (default: 120)")
    seconds: int = parser.parse_args().seconds
    seed = int.from_bytes(os.urandom(4))
    with tempfile.TemporaryDirectory() as folder, serving(Path(folder)) as service:
        for name, token in fill_service(service).items():
            sys.stdout.write(f"as {name}, seed {seed}\n")
            sys.stdout.write(send_requests(service.url, token, seconds=max(seconds // 2, 1), seed=seed))


if __name__ == "__main__":
    main()
