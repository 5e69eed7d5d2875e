"""`holdfast admin`: administration of a server and its data."""

from typing import Final

import typer

from holdfast.cli.lazy_commands import configure_logs, lazy_group

__all__ = ["group"]

COMMANDS: Final = {
    "user": (
        "Manage users.",
        "holdfast.cli.admin.users:group",
    ),
    "token": (
        "Manage access tokens.",
        "holdfast.cli.admin.tokens:group",
    ),
    "org": (
        "Manage organizations.",
        "holdfast.cli.admin.organizations:group",
    ),
    "repo": (
        "Manage repositories.",
        "holdfast.cli.admin.repositories:group",
    ),
    "migrate": (
        "Migrate the database to the schema of this version. `holdfast serve` does this at start.",
        "holdfast.cli.admin.maintenance:migrate",
    ),
    "doctor": (
        ("Compare the database with the data on disk and list problems; the exit status is 1 if there are any."),
        "holdfast.cli.admin.maintenance:doctor",
    ),
    "instance": (
        "Show the instance ids of the database and of the data folder, and whether they match.",
        "holdfast.cli.admin.maintenance:instance",
    ),
    "ssh-host-keys": (
        "Show the fingerprints of the SSH server's host keys; they are generated if there are none.",
        "holdfast.cli.admin.maintenance:ssh_host_keys",
    ),
    "gc": (
        "Pack all repositories and remove expired data. A running service does this regularly.",
        "holdfast.cli.admin.maintenance:gc",
    ),
    "backup": (
        "Back up the database, repositories and files to one file, while the service runs.",
        "holdfast.cli.admin.snapshots:backup",
    ),
    "restore": (
        ("Restore a backup to an empty data folder, and to an empty PostgreSQL database if one is configured."),
        "holdfast.cli.admin.snapshots:restore",
    ),
}

group = typer.Typer(cls=lazy_group(COMMANDS), no_args_is_help=True, add_completion=False, rich_markup_mode=None)


@group.callback()
def admin(context: typer.Context) -> None:
    """Manage the users, repositories and data of a server."""
    configure_logs(context)
