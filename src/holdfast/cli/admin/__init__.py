"""`holdfast admin`: looking after the service's data."""

import typer

from holdfast.cli.admin import maintenance, organizations, repositories, snapshots, tokens, users

__all__ = ["group"]

group = typer.Typer(no_args_is_help=True, help="Look after the service's data.")
group.add_typer(users.group, name="user")
group.add_typer(tokens.group, name="token")
group.add_typer(organizations.group, name="org")
group.add_typer(repositories.group, name="repo")
group.command("migrate")(maintenance.migrate)
group.command("doctor")(maintenance.doctor)
group.command("instance")(maintenance.instance)
group.command("gc")(maintenance.gc)
group.command("backup")(snapshots.backup)
group.command("restore")(snapshots.restore)
