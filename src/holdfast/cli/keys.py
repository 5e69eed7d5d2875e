"""Keys of encrypted backups from options, a file, the environment or a prompt.

They are never echoed. An option takes them on the command line, where other users of the machine can see them; the
other sources are safer.
"""

import os
import sys
from collections.abc import Callable, Mapping
from dataclasses import fields
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Final, TypeVar

import typer

from holdfast import backup
from holdfast.backup.errors import KeyIncomplete, KeyRefused, UnreadableBackup

if TYPE_CHECKING:
    from uuid import UUID

__all__ = ["VARIABLE", "AccountOption", "KeyFileOption", "KeyOption", "gather_keys", "with_keys"]

VARIABLE: Final = "HOLDFAST_KEY"
LONGEST_FILE: Final = 64 * 1024

KeyFileOption = Annotated[
    Path | None,
    typer.Option(
        "--key-file",
        help="A file with the recovery key, or with lines like `account-id = ...`, `token = ...`; see the guide.",
    ),
]
KeyOption = Annotated[
    str | None,
    typer.Option("--key", help="The key itself. Others can see it in the list of processes: prefer --key-file."),
]
AccountOption = Annotated[str | None, typer.Option("--account-id", help="The account's id (ACI), a UUID.")]

Answer = TypeVar("Answer")


def gather_keys(
    environ: Mapping[str, str], *, key: str | None, key_file: Path | None, account_id: str | None
) -> "backup.KeyMaterial | None":
    """Return the keys from the option, the file or the environment, in this order, with the account id."""
    keys: backup.KeyMaterial | None = None
    if key is not None:
        keys = backup.read_keys(key)
    elif key_file is not None:
        keys = backup.read_keys(read_file(key_file))
    elif environ.get(VARIABLE):
        keys = backup.read_keys(environ[VARIABLE])
    if account_id is None:
        return keys
    values = {} if keys is None else {field.name: getattr(keys, field.name) for field in fields(keys)}
    return backup.KeyMaterial(**{**values, "aci": parse_account_id(account_id)})


def parse_account_id(text: str) -> "UUID":
    """Parse the id of an account."""
    from holdfast.backup.container.material import parse_aci  # noqa: PLC0415  # loaded when it is needed, so that commands start at once

    return parse_aci(text)


def read_file(path: Path) -> str:
    """Read a small text file."""
    try:
        with path.open("rb") as source:
            data = source.read(LONGEST_FILE + 1)
    except OSError as error:
        raise UnreadableBackup(f"the key file {path} cannot be read: {error.strerror}") from error
    try:
        text = data.decode("utf-8-sig")
    except UnicodeDecodeError:
        raise KeyRefused(f"the key file {path} is not text") from None
    if len(data) > LONGEST_FILE:
        raise KeyRefused(f"the key file {path} is far too large to hold keys")
    return text


def with_keys(
    work: "Callable[[backup.KeyMaterial | None], Answer]",
    *,
    key: str | None,
    key_file: Path | None,
    account_id: str | None,
) -> Answer:
    """Call a function that may need keys; on a terminal, prompt once for missing ones."""
    keys = gather_keys(os.environ, key=key, key_file=key_file, account_id=account_id)
    try:
        return work(keys)
    except KeyIncomplete as error:
        if not (sys.stdin.isatty() and sys.stderr.isatty()):
            hint = f"{error}; give it with --key-file or {VARIABLE}"
            raise KeyIncomplete(hint, missing=error.missing) from None
        return work(ask(keys, error.missing))


def ask(keys: "backup.KeyMaterial | None", missing: tuple[str, ...]) -> "backup.KeyMaterial":
    """Prompt for missing keys without echo."""
    values: dict[str, Any] = {} if keys is None else {name: getattr(keys, name) for name in keys.given()}
    for key_name in missing:
        text = typer.prompt(key_name[:1].upper() + key_name[1:], hide_input=True, err=True)
        if key_name == "the account id":
            values["aci"] = parse_account_id(text)
        elif key_name == "the forward-secrecy token":
            values["token"] = backup.read_keys(f"token = {text}").token
        else:
            keys = backup.read_keys(text)
            values.update({name: getattr(keys, name) for name in keys.given()})
    return backup.KeyMaterial(**values)
