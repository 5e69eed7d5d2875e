"""`holdfast admin token`: manage access tokens."""

import time
from datetime import UTC, datetime
from typing import Annotated

import typer

from holdfast.cli.admin.shared import NameArgument, host, print_table
from holdfast.cli.output import JsonOption, console, print_json
from holdfast.cli.settings import ConfigOption, DataOption

__all__ = ["create", "group", "list_tokens", "remove"]

group = typer.Typer(
    no_args_is_help=True, add_completion=False, rich_markup_mode=None, help="Manage access tokens."
)
EVERY = 2**31
ScopeOption = Annotated[
    list[str] | None,
    typer.Option("--scope", help="A scope such as read:repository; may be repeated. Default: all."),
]


DaysOption = Annotated[
    int | None,
    typer.Option("--days", min=1, max=36_500, help="Days until it expires. Default: never."),
]


@group.command("list")
def list_tokens(
    context: typer.Context,
    user: NameArgument,
    *,
    data: DataOption = None,
    config: ConfigOption = None,
    json: JsonOption = False,
) -> None:
    """List the tokens of a user; their values are not stored."""
    from holdfast.hosting.access import Actor
    from holdfast.hosting.services import access_tokens
    from holdfast.hosting.store.accounts import find_user

    with host(context, config, data) as opened:
        owner = find_user(opened.database, user)
        tokens, _ = access_tokens.list_tokens(opened, Actor(owner), owner, skip=0, limit=EVERY)
    if json:
        print_json(tokens)
        return
    rows = [
        (str(token.id), token.name, f"...{token.last_eight}", ", ".join(token.scopes), expiry(token.expires_at))
        for token in tokens
    ]
    print_table(("id", "name", "value", "scopes", "expires"), rows)


def expiry(moment: int) -> str:
    """Format the expiry of a token."""
    return f"{datetime.fromtimestamp(moment, UTC):%Y-%m-%d %H:%M} UTC" if moment else "never"


@group.command("create")
def create(
    context: typer.Context,
    user: NameArgument,
    name: Annotated[str, typer.Argument(help="A name for the token.")],
    *,
    scope: ScopeOption = None,
    days: DaysOption = None,
    data: DataOption = None,
    config: ConfigOption = None,
    json: JsonOption = False,
) -> None:
    """Create a token for a user and print its value, which is shown only once."""
    from holdfast.hosting.access import Actor
    from holdfast.hosting.services import access_tokens
    from holdfast.hosting.store.accounts import find_user

    expires_at = int(time.time()) + days * 86_400 if days else 0
    options = access_tokens.NewToken(name=name, scopes=tuple(scope or ["all"]), expires_at=expires_at)
    with host(context, config, data) as opened:
        owner = find_user(opened.database, user)
        token, value = access_tokens.create(opened, Actor(owner, by_password=True), owner, options)
    if json:
        created = {"id": token.id, "name": token.name, "scopes": token.scopes, "expires_at": token.expires_at}
        print_json({**created, "value": value.reveal()})
    else:
        console().print(value.reveal())


@group.command("delete")
def remove(
    context: typer.Context,
    user: NameArgument,
    token: Annotated[str, typer.Argument(help="The token's name, or its id.")],
    *,
    data: DataOption = None,
    config: ConfigOption = None,
) -> None:
    """Revoke a token."""
    from holdfast.hosting.access import Actor
    from holdfast.hosting.services import access_tokens
    from holdfast.hosting.store.accounts import find_user

    with host(context, config, data) as opened:
        owner = find_user(opened.database, user)
        deleted = access_tokens.delete(opened, Actor(owner), owner, token)
    console().print(f"Token {deleted.id} of {user} revoked.")
