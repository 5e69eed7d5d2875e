"""`holdfast backup key`: generate and check recovery keys."""

from pathlib import Path
from typing import Annotated, Final

import msgspec
import typer

from holdfast import backup
from holdfast.backup import KeyIncomplete
from holdfast.backup.container.key_formats import new_pool, pool_weakness
from holdfast.cli.exit_codes import ExitCode
from holdfast.cli.keys import AccountOption, KeyFileOption, KeyOption, with_keys
from holdfast.cli.lazy_commands import lazy_group
from holdfast.cli.output import JsonOption, console, print_json, printable

__all__ = ["KeyCheckOutput", "KeyOutput", "check_key", "group", "new_key"]

GROUP: Final = 4
LINE: Final = 16

COMMANDS: Final = {
    "new": (
        "Generate a random recovery key and print it.",
        "holdfast.cli.recovery_keys:new_key",
    ),
    "check": (
        "Check whether a key is well formed, strong, and opens a backup.",
        "holdfast.cli.recovery_keys:check_key",
    ),
}

group = typer.Typer(cls=lazy_group(COMMANDS), no_args_is_help=True, add_completion=False, rich_markup_mode=None)


@group.callback()
def root() -> None:
    """Generate a recovery key, or check one."""


class KeyOutput(msgspec.Struct, frozen=True):
    """The JSON output of `backup key new`."""

    recovery_key: str


class KeyCheckOutput(msgspec.Struct, frozen=True):
    """The JSON output of `backup key check`; `opens` is null if no backup was named."""

    weakness: str | None
    opens: bool | None


def new_key(*, json: JsonOption = False) -> None:
    """Generate a random recovery key and print it.

    It is a secret: write it down on paper, or send it to a file that only you can read. It is stored nowhere.
    """
    pool = new_pool()
    if json:
        print_json(KeyOutput(pool))
        return
    for start in range(0, len(pool), LINE):
        line = pool[start : start + LINE]
        typer.echo(" ".join(line[place : place + GROUP] for place in range(0, LINE, GROUP)))


def check_key(
    file: Annotated[
        Path | None, typer.Argument(help="A backup that the key should open.", show_default=False)
    ] = None,
    *,
    key_file: KeyFileOption = None,
    key: KeyOption = None,
    account_id: AccountOption = None,
    json: JsonOption = False,
) -> int:
    """Check whether a key is well formed, strong, and opens a backup.

    The exit status is 0 for a good key, 1 for one that could be guessed, 2 for what cannot be a key, and 4 for one
    that does not open the backup.
    """

    def check(keys: backup.KeyMaterial | None) -> str:
        if keys is None or keys.given() == ("aci",):
            raise KeyIncomplete("there is no key to check", missing=("the recovery key",))
        if file is not None:
            backup.open(file, keys).close()
        return pool_weakness(keys.pool.reveal().decode()) if keys.pool is not None else ""

    weakness = with_keys(check, key=key, key_file=key_file, account_id=account_id)
    if json:
        print_json(KeyCheckOutput(weakness or None, None if file is None else True))
    else:
        out = console()
        out.print(f"The key is weak: {weakness}." if weakness else "The key is well formed and strong.")
        if file is not None:
            out.print(f"It opens {printable(str(file))}.")
    return ExitCode.NO if weakness else ExitCode.FINE
