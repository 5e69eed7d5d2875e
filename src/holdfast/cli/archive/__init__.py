"""`holdfast archive`: searchable archives made from chat backups, one module for each kind of command."""

import typer

from holdfast.cli.archive import export, import_command, search, serve, show, statistics

__all__ = ["group"]

group = typer.Typer(no_args_is_help=True, help="Keep backups in one searchable archive.")
group.command("import")(import_command.import_backups)
group.command("export")(export.export_archive)
group.command("search")(search.search)
group.command("chats")(show.chats)
group.command("show")(show.show)
group.command("people")(show.people)
group.command("stats")(statistics.stats)
group.command("info")(show.info)
group.command("skipped")(show.skipped)
group.command("serve")(serve.serve_archive)


@group.callback()
def archive() -> None:
    """Keep backups in one searchable archive."""
