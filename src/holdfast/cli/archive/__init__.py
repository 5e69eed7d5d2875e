"""`holdfast archive`: searchable archives of chat backups."""

from typing import Final

import typer

from holdfast.cli.lazy_commands import configure_logs, lazy_group

__all__ = ["group"]

COMMANDS: Final = {
    "import": (
        "Import backups into an archive, which is created if it does not exist. Each import is atomic.",
        "holdfast.cli.archive.import_command:import_backups",
    ),
    "export": (
        "Export an archive as HTML pages or data files; a repeated export updates only what changed.",
        "holdfast.cli.archive.export:export_archive",
    ),
    "search": (
        "Search messages; the exit status is 1 if there are no matches.",
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
        "List the people of an archive by number of messages.",
        "holdfast.cli.archive.show:people",
    ),
    "stats": (
        "Show statistics: messages by month, hour, weekday, chat and person; reply times; media by size.",
        "holdfast.cli.archive.statistics:stats",
    ),
    "info": (
        "List the backups that were imported into an archive.",
        "holdfast.cli.archive.show:info",
    ),
    "skipped": (
        "List the records that imports skipped or changed, with their frame numbers.",
        "holdfast.cli.archive.show:skipped",
    ),
    "vanished": (
        "List messages that the newest backup lacks, or that were edited or deleted, the latest first.",
        "holdfast.cli.archive.history:vanished",
    ),
    "history": (
        "Show what became of a message: earlier wordings, reactions, receipts, and when it vanished.",
        "holdfast.cli.archive.history:history",
    ),
    "remove": (
        "Remove an import, a chat or a person for good; it cannot be undone.",
        "holdfast.cli.archive.remove:remove",
    ),
    "encrypt": (
        "Encrypt an archive and the files beside it with a passphrase.",
        "holdfast.cli.archive.encryption:encrypt",
    ),
    "decrypt": (
        "Remove the encryption of an archive and of the files beside it.",
        "holdfast.cli.archive.encryption:decrypt",
    ),
    "passphrase": (
        "Change the passphrase of an encrypted archive, or store it in the system's keyring.",
        "holdfast.cli.archive.encryption:passphrase",
    ),
    "serve": (
        "Serve an archive to a browser on this machine; the printed URL works once.",
        "holdfast.cli.archive.serve:serve_archive",
    ),
}

group = typer.Typer(cls=lazy_group(COMMANDS), no_args_is_help=True, add_completion=False, rich_markup_mode=None)


@group.callback()
def archive(context: typer.Context) -> None:
    """Keep backups in one searchable archive."""
    if context.invoked_subcommand == "serve":
        configure_logs(context)
