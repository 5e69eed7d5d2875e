"""`holdfast archive`: searchable archives made from chat backups."""

import typer

__all__ = ["group"]

group = typer.Typer(no_args_is_help=True, help="Keep backups in one searchable archive. No command is ready yet.")


@group.callback()
def archive() -> None:
    """Keep backups in one searchable archive. No command is ready yet."""
