"""`holdfast backup check`: whether a backup is complete, and what would be lost with the phone."""

from typing import Final

import msgspec
import typer
from rich.console import Console
from rich.text import Text

from holdfast.backup.completeness import Answer, Completeness, Loss, LostAttachment, check_completeness
from holdfast.backup.container.material import KeyMaterial
from holdfast.cli.exit_codes import ExitCode
from holdfast.cli.inputs import SourceArgument, resolve_input, size_of
from holdfast.cli.keys import AccountOption, KeyFileOption, KeyOption, with_keys
from holdfast.cli.output import JsonOption, byte_progress, console, print_json, printable
from holdfast.cli.times import Zone, ZoneOption, zone_of
from holdfast.cli.validate import ValidationFindingOutput, as_text, finding_line
from holdfast.counts import count_of

__all__ = ["CheckOutput", "check_backup", "list_lost"]

# The number of lost attachments printed; the rest is only counted.
SHOWN: Final = 50
WORDS: Final = {
    Loss.MISSING: "its file is missing",
    Loss.TRUNCATED: "its file is cut short",
    Loss.DAMAGED: "its file is damaged",
    Loss.MISMATCH: "its file is another one",
    Loss.NOT_KEPT: "it is not in the backup",
    Loss.NOT_DOWNLOADED: "the device never downloaded it",
}


class CheckOutput(msgspec.Struct, frozen=True):
    """The JSON output of `backup check`."""

    answer: str
    form: str
    made_ms: int
    messages: int
    attachments: int
    errors: int
    findings: list[ValidationFindingOutput]
    lost: tuple[LostAttachment, ...]
    not_on_device: tuple[LostAttachment, ...]


def check_backup(
    file: SourceArgument,
    *,
    zone: ZoneOption = None,
    key_file: KeyFileOption = None,
    key: KeyOption = None,
    account_id: AccountOption = None,
    json: JsonOption = False,
) -> None:
    """Say in one word whether a backup is complete, and if not, what is lost: by chat, date and person.

    Complete means: it opens and is as it was written, an importer finds no error in it, and the file of every
    attachment is there, decrypts and has its hash. The exit status is 0 for complete, 1 for incomplete.
    """
    times = zone_of(zone)

    def check_with(keys: KeyMaterial | None) -> Completeness:
        with byte_progress(file.name, size_of(file)) as progress:
            return check_completeness(resolve_input(file), keys, progress=progress)

    completeness = with_keys(check_with, key=key, key_file=key_file, account_id=account_id)
    if json:
        print_json(
            CheckOutput(
                completeness.answer,
                completeness.form,
                completeness.made_ms,
                completeness.messages,
                completeness.attachments,
                completeness.errors,
                [finding_line(finding) for finding in completeness.findings],
                completeness.lost,
                completeness.not_on_device,
            )
        )
    else:
        show(console(), completeness, times)
    if completeness.answer is not Answer.COMPLETE:
        raise typer.Exit(ExitCode.NO)


def show(out: Console, completeness: Completeness, times: Zone) -> None:
    """Print the verdict, the losses, and what was checked."""
    style = "bold green" if completeness.answer is Answer.COMPLETE else "bold red"
    out.print(Text(completeness.answer, style=style))
    if completeness.errors:
        out.print(
            f"\n{count_of(completeness.errors, 'error')} that "
            f"{'breaks' if completeness.errors == 1 else 'break'} an import:"
        )
        for finding in completeness.findings[:SHOWN]:
            out.print(as_text(finding))
        if completeness.errors > SHOWN:
            out.print(f"... and {completeness.errors - SHOWN:,} more; holdfast backup validate lists them all")
    if completeness.lost:
        out.print(
            f"\n{len(completeness.lost):,} of {count_of(completeness.attachments, 'attachment')} "
            f"{'is' if len(completeness.lost) == 1 else 'are'} missing or damaged:"
        )
        list_lost(out, completeness.lost[:SHOWN], times)
        if len(completeness.lost) > SHOWN:
            out.print(f"... and {len(completeness.lost) - SHOWN:,} more; --json lists them all")
    when = times.time(completeness.made_ms) if completeness.made_ms else "at an unknown time"
    there = completeness.attachments - len(completeness.lost)
    out.print(
        f"\nMade {when}, with {count_of(completeness.messages, 'message')} and {count_of(there, 'attachment')}. "
        "What was written later is not in it."
    )
    elsewhere = len(completeness.not_on_device)
    if elsewhere == 1:
        out.print(
            "1 more attachment was not on the device when it wrote the backup, so it is not lost with it; to have "
            "it too, open it there and make the backup again (--json lists it)."
        )
    elif elsewhere:
        out.print(
            f"{elsewhere:,} more attachments were not on the device when it wrote the backup, so they are not "
            "lost with it; to have them too, open them there and make the backup again (--json lists them)."
        )


def list_lost(out: Console, lost: tuple[LostAttachment, ...], times: Zone) -> None:
    """Print the lost attachments by chat, with date, person, file and reason."""
    chat: str | None = None
    for item in lost:
        if item.chat != chat:
            chat = item.chat
            out.print(Text(f"  {printable(chat) or 'wallpapers'}", style="bold"))
        when = times.time(item.sent_ms) if item.sent_ms else "no date"
        file = printable(item.file_name) or printable(item.content_type) or "attachment"
        message = f"{when}  {printable(item.person) or 'unknown'}: " if item.chat else ""
        out.print(Text(f"    {message}{file} ({WORDS[item.loss]})"))
