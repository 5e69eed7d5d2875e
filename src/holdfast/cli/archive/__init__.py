"""`holdfast archive`: searchable archives made from chat backups, one module for each kind of command."""

import typer

from holdfast.cli.archive import exporting, importing, reading, searching, serving, statistics

__all__ = ["group"]

group = typer.Typer(no_args_is_help=True, help="Keep backups in one searchable archive.")
group.command("import")(importing.import_backups)
group.command("export")(exporting.export_archive)
group.command("search")(searching.search)
group.command("chats")(reading.chats)
group.command("show")(reading.show)
group.command("people")(reading.people)
group.command("stats")(statistics.stats)
group.command("info")(reading.info)
group.command("skipped")(reading.skipped)
group.command("serve")(serving.serve_archive)


@group.callback()
def archive() -> None:
    """Keep backups in one searchable archive."""
