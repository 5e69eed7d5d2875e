"""Arguments, lookups and output shared by the commands of `holdfast admin`."""

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer
from rich.table import Table
from rich.text import Text

from holdfast.cli.output import console, printable
from holdfast.cli.settings import gather

if TYPE_CHECKING:
    from holdfast.hosting.access import Actor, RepositoryAccess
    from holdfast.hosting.app import App
    from holdfast.hosting.store.accounts import Account
    from holdfast.hosting.store.database import Database

__all__ = [
    "NameArgument",
    "OwnerOption",
    "RepositoryArgument",
    "host",
    "organization_named",
    "print_table",
    "repository_at",
]

NameArgument = Annotated[str, typer.Argument(help="The username.")]
OwnerOption = Annotated[str, typer.Option("--owner", help="The first owner.")]
RepositoryArgument = Annotated[str, typer.Argument(help="The repository as owner/name.")]


@contextmanager
def host(
    context: typer.Context,
    config: Path | None,
    data: Path | None,
    *,
    migrated: bool = True,
    checked: bool = True,
) -> "Iterator[App]":
    """Open the configured database and repositories, after checking that they belong together."""
    from holdfast.hosting.app import App
    from holdfast.hosting.data_folder import require_data
    from holdfast.hosting.storage import instance
    from holdfast.hosting.store import migrate

    settings = gather(context, config, data).settings
    require_data(settings)
    opened = App.open(settings)
    try:
        if migrated:
            migrate.upgrade(opened.database)
        if checked:
            instance.check(opened.database, settings)
        yield opened
    finally:
        opened.close()


def repository_at(opened: "App", address: str) -> "tuple[Actor, RepositoryAccess]":
    """Return a repository by owner and name, and an actor with the permissions of its owner."""
    from holdfast.hosting.access import Actor, RepositoryAccess
    from holdfast.hosting.errors import NoSuchRepository
    from holdfast.hosting.services.repositories import permissions_in
    from holdfast.hosting.store.repositories import find_repository

    owner, _, name = address.partition("/")
    try:
        repository = find_repository(opened.database, owner, name)
    except NoSuchRepository:
        raise NoSuchRepository(f"there is no repository {address}; expected owner/name") from None
    operator = Actor(repository.owner, is_operator=True)
    return operator, RepositoryAccess(repository, permissions_in(opened, operator, repository))


def organization_named(opened: "Database", name: str) -> "Account":
    """Return an organization by its name."""
    from holdfast.hosting.errors import NoSuchUser
    from holdfast.hosting.store.accounts import find_account

    try:
        account = find_account(opened, name)
    except NoSuchUser:
        raise NoSuchUser(f"there is no organization named {name}") from None
    if not account.is_organization:
        raise NoSuchUser(f"{name} is a user, not an organization")
    return account


def print_table(headings: Sequence[str], rows: Sequence[Sequence[str]]) -> None:
    """Print a table; control characters in cells are escaped."""
    table = Table(box=None, pad_edge=False, header_style="bold")
    for heading in headings:
        table.add_column(heading, overflow="fold")
    for row in rows:
        table.add_row(*(Text(printable(cell)) for cell in row))
    console().print(table)
