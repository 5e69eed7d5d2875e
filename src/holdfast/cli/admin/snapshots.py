"""`holdfast admin backup` and `restore`."""

import sys
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from holdfast.cli.output import JsonOption, byte_progress, console, print_json
from holdfast.cli.settings import ConfigOption, DataOption, gather
from holdfast.counts import count_of

if TYPE_CHECKING:
    from holdfast.hosting.snapshot.archive import SnapshotManifest

__all__ = ["backup", "restore"]


def backup(
    context: typer.Context,
    target: Annotated[Path, typer.Argument(help="The new file, ending with .tar, .tar.gz or .tgz.")],
    *,
    data: DataOption = None,
    config: ConfigOption = None,
    json: JsonOption = False,
) -> None:
    """Back up the database, repositories and files to one file, while the service runs."""
    from holdfast.hosting.snapshot.create import create_snapshot, estimate

    settings = gather(context, config, data).settings
    total = estimate(settings) if sys.stderr.isatty() else None
    with byte_progress("backing up", total) as progress:
        manifest = create_snapshot(settings, target, progress or (lambda completed: completed))
    if json:
        print_json(manifest)
        return
    console().print(
        f"Backup written to {target}: {content_of(manifest)}, {count_of(manifest.size, 'byte')}.",
    )


def restore(
    context: typer.Context,
    source: Annotated[Path, typer.Argument(help="The backup.")],
    *,
    data: Annotated[
        Path | None, typer.Option("--data", help="The folder to restore to; it must be empty or not exist.")
    ] = None,
    config: ConfigOption = None,
    json: JsonOption = False,
) -> None:
    """Restore a backup to an empty data folder, and to an empty PostgreSQL database if one is configured."""
    from holdfast.hosting.snapshot.restore import restore as put_back

    settings = gather(context, config, data).settings
    # The backup is read twice: the first pass verifies it before anything is written.
    total = source.stat().st_size if source.is_file() and sys.stderr.isatty() else None
    with byte_progress("restoring", total) as progress:
        manifest = put_back(settings, source, progress or (lambda completed: completed))
    if json:
        print_json(manifest)
        return
    console().print(f"Backup restored to {settings.data}: {content_of(manifest)}.")
    console().print("Run `holdfast admin doctor --deep` to check every object.")


def content_of(manifest: "SnapshotManifest") -> str:
    """Return what a backup contains, in words."""
    repositories = count_of(manifest.repositories, "repository", "repositories")
    return f"{repositories}, {count_of(sum(manifest.tables.values()), 'row')}"
