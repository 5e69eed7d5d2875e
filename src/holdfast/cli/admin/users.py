"""`holdfast admin user`: manage users."""

import sys
from getpass import GetPassWarning
from typing import Annotated
from warnings import catch_warnings, simplefilter

import typer

from holdfast.cli.admin.shared import NameArgument, host, print_table
from holdfast.cli.output import JsonOption, console, print_json
from holdfast.cli.settings import ConfigOption, DataOption
from holdfast.secret import Secret

__all__ = ["change_password", "create", "disable_two_factor", "group", "list_users", "remove", "rename"]

group = typer.Typer(no_args_is_help=True, add_completion=False, rich_markup_mode=None, help="Manage users.")

StdinOption = Annotated[
    bool, typer.Option("--password-stdin", help="Read the password from the first line of standard input.")
]
RandomOption = Annotated[bool, typer.Option("--random-password", help="Generate a password and print it once.")]


def ask_password(*, stdin: bool, random: bool) -> Secret:
    """Prompt for a password, read it from standard input, or generate it; never from the command line."""
    from holdfast.hosting.store.accounts import new_password

    if random:
        return new_password()
    if stdin:
        line = sys.stdin.readline()
        if not line:
            raise typer.TyperException("no password on standard input; nothing was changed")
        return Secret(line.rstrip("\n"))
    try:
        with catch_warnings():
            # `getpass` warns without a terminal, where nothing is echoed: the password is read from a pipe.
            simplefilter("ignore", GetPassWarning)
            return Secret(typer.prompt("Password", hide_input=True, confirmation_prompt=True))
    except typer.Abort as error:
        if not isinstance(error.__context__, EOFError):
            raise
        raise typer.TyperException(
            "no password was entered; nothing was changed; "
            "use --password-stdin or --random-password where there is no terminal"
        ) from None


@group.command("list")
def list_users(
    context: typer.Context, *, data: DataOption = None, config: ConfigOption = None, json: JsonOption = False
) -> None:
    """List all users."""
    from holdfast.hosting.store.accounts import all_users

    with host(context, config, data) as opened:
        everybody = all_users(opened.database)
    if json:
        print_json(everybody)
        return
    rows = [
        (user.name, user.full_name, user.email, "administrator" if user.is_admin else "user") for user in everybody
    ]
    print_table(("name", "full name", "email", "role"), rows)


@group.command("create")
def create(
    context: typer.Context,
    name: NameArgument,
    *,
    full_name: Annotated[str, typer.Option("--full-name", help="The name shown on pages.")] = "",
    email: Annotated[str, typer.Option("--email", help="The email address.")] = "",
    admin: Annotated[bool, typer.Option("--admin", help="Make the user a site administrator.")] = False,
    password_stdin: StdinOption = False,
    random_password: RandomOption = False,
    data: DataOption = None,
    config: ConfigOption = None,
) -> None:
    """Create a user. The password is prompted for, read from standard input, or generated."""
    from holdfast.hosting.access import OPERATOR
    from holdfast.hosting.services import users

    options = users.NewUser(
        name=name,
        email=email,
        password=ask_password(stdin=password_stdin, random=random_password),
        full_name=full_name,
        must_change_password=False,
        is_admin=admin,
    )
    with host(context, config, data) as opened:
        user = users.create(opened, OPERATOR, options)
    console().print(f"User {user.name} created.")
    if random_password:
        console().print(f"password: {options.password.reveal()}")


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
    """Reset the password of a user, end all sessions and revoke all tokens."""
    from holdfast.hosting.access import OPERATOR
    from holdfast.hosting.services import users
    from holdfast.hosting.store.accounts import find_user

    password = ask_password(stdin=password_stdin, random=random_password)
    changes = users.UserEdit(password=password, must_change_password=False)
    with host(context, config, data) as opened:
        user = users.edit(opened, OPERATOR, find_user(opened.database, name), changes)
    console().print(f"Password of {user.name} changed. Their sessions and tokens are revoked.")
    if random_password:
        console().print(f"password: {password.reveal()}")


@group.command("disable-two-factor")
def disable_two_factor(
    context: typer.Context, name: NameArgument, *, data: DataOption = None, config: ConfigOption = None
) -> None:
    """Remove the authenticator app, the passkeys and the recovery codes of a user who has lost them."""
    from holdfast.hosting.access import OPERATOR
    from holdfast.hosting.services import two_factor
    from holdfast.hosting.store.accounts import find_user

    with host(context, config, data) as opened:
        user = find_user(opened.database, name)
        two_factor.remove_for(opened, OPERATOR, user)
    console().print(f"Two-factor authentication of {user.name} disabled.")


@group.command("rename")
def rename(
    context: typer.Context,
    name: NameArgument,
    new_name: Annotated[str, typer.Argument(help="The new name.")],
    *,
    data: DataOption = None,
    config: ConfigOption = None,
) -> None:
    """Rename a user. The old name redirects until another account takes it."""
    from holdfast.hosting.access import OPERATOR
    from holdfast.hosting.services import users
    from holdfast.hosting.store.accounts import find_user

    with host(context, config, data) as opened:
        user = users.rename(opened, OPERATOR, find_user(opened.database, name), new_name)
    console().print(f"User {name} renamed to {user.name}.")


@group.command("delete")
def remove(
    context: typer.Context,
    name: NameArgument,
    *,
    purge: Annotated[
        bool, typer.Option("--purge", help="Also delete their repositories and end their memberships.")
    ] = False,
    data: DataOption = None,
    config: ConfigOption = None,
) -> None:
    """Remove a user; what they wrote stays, without its author."""
    from holdfast.hosting.access import OPERATOR
    from holdfast.hosting.services import users
    from holdfast.hosting.store.accounts import find_user

    with host(context, config, data) as opened:
        user = find_user(opened.database, name)
        count = users.delete(opened, OPERATOR, user, purge=purge)
    more = f" with {count} {'repository' if count == 1 else 'repositories'}" if count else ""
    console().print(f"User {user.name} deleted{more}.")
