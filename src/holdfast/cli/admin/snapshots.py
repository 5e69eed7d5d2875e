"""`holdfast admin backup` and `restore`."""

import sys
from pathlib import Path
from typing import Annotated

import typer

from holdfast.cli.output import JsonOption, byte_progress, console, print_json
from holdfast.cli.settings import ConfigOption, DataOption, gather

__all__ = ["backup", "restore"]


def backup(
    context: typer.Context,
    target: Annotated[Path, typer.Argument(help="The new file, ending with .tar, .tar.gz or .tgz.")],
    *,
    data: DataOption = None,
    config: ConfigOption = None,
    json: JsonOption = False,
) -> None:
    """Back up the whole service to one file while it runs: database, repositories and files, not the settings."""
    from holdfast.hosting.snapshot.create import create_snapshot, estimate

    settings = gather(context, config, data).settings
    total = estimate(settings) if sys.stderr.isatty() else None
    with byte_progress("backing up", total) as told:
        manifest = create_snapshot(settings, target, told or (lambda done: done))
    if json:
        print_json(manifest)
        return
    rows = sum(manifest.tables.values())
    console().print(
        f"{target}: {manifest.repositories} repositories and {rows} rows, {manifest.size} bytes in all.",
    )
    if settings.s3_bucket is not None:
        console().print("Large files in the bucket are not in it; keep the bucket safe by its own means.")


def restore(
    context: typer.Context,
    source: Annotated[Path, typer.Argument(help="The backup.")],
    *,
    data: Annotated[
        Path | None, typer.Option("--data", help="The folder to restore to; empty, or none yet.")
    ] = None,
    config: ConfigOption = None,
    json: JsonOption = False,
) -> None:
    """Restore a backup to an empty data folder, and to an empty PostgreSQL database when the settings name one."""
    from holdfast.hosting.snapshot.restore import restore as put_back

    settings = gather(context, config, data).settings
    # It is read twice: once to see that it is whole, before anything is touched.
    total = source.stat().st_size if source.is_file() and sys.stderr.isatty() else None
    with byte_progress("restoring", total) as told:
        manifest = put_back(settings, source, told or (lambda done: done))
    if json:
        print_json(manifest)
        return
    console().print(
        f"{settings.data}: {manifest.repositories} repositories and {sum(manifest.tables.values())} rows restored."
    )
    console().print("`holdfast admin doctor --deep` checks every object of them.")
