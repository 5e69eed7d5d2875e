"""The output of `holdfast backup diff` as text and as JSON."""

import io
import json

import pytest
from rich.console import Console

from holdfast.backup.compare.diff import ChatDifference, Difference, MessageChange
from holdfast.backup.compare.field_changes import HIDDEN, FieldChange, RecordChange
from holdfast.backup.compare.union import Conflict
from holdfast.cli.diff_output import JsonDiffWriter, TextDiffWriter, conflict_line, field_line, field_name, show

ANSWER = Difference(
    settings=(FieldChange("accountSettings.readReceipts", "yes", "no"), FieldChange("profileKey", HIDDEN, HIDDEN)),
    records=(
        RecordChange(
            "group", "Harbour", "changed", (FieldChange("group.snapshot.title.title", "Sea", "Harbour"),)
        ),
        RecordChange("person", "Ada", "added"),
    ),
    chats=(ChatDifference("Harbour", 1000, 2500, 1501, 1, 3, {"reactions": 2, "edited": 1}),),
    messages_before=1000,
    messages_after=2500,
)


def render(difference: Difference) -> list[str]:
    """Render a difference on a wide terminal."""
    out = io.StringIO()
    show(Console(file=out, width=120), difference)
    return [" ".join(line.split()) for line in out.getvalue().splitlines()]


def test_a_difference_is_drawn_from_the_whole_to_the_parts() -> None:
    """Settings, people and chats are listed in this order, and the last line has the totals."""
    assert [line for line in render(ANSWER) if line] == [
        "settings",
        "read receipts: yes → no",
        "profile key: changed",
        "people, groups, chats",
        "~ group Harbour",
        "name: Sea → Harbour",
        "+ person Ada",
        "chat before after added removed changed in what",
        "Harbour 1,000 2,500 1,501 1 3 2 reactions, 1 edited",
        "1,000 → 2,500 messages: 1,501 added, 1 removed, 3 changed",
    ]
    assert render(Difference((), (), (), 1, 1)) == ["no difference: 1 message in both"]


@pytest.mark.parametrize(
    ("path", "arguments"),
    [
        ("accountSettings.typingIndicators", "typing indicators"),
        ("group.snapshot.description.descriptionText", "description"),
        ("group.snapshot.members Ada Lovelace", "members Ada Lovelace"),
        ("group.snapshot.announcements_only", "announcements only"),
        ("contact.nickname.given", "nickname given"),
    ],
)
def test_a_field_is_called_by_words(path: str, arguments: str) -> None:
    """A field is shown by words derived from the end of its path."""
    assert field_name(path) == arguments


def test_what_came_and_went_has_a_sign() -> None:
    """An added value has a plus sign, and a removed one a minus sign."""
    assert field_line(FieldChange("note", "", "x")).plain == "  note: + x"
    assert field_line(FieldChange("note", "x", "")).plain == "  note: - x"


def test_changes_stand_under_their_chats() -> None:
    """Each message change is one shortened line under the name of its chat."""
    out = io.StringIO()
    lines = TextDiffWriter(Console(file=out, width=400))
    lines.add(MessageChange("Sea", "Ada", 0, ("added",), "", "line\nbreak " + "x" * 200))
    lines.add(MessageChange("Sea", "Ada", 1 << 62, ("edited", "reactions"), "old", "new"))
    lines.add(MessageChange("Hill", "Bob", 0, ("reactions",), "same", "same"))
    text = out.getvalue().splitlines()
    assert text[0] == "Sea"
    assert text[1].startswith("+ 1970-01-01 00:00  Ada: line break xxx")
    assert text[1].endswith("x…")
    assert text[2:] == [
        "~ unknown time  Ada: edited, reactions: old → new",
        "",
        "Hill",
        "~ 1970-01-01 00:00  Bob: reactions: same",
    ]


@pytest.mark.parametrize("count", [0, 1, 2])
def test_json_is_whole_with_and_without_changes(count: int) -> None:
    """The JSON is one valid document although its changes are written as they are found."""
    out = io.StringIO()
    lines = JsonDiffWriter(out)
    for _ in range(count):
        lines.add(MessageChange("Sea", "Ada", 1, ("added",), "", "x"))
    lines.end(ANSWER)
    document = json.loads(out.getvalue())
    assert [change["after"] for change in document["changes"]] == ["x"] * count
    assert document["chats"][0]["added"] == 1501


def test_a_conflict_says_what_stayed_and_why() -> None:
    """A conflict is one line with the value that was kept, the other one, and the reason."""
    conflict = Conflict("person", "Ada", "contact.note", "", "old\nnote", "the later backup wins")
    assert (
        conflict_line(conflict)
        == "conflict: person Ada, note: kept 'nothing', not 'old note' (the later backup wins)"
    )
