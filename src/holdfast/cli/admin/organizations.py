"""`holdfast admin org`: manage organizations."""

from typing import Annotated, Literal

import typer

from holdfast.cli.admin.shared import OwnerOption, host, organization_named, print_table
from holdfast.cli.output import JsonOption, console, print_json
from holdfast.cli.settings import ConfigOption, DataOption

__all__ = ["create", "group", "list_all", "remove"]

group = typer.Typer(
    no_args_is_help=True, add_completion=False, rich_markup_mode=None, help="Manage organizations."
)
EVERY = 2**31
OrganizationArgument = Annotated[str, typer.Argument(help="The organization's name.")]


@group.command("list")
def list_all(
    context: typer.Context, *, data: DataOption = None, config: ConfigOption = None, json: JsonOption = False
) -> None:
    """List all organizations."""
    from sqlalchemy import true

    from holdfast.hosting.store.organizations import list_organizations

    with host(context, config, data) as opened:
        organizations, _ = list_organizations(opened.database, true(), skip=0, limit=EVERY)
    if json:
        print_json(organizations)
        return
    print_table(
        ("name", "full name", "visibility"),
        [(item.name, item.full_name, item.visibility) for item in organizations],
    )


@group.command("create")
def create(
    context: typer.Context,
    name: OrganizationArgument,
    *,
    owner: OwnerOption,
    full_name: Annotated[str, typer.Option("--full-name", help="The name shown on pages.")] = "",
    visibility: Annotated[
        Literal["public", "limited", "private"], typer.Option("--visibility", help="Who can see it.")
    ] = "public",
    data: DataOption = None,
    config: ConfigOption = None,
) -> None:
    """Create an organization with its first owner."""
    from holdfast.hosting.access import OPERATOR
    from holdfast.hosting.services import organizations
    from holdfast.hosting.store.accounts import find_user

    options = organizations.NewOrganization(name=name, full_name=full_name, visibility=visibility)
    with host(context, config, data) as opened:
        first = find_user(opened.database, owner)
        created = organizations.create(opened, OPERATOR, first, options)
    console().print(f"Organization {created.name} created. Its owner is {first.name}.")


@group.command("delete")
def remove(
    context: typer.Context, name: OrganizationArgument, *, data: DataOption = None, config: ConfigOption = None
) -> None:
    """Delete an organization and its teams. An organization that owns repositories cannot be deleted."""
    from holdfast.hosting.access import Actor
    from holdfast.hosting.services import organizations

    with host(context, config, data) as opened:
        organization = organization_named(opened.database, name)
        operator = Actor(organization, is_operator=True)
        organizations.delete(opened, operator, organizations.access_in(opened, operator, organization))
    console().print(f"Organization {organization.name} deleted.")
