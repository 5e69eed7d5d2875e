"""`holdfast backup`: what can be done with one chat backup."""

import secrets
import sys
import uuid
from pathlib import Path
from typing import Annotated, BinaryIO, Literal

import typer

from holdfast import backup
from holdfast.backup.container import KeyMaterial
from holdfast.backup.container.keyfile import read_keys
from holdfast.backup.conversion import Conversion, To, convert, form_of
from holdfast.backup.made_up import write_sample
from holdfast.backup.media import Extracted, extract
from holdfast.backup.sample import sample_records
from holdfast.backup.wire import Names
from holdfast.cli import summary
from holdfast.cli.check import check_backup
from holdfast.cli.exit_codes import ExitCode
from holdfast.cli.inputs import SourceArgument, with_open_backup
from holdfast.cli.keys import AccountOption, KeyFileOption, KeyOption, gather_keys, with_keys
from holdfast.cli.output import JsonOption, console, count_progress, print_json, print_note, printable
from holdfast.cli.outputs import ForceOption, check_target
from holdfast.cli.validate import list_rules, validate_backup
from holdfast.secret import Secret

__all__ = ["group"]

group = typer.Typer(no_args_is_help=True, help="Read, write and convert chat backups.")

# A screenful of problems is read; the rest is better counted.
SHOWN = 20


@group.callback()
def root() -> None:
    """Read, write and convert chat backups."""


@group.command("info")
def show_info(
    file: SourceArgument,
    *,
    verify_media: Annotated[
        bool,
        typer.Option(
            "--verify-media",
            help="Decrypt every attachment and compare its hash; exit with 1 if one is missing or damaged.",
        ),
    ] = False,
    key_file: KeyFileOption = None,
    key: KeyOption = None,
    account_id: AccountOption = None,
    json: JsonOption = False,
) -> None:
    """Show what is in a backup: when and by whom it was made, chats, people, messages, dates and media."""
    answer = with_keys(
        lambda keys: with_open_backup(file, keys, lambda found: backup.info(found, verify_media=verify_media)),
        key=key,
        key_file=key_file,
        account_id=account_id,
    )
    if json:
        print_json(answer)
    else:
        summary.show(console(), answer)
    if verify_media and answer.media is not None and (answer.media.missing or answer.media.damaged):
        raise typer.Exit(ExitCode.NO)


@group.command("convert")
def convert_backup(
    source: SourceArgument,
    target: Annotated[
        Path, typer.Argument(help="What to write: .binproto, .jsonl, .json, or see --to; `-` is standard output.")
    ],
    *,
    to: Annotated[
        To | None, typer.Option("--to", help="The form to write, where the name does not say it.")
    ] = None,
    names: Annotated[
        Literal["spec", "signal"],
        typer.Option(
            "--names", help="The spelling of JSON names: as in the specification, or as Signal's programs."
        ),
    ] = "spec",
    new_key_file: Annotated[
        Path | None,
        typer.Option("--new-key-file", help="The keys to encrypt with; without it those of the source."),
    ] = None,
    force: ForceOption = False,
    key_file: KeyFileOption = None,
    key: KeyOption = None,
    account_id: AccountOption = None,
    json: JsonOption = False,
) -> None:
    """Turn a backup into another form: plain or encrypted, frames or JSON, file or folder."""
    form = to or form_of(target)
    if form is None:
        raise typer.BadParameter(
            f"the name {target} does not say which form to write; use --to", param_hint="--to"
        )
    check_target(target, [source, key_file, new_key_file], force=force, folder=form is To.FOLDER)
    edited: list[int] = []

    def work(keys: KeyMaterial | None) -> Conversion:
        new = (
            keys
            if new_key_file is None
            else gather_keys({}, key=None, key_file=new_key_file, account_id=account_id)
        )
        to_where: Path | BinaryIO = sys.stdout.buffer if str(target) == "-" else target
        chosen: Names = names
        return with_open_backup(
            source,
            keys,
            lambda found: convert(found, to_where, to=form, keys=new, names=chosen, replace=force),
            edited=edited,
        )

    done = with_keys(work, key=key, key_file=key_file, account_id=account_id)
    for number in dict.fromkeys(edited):
        print_note(f"note: record {number} was edited; what it says was written, not its kept bytes")
    for problem in done.problems:
        print_note(f"note: {problem}")
    if json:
        print_json(done)
    elif str(target) != "-":
        media = f" and {done.attachments:,} attachments" if form is To.FOLDER else ""
        console().print(f"{printable(str(target))}: {done.frames:,} frames{media}")


@group.command("extract")
def extract_media(
    source: SourceArgument,
    target: Annotated[Path, typer.Argument(help="The folder to write the attachments to.")],
    *,
    force: ForceOption = False,
    key_file: KeyFileOption = None,
    key: KeyOption = None,
    account_id: AccountOption = None,
    json: JsonOption = False,
) -> None:
    """Write the attachments of a phone's folder or an export out as ordinary files, sorted by chat."""
    check_target(target, [source, key_file], folder=True)

    def work(keys: KeyMaterial | None) -> list[Extracted]:
        def run(found: backup.Backup) -> list[Extracted]:
            with count_progress("attachments") as progress:
                return [progress(item) for item in extract(found, target, replace=force)]

        return with_open_backup(source, keys, run)

    done = with_keys(work, key=key, key_file=key_file, account_id=account_id)
    failed = [item for item in done if item.problem]
    if json:
        print_json(done)
    else:
        for item in failed[:SHOWN]:
            print_note(f"frame {item.frame}: {item.problem}")
        if len(failed) > SHOWN:
            print_note(f"... and {len(failed) - SHOWN:,} more; --json lists them all")
        written = len(done) - len(failed)
        size = summary.human_size(sum(item.bytes for item in done))
        console().print(f"{written:,} attachments, {size}, in {target}; {len(failed):,} missing or damaged")
    if failed:
        raise typer.Exit(ExitCode.NO)


@group.command("sample")
def make_sample(
    target: Annotated[Path, typer.Argument(help="The file to write; `-` is standard output.")],
    *,
    messages: Annotated[int, typer.Option("--messages", min=1, help="How many messages to make up.")] = 1000,
    seed: Annotated[int, typer.Option("--seed", help="Another seed gives another history.")] = 1,
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
    """Make up a realistic history, valid under every rule, with every kind of record and message."""
    to = To.FOLDER if folder else To.CONTAINER if encrypt else form_of(target) or To.STREAM
    check_target(target, [], force=force, folder=to is To.FOLDER)
    where: Path | BinaryIO = sys.stdout.buffer if str(target) == "-" else target
    keys = new_keys() if to in {To.FOLDER, To.CONTAINER} else None
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


group.command("check")(check_backup)
group.command("validate")(validate_backup)
group.command("rules")(list_rules)


def new_keys() -> Secret:
    """Invent an account's keys, written as a key file."""
    pool = "".join(secrets.choice("abcdefghijklmnopqrstuvwxyz0123456789") for _ in range(64))
    return Secret(f"recovery-key = {pool}\naccount-id = {uuid.uuid4()}")
