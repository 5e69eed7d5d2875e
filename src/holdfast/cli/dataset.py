"""`holdfast dataset`: many backups as Parquet tables, built and queried."""

import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Annotated, Final, Literal

import typer
from rich.text import Text

from holdfast import backup
from holdfast.backup import DatasetBuild
from holdfast.cli.exit_codes import ExitCode
from holdfast.cli.lazy_commands import lazy_group
from holdfast.cli.output import JsonOption, console, print_json, print_note, printable
from holdfast.cli.times import ZoneOption, zone_of
from holdfast.counts import count_of

__all__ = ["build", "group", "search", "stats", "validate"]

COMMANDS: Final = {
    "build": (
        "Write backups as Parquet tables into a folder or an S3 bucket; only what changed is written again.",
        "holdfast.cli.dataset:build",
    ),
    "search": (
        "Search the messages of all backups of a dataset; the exit status is 1 if there are no matches.",
        "holdfast.cli.dataset:search",
    ),
    "stats": (
        "Count what a dataset holds: rows of each table, messages by month, kind and backup.",
        "holdfast.cli.dataset:stats",
    ),
    "validate": (
        "List backups that could not be read, files that are not whole and rules that are broken.",
        "holdfast.cli.dataset:validate",
    ),
}
# The number of problems printed; the rest is only counted.
SHOWN: Final = 60

group = typer.Typer(cls=lazy_group(COMMANDS), no_args_is_help=True, add_completion=False, rich_markup_mode=None)

DatasetArgument = Annotated[
    str,
    typer.Argument(metavar="DATASET", help="The dataset: a folder, or s3://bucket/prefix.", show_default=False),
]


@group.callback()
def dataset() -> None:
    """Turn many backups into Parquet tables, and search and count in them."""


def build(
    paths: Annotated[
        list[str],
        typer.Argument(
            metavar="SOURCE... TARGET",
            help="Backups, or folders with backups in them; last the folder or s3://bucket/prefix to write to.",
            show_default=False,
        ),
    ],
    *,
    keys: Annotated[
        Path | None,
        typer.Option(
            "--keys", help="A folder with a key file NAME.key for each backup; also looked for beside it."
        ),
    ] = None,
    key_file: Annotated[
        Path | None, typer.Option("--key-file", help="The key file of backups that have none of their own.")
    ] = None,
    engine: Annotated[
        Literal["processes", "ray"],
        typer.Option("--engine", help="Where to build: on this machine, or on a Ray cluster."),
    ] = "processes",
    address: Annotated[
        str | None, typer.Option("--address", help="With --engine ray: the address of the cluster.")
    ] = None,
    workers: Annotated[
        int | None,
        typer.Option("--workers", help="Processes to use. Default: one for each core.", min=1, max=1024),
    ] = None,
    rebuild: Annotated[bool, typer.Option("--rebuild", help="Also build backups that have not changed.")] = False,
    json: JsonOption = False,
) -> int:
    """Write backups as Parquet tables into a folder or an S3 bucket; only what changed is written again.

    A backup that cannot be read is reported with the reason, and the others are built; the exit status is then 1.
    It can be interrupted at any moment and run again.
    """
    *sources, target = paths
    if not sources:
        raise typer.BadParameter("give at least one source, and the target last", param_hint="SOURCE... TARGET")
    if address is not None and engine != "ray":
        raise typer.BadParameter("an address is for --engine ray", param_hint="--address")
    with build_progress() as progress:
        build = backup.build_dataset(
            sources,
            target,
            keys=keys,
            key_file=key_file,
            engine=engine,
            address=address,
            workers=workers,
            rebuild=rebuild,
            progress=progress,
        )
    if json:
        print_json({"complete": build.complete, "target": target, **fields_of(build)})
    else:
        show_build(build)
    return ExitCode.FINE if build.complete else ExitCode.NO


def fields_of(build: DatasetBuild) -> dict[str, object]:
    """Return the JSON output of a build."""
    return {
        "backups": build.backups,
        "messages": build.messages,
        "written": build.written,
        "unchanged": len(build.unchanged),
        "failed": [{"name": name, "reason": reason} for name, reason in build.reasons.items()],
        "skipped": [{"path": path, "reason": reason} for path, reason in build.skipped.items()],
    }


def show_build(build: DatasetBuild) -> None:
    """Print the result of a build."""
    out = console()
    for name, reason in list(build.reasons.items())[:SHOWN]:
        out.print(Text(f"{printable(name)}: {printable(reason)}"))
    if len(build.failed) > SHOWN:
        out.print(f"... and {len(build.failed) - SHOWN:,} more; --json lists all")
    for path, reason in list(build.skipped.items())[:SHOWN]:
        out.print(Text(f"Not searched: {printable(path)}: {printable(reason)}"))
    if len(build.skipped) > SHOWN:
        out.print(f"... and {len(build.skipped) - SHOWN:,} more that were not searched; --json lists all")
    out.print(
        f"{count_of(len(build.written), 'backup')} written, {len(build.unchanged):,} unchanged, "
        f"{len(build.failed):,} failed; "
        f"{count_of(build.messages, 'message')} in {count_of(build.backups, 'backup')}."
    )


@contextmanager
def build_progress() -> Iterator[Callable[[int, int], None] | None]:
    """Yield a callback for a progress bar of backups, on a terminal; else None."""
    if not sys.stderr.isatty():
        yield None
        return
    from rich import progress as bars  # noqa: PLC0415  # loaded when it is needed, so that commands start at once

    columns = (
        bars.TextColumn("Building"),
        bars.BarColumn(),
        bars.MofNCompleteColumn(),
        bars.TimeRemainingColumn(),
    )
    with bars.Progress(*columns, console=console(stderr=True), transient=True) as progress:
        task = progress.add_task("Building", total=None)
        yield lambda completed, total: progress.update(task, completed=completed, total=total)


def search(
    target: DatasetArgument,
    words: Annotated[str, typer.Argument(help="Words, or the beginnings of words; all of them must occur.")],
    *,
    limit: Annotated[int, typer.Option("--limit", "-n", help="Matches to show.", min=1, max=10_000)] = 20,
    zone: ZoneOption = None,
    json: JsonOption = False,
) -> int:
    """Search the messages of all backups of a dataset; the exit status is 1 if there are no matches."""
    times = zone_of(zone)
    hits = backup.search_dataset(target, words, limit=limit)
    if json:
        print_json(hits)
    else:
        out = console()
        for hit in hits:
            place = " · ".join(printable(part) for part in (hit.backup, hit.chat or "?", hit.author or "?"))
            out.print(Text(f"{times.time(hit.sent_ms)}  {place}", "bold"))
            out.print(Text(f"    {printable(hit.text)}"))
        if not hits:
            print_note("nothing was found")
    return ExitCode.FINE if hits else ExitCode.NO


def stats(target: DatasetArgument, *, json: JsonOption = False) -> None:
    """Count what a dataset holds: rows of each table, messages by month, kind and backup."""
    statistics = backup.dataset_statistics(target)
    if json:
        print_json(statistics)
        return
    out = console()
    out.print(count_of(statistics.backups, "backup"))
    sections = (
        ("table", statistics.rows),
        ("month", statistics.months),
        ("kind of message", statistics.kinds),
        ("largest backups", statistics.largest),
        ("findings", statistics.findings),
    )
    for title, numbers in sections:
        if numbers:
            out.print()
            width = max(len(title), *(len(printable(name)) for name in numbers))
            out.print(
                Text(f"{title:<{width}}  {'rows' if title in {'table', 'findings'} else 'messages':>14}", "bold")
            )
            for name, number in numbers.items():
                out.print(Text(f"{printable(name):<{width}}  {number:>14,}"))


def validate(target: DatasetArgument, *, json: JsonOption = False) -> int:
    """List backups that could not be read, files that are not whole and rules that are broken.

    The exit status is 1 if there are any.
    """
    faults = backup.validate_dataset(target)
    if json:
        print_json({"ok": not faults, "faults": faults})
    else:
        out = console()
        for fault in faults:
            out.print(Text(f"{printable(fault.backup)}: {printable(fault.problem)}"))
        out.print("The dataset is whole." if not faults else f"{count_of(len(faults), 'problem')}.")
    return ExitCode.NO if faults else ExitCode.FINE
