"""`holdfast backup check`: may the phone be wiped, in one word, and what would be lost."""

from typing import Final

import msgspec
import typer
from rich.console import Console
from rich.text import Text

from holdfast.backup.completeness import Answer, Completeness, Loss, LostAttachment, check_completeness
from holdfast.backup.container import KeyMaterial
from holdfast.backup.dates import moment
from holdfast.cli.exit_codes import ExitCode
from holdfast.cli.inputs import SourceArgument, resolve_input, size_of
from holdfast.cli.keys import AccountOption, KeyFileOption, KeyOption, with_keys
from holdfast.cli.output import JsonOption, byte_progress, console, print_json, printable
from holdfast.cli.validate import ValidationFindingOutput, as_text, finding_line

__all__ = ["CheckOutput", "check_backup"]

# A screenful is read; the rest is better counted.
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
    key_file: KeyFileOption = None,
    key: KeyOption = None,
    account_id: AccountOption = None,
    json: JsonOption = False,
) -> None:
    """Say in one word whether a backup is complete, and if not, what is lost: by chat, date and person.

    Complete means: it opens and is as it was written, an importer finds no error in it, and the file of every
    attachment is there, decrypts and has its hash. The exit status is 0 for complete, 1 for incomplete.
    """

    def work(keys: KeyMaterial | None) -> Completeness:
        with byte_progress(file.name, size_of(file)) as progress:
            return check_completeness(resolve_input(file), keys, progress=progress)

    found = with_keys(work, key=key, key_file=key_file, account_id=account_id)
    if json:
        print_json(
            CheckOutput(
                found.answer,
                found.form,
                found.made_ms,
                found.messages,
                found.attachments,
                found.errors,
                [finding_line(finding) for finding in found.findings],
                found.lost,
                found.not_on_device,
            )
        )
    else:
        show(console(), found)
    if found.answer is not Answer.COMPLETE:
        raise typer.Exit(ExitCode.NO)


def show(out: Console, found: Completeness) -> None:
    """Print the verdict, the losses, and what was checked."""
    style = "bold green" if found.answer is Answer.COMPLETE else "bold red"
    out.print(Text(found.answer, style=style))
    if found.errors:
        out.print(f"\n{found.errors:,} {'error' if found.errors == 1 else 'errors'} that break an import:")
        for finding in found.findings[:SHOWN]:
            out.print(as_text(finding))
        if found.errors > SHOWN:
            out.print(f"... and {found.errors - SHOWN:,} more; holdfast backup validate lists them all")
    if found.lost:
        out.print(f"\n{len(found.lost):,} of {found.attachments:,} attachments are missing or damaged:")
        list_lost(out, found.lost[:SHOWN])
        if len(found.lost) > SHOWN:
            out.print(f"... and {len(found.lost) - SHOWN:,} more; --json lists them all")
    made = moment(found.made_ms) if found.made_ms else None
    when = f"{made:%Y-%m-%d %H:%M} UTC" if made else "at an unknown time"
    there = found.attachments - len(found.lost)
    out.print(
        f"\nMade {when}, with {found.messages:,} messages and {there:,} attachments. "
        "What was written later is not in it."
    )
    if found.not_on_device:
        out.print(
            f"{len(found.not_on_device):,} more attachments were not on the device when it wrote the backup, so "
            "they are not lost with it; to have them too, open them there and make the backup again "
            "(--json lists them)."
        )


def list_lost(out: Console, lost: tuple[LostAttachment, ...]) -> None:
    """Print the lost attachments by chat, with date, person, file and reason."""
    chat: str | None = None
    for one in lost:
        if one.chat != chat:
            chat = one.chat
            out.print(Text(f"  {printable(chat) or 'outside of chats'}", style="bold"))
        date = moment(one.sent_ms) if one.sent_ms else None
        when = f"{date:%Y-%m-%d %H:%M}" if date else "no date"
        file = printable(one.file_name) or printable(one.content_type) or "attachment"
        out.print(Text(f"    {when}  {printable(one.person) or 'nobody'}: {file} ({WORDS[one.loss]})"))
