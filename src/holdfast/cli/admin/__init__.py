"""`holdfast admin`: looking after the service's data."""

from typing import Final

import typer

from holdfast.cli.lazy_commands import configure_logs, lazy_group

__all__ = ["group"]

COMMANDS: Final = {
    "user": (
        "The people who can log in.",
        "holdfast.cli.admin.users:group",
    ),
    "token": (
        "What programs log in with.",
        "holdfast.cli.admin.tokens:group",
    ),
    "org": (
        "Accounts that own repositories together.",
        "holdfast.cli.admin.organizations:group",
    ),
    "repo": (
        "The repositories of everybody.",
        "holdfast.cli.admin.repositories:group",
    ),
    "migrate": (
        "Bring the database to the shape this version expects. `holdfast serve` does so by itself.",
        "holdfast.cli.admin.maintenance:migrate",
    ),
    "doctor": (
        (
            "Hold the database against what is on disk and say what differs; "
            "the exit status is 1 when something does."
        ),
        "holdfast.cli.admin.maintenance:doctor",
    ),
    "instance": (
        "Show the identity of the database and of the data folder, and whether they belong together.",
        "holdfast.cli.admin.maintenance:instance",
    ),
    "gc": (
        "Pack all repositories and clear away what has run out; the service may run, and does so by itself too.",
        "holdfast.cli.admin.maintenance:gc",
    ),
    "backup": (
        "Back up the whole service to one file while it runs: database, repositories and files, not the settings.",
        "holdfast.cli.admin.snapshots:backup",
    ),
    "restore": (
        (
            "Restore a backup to an empty data folder, "
            "and to an empty PostgreSQL database when the settings name one."
        ),
        "holdfast.cli.admin.snapshots:restore",
    ),
}

group = typer.Typer(cls=lazy_group(COMMANDS), no_args_is_help=True, rich_markup_mode=None)


@group.callback()
def admin(context: typer.Context) -> None:
    """Look after the service's data."""
    configure_logs(context)
