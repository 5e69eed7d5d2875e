"""`holdfast serve`."""

import errno
import socket
from pathlib import Path
from typing import Annotated

import typer
from rich.table import Table

from holdfast import __version__, backup, logs
from holdfast.cli.output import console
from holdfast.cli.settings import ConfigOption, gather
from holdfast.errors import HoldfastError
from holdfast.settings import Settings

__all__ = ["serve"]


def listen(host: str, port: int) -> socket.socket:
    """Take the address before anything else is done: a busy port is said in one line, and callers can wait."""
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
    """Write the address to type into a browser."""
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
    """Run the service: the website and the API. Sets up an empty data folder by itself."""
    import uvicorn
    from uvicorn.importer import import_from_string

    from holdfast.cli.demo import add_demo
    from holdfast.hosting.data import open_database, prepare

    folder = None if data is None else str(data)
    settings = gather(context, config, data=folder, host=host, port=port, demo=demo).settings
    logs.configure(style=settings.log_format, level=settings.log_level)
    with listen(settings.host, settings.port) as server:
        with open_database(settings) as database:
            first = prepare(database, settings)
            where = database.name
        if settings.demo and first is not None:
            add_demo(settings)
        facts = Table.grid(padding=(0, 2))
        facts.add_row("listening", address(settings, server.getsockname()[1]))
        facts.add_row("data", f"{settings.data.resolve()} ({where})")
        if first is None:
            hint = f"as {settings.admin_name}; forgotten? holdfast admin user password {settings.admin_name}"
        elif first.password is None:
            hint = f"as {first.admin}, with the password from the settings"
        else:
            hint = f"as {first.admin}, password {first.password.reveal()} (shown only this once)"
        facts.add_row("log in", hint)
        core = "compiled" if backup.COMPILED else "interpreted, so slow"
        console().print(f"Holdfast {__version__} (core: {core})")
        console().print(facts)
        # The website is named, not imported: no room but the entry point may know it.
        build = import_from_string("holdfast.web.app:build")
        uvicorn.Server(
            uvicorn.Config(
                build(settings),
                log_config=None,
                access_log=False,
                server_header=False,
                timeout_graceful_shutdown=30,
            )
        ).run(sockets=[server])
