"""`holdfast admin user`: the people who can log in."""

import sys
from getpass import GetPassWarning
from typing import Annotated
from warnings import catch_warnings, simplefilter

import typer

from holdfast.cli.admin.shared import NameArgument, database, host, print_table
from holdfast.cli.output import JsonOption, console, print_json
from holdfast.cli.settings import ConfigOption, DataOption
from holdfast.secret import Secret

__all__ = ["change_password", "create", "group", "list_users", "remove", "rename"]

group = typer.Typer(no_args_is_help=True, help="The people who can log in.")

StdinOption = Annotated[
    bool, typer.Option("--password-stdin", help="Read the password from the first line of standard input.")
]
RandomOption = Annotated[bool, typer.Option("--random-password", help="Invent a password and print it once.")]


def ask_password(*, stdin: bool, random: bool) -> Secret:
    """Get a password without it ever being on a command line, where other users could see it."""
    from holdfast.hosting.store.accounts import new_password

    if random:
        return new_password()
    if stdin:
        line = sys.stdin.readline()
        if not line:
            raise typer.TyperException("standard input ended before a password was read; nothing was changed")
        return Secret(line.rstrip("\n"))
    try:
        with catch_warnings():
            # Without a terminal nothing is echoed: the password comes from a pipe.
            simplefilter("ignore", GetPassWarning)
            return Secret(typer.prompt("Password", hide_input=True, confirmation_prompt=True))
    except typer.Abort as error:
        if not isinstance(error.__context__, EOFError):
            raise
        raise typer.TyperException(
            "the input ended before a password was given; nothing was changed; "
            "use --password-stdin or --random-password where there is no terminal"
        ) from None


@group.command("list")
def list_users(
    context: typer.Context, *, data: DataOption = None, config: ConfigOption = None, json: JsonOption = False
) -> None:
    """List everybody who can log in."""
    from holdfast.hosting.store.accounts import all_users

    with database(context, config, data) as opened:
        everybody = all_users(opened)
    if json:
        print_json(everybody)
        return
    rows = [
        (user.name, user.full_name, user.email, "administrator" if user.is_admin else "user") for user in everybody
    ]
    print_table(("name", "full name", "e-mail", "role"), rows)


@group.command("create")
def create(
    context: typer.Context,
    name: NameArgument,
    *,
    full_name: Annotated[str, typer.Option("--full-name", help="The name shown on pages.")] = "",
    email: Annotated[str, typer.Option("--email", help="The e-mail address commits are made with.")] = "",
    admin: Annotated[bool, typer.Option("--admin", help="Make the user an administrator.")] = False,
    password_stdin: StdinOption = False,
    random_password: RandomOption = False,
    data: DataOption = None,
    config: ConfigOption = None,
) -> None:
    """Add a user; the password is asked for, read from standard input, or invented."""
    from holdfast.hosting.store.account_administration import register

    password = ask_password(stdin=password_stdin, random=random_password)
    with database(context, config, data) as opened:
        user = register(opened, name, password, email=email, full_name=full_name, is_admin=admin)
    console().print(f"{user.name} can log in now.")
    if random_password:
        console().print(f"password: {password.reveal()}")


@group.command("password")
def change_password(
    context: typer.Context,
    name: NameArgument,
    *,
    password_stdin: StdinOption = False,
    random_password: RandomOption = False,
    data: DataOption = None,
    config: ConfigOption = None,
) -> None:
    """Give a user a new password, log them out everywhere and revoke their tokens."""
    from holdfast.hosting.store.accounts import set_password

    password = ask_password(stdin=password_stdin, random=random_password)
    with database(context, config, data) as opened:
        user = set_password(opened, name, password, revoke_tokens=True)
    console().print(f"{user.name} has a new password and is logged out everywhere; their tokens are revoked.")
    if random_password:
        console().print(f"password: {password.reveal()}")


@group.command("rename")
def rename(
    context: typer.Context,
    name: NameArgument,
    new_name: Annotated[str, typer.Argument(help="The new name.")],
    *,
    data: DataOption = None,
    config: ConfigOption = None,
) -> None:
    """Give a user another name; the old one leads to it until somebody takes it."""
    from holdfast.hosting.store.accounts import find_user, rename_account

    with database(context, config, data) as opened:
        user = rename_account(opened, find_user(opened, name), new_name)
    console().print(f"{name} is {user.name} now.")


@group.command("delete")
def remove(
    context: typer.Context,
    name: NameArgument,
    *,
    purge: Annotated[
        bool, typer.Option("--purge", help="Delete their repositories and end their memberships too.")
    ] = False,
    data: DataOption = None,
    config: ConfigOption = None,
) -> None:
    """Remove a user; what they wrote stays, without its author."""
    from holdfast.hosting.store.account_administration import delete_user
    from holdfast.hosting.store.accounts import find_user
    from holdfast.hosting.webhooks.payloads import DeletedEntity, before_deleting

    with host(context, config, data) as opened:
        user = find_user(opened.database, name)
        first = before_deleting(opened, DeletedEntity(owner_id=user.id))
        gone = delete_user(opened.database, user, actor=user, purge=purge, first=first)
        for number in gone:
            opened.folders.delete(number)
    more = f", and {len(gone)} repositories with them" if gone else ""
    console().print(f"{user.name} is gone{more}.")
