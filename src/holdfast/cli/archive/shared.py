"""Arguments and message formatting shared by the archive commands."""

from pathlib import Path
from typing import Annotated, Final

import typer
from rich.console import Console
from rich.text import Text

from holdfast.backup.archives.model import ArchivedAttachment, Message
from holdfast.cli.output import printable
from holdfast.cli.summary import human_size
from holdfast.cli.times import Zone

__all__ = ["ArchiveArgument", "headline", "print_message"]

ArchiveArgument = Annotated[Path, typer.Argument(help="The archive, an SQLite file.", show_default=False)]

NAME: Final = {"incoming": "bold cyan", "outgoing": "bold green", "none": "dim"}


def headline(message: Message, times: Zone, *, chat: bool = False) -> Text:
    """Return the author, the time, and optionally the chat of a message."""
    line = Text()
    line.append(times.time(message.sent_ms), "dim")
    if chat:
        line.append(f"  {printable(message.chat)}", "magenta")
    if message.kind != "update":
        line.append(f"  {printable(message.author)}", NAME[message.direction])
    return line


def print_message(out: Console, message: Message, times: Zone, *, chat: bool = False, faint: bool = False) -> None:
    """Print a message with its quotes, attachments and reactions."""
    style = "dim" if faint else ""
    line = headline(message, times, chat=chat)
    if message.vanished_ms is not None:
        line.append(f"  (gone since {times.time(message.vanished_ms)})", "yellow")
    if message.kind == "update":
        line.append(f"  {printable(message.sentence or '')}", "italic dim")
        out.print(line)
        return
    out.print(line)
    if message.quote:
        text = printable(message.quote.text or "")[:100]
        out.print(Text(f"    | {printable(message.quote.author)}: {text}", "dim"))
    if message.sentence:
        out.print(Text(f"    {printable(message.sentence)}", "italic"))
    for row in (message.text or "").splitlines():
        out.print(Text(f"    {printable(row)}", style))
    if message.poll:
        for option in message.poll.options:
            votes = f": {', '.join(map(printable, option.voters))}" if option.voters else ""
            out.print(Text(f"    - {printable(option.text)}{votes}", style))
    for attachment in message.attachments:
        if attachment.role == "attachment" and attachment.revision == 0:
            out.print(Text(f"    {describe_attachment(attachment)}", "blue"))
    extra = " ".join(f"{reaction.emoji} {printable(reaction.author)}" for reaction in message.reactions)
    if extra:
        out.print(Text(f"    {printable(extra)}", "dim"))
    for revision in message.revisions:
        out.print(
            Text(f"    before {times.time(revision.sent_ms)}: {printable(revision.text or '')}", "dim strike")
        )


def describe_attachment(attachment: ArchivedAttachment) -> str:
    """Format an attachment."""
    parts = [
        attachment.flag.lower().replace("_", " ") if attachment.flag and attachment.flag != "NONE" else "",
        attachment.content_type or "file",
    ]
    if attachment.width and attachment.height:
        parts.append(f"{attachment.width}x{attachment.height}")
    parts.append(human_size(attachment.size))
    name = printable(attachment.path or attachment.file_name or "")
    return f"[{' '.join(part for part in parts if part)}] {name} {printable(attachment.caption or '')}".strip()
