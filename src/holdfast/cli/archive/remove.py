"""`holdfast archive remove`."""

import sys
from collections.abc import Iterable
from typing import Annotated

import msgspec
import typer

from holdfast.backup import archives
from holdfast.backup.archives import Archive, RemovalResult
from holdfast.backup.errors import NotInArchive
from holdfast.cli.archive.shared import ArchiveArgument
from holdfast.cli.exit_codes import ExitCode
from holdfast.cli.output import JsonOption, console, print_json, print_note, printable, waiting
from holdfast.cli.passphrases import PassphraseFileOption, open_archive
from holdfast.cli.summary import human_size
from holdfast.counts import count_of

__all__ = ["RemovalOutput", "remove"]

# The number of matches listed in an error message; the rest is only counted.
LISTED = 5


class RemovalOutput(msgspec.Struct, frozen=True):
    """The JSON output of `archive remove`."""

    what: str
    number: int
    name: str
    removed: bool
    imports: int
    chats: int
    people: int
    messages: int
    attachments: int
    edited: int
    files: int
    bytes: int


def remove(
    archive_file: ArchiveArgument,
    *,
    import_number: Annotated[
        int | None,
        typer.Option("--import", help="Remove an import, by its number in `holdfast archive info`.", min=1),
    ] = None,
    chat: Annotated[
        str | None, typer.Option("--chat", help="Remove a chat with its messages, by its number or whole name.")
    ] = None,
    person: Annotated[
        str | None,
        typer.Option("--person", help="Remove a person and all they wrote, by their number or whole name."),
    ] = None,
    dry_run: Annotated[
        bool, typer.Option("--dry-run", help="Only show what would be removed; the exit status is 0.")
    ] = False,
    yes: Annotated[bool, typer.Option("--yes", help="Do not ask for confirmation.")] = False,
    passphrase_file: PassphraseFileOption = None,
    json: JsonOption = False,
) -> int:
    """Remove an import, a chat or a person for good; it cannot be undone.

    Messages, words of the search index, records and media files that nothing else uses are overwritten or deleted.
    A backup that still has a removed chat or person brings it back when it is imported as a new one.
    """
    if sum(option is not None for option in (import_number, chat, person)) != 1:
        raise typer.BadParameter("give one of --import, --chat and --person", param_hint="--import")
    with open_archive(archive_file, passphrase_file) as opened:
        kind, number, name = target(opened, import_number, chat, person)
    with archives.open(archive_file, create=True, key=opened.key) as opened:
        if dry_run or not yes:
            with waiting("counting"):
                removal = run(opened, kind, number, dry_run=True)
            if dry_run:
                report(kind, number, name, removal, json=json, removed=False)
                return ExitCode.FINE
            if not (sys.stdin.isatty() and sys.stderr.isatty()):
                raise typer.BadParameter("it would be asked for confirmation; give --yes", param_hint="--yes")
            question = f"Remove {kind} {printable(name)} for good: {sentence(removal)}?"
            if not typer.confirm(question, err=True):
                print_note("nothing was removed")
                return ExitCode.NO
        with waiting("removing"):
            removal_result = run(opened, kind, number, dry_run=False)
    report(kind, number, name, removal_result, json=json, removed=True)
    return ExitCode.FINE


def run(opened: Archive, kind: str, number: int, *, dry_run: bool) -> RemovalResult:
    """Remove an import, a chat or a person, or count what would be removed."""
    return opened.remove(
        snapshot=number if kind == "import" else None,
        chat=number if kind == "chat" else None,
        person=number if kind == "person" else None,
        dry_run=dry_run,
    )


def target(
    opened: Archive, import_number: int | None, chat: str | None, person: str | None
) -> tuple[str, int, str]:
    """Return the kind, number and name of what to remove."""
    if import_number is not None:
        for snapshot in opened.snapshots():
            if snapshot.id == import_number:
                return "import", snapshot.id, snapshot.source
        raise NotInArchive(f"there is no import {import_number}; `holdfast archive info` lists them")
    if chat is not None:
        return "chat", *exact("chat", chat, ((entry.id, entry.name) for entry in opened.chats()), "chats")
    people = ((entry.id, entry.name) for entry in opened.people())
    return "person", *exact("person", person or "", people, "people")


def exact(kind: str, wanted: str, entries: Iterable[tuple[int, str]], command: str) -> tuple[int, str]:
    """Return an entry by its number or full name; a partial name never matches, since removal is final."""
    candidates = list(entries)
    fits = [candidate for candidate in candidates if str(candidate[0]) == wanted] or [
        candidate for candidate in candidates if candidate[1].casefold() == wanted.casefold()
    ]
    if len(fits) == 1:
        return fits[0]
    if fits:
        several = ", ".join(str(number) for number, _name in fits[:LISTED])
        raise NotInArchive(f"{len(fits)} have the name {wanted}: {several}; say which by its number")
    raise NotInArchive(
        f"there is no {kind} with the name or number {wanted}; `holdfast archive {command}` lists them"
    )


def sentence(removal: RemovalResult) -> str:
    """Return a summary of a removal as a sentence."""
    nouns = {
        "imports": "import",
        "chats": "chat",
        "messages": "message",
        "attachments": "attachment",
    }
    parts = [count_of(getattr(removal, name), noun) for name, noun in nouns.items() if getattr(removal, name)]
    if removal.people:
        parts.append("1 person" if removal.people == 1 else f"{removal.people:,} people")
    if removal.files:
        parts.append(f"{count_of(removal.files, 'media file')} ({human_size(removal.bytes)})")
    text = ", ".join(parts) or "nothing that is shown"
    return f"{text}; {count_of(removal.edited, 'message')} of others edited" if removal.edited else text


def report(kind: str, number: int, name: str, removal: RemovalResult, *, json: bool, removed: bool) -> None:
    """Print what was removed, or would be."""
    if json:
        facts = {field: getattr(removal, field) for field in RemovalResult.__slots__}
        print_json(RemovalOutput(kind, number, name, removed, **facts))
        return
    verb = "Removed" if removed else "Would remove"
    console().print(f"{verb} {kind} {printable(name)}: {sentence(removal)}.")
