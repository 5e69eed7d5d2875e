"""`holdfast admin`: looking after the service's data."""

import sys
from typing import Annotated

import typer
from rich.table import Table

from holdfast.cli.output import JsonOption, console, print_json
from holdfast.cli.settings import ConfigOption, gather
from holdfast.secret import Secret

__all__ = ["group"]

group = typer.Typer(no_args_is_help=True, help="Look after the service's data.")
users = typer.Typer(no_args_is_help=True, help="The people who can log in.")
group.add_typer(users, name="user")

StdinOption = Annotated[
    bool, typer.Option("--password-stdin", help="Read the password from the first line of standard input.")
]
RandomOption = Annotated[bool, typer.Option("--random-password", help="Invent a password and print it once.")]
NameArgument = Annotated[str, typer.Argument(help="The user's name.")]


def ask_password(*, stdin: bool, random: bool) -> Secret:
    """Get a password without it ever being on a command line, where other users could see it."""
    from holdfast.hosting.store.accounts import new_password

    if random:
        return new_password()
    if stdin:
        return Secret(sys.stdin.readline().rstrip("\n"))
    return Secret(typer.prompt("Password", hide_input=True, confirmation_prompt=True))


@group.command("migrate")
def migrate(context: typer.Context, *, config: ConfigOption = None) -> None:
    """Bring the database to the shape this version expects. `holdfast serve` does so by itself."""
    from holdfast.hosting.data import open_database
    from holdfast.hosting.store import migrate as migrations

    with open_database(gather(context, config).settings) as database:
        changed = migrations.upgrade(database)
        state = "migrated to" if changed else "already at"
        console().print(f"{database.name}: {state} revision {migrations.latest()}")


@users.command("list")
def list_users(context: typer.Context, *, config: ConfigOption = None, json: JsonOption = False) -> None:
    """List everybody who can log in."""
    from holdfast.hosting.data import ready_database
    from holdfast.hosting.store.accounts import all_users

    with ready_database(gather(context, config).settings) as database:
        everybody = all_users(database)
    if json:
        print_json(everybody)
        return
    table = Table(box=None, pad_edge=False, header_style="bold")
    for heading in ("name", "full name", "role"):
        table.add_column(heading)
    for user in everybody:
        table.add_row(user.name, user.full_name, "administrator" if user.is_admin else "user")
    console().print(table)


@users.command("create")
def create(
    context: typer.Context,
    name: NameArgument,
    *,
    full_name: Annotated[str, typer.Option("--full-name", help="The name shown on pages.")] = "",
    admin: Annotated[bool, typer.Option("--admin", help="Make the user an administrator.")] = False,
    password_stdin: StdinOption = False,
    random_password: RandomOption = False,
    config: ConfigOption = None,
) -> None:
    """Add a user; the password is asked for, read from standard input, or invented."""
    from holdfast.hosting.data import ready_database
    from holdfast.hosting.store.accounts import create_user

    password = ask_password(stdin=password_stdin, random=random_password)
    with ready_database(gather(context, config).settings) as database:
        user = create_user(database, name, password, full_name=full_name, is_admin=admin)
    console().print(f"{user.name} can log in now.")
    if random_password:
        console().print(f"password: {password.reveal()}")


@users.command("password")
def change_password(
    context: typer.Context,
    name: NameArgument,
    *,
    password_stdin: StdinOption = False,
    random_password: RandomOption = False,
    config: ConfigOption = None,
) -> None:
    """Give a user a new password and log them out everywhere."""
    from holdfast.hosting.data import ready_database
    from holdfast.hosting.store.accounts import set_password

    password = ask_password(stdin=password_stdin, random=random_password)
    with ready_database(gather(context, config).settings) as database:
        user = set_password(database, name, password)
    console().print(f"{user.name} has a new password and is logged out everywhere.")
    if random_password:
        console().print(f"password: {password.reveal()}")
