"""`holdfast backup repair`: repair a backup, or undo a repair."""

import sys
from collections import Counter
from pathlib import Path
from typing import Annotated, BinaryIO, Literal

import typer

from holdfast.backup import KeyMaterial, Repair, RepairOptions, plan_repair, repair, undo_repair
from holdfast.backup.conversion import OutputFormat, form_of
from holdfast.backup.repairs.log import default_log_path, read_log
from holdfast.cli.exit_codes import ExitCode
from holdfast.cli.inputs import SourceArgument
from holdfast.cli.keys import AccountOption, KeyFileOption, KeyOption, with_keys
from holdfast.cli.output import JsonOption, console, print_json, printable
from holdfast.cli.outputs import ForceOption, check_target
from holdfast.counts import count_of

__all__ = ["repair_backup"]

# The number of lines printed; with more, totals by rule follow.
SHOWN = 40


def repair_backup(
    source: SourceArgument,
    target: Annotated[
        Path | None, typer.Argument(help="The backup to write; not needed with --plan.", show_default=False)
    ] = None,
    *,
    plan: Annotated[bool, typer.Option("--plan", help="Print the changes without writing anything.")] = False,
    drop: Annotated[
        bool, typer.Option("--drop", help="Also drop records that cannot be imported; each is listed.")
    ] = False,
    undo: Annotated[
        Path | None,
        typer.Option("--undo", help="Restore the original of a repaired backup from this change log."),
    ] = None,
    log: Annotated[
        Path | None, typer.Option("--log", help="The change log to write. Default: beside the backup.")
    ] = None,
    profile: Annotated[
        Literal["strict", "import"], typer.Option("--profile", help="The profile to repair for.")
    ] = "strict",
    edition: Annotated[
        Literal["auto", "spec", "current"], typer.Option("--edition", help="The edition of the format.")
    ] = "auto",
    purpose: Annotated[
        Literal["remote", "transfer", "takeout"], typer.Option("--purpose", help="The purpose of the backup.")
    ] = "remote",
    to: Annotated[
        OutputFormat | None,
        typer.Option("--to", help="The output format, if the file name does not determine it."),
    ] = None,
    force: ForceOption = False,
    key_file: KeyFileOption = None,
    key: KeyOption = None,
    account_id: AccountOption = None,
    json: JsonOption = False,
) -> None:
    """Repair a backup without inventing or losing data, with a change log to undo it."""
    if target is None and not plan:
        raise typer.BadParameter("give the file to write, or --plan", param_hint="TARGET")
    if undo is not None and (plan or drop):
        raise typer.BadParameter("--undo goes with neither --plan nor --drop", param_hint="--undo")
    where = Path() if target is None else target
    form = to or form_of(where)
    if not plan:
        check_target(target, [source, key_file, undo], force=force, folder=form is OutputFormat.FOLDER)
        check_target(log, [source, key_file, target], force=force)
    options = RepairOptions(profile, edition, purpose, drop)

    def repair_with(keys: KeyMaterial | None) -> Repair | int:
        file: Path | BinaryIO = sys.stdin.buffer if str(source) == "-" else source
        if undo is not None:
            return undo_repair(file, undo, where, keys, to=form, keys=keys, replace=force)
        if plan:
            return plan_repair(file, keys, options=options)
        return repair(file, where, keys, options=options, log=log, to=form, keys=keys, replace=force)

    result = with_keys(repair_with, key=key, key_file=key_file, account_id=account_id)
    if isinstance(result, int):
        kind = "stream" if undo is None or read_log(undo).kept is None else "file"
        console().print(
            f"{printable(str(where))}: {count_of(result, 'change')} undone; the {kind} is what it was, to the byte"
        )
        return
    if json:
        print_json(result)
    else:
        show(result)
        if not plan:
            log_path = default_log_path(where) if log is None else log
            console().print(f"{printable(str(where))}: written; {log_path} can undo it")
            if result.kept is not None:
                console().print(f"{result.kept}: the damaged original, kept to be put back when it is undone")
    if not result.passes:
        raise typer.Exit(ExitCode.NO)


def show(result: Repair) -> None:
    """Print the repairs and the remaining findings; totals by rule if there are many."""
    out = console()
    lines = [
        f"{frame_name(step.frame)}: {step.rule}{path_suffix(step.path)}: {step.words}" for step in result.steps
    ]
    print_some(lines, Counter(step.rule for step in result.steps))
    left = [
        f"{frame_name(finding.frame)}: {finding.rule}{path_suffix(finding.path)}: {finding.problem} "
        + ("Kept; --drop would remove it." if finding.needs_drop else "Cannot be repaired.")
        for finding in result.remaining_errors
    ]
    print_some(left, Counter(finding.rule for finding in result.remaining_errors))
    lost = sum(step.loses for step in result.steps)
    repairs = count_of(len(result.steps), "repair") + (f", {lost:,} of which removed data" if lost else "")
    remaining = count_of(len(result.remaining_errors), "error")
    verdict = "is valid" if result.passes else f"is not valid: {remaining} left"
    out.print(f"{repairs}; under `{result.profile}`, edition `{result.edition}`, the result {verdict}")


def frame_name(frame: int | None) -> str:
    """Return the name of a frame, or of the whole backup."""
    return "whole backup" if frame is None else "header" if frame == 0 else f"frame {frame}"


def path_suffix(path: str) -> str:
    """Format the path inside a frame."""
    return f" at {path}" if path else ""


def print_some(lines: list[str], counts: "Counter[str]") -> None:
    """Print the first lines, and totals by rule if there are more."""
    out = console()
    for line in lines[:SHOWN]:
        out.print(line)
    if len(lines) > SHOWN:
        out.print(f"... and {len(lines) - SHOWN:,} more; --json lists them all. In all:")
        for rule, count in counts.most_common():
            out.print(f"  {rule}: {count:,}")
