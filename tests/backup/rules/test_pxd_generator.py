"""Generated declarations depend only on the modules that declare the rules."""

import re
import shutil
import sys
from array import array
from contextlib import nullcontext
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
    """Replace the first occurrence of a text in a module of the rules."""
    path = source / f"holdfast/backup/rules/{name}.py"
    text = path.read_text()
    assert old in text
    path.write_text(text.replace(old, new, 1))


@pytest.mark.long
def test_a_rule_is_added_in_one_file(source: Path) -> None:
    """The number, the declaration and the call of a new check are generated, and other families are unchanged."""
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
    """A rule without a check, a check without a rule and invalid declarations are errors of the build."""
    edit(source, name, old, new)
    if old.startswith("    POLL_CHAT"):
        edit(source, name, "report_field(POLL_CHAT, depth", "report_field(1, depth")
    with pytest.raises((TypeError, ValueError), match=re.escape(problem)):
        declarations(source)


def test_a_family_has_room_for_so_many_rules(source: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A family with more rules than its range of numbers is an error."""
    monkeypatch.setattr(pxd_generator, "FAMILY_SIZE", 10)
    with pytest.raises(ValueError, match="container has too many rules: 12"):
        declarations(source)


def test_what_would_not_change_is_not_written_again(source: Path) -> None:
    """Unchanged declarations are not written again, and those without a module are removed."""
    folder = source / "holdfast/backup/rules"
    write_declarations(source)
    written = {path.name: path.stat().st_mtime_ns for path in folder.glob("*.pxd")}
    (folder / "boat.pxd").touch()
    (folder / "checker.pxd").touch()
    write_declarations(source)
    (folder / "checker.pxd").unlink()
    assert {path.name: path.stat().st_mtime_ns for path in folder.glob("*.pxd")} == written


@pytest.mark.skipif(not COMPILED, reason="interpreted, there are no declarations")
def test_the_declarations_beside_the_modules_are_those_of_their_source() -> None:
    """The .pxd files are up to date with the source, and generating them leaves no imports behind."""
    folder = ROOT / "src/holdfast/backup/rules"
    modules = {name: module for name, module in sys.modules.items() if name.startswith("holdfast")}
    made = declarations(ROOT / "src")
    assert {name: module for name, module in sys.modules.items() if name.startswith("holdfast")} == modules
    assert not [finder for finder in sys.meta_path if isinstance(finder, pxd_generator.SourceFinder)]
    beside = {path.stem: path.read_text() for path in folder.glob("*.pxd")}
    assert {**beside, **made} == beside
    assert beside.keys() - made.keys() == pxd_generator.BY_HAND
    compiled = {name.rpartition(".")[2] for name in pxd_generator.compiled_modules(ROOT / "src")}
    assert compiled > set(pxd_generator.CORE)
    assert compiled | {"dispatch"} <= made.keys()


@pytest.mark.parametrize(
    ("value", "lines"),
    [
        (0, ["cdef enum:", "    N = 0"]),
        (True, ["cdef enum:", "    N = 1"]),
        (2**31 - 1, ["cdef enum:", "    N = 2147483647"]),
        (2**31, ["    #define holdfast_m_N 2147483648ULL", '    unsigned long long N "holdfast_m_N"']),
        (2**64 - 1, ["    #define holdfast_m_N 18446744073709551615ULL"]),
        (array("B", [1, 2]), ["    static const unsigned char holdfast_m_N[2] = {1U, 2U};"]),
        (array("Q", [1]), ["    static const unsigned long long holdfast_m_N[1] = {1ULL};"]),
        (array("I", [3]), ['    const unsigned int N "holdfast_m_N"[1]']),
        ([b"a", b"b"], ['    static const char *const holdfast_m_N[2] = {"a", "b"};']),
    ],
)
def test_a_value_is_declared_in_the_type_of_c_that_holds_it(value: object, lines: list[str]) -> None:
    """A constant is declared in the C type that holds it; small numbers are enumerators."""
    declared = pxd_generator.constant("m", "N", value)
    assert [line for line in declared if line in lines] == lines
    assert len(declared) == (2 if declared[0] == "cdef enum:" else 5)


@pytest.mark.parametrize("value", [-1, 2**64, 1.5, "text"])
def test_a_value_that_c_has_no_type_for_is_an_error(value: object) -> None:
    """The error names the module and the constant."""
    with pytest.raises(TypeError, match=re.escape("m.py: N cannot be a constant of C")):
        pxd_generator.constant("m", "N", value)


SMALL = """
import cython
from holdfast.backup.rules.checks import outside

if not cython.compiled:
    from holdfast.backup.rules.poll import POLL, check_poll
    FIRST = 1
    SECOND: int = 2
    CHECKS = {"Poll": check}

if cython.compiled:
    THIRD = 3


def check(context: RuleContext, depth: cython.int) -> cython.void:
    context.report(FIRST + POLL + number_of_rule("a.b") + number_of_rule(name) + other("c.d"))


def explain(text: str) -> str:
    return text
"""


def read_small(tmp_path: Path, old: str = "", new: str = "") -> pxd_generator.ModuleSource:
    """Read a small module of the rules, changed in one place."""
    path = tmp_path / "small.py"
    path.write_text(SMALL.replace(old, new, 1) if old else SMALL)
    return pxd_generator.ModuleSource("small", path)


def test_a_module_declares_what_is_there_only_while_it_is_interpreted(tmp_path: Path) -> None:
    """A function is declared in C if all of its types are C types."""
    module = read_small(tmp_path)
    assert module.imports == {"holdfast.backup.rules.poll": ["POLL", "check_poll"]}
    assert module.constants == ["FIRST", "SECOND"]
    assert module.functions == {"check": "void check(RuleContext context, int depth) noexcept nogil"}
    assert module.numbers_asked_for() == {"a.b"}
    assert {"FIRST", "POLL", "check"} <= module.used_names()
    assert not {"SECOND", "THIRD", "explain"} & module.used_names()


@pytest.mark.parametrize(
    ("old", "new"), [("depth: cython.int", "depth: int"), ("-> cython.void", "-> None"), ("-> cython.void", "")]
)
def test_a_function_with_a_rule_context_is_one_of_c(tmp_path: Path, old: str, new: str) -> None:
    """A function with a rule context that is not a C function is an error of the build."""
    with pytest.raises(ValueError, match=r"small\.py: check has a rule context, but is not a function of C"):
        read_small(tmp_path, old, new)


def test_a_constant_is_used_in_its_module_or_in_another(tmp_path: Path) -> None:
    """A constant that neither its module nor another module of the rules uses is an error."""
    small = read_small(tmp_path)
    with pytest.raises(ValueError, match=r"^small\.py: no code uses SECOND$"):
        pxd_generator.require_use({"small": small}, [small])
    for package, is_used in (("holdfast.backup.rules", True), ("holdfast.backup.wire", False)):
        path = tmp_path / "user.py"
        path.write_text(f"if not cython.compiled:\n    from {package}.small import SECOND\n")
        user = pxd_generator.ModuleSource("user", path)
        with nullcontext() if is_used else pytest.raises(ValueError, match="SECOND"):
            pxd_generator.require_use({"small": small}, [small, user])


def test_rules_are_numbered_by_family() -> None:
    """Each family has its own range of numbers, begins at 1, and has a maximum of rules."""
    numbers = pxd_generator.numbered({"one": ["a", "b"], "two": ["c"]})
    assert numbers == {"a": 1, "b": 2, "c": pxd_generator.FAMILY_SIZE + 1}
    full = [f"rule{number}" for number in range(pxd_generator.FAMILY_SIZE - 1)]
    assert len(pxd_generator.numbered({"one": full})) == len(full)
    with pytest.raises(ValueError, match=f"one has too many rules: {pxd_generator.FAMILY_SIZE}"):
        pxd_generator.numbered({"one": [*full, "more"]})


@pytest.mark.skipif(not COMPILED, reason="interpreted, rules are numbered as they are named")
def test_the_numbers_of_the_core_are_those_of_the_build() -> None:
    """Every rule has the number that the generator gives it."""
    numbers = pxd_generator.numbered(pxd_generator.rule_ids(ROOT / "src"))
    assert {rule.id: rule.number for rule in RULES} == numbers
    assert rule_numbers.compiled_numbers() == numbers
