"""Output of messages by the archive commands."""

import io
from typing import Any
from zoneinfo import ZoneInfo

from rich.console import Console

from holdfast.backup.archives.model import (
    ArchivedAttachment,
    Message,
    Poll,
    PollOption,
    Position,
    Quote,
    Reaction,
    Revision,
)
from holdfast.cli.archive.shared import describe_attachment, headline, print_message
from holdfast.cli.times import Zone

UTC = Zone(ZoneInfo("UTC"))


def message(**more: Any) -> Message:
    """Make a message of Ada's."""
    fields: dict[str, Any] = {
        "id": 1,
        "chat_id": 2,
        "chat": "Boats",
        "author_id": 3,
        "author": "Ada",
        "direction": "incoming",
        "kind": "standardMessage",
        "text": "Hello",
        "sentence": None,
        "sent_ms": 0,
        "received_ms": None,
        "position": Position(0, 0, 1),
        "sms": False,
        "expires_in_ms": None,
        "pinned_ms": None,
        "vanished_ms": None,
    }
    return Message(**{**fields, **more})


def attachment(**more: Any) -> ArchivedAttachment:
    """Make an attachment of which nothing is known but its size."""
    names = (
        "content_type",
        "file_name",
        "width",
        "height",
        "caption",
        "flag",
        "plaintext_hash",
        "media_name",
        "path",
    )
    fields: dict[str, Any] = {"role": "attachment", "n": 0, "revision": 0, "size": 2048, **dict.fromkeys(names)}
    return ArchivedAttachment(**{**fields, **more})


def print_lines(sample: Message, **options: Any) -> list[str]:
    """Print a message, and return the lines."""
    out = io.StringIO()
    print_message(Console(file=out, width=200), sample, UTC, **options)
    return [line.rstrip() for line in out.getvalue().splitlines()]


def test_the_headline_has_the_time_and_the_author() -> None:
    """The headline has the chat if messages of several chats are listed, and no author for an update."""
    assert headline(message(), UTC).plain == "1970-01-01 00:00 UTC  Ada"
    assert headline(message(), UTC, chat=True).plain == "1970-01-01 00:00 UTC  Boats  Ada"
    assert headline(message(kind="update"), UTC).plain == "1970-01-01 00:00 UTC"


def test_a_message_is_printed_with_all_that_belongs_to_it() -> None:
    """Quote, text, poll, attachments, reactions and earlier revisions are printed in this order."""
    full = message(
        text="first\nsecond",
        quote=Quote(4, "Bob", "NORMAL", "x" * 150, None, None),
        poll=Poll("When?", False, False, (PollOption("now", ("Bob", "Cid")), PollOption("later", ()))),
        attachments=(attachment(content_type="image/png"), attachment(role="long_text"), attachment(revision=1)),
        reactions=(Reaction(4, "Bob", "\N{THUMBS UP SIGN}", 0),),
        revisions=(Revision(1, 60_000, "frist"),),
    )
    assert print_lines(full) == [
        "1970-01-01 00:00 UTC  Ada",
        f"    | Bob: {'x' * 100}",
        "    first",
        "    second",
        "    - now: Bob, Cid",
        "    - later",
        "    [image/png 2.0 kB]",
        "    \N{THUMBS UP SIGN} Bob",
        "    before 1970-01-01 00:01 UTC: frist",
    ]


def test_an_update_is_one_line() -> None:
    """A vanished update is one line that says since when it is gone."""
    update = message(kind="update", text=None, sentence="Ada left the group.", vanished_ms=60_000)
    assert print_lines(update) == ["1970-01-01 00:00 UTC  (gone since 1970-01-01 00:01 UTC)  Ada left the group."]


def test_texts_are_neither_markup_nor_control_sequences() -> None:
    """Control characters of a message are not written to the terminal."""
    lines = print_lines(message(author="\x1b[31mEve", text="[bold]hi[/bold]\x1b[2J\N{RIGHT-TO-LEFT OVERRIDE}"))
    assert lines == ["1970-01-01 00:00 UTC  [31mEve", "    [bold]hi[/bold][2J"]


def test_an_attachment_is_described_by_what_is_known_of_it() -> None:
    """Type, size, name and caption are shown if known, without control characters."""
    assert describe_attachment(attachment()) == "[file 2.0 kB]"
    complete = attachment(
        flag="VOICE_MESSAGE", content_type="image/png", width=3, height=4, file_name="a\x1b.png", caption="at sea"
    )
    assert describe_attachment(complete) == "[voice message image/png 3x4 2.0 kB] a.png at sea"
    assert describe_attachment(attachment(flag="NONE", path="media/a", file_name="b")) == "[file 2.0 kB] media/a"
