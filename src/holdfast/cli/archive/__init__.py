"""`holdfast archive`: searchable archives made from chat backups, one module for each kind of command."""

from typing import Final

import typer

from holdfast.cli.lazy_commands import configure_logs, lazy_group

__all__ = ["group"]

COMMANDS: Final = {
    "import": (
        "Import backups into an archive, made when it is not there yet; each is taken in whole or not at all.",
        "holdfast.cli.archive.import_command:import_backups",
    ),
    "export": (
        "Write an archive as pages or data that other programs read; the next time only what has changed.",
        "holdfast.cli.archive.export:export_archive",
    ),
    "search": (
        "Find messages by their words; the exit status is 1 when there are none.",
        "holdfast.cli.archive.search:search",
    ),
    "chats": (
        "List the chats of an archive with their numbers.",
        "holdfast.cli.archive.show:chats",
    ),
    "show": (
        "Show a page of a chat: the latest messages, or those around a date.",
        "holdfast.cli.archive.show:show",
    ),
    "people": (
        "List the people of an archive, those who wrote most first.",
        "holdfast.cli.archive.show:people",
    ),
    "stats": (
        "Count messages by month, hour and weekday, by chat and person; how fast people answer; media by size.",
        "holdfast.cli.archive.statistics:stats",
    ),
    "info": (
        "List the backups that were imported into an archive.",
        "holdfast.cli.archive.show:info",
    ),
    "skipped": (
        "List what imports left out or read as something else, with the number of the frame.",
        "holdfast.cli.archive.show:skipped",
    ),
    "serve": (
        "Show an archive in the browser, on this machine only; the address that is printed works once.",
        "holdfast.cli.archive.serve:serve_archive",
    ),
}

group = typer.Typer(cls=lazy_group(COMMANDS), no_args_is_help=True, rich_markup_mode=None)


@group.callback()
def archive(context: typer.Context) -> None:
    """Keep backups in one searchable archive."""
    if context.invoked_subcommand == "serve":
        configure_logs(context)
