"""Generated declarations depend only on the modules that declare the rules."""

import re
import shutil
from pathlib import Path

import pytest

from holdfast.backup.rules import RULES, pxd_generator, rule_numbers
from holdfast.backup.rules.pxd_generator import declarations, write_declarations
from holdfast.backup.wire import COMPILED
from tests.conftest import ROOT

NEW_RULE = """
    rule(
        "poll.closed.ended",
        "The poll is closed, but nobody voted.",
        "Leave it open.",
        "contract 5.9",
        Breach.CARE,
        fields=("Poll.hasEnded", "Poll.options"),
    ),
)

if not cython.compiled:
    ENDED = field("Poll.hasEnded")
    CLOSED_ENDED = number_of_rule("poll.closed.ended")


def check_ended(context: RuleContext, depth: cython.int) -> cython.void:
    \"\"\"Check a closed poll.\"\"\"
    if context.has(depth, ENDED):
        context.report_field(CLOSED_ENDED, depth, ENDED)


if not cython.compiled:"""


@pytest.fixture(name="source")
def copy_source(tmp_path: Path) -> Path:
    """Copy the source of what the generator imports."""
    others = ("archives", "cli", "exports", "hosting", "server", "web")
    shutil.copytree(
        ROOT / "src/holdfast",
        tmp_path / "holdfast",
        ignore=shutil.ignore_patterns("*.so", "*.pxd", "__pycache__", *others),
    )
    return tmp_path


def edit(source: Path, name: str, old: str, new: str) -> None:
    """Replace a text in a module of the rules, the first time it stands there."""
    path = source / f"holdfast/backup/rules/{name}.py"
    text = path.read_text()
    assert old in text
    path.write_text(text.replace(old, new, 1))


@pytest.mark.long
def test_a_rule_is_added_in_one_file(source: Path) -> None:
    """Its number, its function and the call of the function are generated; other families stay as they are."""
    before = declarations(source)
    edit(source, "poll", "\n)\n\nif not cython.compiled:", NEW_RULE)
    edit(source, "poll", "    CHECKS = {", '    CHECKS = {\n        "Poll.PollOption": check_ended,')
    after = declarations(source)
    assert {name for name in after if after[name] != before.get(name)} == {"poll", "rule_numbers", "dispatch"}
    assert '"poll.closed.ended"' in after["rule_numbers"]
    assert re.search(r"CLOSED_ENDED = \d+\n", after["poll"])
    assert "cdef void check_ended(RuleContext context, int depth) noexcept nogil\n" in after["poll"]
    assert "    elif message == Poll_PollOption:\n        poll_check_ended(context, depth)\n" in after["dispatch"]


@pytest.mark.long
def test_a_limit_is_changed_in_one_file(source: Path) -> None:
    """The tables of the core get it from the declaration of the rule."""
    before = declarations(source)
    edit(source, "contact", "LONGEST_NICKNAME: Final = 48", "LONGEST_NICKNAME: Final = 64")
    after = declarations(source)
    assert {name for name in after if after[name] != before[name]} == {"check_tables"}
    assert f"{2 << 32 | 64}ULL" in after["check_tables"]


@pytest.mark.long
@pytest.mark.parametrize(
    ("name", "old", "new", "problem"),
    [
        ("poll", '    POLL_CHAT = number_of_rule("poll.chat")\n', "", "no code checks the rules: poll.chat"),
        ("files", 'number_of_rule("media.file.hash")', "1", "no code checks the rules: media.file.hash"),
        ("poll", '_rule("poll.chat")', '_rule("poll.chat") + number_of_rule("poll.c")', "not exist: poll.c"),
        ("poll", "report_field(POLL_CHAT, depth", "report_field(1, depth", "poll.py: no code uses POLL_CHAT"),
        ("poll", '        "ChatItem": check_poll_chat,\n', "", "poll.py: no code uses check_poll_chat"),
        ("poll", "depth: cython.int)", "depth: int)", "check_poll has a rule context, but is not a function of C"),
        ("poll", '"Poll": check_poll,', '"Poll": max_characters,', "max_characters checks Poll, but is not"),
        ("poll", "    POLL = field(", "    POLL = str(", "poll.py: POLL cannot be a constant of C: str"),
    ],
)
def test_what_cannot_be_compiled_is_an_error_of_the_build(
    source: Path, name: str, old: str, new: str, problem: str
) -> None:
    """A rule without a check, a check without a rule or without an effect, and what is no function or constant."""
    edit(source, name, old, new)
    if old.startswith("    POLL_CHAT"):
        edit(source, name, "report_field(POLL_CHAT, depth", "report_field(1, depth")
    with pytest.raises((TypeError, ValueError), match=re.escape(problem)):
        declarations(source)


def test_a_family_has_room_for_so_many_rules(source: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """One more would have a number of the next family."""
    monkeypatch.setattr(pxd_generator, "FAMILY_SIZE", 10)
    with pytest.raises(ValueError, match="container has too many rules: 12"):
        declarations(source)


def test_what_would_not_change_is_not_written_again(source: Path) -> None:
    """So that only what an edit changes is compiled again; what no module has any more is removed."""
    folder = source / "holdfast/backup/rules"
    write_declarations(source)
    written = {path.name: path.stat().st_mtime_ns for path in folder.glob("*.pxd")}
    (folder / "boat.pxd").touch()
    (folder / "checker.pxd").touch()
    write_declarations(source)
    (folder / "checker.pxd").unlink()
    assert {path.name: path.stat().st_mtime_ns for path in folder.glob("*.pxd")} == written


@pytest.mark.skipif(not COMPILED, reason="interpreted, rules are numbered as they are named")
def test_the_numbers_of_the_core_are_those_of_the_build() -> None:
    """Every rule has the number that the generator gives it."""
    numbers = pxd_generator.numbered(pxd_generator.rule_ids(ROOT / "src"))
    assert {rule.id: rule.number for rule in RULES} == numbers
    assert rule_numbers.compiled_numbers() == numbers
