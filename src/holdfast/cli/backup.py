"""`holdfast backup`: the commands for a single chat backup."""

from typing import Final

import typer

from holdfast.cli.lazy_commands import lazy_group

__all__ = ["group"]

COMMANDS: Final = {
    "info": (
        "Show a summary of a backup: creation time, app version, chats, contacts, messages, dates and media.",
        "holdfast.cli.info:show_info",
    ),
    "convert": (
        "Convert a backup to another format: plain or encrypted, frames or JSON, file or folder.",
        "holdfast.cli.convert:convert_backup",
    ),
    "extract": (
        "Extract the attachments of a backup folder or an export as files, by chat.",
        "holdfast.cli.extract:extract_media",
    ),
    "key": (
        "Generate a recovery key, or check one.",
        "holdfast.cli.recovery_keys:group",
    ),
    "sample": (
        "Generate a realistic, valid backup with every kind of record and message.",
        "holdfast.cli.sample:make_sample",
    ),
    "check": (
        "Say in one word whether a backup is complete, and if not, what is lost: by chat, date and person.",
        "holdfast.cli.check:check_backup",
    ),
    "validate": (
        "Validate a backup: list each finding with its place, its rule and what an importer does.",
        "holdfast.cli.validate:validate_backup",
    ),
    "rules": (
        "List the rules with severity, source and text.",
        "holdfast.cli.validate:list_rules",
    ),
    "export": (
        "Export a backup as HTML pages or data files; a repeated export updates only what changed.",
        "holdfast.cli.export:export_backup",
    ),
    "redact": (
        "Write a redacted copy for a bug report: the same records, sizes and errors, without texts and names.",
        "holdfast.cli.redact:redact_backup",
    ),
    "repair": (
        "Repair a backup without inventing or losing data, with a change log to undo it.",
        "holdfast.cli.repair:repair_backup",
    ),
    "diff": (
        "Show what changed between two backups; the exit status is 1 if anything did.",
        "holdfast.cli.compare:show_difference",
    ),
    "merge": (
        "Merge several backups of the same account into one.",
        "holdfast.cli.compare:merge_backups",
    ),
    "crop": (
        "Write part of a backup, by chat, time or without media, as a valid backup.",
        "holdfast.cli.compare:crop_backup",
    ),
    "push": (
        "Store a backup in a repository with Git LFS, in one commit that lists the changes since the last.",
        "holdfast.cli.repository_sync:push_backup",
    ),
    "pull": (
        "Download a backup from a repository; it is verified before it is written.",
        "holdfast.cli.repository_sync:pull_backup",
    ),
}

group = typer.Typer(cls=lazy_group(COMMANDS), no_args_is_help=True, add_completion=False, rich_markup_mode=None)


@group.callback()
def root() -> None:
    """Read, write and convert chat backups."""
