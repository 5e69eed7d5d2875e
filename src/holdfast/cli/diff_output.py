"""The output of `backup diff`, `merge` and `crop`: as tables or as JSON."""

import re
from collections.abc import Mapping
from pathlib import Path
from typing import Final, TextIO

import msgspec
from rich.console import Console
from rich.table import Table
from rich.text import Text

from holdfast.backup.compare.crop import CropResult
from holdfast.backup.compare.diff import ChatDifference, Difference, MessageChange
from holdfast.backup.compare.field_changes import FieldChange, RecordChange
from holdfast.backup.compare.merge import MergeResult
from holdfast.backup.compare.union import Conflict
from holdfast.backup.dates import moment
from holdfast.cli.output import printable
from holdfast.counts import count_of

__all__ = ["JsonDiffWriter", "TextDiffWriter", "conflict_line", "document", "show", "show_cropped", "show_merged"]

SIGNS: Final = {"added": "+", "removed": "-", "changed": "~"}
STYLES: Final = {"added": "green", "removed": "red", "changed": "yellow"}
CAMEL: Final = re.compile(r"(?<=[a-z0-9])(?=[A-Z])")
# Prefixes of field paths that are the same for every field of a record, and are not shown.
PREFIXES: Final = (
    *(
        "contact.",
        "group.snapshot.",
        "group.",
        "distributionList.distributionList.",
        "distributionList.",
        "callLink.",
    ),
    *("accountSettings.", "self."),
)
NAMES: Final = {"title.title": "name", "description.descriptionText": "description"}
LONGEST: Final = 80


def document(difference: Difference) -> dict[str, object]:
    """Return the JSON output of a difference."""
    return {
        "same": difference.same,
        "messages_before": difference.messages_before,
        "messages_after": difference.messages_after,
        "settings": difference.settings,
        "records": difference.records,
        "chats": difference.chats,
    }


class JsonDiffWriter:
    """Streams a JSON document: the changes as they are found, then the totals."""

    def __init__(self, out: TextIO) -> None:
        self._out = out
        self._first = True
        out.write('{"changes":[')

    def add(self, change: MessageChange) -> None:
        """Write one change."""
        self._out.write("\n" if self._first else ",\n")
        self._first = False
        self._out.write(msgspec.json.encode(change).decode())

    def end(self, difference: Difference) -> None:
        """Write the totals and end the document."""
        self._out.write("],\n" + msgspec.json.encode(document(difference)).decode()[1:] + "\n")


class TextDiffWriter:
    """Prints changes to messages, one line each, under the names of their chats."""

    def __init__(self, out: Console) -> None:
        self._out = out
        self._chat: str | None = None

    def add(self, change: MessageChange) -> None:
        """Print one change."""
        if change.chat != self._chat:
            if self._chat is not None:
                self._out.print()
            self._chat = change.chat
            self._out.print(Text(printable(change.chat), style="bold"))
        kind = change.what[0] if change.what[0] in SIGNS else "changed"
        date = moment(change.sent_ms)
        when = f"{date:%Y-%m-%d %H:%M}" if date else "unknown time"
        text = shorten(change.after or change.before)
        if kind == "changed":
            is_text_changed = change.before != change.after
            text = f"{', '.join(change.what)}: " + (
                f"{shorten(change.before)} → {text}" if is_text_changed else text
            )
        self._out.print(Text.assemble((SIGNS[kind], STYLES[kind]), f" {when}  {printable(change.author)}: ", text))

    def end(self, difference: Difference) -> None:
        """Print the overview."""
        if self._chat is not None:
            self._out.print()
        show(self._out, difference)


def shorten(text: str) -> str:
    """Return untrusted text as one short line."""
    line = printable(text)
    return line if len(line) <= LONGEST else line[: LONGEST - 1] + "…"


def show(out: Console, difference: Difference) -> None:
    """Print a difference."""
    if difference.same:
        out.print(f"no difference: {count_of(difference.messages_after, 'message')} in both")
        return
    for heading, changes in (("settings", difference.settings),):
        if changes:
            out.print(Text(heading, style="bold"))
            for change in changes:
                out.print(field_line(change))
            out.print()
    if difference.records:
        out.print(Text("people, groups, chats", style="bold"))
        for record in difference.records:
            show_record(out, record)
        out.print()
    if difference.chats:
        out.print(chat_table(difference.chats))
        out.print()
    added, removed, changed = (
        sum(getattr(chat, name) for chat in difference.chats) for name in ("added", "removed", "changed")
    )
    out.print(
        f"{difference.messages_before:,} → {count_of(difference.messages_after, 'message')}: "
        f"{added:,} added, {removed:,} removed, {changed:,} changed"
    )


def show_record(out: Console, record: RecordChange) -> None:
    """Print the change of a record."""
    sign, style = SIGNS[record.what], STYLES[record.what]
    out.print(Text.assemble((sign, style), f" {record.kind} {printable(record.name)}"))
    for change in record.fields:
        out.print(field_line(change, "    "))


def field_line(change: FieldChange, indent: str = "  ") -> Text:
    """Format the change of a field."""
    name = field_name(change.field)
    before, after = shorten(change.before), shorten(change.after)
    if before == after:
        return Text(f"{indent}{name}: changed")
    if not before:
        return Text.assemble(f"{indent}{name}: ", (f"+ {after}", "green"))
    if not after:
        return Text.assemble(f"{indent}{name}: ", (f"- {before}", "red"))
    return Text(f"{indent}{name}: {before} → {after}")


def field_name(path: str) -> str:
    """Format the path of a field."""
    for prefix in PREFIXES:
        path = path.removeprefix(prefix)
    if path in NAMES:
        return NAMES[path]
    first, space, rest = path.partition(" ")
    label = " ".join(CAMEL.sub(" ", part.replace("_", " ")).lower() for part in first.split("."))
    return label + space + printable(rest)


def chat_table(chats: tuple[ChatDifference, ...]) -> Table:
    """Return a table of the chats with changes."""
    table = Table(box=None, pad_edge=False, header_style="bold")
    table.add_column("chat")
    for heading in ("before", "after", "added", "removed", "changed"):
        table.add_column(heading, justify="right")
    table.add_column("in what")
    for chat in chats:
        numbers = [chat.before, chat.after, chat.added, chat.removed, chat.changed]
        table.add_row(
            Text(printable(chat.chat)),
            *(f"{number:,}" if number else "" for number in numbers),
            kinds(chat.aspects),
        )
    return table


def kinds(aspects: Mapping[str, int]) -> str:
    """Format the counts by kind of change."""
    return ", ".join(f"{count:,} {name}" for name, count in sorted(aspects.items(), key=lambda entry: -entry[1]))


def conflict_line(conflict: Conflict) -> str:
    """Format a conflict in one line."""
    where = f" {conflict.where}" if conflict.where else ""
    field = field_name(conflict.field)
    dropped, kept = shorten(conflict.dropped), shorten(conflict.kept)
    return (
        f"conflict: {conflict.what}{where}, {field}: kept {kept or 'nothing'!r}, not {dropped!r} ({conflict.why})"
    )


def show_merged(out: Console, target: Path, result: MergeResult) -> None:
    """Print the result of a merge."""
    out.print(
        Text(
            f"{target}: {count_of(result.messages, 'message')}; {result.only_older:,} only in an older backup, "
            f"{result.only_newer:,} only in a newer one, {count_of(result.conflicts, 'conflict')}"
        )
    )
    if result.differing:
        out.print(f"messages that differed: {kinds(result.differing)}")
    if result.written.attachments:
        out.print(f"{count_of(result.written.attachments, 'attachment')} copied")


def show_cropped(out: Console, target: Path, result: CropResult) -> None:
    """Print the result of a crop."""
    out.print(
        Text(
            f"{target}: {result.messages:,} of {count_of(result.messages_before, 'message')}, "
            f"{result.chats:,} of {count_of(result.chats_before, 'chat')}, "
            f"{result.recipients:,} of {count_of(result.recipients_before, 'recipient')}"
        )
    )
    if result.written.attachments:
        out.print(f"{count_of(result.written.attachments, 'attachment')} copied")
