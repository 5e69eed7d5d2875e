"""`holdfast admin org`: accounts that own repositories together."""

from typing import Annotated, Literal

import typer

from holdfast.cli.admin.shared import OwnerOption, database, organization_named, print_table
from holdfast.cli.output import JsonOption, console, print_json
from holdfast.cli.settings import ConfigOption, DataOption

__all__ = ["create", "group", "list_all", "remove"]

group = typer.Typer(no_args_is_help=True, help="Accounts that own repositories together.")
EVERY = 2**31
OrganizationArgument = Annotated[str, typer.Argument(help="The organization's name.")]


@group.command("list")
def list_all(
    context: typer.Context, *, data: DataOption = None, config: ConfigOption = None, json: JsonOption = False
) -> None:
    """List all organizations."""
    from sqlalchemy import true

    from holdfast.hosting.store.organizations import list_organizations

    with database(context, config, data) as opened:
        found, _ = list_organizations(opened, true(), skip=0, limit=EVERY)
    if json:
        print_json(found)
        return
    print_table(
        ("name", "full name", "visibility"), [(item.name, item.full_name, item.visibility) for item in found]
    )


@group.command("create")
def create(
    context: typer.Context,
    name: OrganizationArgument,
    *,
    owner: OwnerOption,
    full_name: Annotated[str, typer.Option("--full-name", help="The name shown on pages.")] = "",
    visibility: Annotated[
        Literal["public", "limited", "private"], typer.Option("--visibility", help="Who may see it.")
    ] = "public",
    data: DataOption = None,
    config: ConfigOption = None,
) -> None:
    """Make an organization with its first owner."""
    from holdfast.hosting.store.accounts import find_user
    from holdfast.hosting.store.organizations import create_organization

    with database(context, config, data) as opened:
        first = find_user(opened, owner)
        made = create_organization(opened, first, name, full_name=full_name, visibility=visibility)
    console().print(f"{made.name} is there; {first.name} owns it.")


@group.command("delete")
def remove(
    context: typer.Context, name: OrganizationArgument, *, data: DataOption = None, config: ConfigOption = None
) -> None:
    """Remove an organization and its teams; one that owns repositories is left alone."""
    from holdfast.hosting.store.organizations import delete_organization

    with database(context, config, data) as opened:
        found = organization_named(opened, name)
        delete_organization(opened, found)
    console().print(f"{found.name} is gone.")
