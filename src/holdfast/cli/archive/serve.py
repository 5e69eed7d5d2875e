"""`holdfast archive serve`."""

import secrets
import signal
from contextlib import closing
from typing import Annotated, Final

import typer

from holdfast.cli.archive.shared import ArchiveArgument
from holdfast.cli.output import console
from holdfast.cli.passphrases import PassphraseFileOption, open_archive
from holdfast.secret import Secret

__all__ = ["serve_archive"]

# Loopback: not reachable from other machines.
HERE: Final = "127.0.0.1"


def serve_archive(
    archive_file: ArchiveArgument,
    *,
    port: Annotated[
        int, typer.Option("--port", help="The port to listen on; 0 chooses a free port.", min=0, max=65535)
    ] = 0,
    passphrase_file: PassphraseFileOption = None,
) -> None:
    """Serve an archive to a browser on this machine; the printed URL works once."""
    import uvicorn

    from holdfast.cli.serve import listen
    from holdfast.server.worker import Worker
    from holdfast.web.chats.single_archive import build

    with closing(open_archive(archive_file, passphrase_file)) as opened:
        key = opened.key
    token = Secret(secrets.token_urlsafe(24))
    with listen(HERE, port) as server:
        port_in_use = server.getsockname()[1]
        config = uvicorn.Config(
            build(archive_file, token, port_in_use, key),
            loop="uvloop",
            http="httptools",
            ws="none",
            log_config=None,
            access_log=False,
            server_header=False,
            proxy_headers=False,
            timeout_graceful_shutdown=3,
        )
        console().print(f"http://{HERE}:{port_in_use}/open/{token.reveal()}", soft_wrap=True, highlight=False)
        console().print("This address works once, in one browser on this machine. Ctrl-C ends it.")
        worker = Worker(config, (signal.SIGINT, signal.SIGTERM))
        worker.run(sockets=[server])
        if worker.ended_by == signal.SIGINT:
            raise KeyboardInterrupt
