"""The mutation testing tool: kinds of mutants, and detection by tests."""

import os
import re
import subprocess
import sys
from pathlib import Path

import pytest
from tools.mutants import REACHED, mutants, recorders
from tools.mutation import module_names, run

from tests.conftest import ROOT

SOURCE = '''
def clamp(value: int, limit: int = 3) -> int:
    """Return 1 at least."""
    if value > limit and not value == 7:
        note(value)
        return limit
    return value + 1


class Box:
    def is_full(self, *, twice: bool = True) -> bool:
        assert self is not None
        log.info("asked", number=1)
        return True
'''


def test_every_kind_of_mutant_is_made_inside_functions_only() -> None:
    """Mutants are made of statements, but not of docstrings, defaults, annotations, assertions and logging."""
    assert [(mutant.function, mutant.line, mutant.description) for mutant in mutants(SOURCE, "clamp.py")] == [
        ("clamp", 4, "the condition is negated"),
        ("clamp", 4, "And becomes Or"),
        ("clamp", 4, "Gt becomes GtE"),
        ("clamp", 4, "not is removed"),
        ("clamp", 4, "Eq becomes NotEq"),
        ("clamp", 4, "7 becomes 8"),
        ("clamp", 5, "the call is removed"),
        ("clamp", 6, "None is returned"),
        ("clamp", 7, "None is returned"),
        ("clamp", 7, "Add becomes Sub"),
        ("clamp", 7, "1 becomes 2"),
        ("Box.is_full", 14, "None is returned"),
        ("Box.is_full", 14, "True becomes False"),
    ]


def test_changes_that_nothing_can_notice_are_not_made() -> None:
    """The purpose of a digest does not change it; code that lacks the class cannot replace that of a method."""
    source = """
import hashlib

class Box(dict):
    def __init__(self):
        super().__init__()

    def digest(self):
        return hashlib.sha1(usedforsecurity=False)
"""
    assert [(mutant.function, mutant.description) for mutant in mutants(source, "box.py")] == [
        ("Box.digest", "None is returned")
    ]


def test_a_mutant_is_the_function_with_one_change() -> None:
    """Each mutant has one change only, and its code can replace that of the function."""
    space: dict[str, object] = {"note": print}
    exec(compile(SOURCE, "clamp.py", "exec"), space)
    clamp = space["clamp"]
    assert callable(clamp)
    assert [clamp(3), clamp(5), clamp(7)] == [4, 3, 8]
    changed = {(mutant.line, mutant.description): mutant for mutant in mutants(SOURCE, "clamp.py")}
    clamp.__code__ = changed[4, "Gt becomes GtE"].code  # type: ignore[attr-defined]  # a function
    assert [clamp(3), clamp(5), clamp(7)] == [3, 3, 8]
    clamp.__code__ = changed[7, "1 becomes 2"].code  # type: ignore[attr-defined]  # a function
    assert [clamp(3), clamp(5), clamp(7)] == [5, 3, 9]


def test_statements_record_that_they_ran_and_are_the_same_otherwise() -> None:
    """Statements of inner functions are recorded under the outer function, also after it has returned."""
    source = '''
def adder(step):
    """Return a function."""
    def add(number):
        if number:
            return number + step
        elif step:
            return step
        return 0
    return add

class Box:
    def __init__(self):
        super().__init__()
'''
    space: dict[str, object] = {}
    exec(compile(source, "adder.py", "exec"), space)
    adder = space["adder"]
    assert callable(adder)
    codes = {recorder.function: recorder.code for recorder in recorders(source, "adder.py")}
    assert sorted(codes) == ["Box.__init__", "adder"]
    adder.__code__ = codes["adder"]  # type: ignore[attr-defined]  # a function
    REACHED.clear()
    add = adder(2)
    assert (REACHED, adder.__doc__) == ({"adder:4", "adder:10"}, "Return a function.")
    REACHED.clear()
    assert add(3) == 5
    assert sorted(REACHED) == ["adder:5", "adder:6"]
    REACHED.clear()
    assert add(0) == 2
    assert sorted(REACHED) == ["adder:5", "adder:7", "adder:8"]


def test_a_mutant_is_in_the_innermost_statement() -> None:
    """A mutant belongs to its innermost statement, so that only tests which reach that statement are run."""
    statements = {mutant.description: mutant.statement for mutant in mutants(SOURCE, "clamp.py")}
    assert statements["Gt becomes GtE"] == "clamp:4"
    assert statements["the call is removed"] == "clamp:5"
    assert statements["True becomes False"] == "Box.is_full:14"


def test_modules_are_named_by_package_or_by_themselves() -> None:
    """A name is one module of a package, all modules of a package, or a module itself."""
    assert module_names("holdfast.hosting.services", "labels") == ["holdfast.hosting.services.labels"]
    assert module_names("holdfast.hosting.access", None) == ["holdfast.hosting.access"]
    assert "holdfast.hosting.storage.object_store" in module_names("holdfast.hosting.storage", None)


def test_a_compiled_module_is_left_out() -> None:
    """A compiled module is reported as a problem and has no mutants, because it cannot be replaced."""
    for name in ("holdfast.backup.wire.cursor", "holdfast.backup.rules.checks"):
        result = run(name, 1.0)
        assert "compiled" in result.problem
        assert result.ran == 0


MODULE = """
def least(numbers):
    if not numbers:
        return 0
    return min(numbers)

def forgotten():
    return 1
"""
TESTS = """
from small import least

def test_least():
    assert least([2, 1]) == 1

def test_of_nothing():
    least([])
"""


SCRIPT = """
import os
import sys
from pathlib import Path
import pytest
from tools import mutation
mutation.ROOT = Path.cwd()
mutation.LEAST_TIMEOUT = float(os.environ.get("LEAST_TIMEOUT", "100"))
plugin = mutation.Plugin("small", Path.cwd() / "small.py", seconds=float(os.environ.get("SECONDS", "60")), jobs=2)
pytest.main(["-q", "-p", "no:randomly", "-p", "no:cacheprovider", "test_small.py"], plugins=[plugin])
print(plugin.result.noticed, plugin.result.not_run, *plugin.result.survivors, sep="\\n", file=sys.stderr)
print(plugin.result.problem, file=sys.stderr) if plugin.result.problem else None
"""


def run_mutation(folder: Path, tests: str, **environment: str) -> list[str]:
    """Run the tool on a small module; return how many mutants were killed and not run, and the survivors."""
    (folder / "small.py").write_text(MODULE)
    (folder / "test_small.py").write_text(tests)
    (folder / "pytest.ini").write_text("[pytest]\nmarkers = postgres: needs a PostgreSQL\n")
    result = subprocess.run(
        [sys.executable, "-c", SCRIPT],
        cwd=folder,
        env={**os.environ, "PYTHONPATH": f"{ROOT}:{folder}", **environment},
        capture_output=True,
        text=True,
        check=True,
    )
    return result.stderr.splitlines()


@pytest.mark.long
def test_mutants_are_judged_by_the_tests_that_reach_them(tmp_path: Path) -> None:
    """Mutants that no test checks or runs survive."""
    assert run_mutation(tmp_path, TESTS) == [
        "3",
        "0",
        "small.py:4 least: 0 becomes 1",
        "small.py:4 least: None is returned",
        "small.py:8 forgotten: 1 becomes 2",
        "small.py:8 forgotten: None is returned",
    ]


@pytest.mark.long
def test_functions_that_the_tests_have_frozen_are_replaced(tmp_path: Path) -> None:
    """The garbage collector does not list objects after `gc.freeze`."""
    noticed, *_ = run_mutation(tmp_path, f"import gc\n{TESTS}\ngc.freeze()\n")
    assert noticed == "3"


@pytest.mark.long
def test_what_a_shared_fixture_reaches_is_judged_by_every_test_that_uses_it(tmp_path: Path) -> None:
    """A test counts even if another created the fixture, and if it gets the fixture by `getfixturevalue`."""
    tests = """
import pytest
from small import forgotten, least

@pytest.fixture(scope="session")
def number():
    return forgotten()

def test_that_it_is_made(number):
    pass

def test_that_it_is_one(request):
    assert request.getfixturevalue("number") == 1
"""
    assert run_mutation(tmp_path, tests)[:2] == ["2", "0"]


@pytest.mark.long
def test_a_test_that_waits_in_vain_has_noticed_the_mutant(tmp_path: Path) -> None:
    """A test that loops forever with a mutant is timed out and counts as failed."""
    tests = """
import time
from small import forgotten

def test_that_it_becomes_one():
    while forgotten() != 1:
        time.sleep(0.01)

def test_that_takes_longer():
    time.sleep(0.3)
    forgotten()
"""
    assert run_mutation(tmp_path, tests, LEAST_TIMEOUT="0.2")[:2] == ["2", "0"]


@pytest.mark.long
def test_time_that_is_up_before_the_tests_have_run_once_is_reported(tmp_path: Path) -> None:
    """Nothing is judged then, whatever the tests that did run have reported."""
    tests = """
import time
import pytest
from small import least

@pytest.mark.parametrize("number", range(400))
def test_least(number):
    least([number])

def test_that_takes_too_long():
    time.sleep(600)
"""
    assert run_mutation(tmp_path, tests, SECONDS="4") == [
        "0",
        "0",
        "its tests fail without a mutant, or the time was up",
    ]


def test_what_survives_on_sqlite_is_judged_with_postgresql(tmp_path: Path, postgres_server: str) -> None:
    """Mutants that survive on SQLite are tested with the tests for the PostgreSQL server as well."""
    tests = f"""{TESTS}
import os
import psycopg
import pytest

@pytest.mark.postgres
def test_on_postgresql():
    with psycopg.connect(os.environ["HOLDFAST_TEST_DATABASE_URL"]) as connection:
        assert connection.execute("SELECT 0").fetchone() == (least([]),)
"""
    assert run_mutation(tmp_path, tests, HOLDFAST_TEST_DATABASE_URL=postgres_server) == [
        "5",
        "0",
        "small.py:8 forgotten: 1 becomes 2",
        "small.py:8 forgotten: None is returned",
    ]


@pytest.mark.long
def test_the_command_judges_a_module_of_the_package() -> None:
    """The command exits with 0 and prints the share of mutants that the tests of a module noticed."""
    command = [sys.executable, "-m", "tools.mutation", "holdfast.hosting.services", "--module", "boards"]
    result = subprocess.run([*command, "--seconds", "60"], cwd=ROOT, capture_output=True, text=True, check=False)
    assert result.returncode == 0, result.stderr
    assert re.search(r"holdfast.hosting.services.boards: \d+% of [1-9]\d* mutants noticed", result.stdout)
