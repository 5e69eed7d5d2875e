"""`holdfast backup sample`."""

import secrets
import sys
import uuid
from pathlib import Path
from typing import Annotated, BinaryIO, Literal

import typer

from holdfast.backup.container.keyfile import read_keys
from holdfast.backup.conversion import OutputFormat, form_of
from holdfast.cli.demo_package import require_demo_package
from holdfast.cli.output import count_progress
from holdfast.cli.outputs import ForceOption, check_target
from holdfast.secret import Secret

__all__ = ["make_sample"]


def make_sample(
    target: Annotated[Path, typer.Argument(help="The file to write; `-` is standard output.")],
    *,
    messages: Annotated[int, typer.Option("--messages", min=1, help="The number of messages to generate.")] = 1000,
    seed: Annotated[int, typer.Option("--seed", help="The seed of the random generator.")] = 1,
    edition: Annotated[
        Literal["spec", "current"],
        typer.Option("--edition", help="Keep to the specification, or use what was added to the format since."),
    ] = "current",
    encrypt: Annotated[
        bool, typer.Option("--encrypt", help="Write an encrypted backup and print its new key.")
    ] = False,
    folder: Annotated[
        bool, typer.Option("--folder", help="Write a phone's folder with attachments, and print its new key.")
    ] = False,
    force: ForceOption = False,
) -> None:
    """Generate a realistic, valid backup with every kind of record and message."""
    require_demo_package()
    from holdfast_demo.sample import sample_records
    from holdfast_demo.sample_writer import write_sample

    to = (
        OutputFormat.FOLDER
        if folder
        else OutputFormat.CONTAINER
        if encrypt
        else form_of(target) or OutputFormat.STREAM
    )
    check_target(target, [], force=force, folder=to is OutputFormat.FOLDER)
    where: Path | BinaryIO = sys.stdout.buffer if str(target) == "-" else target
    keys = new_keys() if to in {OutputFormat.FOLDER, OutputFormat.CONTAINER} else None
    with count_progress("frames") as progress:
        records = (progress(record) for record in sample_records(messages, seed, edition=edition))
        write_sample(
            records,
            where,
            to,
            seed=seed,
            keys=None if keys is None else read_keys(keys.reveal()),
            replace=force,
        )
    if keys is not None:
        sys.stderr.write(keys.reveal() + "\n")


def new_keys() -> Secret:
    """Generate the keys of an account, in the format of a key file."""
    pool = "".join(secrets.choice("abcdefghijklmnopqrstuvwxyz0123456789") for _ in range(64))
    return Secret(f"recovery-key = {pool}\naccount-id = {uuid.uuid4()}")
