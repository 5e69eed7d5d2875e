"""Mutation testing: change a module in one place at a time, and count how many changes its tests notice.

    python -m tools.mutation holdfast.hosting.services --module labels
    python -m tools.mutation holdfast.hosting.access --seconds 300

`make mutation PACKAGE=... MODULE=...` runs it. The tests of a module are those that `tools.mirror` names. They are
collected once; each mutant is put into a forked child, which runs the tests that reach the changed statement until
one fails, first those that noticed other mutants of the function. Each processor has a child. What survives the
tests with SQLite in two thirds of the time is judged by those with PostgreSQL too, and what survives later if time
is left. A test that is still running three seconds after ten times its time without the mutant has an endless
loop or waits in vain, and counts as failed; fixtures that tests share have a minute each. When the time is up the
rest of the mutants, which are taken in a fixed random order, are not run.

Not seen: what a test runs in another process, and statements outside of functions. Compiled modules are left out.
"""

import argparse
import contextlib
import gc
import mmap
import multiprocessing
import os
import random
import signal
import struct
import sys
import tempfile
import threading
import time
from collections import Counter, defaultdict
from collections.abc import Callable, Generator
from concurrent.futures import ProcessPoolExecutor
from dataclasses import dataclass, field
from importlib.machinery import EXTENSION_SUFFIXES
from itertools import pairwise
from pathlib import Path
from types import FunctionType
from typing import Final

import pytest

from tools.mirror import ROOT, SOURCE, find_tests
from tools.mutants import REACHED, Mutant, mutants, recorders

__all__ = ["Result", "main", "run"]

FLOOR: Final = 85
SECONDS: Final = 600
SEED: Final = 20
ON_SQLITE: Final = 2 / 3
LEAST_TIMEOUT: Final = 3.0
FIXTURE_TIMEOUT: Final = 60.0
KILLED, SURVIVED = 1, 0
NO_TEST: Final = -1
Functions = dict[tuple[str, int], list[FunctionType]]


@dataclass
class Result:
    """What became of the mutants of a module."""

    module: str
    noticed: int = 0
    survivors: list[str] = field(default_factory=list)
    """The changes that no test noticed, with their places."""
    not_run: int = 0
    problem: str = ""

    @property
    def ran(self) -> int:
        """The number of mutants that were judged."""
        return self.noticed + len(self.survivors)

    @property
    def score(self) -> float:
        """The part of the mutants that the tests noticed, in percent."""
        return 100 * self.noticed / self.ran if self.ran else 100.0


class Plugin:
    """A pytest plugin that runs the collected tests once for every mutant instead of once."""

    def __init__(self, name: str, path: Path, *, seconds: float, jobs: int) -> None:
        self.path = path
        self.jobs = jobs
        self.deadline = time.monotonic() + seconds
        self.result = Result(name)
        self.resources = contextlib.ExitStack()
        self.functions: Functions = {}

    def pytest_runtestloop(self, session: pytest.Session) -> bool:
        """Run the tests without a change, then with each."""
        if session.testsfailed or not session.items:
            self.result.problem = "its tests cannot be collected"
            return True
        with self.resources:
            folder = self.resources.enter_context(tempfile.TemporaryDirectory(prefix="holdfast-mutation-"))
            os.environ["HOLDFAST_TEST_PREPARED"] = folder
            self.functions = find_functions(self.path)
            # What is there now is not searched for garbage in every child, which would copy its pages.
            gc.freeze()
            self.judge(session.items)
        return True

    def judge(self, items: list[pytest.Item]) -> None:
        """Run every mutant, until the time is up."""
        on_sqlite = [item for item in items if item.get_closest_marker("postgres") is None]
        on_postgres = [item for item in items if item.get_closest_marker("postgres") is not None]
        begun = time.monotonic()
        coverage = measure(on_sqlite, self.path, self.functions, self.deadline - begun)
        if coverage is None:
            self.result.problem = "its tests fail without a mutant, or the time was up"
            return
        of_postgres: Coverage | None = None
        left = mutants(self.path.read_text(), str(self.path))
        random.Random(SEED).shuffle(left)
        for until in (begun + (self.deadline - begun) * ON_SQLITE, self.deadline):
            survivors, left = self.run_mutants(on_sqlite, left, coverage, until)
            if survivors and on_postgres and time.monotonic() < self.deadline:
                of_postgres = of_postgres or self.measure_on_postgres(on_postgres)
                if of_postgres is not None:
                    # What no test with SQLite reaches comes first: only the others can show it.
                    survivors.sort(key=lambda mutant: len(coverage.tests[mutant.statement]) > 0)
                    survivors, not_run = self.run_mutants(on_postgres, survivors, of_postgres, self.deadline)
                    survivors += not_run
            self.result.survivors += [
                f"{self.path.relative_to(ROOT)}:{mutant.line} {mutant.function}: {mutant.description}"
                for mutant in survivors
            ]
        self.result.not_run = len(left)
        self.result.survivors.sort()

    def measure_on_postgres(self, items: list[pytest.Item]) -> "Coverage | None":
        """Start a PostgreSQL for all children, and run the tests that need one without a mutant."""
        from tests.conftest import run_postgres  # noqa: PLC0415  # the tests of another folder have no PostgreSQL

        os.environ["HOLDFAST_TEST_DATABASE_URL"] = self.resources.enter_context(run_postgres())
        coverage = measure(items, self.path, self.functions, self.deadline - time.monotonic())
        if coverage is None and time.monotonic() < self.deadline:
            self.result.problem = "its tests with PostgreSQL fail without a mutant"
        return coverage

    def run_mutants(
        self, items: list[pytest.Item], chosen: list[Mutant], coverage: "Coverage", until: float
    ) -> tuple[list[Mutant], list[Mutant]]:
        """Count what tests notice until the time is up; return those that survive, and those not run."""
        survivors: list[Mutant] = []
        waiting = chosen[::-1]
        running: list[tuple[Mutant, Deadline, Child]] = []
        while (waiting or running) and time.monotonic() < until:
            while waiting and len(running) < self.jobs:
                mutant = waiting.pop()
                if coverage.tests[mutant.statement]:
                    running.append((mutant, *self.start(items, mutant, coverage)))
                else:
                    survivors.append(mutant)
            for trial in [*running]:
                mutant, deadline, child = trial
                status = child.poll(is_late=deadline.has_passed())
                if status is None:
                    continue
                running.remove(trial)
                if status == SURVIVED:
                    survivors.append(mutant)
                else:
                    self.result.noticed += 1
                    coverage.noticed[mutant.function][deadline.test] += 1
            time.sleep(0.005)
        for _, _, child in running:
            child.kill()
        return survivors, [*(mutant for mutant, _, _ in running), *reversed(waiting)]

    def start(self, items: list[pytest.Item], mutant: Mutant, coverage: "Coverage") -> "tuple[Deadline, Child]":
        """Start a child that runs the tests that reach a mutant until one fails."""
        deadline = Deadline()

        def work() -> int:
            replace_code(self.functions, mutant)
            items[0].config.pluginmanager.register(deadline)
            for index, after in pairwise([*coverage.order(mutant), NO_TEST]):
                deadline.start(index, LEAST_TIMEOUT + 10 * coverage.own_seconds[index])
                if fails(items[index], None if after == NO_TEST else items[after]):
                    return KILLED
            return SURVIVED

        return deadline, Child(work)


@dataclass
class Coverage:
    """Which tests run a statement, how long each takes, and how many mutants it noticed."""

    tests: dict[str, list[int]] = field(default_factory=lambda: defaultdict(list))
    seconds: dict[int, float] = field(default_factory=dict)
    """With the fixtures that it shares with others."""
    own_seconds: dict[int, float] = field(default_factory=dict)
    noticed: dict[str, Counter[int]] = field(default_factory=lambda: defaultdict(Counter))
    """By function: a test that noticed one mutant of it is likely to notice the next."""

    def order(self, mutant: Mutant) -> list[int]:
        """List the tests that reach a mutant: the quickest first, and before them what noticed its neighbours."""
        noticed = self.noticed[mutant.function]
        return sorted(self.tests[mutant.statement], key=lambda test: self.seconds[test] / (0.1 + noticed[test]))


class Deadline:
    """A pytest plugin that tells the parent of a child which test runs, and until when it has to end."""

    _state: Final = struct.Struct("=qd")

    def __init__(self) -> None:
        # Memory that the child shares.
        self._memory = mmap.mmap(-1, mmap.PAGESIZE)
        self.start(NO_TEST, LEAST_TIMEOUT)

    def start(self, test: int, seconds: float) -> None:
        """Begin with a test."""
        self._state.pack_into(self._memory, 0, test, time.monotonic() + seconds)

    @property
    def test(self) -> int:
        """The test that was begun last."""
        return int(self._state.unpack_from(self._memory)[0])

    @property
    def seconds(self) -> float:
        """The time that is left."""
        return float(self._state.unpack_from(self._memory)[1]) - time.monotonic()

    def has_passed(self) -> bool:
        """Return whether the test is late."""
        return self.seconds < 0

    @pytest.hookimpl(wrapper=True)
    def pytest_fixture_setup(self, fixturedef: pytest.FixtureDef[object]) -> Generator[None, object, object]:
        """Take the time of a fixture that several tests share off that of the test."""
        if fixturedef.scope == "function":
            return (yield)
        left = self.seconds
        self.start(self.test, FIXTURE_TIMEOUT)
        try:
            return (yield)
        finally:
            self.start(self.test, left)


class SharedFixtures:
    """A pytest plugin that records what fixtures reach which several tests share.

    Such a fixture is made in the first test that uses it. In the process of a mutant that may be any of them.
    """

    def __init__(self) -> None:
        self.reached: dict[str, set[str]] = {}
        self.seconds: dict[str, float] = {}
        self.used: set[str] = set()
        self.setup = 0.0

    @pytest.hookimpl(wrapper=True)
    def pytest_fixture_setup(self, fixturedef: pytest.FixtureDef[object]) -> Generator[None, object, object]:
        """Record what a shared fixture reaches, and how long it takes."""
        if fixturedef.scope == "function":
            return (yield)
        before = set(REACHED)
        REACHED.clear()
        begun = time.monotonic()
        try:
            return (yield)
        finally:
            self.seconds[fixturedef.argname] = time.monotonic() - begun
            self.setup += self.seconds[fixturedef.argname]
            self.reached[fixturedef.argname] = set(REACHED)
            REACHED.update(before)

    @pytest.hookimpl(tryfirst=True)
    def pytest_runtest_teardown(self, item: pytest.Item) -> None:
        """Note the fixtures that a test used, also those that it asked for while it ran."""
        request = getattr(item, "_request", None)
        self.used = self.reached.keys() & set(request.fixturenames if request else ())


def measure(items: list[pytest.Item], path: Path, functions: Functions, timeout: float) -> Coverage | None:
    """Run every test once in a child, without a mutant; None if one fails."""
    reader, writer = os.pipe()
    lines: list[str] = []

    def child() -> int:
        os.close(reader)
        for recorder in recorders(path.read_text(), str(path)):
            replace_code(functions, recorder)
        fixtures = SharedFixtures()
        items[0].config.pluginmanager.register(fixtures)
        with os.fdopen(writer, "w") as pipe:
            for index, item in enumerate(items):
                REACHED.clear()
                fixtures.setup = 0.0
                begun = time.monotonic()
                if fails(item, items[index + 1] if index + 1 < len(items) else None):
                    print(f"{item.nodeid} fails without a mutant", file=sys.stderr)
                    return KILLED
                own = time.monotonic() - begun - fixtures.setup
                took = own + sum(fixtures.seconds[name] for name in fixtures.used)
                reached = REACHED.union(*map(fixtures.reached.__getitem__, fixtures.used))
                print(index, own, took, *reached, file=pipe)
        return SURVIVED

    def read() -> None:
        with os.fdopen(reader) as pipe:
            lines.extend(pipe)

    deadline = time.monotonic() + timeout
    measuring = Child(child)
    os.close(writer)
    # Read beside the child: a pipe that nobody reads is soon full.
    thread = threading.Thread(target=read)
    thread.start()
    while (status := measuring.poll(is_late=time.monotonic() > deadline)) is None:
        time.sleep(0.005)
    thread.join()
    if status != SURVIVED:
        return None
    coverage = Coverage()
    for line in lines:
        index, own, took, *names = line.split()
        coverage.own_seconds[int(index)] = float(own)
        coverage.seconds[int(index)] = float(took)
        for name in names:
            coverage.tests[name].append(int(index))
    return coverage


def fails(item: pytest.Item, after: pytest.Item | None) -> bool:
    """Run one test; fixtures that the test after it shares are kept."""
    reports: list[pytest.TestReport] = []

    class Reports:
        def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
            reports.append(report)

    plugin = Reports()
    item.config.pluginmanager.register(plugin)
    item.config.hook.pytest_runtest_protocol(item=item, nextitem=after)
    item.config.pluginmanager.unregister(plugin)
    return any(report.failed for report in reports)


def find_functions(path: Path) -> Functions:
    """Find every function object of a module, by the qualified name and the first line of its code."""
    functions: Functions = defaultdict(list)
    # Frozen objects are not listed, and the tests freeze what was there when they were collected.
    gc.unfreeze()
    for found in gc.get_objects():
        if isinstance(found, FunctionType) and found.__code__.co_filename == str(path):
            functions[found.__code__.co_qualname, found.__code__.co_firstlineno].append(found)
    return functions


def replace_code(functions: Functions, mutant: Mutant) -> None:
    """Put the code of a mutant into every function object that has the original."""
    for function in functions[mutant.function, mutant.code.co_firstlineno]:
        function.__code__ = mutant.code


class Child:
    """A forked process that runs a function, and whose status is what the function returns."""

    def __init__(self, work: Callable[[], int]) -> None:
        self._id = os.fork()
        if self._id == 0:
            status = KILLED
            try:
                os.setsid()
                os.dup2(os.open(os.devnull, os.O_WRONLY), 1)
                status = work()
            except BaseException as error:  # noqa: BLE001  # whatever it is, the child must not go on as its parent
                print(f"{type(error).__name__}: {error}", file=sys.stderr)
            finally:
                os._exit(status)

    def poll(self, *, is_late: bool) -> int | None:
        """Return the status, or None while the child runs; a child that is late is killed."""
        ended, status = os.waitpid(self._id, os.WNOHANG)
        if ended:
            self._kill_group()
            return os.waitstatus_to_exitcode(status)
        if is_late:
            self.kill()
            return KILLED
        return None

    def kill(self) -> None:
        """End the child, and wait until it has."""
        # It may not have its group yet.
        os.kill(self._id, signal.SIGKILL)
        self._kill_group()
        os.waitpid(self._id, 0)

    def _kill_group(self) -> None:
        # Also what the tests started and did not end; the process group is the child's own.
        with contextlib.suppress(ProcessLookupError, PermissionError):
            os.killpg(self._id, signal.SIGKILL)


def run(name: str, seconds: float, jobs: int = 1) -> Result:
    """Judge the tests of one module by its mutants."""
    path = file_of(name)
    # It is not imported before pytest is there, which warns of modules whose assertions it can rewrite no more.
    # What has declarations beside it that the build generated is compiled into the modules that use it.
    if any(path.with_suffix(suffix).exists() for suffix in (*EXTENSION_SUFFIXES, ".pxd")):
        return Result(name, problem="it is compiled, and a compiled function cannot be replaced")
    tests = find_tests(path.relative_to(SOURCE))
    plugin = Plugin(name, path, seconds=seconds, jobs=jobs)
    options = [
        "-qq",
        "--no-header",
        "--no-summary",
        "--tb=native",
        "-p",
        "no:randomly",
        "-p",
        "no:xdist",
        "-p",
        "no:cacheprovider",
    ]
    chosen = ["-m", "not long", "--hypothesis-seed=0"]
    pytest.main([*options, *chosen, *map(str, tests)], plugins=[plugin])
    return plugin.result


def file_of(name: str) -> Path:
    """Return the file of a module by its name."""
    return (ROOT / "src").joinpath(*name.split(".")).with_suffix(".py")


def module_names(package: str, module: str | None) -> list[str]:
    """List the modules of a package, or one of them; a name that is a module itself is that module."""
    if module is not None:
        return [f"{package}.{module}"]
    if file_of(package).is_file():
        return [package]
    folder = file_of(package).with_suffix("")
    return [f"{package}.{path.stem}" for path in sorted(folder.glob("*.py")) if path.stem != "__init__"]


def main() -> int:
    """Mutate the modules that the command line names, and print what survived."""
    parser = argparse.ArgumentParser(
        prog="python -m tools.mutation", description="Mutate modules, and list the mutants that no test notices."
    )
    parser.add_argument("package", help="a package or a module, such as holdfast.hosting.services")
    parser.add_argument("--module", help="only this module of the package")
    parser.add_argument("--seconds", type=float, default=SECONDS, help="the time for each module")
    parser.add_argument("--jobs", type=int, default=os.cpu_count() or 1, help="the mutants that run at a time")
    parser.add_argument("--floor", type=float, default=FLOOR, help="the least percentage that is accepted")
    arguments = parser.parse_args()
    below = 0
    for name in module_names(arguments.package, arguments.module):
        # A process for each: modules that tests have changed or replaced do not reach the next.
        with ProcessPoolExecutor(1, mp_context=multiprocessing.get_context("spawn")) as pool:
            result = pool.submit(run, name, arguments.seconds, arguments.jobs).result()
        for survivor in result.survivors:
            print(f"  {survivor}")
        rest = f", {result.not_run} not run" if result.not_run else ""
        counts = result.problem or f"{result.score:.0f}% of {result.ran} mutants noticed{rest}"
        print(f"{name}: {counts}", flush=True)
        below += result.score < arguments.floor or "fail" in result.problem
    return 1 if below else 0


if __name__ == "__main__":
    sys.exit(main())
