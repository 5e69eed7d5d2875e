"""`holdfast serve`."""

import asyncio
import errno
import os
import shlex
import shutil
import signal
import socket
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, closing, contextmanager, nullcontext
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from holdfast import __version__, backup, logs
from holdfast.cli.demo_package import require_demo_package
from holdfast.cli.output import console
from holdfast.cli.settings import ConfigOption, gather
from holdfast.counts import count_of
from holdfast.errors import HoldfastError
from holdfast.settings import Settings

if TYPE_CHECKING:
    from holdfast.hosting.data_folder import FirstStart
    from holdfast.server.supervisor import Target
    from holdfast.server.worker import Worker

__all__ = ["serve"]


def listen(host: str, port: int, setting: str = "--port or HOLDFAST_PORT") -> socket.socket:
    """Bind the listening socket early, so that a port in use is a clear error, and clients can connect at once."""
    family = socket.AF_INET6 if ":" in host else socket.AF_INET
    server = socket.socket(family, socket.SOCK_STREAM)
    server.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
    try:
        server.bind((host, port))
        server.listen(2048)
    except OSError as error:
        server.close()
        if error.errno == errno.EADDRINUSE:
            raise HoldfastError(f"port {port} is in use; choose another with {setting}") from error
        raise HoldfastError(f"cannot listen on {host} port {port}: {error.strerror}") from error
    return server


def listen_ssh(settings: Settings) -> AbstractContextManager[socket.socket | None]:
    """Bind the listening socket of SSH, if enabled."""
    if not settings.ssh:
        return nullcontext()
    return listen(settings.host, settings.ssh_port, "HOLDFAST_SSH_PORT")


def address(settings: Settings, port: int) -> str:
    """Return the URL of the service."""
    if settings.host in {"127.0.0.1", "::1", "0.0.0.0", "::"}:  # noqa: S104  # compared with, not bound to
        return f"http://localhost:{port}"
    return f"http://[{settings.host}]:{port}" if ":" in settings.host else f"http://{settings.host}:{port}"


def serve(
    context: typer.Context,
    *,
    data: Annotated[Path | None, typer.Option("--data", help="The data folder.")] = None,
    host: Annotated[str | None, typer.Option("--host", help="The address to listen on.")] = None,
    port: Annotated[
        int | None, typer.Option("--port", help="The port to listen on; 0 chooses a free port.")
    ] = None,
    demo: Annotated[
        bool | None, typer.Option("--demo/--no-demo", help="Create demo content in an empty data folder.")
    ] = None,
    config: ConfigOption = None,
) -> None:
    """Run the server: website, API and git. Initializes an empty data folder."""
    from holdfast.hosting import traces
    from holdfast.hosting.data_folder import open_database, prepare
    from holdfast.server.child_process import run_in_child
    from holdfast.server.supervisor import worker_count
    from holdfast.web.bundles import BUNDLES

    settings = gather(context, config, data, host=host, port=port, demo=demo).settings
    logs.configure(style=settings.log_format, level=settings.log_level)
    if settings.demo:
        require_demo_package()
    if settings.otlp_endpoint is not None:
        traces.require_extra()
    count = worker_count(settings.workers)
    with (
        listen(settings.host, settings.port) as server,
        listen_ssh(settings) as ssh,
        metrics_folder(settings.data),
    ):
        with open_database(settings) as database:
            first = prepare(database, settings)
            where = database.name
        run_in_child(partial(open_storage, settings))
        if first is None:
            change = f"holdfast admin user password {settings.admin_name} --data {shlex.quote(str(settings.data))}"
            hint = f"as {settings.admin_name}; forgotten? {change}"
        elif first.password is None:
            hint = f"as {first.admin}, with the password from the settings"
        else:
            hint = f"as {first.admin}, password {first.password.reveal()} (shown only this once)"
        facts = {
            "listening": address(settings, server.getsockname()[1]),
            **({} if ssh is None else {"ssh": f"port {ssh.getsockname()[1]}, as the user {settings.ssh_user}"}),
            "data": f"{settings.data.resolve()} ({where})",
            "log in": hint,
        }
        core = "compiled" if backup.COMPILED else "interpreted, so slow"
        console().print(f"Holdfast {__version__} (core: {core})")
        for name, fact in facts.items():
            # Not wrapped, so that URLs and paths can be copied.
            console().print(f"{name:<10} {fact}", soft_wrap=True, highlight=False)
        BUNDLES.log_missing()
        with demo_content(settings, first, server):
            run(settings, server, ssh, count)


def demo_content(
    settings: Settings, first: "FirstStart | None", server: socket.socket
) -> AbstractContextManager[None]:
    """Return a context that adds demo content to a new data folder while the service runs, if enabled."""
    if not settings.demo:
        return nullcontext()
    from holdfast_demo.process import demo_process

    return demo_process(settings, first, server)


def run(settings: Settings, server: socket.socket, ssh: socket.socket | None, count: int) -> None:
    """Run the worker, delivery and SSH processes until a signal ends the service."""
    from holdfast.server.delivery_process import deliver
    from holdfast.server.supervisor import Role, Supervisor

    roles = [Role(count, without(ssh, partial(run_worker, settings, server)))]
    if settings.webhooks:
        roles.append(Role(1, without(ssh, partial(deliver, settings, server)), is_required=False))
    if ssh is not None:
        from holdfast.server.ssh_process import serve_ssh

        roles.append(Role(1, without(server, partial(serve_ssh, settings, ssh)), is_required=False))

    def close() -> None:
        # Once the last worker has closed its copy too, new connections are refused instead of queued.
        server.close()
        if ssh is not None:
            ssh.close()

    ended_by = Supervisor(roles, close).run()
    if ended_by == signal.SIGINT:
        raise KeyboardInterrupt


def without(unused: socket.socket | None, target: "Target") -> "Target":
    """Return a process target that closes an inherited socket it does not serve, so that no client waits on it."""

    def run_target(on_started: Callable[[], None], parent_gone: int) -> None:
        if unused is not None:
            unused.close()
        target(on_started, parent_gone)

    return run_target


def run_worker(
    settings: Settings, server: socket.socket, on_started: Callable[[], None], parent_gone: int
) -> None:
    """Run one worker process until the parent stops it or exits."""
    from holdfast.server.worker import new_worker

    worker: Worker

    def orphaned() -> None:
        asyncio.get_running_loop().remove_reader(parent_gone)
        worker.handle_exit(signal.SIGTERM, None)

    def started() -> None:
        asyncio.get_running_loop().add_reader(parent_gone, orphaned)
        on_started()

    worker = new_worker(settings, (signal.SIGTERM,), started)
    worker.run(sockets=[server])
    if not worker.started:
        raise HoldfastError("the server did not start")


@contextmanager
def metrics_folder(data: Path) -> Iterator[None]:
    """Create the folder for the metrics of the workers, and remove those of services that ended.

    `prometheus_client` reads the path at import, so this must run before the first import.
    """
    place = data / "tmp"
    try:
        data.mkdir(mode=0o700, parents=True, exist_ok=True)
        place.mkdir(mode=0o700, exist_ok=True)
    except OSError as error:
        raise HoldfastError(f"the data folder {data} cannot be used: {error.strerror}") from error
    here = f"metrics-{socket.gethostname()}-"
    for folder in place.glob(f"{here}*"):
        if not is_running(folder.name.removeprefix(here)):
            shutil.rmtree(folder, ignore_errors=True)
    own_folder = place / f"{here}{os.getpid()}"
    own_folder.mkdir(mode=0o700)
    os.environ["PROMETHEUS_MULTIPROC_DIR"] = str(own_folder)
    try:
        yield
    finally:
        del os.environ["PROMETHEUS_MULTIPROC_DIR"]
        shutil.rmtree(own_folder, ignore_errors=True)


def is_running(pid: str) -> bool:
    """Return whether a process with this id is running."""
    if not pid.isdigit() or int(pid) == os.getpid():
        return False
    try:
        os.kill(int(pid), 0)
    except ProcessLookupError:
        return False
    except PermissionError:
        return True
    return True


def open_storage(settings: Settings) -> None:
    """Open the object store for the first time, and adopt repositories of an earlier version."""
    from holdfast.hosting.app import App
    from holdfast.hosting.services.storage_setup import prepare_storage

    with closing(App.open(settings)) as opened:
        prepare_storage(opened, show_adoption)


def show_adoption(adopted: int, total: int) -> None:
    """Print how many repositories of an earlier version were adopted."""
    if adopted == total or not adopted % 100:
        console().print(f"adopted {adopted:,} of {count_of(total, 'repository', 'repositories')}")
