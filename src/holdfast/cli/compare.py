"""`holdfast backup diff`, `merge` and `crop`: compare two backups, merge several, or keep part of one."""

import shutil
import sys
import tempfile
from collections.abc import Iterator, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, BinaryIO, Literal

import msgspec
import typer

from holdfast import backup
from holdfast.backup.compare.crop import crop
from holdfast.backup.compare.diff import diff
from holdfast.backup.compare.merge import merge
from holdfast.backup.compare.selection import DateRange, Window, parse_period
from holdfast.backup.compare.union import Conflict
from holdfast.backup.container.atomic_write import write_atomically
from holdfast.backup.container.material import KeyMaterial
from holdfast.backup.conversion import Conversion, OutputFormat, form_of
from holdfast.backup.errors import WrongKey
from holdfast.cli import diff_output
from holdfast.cli.exit_codes import ExitCode
from holdfast.cli.keys import AccountOption, KeyOption, gather_keys, with_keys
from holdfast.cli.output import JsonOption, console, print_json, print_note, waiting
from holdfast.cli.outputs import ForceOption, check_target

__all__ = ["crop_backup", "merge_backups", "show_difference"]

KeyFilesOption = Annotated[
    list[Path] | None,
    typer.Option(
        "--key-file",
        help="A key file; may be repeated, and each backup uses the one that fits.",
    ),
]
ToOption = Annotated[
    OutputFormat | None, typer.Option("--to", help="The output format, if the file name does not determine it.")
]
NamesOption = Annotated[
    Literal["spec", "signal"],
    typer.Option("--names", help="The JSON field names: those of the specification or of Signal's apps."),
]
NewKeyOption = Annotated[
    Path | None, typer.Option("--new-key-file", help="The keys to encrypt with. Default: those of the source.")
]
ANY_FORM = "A backup in any form: a file, a phone's folder, an export; `-` reads standard input."
# The number of conflicts or problems printed; the rest is only counted.
SHOWN = 20


@dataclass(frozen=True, slots=True)
class KeyOptions:
    """The key options of a command."""

    key: str | None
    files: Sequence[Path]
    account_id: str | None


@contextmanager
def open_backups(
    paths: Sequence[Path], keys: KeyOptions
) -> Iterator[tuple[list[backup.Backup], KeyMaterial | None]]:
    """Open backups, each with the first key that works; yield them and the first key that was used."""
    if sum(str(path) == "-" for path in paths) > 1:
        raise typer.BadParameter("only one backup can be read from standard input")
    used: list[KeyMaterial] = []
    with ExitStack() as stack:
        backups = [stack.enter_context(open_backup(path, keys, stack, used)) for path in paths]
        yield backups, used[0] if used else None


def open_backup(path: Path, keys: KeyOptions, stack: ExitStack, used: list[KeyMaterial]) -> backup.Backup:
    """Open one backup; standard input is copied to a temporary file, because it is read more than once."""
    source: Path | BinaryIO = path
    if str(path) == "-":
        source = stack.enter_context(tempfile.TemporaryFile())  # noqa: SIM115  # the stack closes it
        shutil.copyfileobj(sys.stdin.buffer, source)

    def open_with(material: KeyMaterial | None) -> backup.Backup:
        if not isinstance(source, Path):
            source.seek(0)
        result = backup.open(source, material)
        if material is not None:
            used.append(material)
        return result

    problem: WrongKey | None = None
    files: Sequence[Path | None] = keys.files or [None]
    for file in files:
        try:
            return with_keys(open_with, key=keys.key, key_file=file, account_id=keys.account_id)
        except WrongKey as error:
            problem = error
    assert problem is not None  # noqa: S101  # every iteration either returned or set it
    raise problem


def show_difference(
    before: Annotated[Path, typer.Argument(help=ANY_FORM, show_default=False)],
    after: Annotated[Path, typer.Argument(help="The backup to compare it with.", show_default=False)],
    *,
    chat: Annotated[
        list[str] | None,
        typer.Option("--chat", help="Compare only this chat: its name, number or id; may be repeated."),
    ] = None,
    detail: Annotated[bool, typer.Option("--detail", help="List every change to a message.")] = False,
    key_file: KeyFilesOption = None,
    key: KeyOption = None,
    account_id: AccountOption = None,
    json: JsonOption = False,
) -> None:
    """Show what changed between two backups; the exit status is 1 if anything did.

    Ids and the order in which programs list things are no change.
    """
    with open_backups([before, after], KeyOptions(key, key_file or (), account_id)) as (sources, _keys):
        first, second = sources
        if detail:
            lines = diff_output.JsonDiffWriter(sys.stdout) if json else diff_output.TextDiffWriter(console())
            difference = diff(first, second, chats=chat or (), on_change=lines.add)
            lines.end(difference)
        else:
            with waiting("comparing"):
                difference = diff(first, second, chats=chat or ())
            if json:
                print_json(diff_output.document(difference))
            else:
                diff_output.show(console(), difference)
    if not difference.same:
        raise typer.Exit(ExitCode.NO)


def form_for(target: Path, to: OutputFormat | None) -> OutputFormat:
    """Return the format to write: the option, or by the file name."""
    form = to or form_of(target)
    if form is None:
        raise typer.BadParameter(
            f"the name {target} does not say which form to write; use --to", param_hint="--to"
        )
    return form


def resolve_target(target: Path) -> Path | BinaryIO:
    """Return standard output for `-`."""
    return sys.stdout.buffer if str(target) == "-" else target


def keys_for(new: Path | None, used: KeyMaterial | None, account_id: str | None) -> KeyMaterial | None:
    """Return the keys to encrypt with."""
    return used if new is None else gather_keys({}, key=None, key_file=new, account_id=account_id)


def merge_backups(
    sources: Annotated[list[Path], typer.Argument(help=ANY_FORM + " Two or more.", show_default=False)],
    *,
    output: Annotated[
        Path,
        typer.Option(
            "--output", "-o", help="What to write: .binproto, .jsonl, .json, or see --to; `-` is standard output."
        ),
    ],
    to: ToOption = None,
    names: NamesOption = "spec",
    conflicts: Annotated[
        Path | None, typer.Option("--conflicts", help="Write all conflicts to this file, as JSON Lines.")
    ] = None,
    same_account: Annotated[
        bool,
        typer.Option("--same-account", help="Assume that all backups belong to one account."),
    ] = False,
    new_key_file: NewKeyOption = None,
    force: ForceOption = False,
    key_file: KeyFilesOption = None,
    key: KeyOption = None,
    account_id: AccountOption = None,
    json: JsonOption = False,
) -> None:
    """Merge several backups of the same account into one.

    Where two contradict each other the one that was made later wins, and the conflict is listed.
    """
    if len(sources) < 2:
        raise typer.BadParameter("give at least two backups", param_hint="SOURCES")
    form = form_for(output, to)
    inputs = [*sources, *(key_file or ()), new_key_file]
    check_target(output, inputs, force=force, folder=form is OutputFormat.FOLDER)
    check_target(conflicts, [*inputs, output], force=force)
    first: list[Conflict] = []
    with ExitStack() as stack:
        backups, used = stack.enter_context(open_backups(sources, KeyOptions(key, key_file or (), account_id)))
        new = keys_for(new_key_file, used, account_id)
        conflict_file = (
            None if conflicts is None else stack.enter_context(write_atomically(conflicts, replace=force))
        )

        def report_conflict(conflict: Conflict) -> None:
            if len(first) < SHOWN:
                first.append(conflict)
            if conflict_file is not None:
                conflict_file.write(msgspec.json.encode(conflict) + b"\n")

        with waiting("merging"):
            result = merge(
                backups,
                resolve_target(output),
                to=form,
                keys=new,
                names=names,
                assume_same_account=same_account,
                on_conflict=report_conflict,
                replace=force,
            )
    print_problems(result.written)
    if json:
        print_json(result)
        return
    for conflict in first:
        print_note(diff_output.conflict_line(conflict))
    if result.conflicts > SHOWN and conflicts is None:
        print_note(f"... and {result.conflicts - SHOWN:,} more; --conflicts FILE lists them all")
    if str(output) != "-":
        diff_output.show_merged(console(), output, result)


def crop_backup(
    source: Annotated[Path, typer.Argument(help=ANY_FORM, show_default=False)],
    target: Annotated[
        Path, typer.Argument(help="What to write: .binproto, .jsonl, .json, or see --to; `-` is standard output.")
    ],
    *,
    chat: Annotated[
        list[str] | None,
        typer.Option("--chat", help="Keep only this chat: its name, number or id; may be repeated."),
    ] = None,
    without_chat: Annotated[
        list[str] | None, typer.Option("--without-chat", help="Exclude this chat; may be repeated.")
    ] = None,
    since: Annotated[
        str | None,
        typer.Option("--since", help="Keep messages sent since then: 2024, 2024-03 or 2024-03-09, in UTC."),
    ] = None,
    until: Annotated[
        str | None,
        typer.Option("--until", help="Keep messages sent up to the end of this day, month or year."),
    ] = None,
    without_media: Annotated[
        bool,
        typer.Option("--without-media", help="Keep no attachments; messages say that they are not available."),
    ] = False,
    to: ToOption = None,
    names: NamesOption = "spec",
    new_key_file: NewKeyOption = None,
    force: ForceOption = False,
    key_file: KeyFilesOption = None,
    key: KeyOption = None,
    account_id: AccountOption = None,
    json: JsonOption = False,
) -> None:
    """Write part of a backup, by chat, time or without media, as a valid backup."""
    if not (chat or without_chat or since or until or without_media):
        raise typer.BadParameter("say what to keep: --chat, --without-chat, --since, --until or --without-media")
    start, end = parse_time(since, "--since"), parse_time(until, "--until")
    window = Window(start.first_ms if start else None, end.last_ms if end else None)
    if start and end and start.first_ms > end.last_ms:
        raise typer.BadParameter("it ends before it begins", param_hint="--until")
    form = form_for(target, to)
    check_target(
        target, [source, *(key_file or ()), new_key_file], force=force, folder=form is OutputFormat.FOLDER
    )
    with (
        open_backups([source], KeyOptions(key, key_file or (), account_id)) as ((opened,), used),
        waiting("cropping"),
    ):
        result = crop(
            opened,
            resolve_target(target),
            to=form,
            chats=chat or (),
            without_chats=without_chat or (),
            window=window,
            without_media=without_media,
            keys=keys_for(new_key_file, used, account_id),
            names=names,
            replace=force,
        )
    print_problems(result.written)
    if json:
        print_json(result)
    elif str(target) != "-":
        diff_output.show_cropped(console(), target, result)


def parse_time(text: str | None, option: str) -> DateRange | None:
    """Parse a time given on the command line."""
    if text is None:
        return None
    try:
        return parse_period(text)
    except ValueError as error:
        raise typer.BadParameter(str(error), param_hint=option) from None


def print_problems(written: Conversion) -> None:
    """Print the attachments that could not be copied."""
    for problem in written.problems[:SHOWN]:
        print_note(f"note: {problem}")
    if len(written.problems) > SHOWN:
        print_note(f"... and {len(written.problems) - SHOWN:,} more")
