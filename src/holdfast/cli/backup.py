"""`holdfast backup`: what can be done with one chat backup."""

from typing import Final

import typer

from holdfast.cli.lazy_commands import lazy_group

__all__ = ["group"]

COMMANDS: Final = {
    "info": (
        "Show what is in a backup: when and by whom it was made, chats, people, messages, dates and media.",
        "holdfast.cli.info:show_info",
    ),
    "convert": (
        "Turn a backup into another form: plain or encrypted, frames or JSON, file or folder.",
        "holdfast.cli.convert:convert_backup",
    ),
    "extract": (
        "Write the attachments of a phone's folder or an export out as ordinary files, sorted by chat.",
        "holdfast.cli.extract:extract_media",
    ),
    "sample": (
        "Make up a realistic history, valid under every rule, with every kind of record and message.",
        "holdfast.cli.sample:make_sample",
    ),
    "check": (
        "Say in one word whether a backup is complete, and if not, what is lost: by chat, date and person.",
        "holdfast.cli.check:check_backup",
    ),
    "validate": (
        "Say everything that is wrong with a backup: where, by which rule, and what an importer will do about it.",
        "holdfast.cli.validate:validate_backup",
    ),
    "rules": (
        "List the rules: how bad it is to break each, where it comes from, what it says.",
        "holdfast.cli.validate:list_rules",
    ),
    "export": (
        "Write a backup as pages or data that other programs read; the next time only what has changed.",
        "holdfast.cli.export:export_backup",
    ),
    "redact": (
        "Copy a backup without what was written in it, to attach to a bug report: same records, sizes and faults.",
        "holdfast.cli.redact:redact_backup",
    ),
    "repair": (
        "Mend what can be mended without inventing or losing anything, and keep a log to undo it.",
        "holdfast.cli.repair:repair_backup",
    ),
    "diff": (
        "Show what changed from one backup to another; the exit status is 1 when anything did.",
        "holdfast.cli.compare:show_difference",
    ),
    "merge": (
        "Make one backup of several of the same account, with everything of all of them.",
        "holdfast.cli.compare:merge_backups",
    ),
    "crop": (
        "Write part of a backup: some chats, some time, without media; it stays a valid backup.",
        "holdfast.cli.compare:crop_backup",
    ),
    "push": (
        "Store a snapshot in a repository as a large file, in one commit that says what changed since the last.",
        "holdfast.cli.repository_sync:push_backup",
    ),
    "pull": (
        "Fetch a snapshot from a repository; what arrives is what was stored, or nothing is written.",
        "holdfast.cli.repository_sync:pull_backup",
    ),
}

group = typer.Typer(cls=lazy_group(COMMANDS), no_args_is_help=True, rich_markup_mode=None)


@group.callback()
def root() -> None:
    """Read, write and convert chat backups."""
