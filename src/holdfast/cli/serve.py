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
from holdfast.errors import HoldfastError
from holdfast.settings import Settings

if TYPE_CHECKING:
    from holdfast.hosting.data_folder import FirstStart
    from holdfast.server.worker import Worker

__all__ = ["serve"]


def listen(host: str, port: int) -> socket.socket:
    """Bind the listening socket first, so that a port in use is one line of error, and clients can wait."""
    family = socket.AF_INET6 if ":" in host else socket.AF_INET
    server = socket.socket(family, socket.SOCK_STREAM)
    server.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
    try:
        server.bind((host, port))
        server.listen(2048)
    except OSError as error:
        server.close()
        if error.errno == errno.EADDRINUSE:
            raise HoldfastError(f"port {port} is in use; choose another with --port or HOLDFAST_PORT") from error
        raise HoldfastError(f"cannot listen on {host} port {port}: {error.strerror}") from error
    return server


def address(settings: Settings, port: int) -> str:
    """Return the URL of the service."""
    if settings.host in {"127.0.0.1", "::1", "0.0.0.0", "::"}:  # noqa: S104  # compared with, not bound to
        return f"http://localhost:{port}"
    return f"http://[{settings.host}]:{port}" if ":" in settings.host else f"http://{settings.host}:{port}"


def serve(
    context: typer.Context,
    *,
    data: Annotated[Path | None, typer.Option("--data", help="The folder that holds everything.")] = None,
    host: Annotated[str | None, typer.Option("--host", help="The address to listen on.")] = None,
    port: Annotated[int | None, typer.Option("--port", help="The port to listen on; 0 picks a free one.")] = None,
    demo: Annotated[
        bool | None, typer.Option("--demo/--no-demo", help="Fill an empty data folder with something to look at.")
    ] = None,
    config: ConfigOption = None,
) -> None:
    """Run the server: website, API and git. Initializes an empty data folder."""
    from holdfast.hosting.app import App
    from holdfast.hosting.data_folder import open_database, prepare
    from holdfast.hosting.services import ref_changes
    from holdfast.server.supervisor import worker_count

    settings = gather(context, config, data, host=host, port=port, demo=demo).settings
    logs.configure(style=settings.log_format, level=settings.log_level)
    if settings.demo:
        require_demo_package()
    count = worker_count(settings.workers)
    with (
        listen(settings.host, settings.port) as server,
        metrics_folder(settings.data),
    ):
        with open_database(settings) as database:
            first = prepare(database, settings)
            where = database.name
        # Before anybody is answered: what a service that was killed had begun is recorded now.
        with closing(App.open(settings)) as opened:
            ref_changes.recover(opened)
        if first is None:
            change = f"holdfast admin user password {settings.admin_name} --data {shlex.quote(str(settings.data))}"
            hint = f"as {settings.admin_name}; forgotten? {change}"
        elif first.password is None:
            hint = f"as {first.admin}, with the password from the settings"
        else:
            hint = f"as {first.admin}, password {first.password.reveal()} (shown only this once)"
        facts = {
            "listening": address(settings, server.getsockname()[1]),
            "data": f"{settings.data.resolve()} ({where})",
            "log in": hint,
        }
        core = "compiled" if backup.COMPILED else "interpreted, so slow"
        console().print(f"Holdfast {__version__} (core: {core})")
        for name, fact in facts.items():
            # Not wrapped: addresses and paths are there to be copied.
            console().print(f"{name:<10} {fact}", soft_wrap=True, markup=False, highlight=False)
        with demo_content(settings, first, server):
            run(settings, server, count)


def demo_content(
    settings: Settings, first: "FirstStart | None", server: socket.socket
) -> AbstractContextManager[None]:
    """Return what fills a new data folder while the service runs; nothing unless the settings ask for it."""
    if not settings.demo:
        return nullcontext()
    from holdfast_demo.process import making_demo

    return making_demo(settings, first, server)


def run(settings: Settings, server: socket.socket, count: int) -> None:
    """Run the worker and delivery processes until a signal ends the service."""
    from holdfast.server.delivery_process import deliver
    from holdfast.server.supervisor import Role, Supervisor

    roles = [Role(count, partial(work, settings, server))]
    if settings.webhooks:
        roles.append(Role(1, partial(deliver, settings, server), is_required=False))
    # Once the last worker has let go of the socket too, newcomers are turned away instead of left waiting.
    ended_by = Supervisor(roles, server.close).run()
    if ended_by == signal.SIGINT:
        raise KeyboardInterrupt


def work(settings: Settings, server: socket.socket, on_started: Callable[[], None], parent_gone: int) -> None:
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

    The library that counts looks for it when it is first imported, so this comes before anything is counted.
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
    mine = place / f"{here}{os.getpid()}"
    mine.mkdir(mode=0o700)
    os.environ["PROMETHEUS_MULTIPROC_DIR"] = str(mine)
    try:
        yield
    finally:
        del os.environ["PROMETHEUS_MULTIPROC_DIR"]
        shutil.rmtree(mine, ignore_errors=True)


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
