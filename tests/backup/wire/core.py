"""The core in two builds: as installed, and interpreted from the same source."""

import ast
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from importlib import import_module
from pathlib import Path
from types import ModuleType

from holdfast.backup.rules import pxd_generator, rule_numbers
from holdfast.backup.rules.checker import Checker
from holdfast.backup.rules.registry import FAMILIES

ROOT = Path(__file__).parents[3]
# What the build generates in place of these modules is part of the compiled core.
INTERPRETED_ONLY = ("holdfast.backup.rules.check_tables", "holdfast.backup.rules.dispatch")


def core_modules() -> list[str]:
    """Return the names of the compiled modules: those in setup.py, and those with generated declarations."""
    for node in ast.parse((ROOT / "setup.py").read_text()).body:
        if isinstance(node, ast.Assign) and ast.unparse(node.targets[0]) == "CORE":
            assert isinstance(node.value, ast.List)
            listed = [str(name.value) for name in node.value.elts if isinstance(name, ast.Constant)]
            return listed + [f"holdfast.backup.rules.{name}" for name in (*pxd_generator.CORE, *FAMILIES)]
    raise AssertionError("setup.py no longer says what is compiled")


@dataclass(frozen=True)
class Core:
    """The modules of the core, all compiled or all interpreted."""

    name: str
    frames: ModuleType
    walk: ModuleType
    collect: ModuleType
    leaves: ModuleType
    renumber: ModuleType
    unknown: ModuleType
    render: ModuleType
    tojson: ModuleType
    line_encoder: ModuleType
    id_table: ModuleType
    checker: ModuleType
    backup_state: ModuleType
    item_rows: ModuleType
    part_rows: ModuleType
    plain_rows: ModuleType
    signs: ModuleType
    message_columns: ModuleType

    def new_checker(self) -> Checker:
        """Make a checker of this core."""
        checker: Checker = self.checker.Checker()
        return checker


def make_core(name: str, modules: dict[str, ModuleType]) -> Core:
    """Put the modules of one kind together."""
    short = {full.rpartition(".")[2]: module for full, module in modules.items()}
    names = (
        "frames",
        "walk",
        "collect",
        "leaves",
        "renumber",
        "unknown",
        "render",
        "tojson",
        "line_encoder",
        "id_table",
        "checker",
        "backup_state",
        "item_rows",
        "part_rows",
        "plain_rows",
        "signs",
        "message_columns",
    )
    return Core(name, **{module: short[module] for module in names})


def installed() -> Core:
    """Import the core as it is installed."""
    return make_core("installed", {name: import_module(name) for name in core_modules()})


def interpreted() -> Core:
    """Import the source of every module again; only the numbers of rules stay those of the installed core."""
    installed()
    names = [name for name in core_modules() if name != rule_numbers.__name__]
    with modules_forgotten([*names, *INTERPRETED_ONLY]):
        return make_core("interpreted", {name: import_module(name) for name in names})


@contextmanager
def modules_forgotten(names: list[str]) -> Iterator[None]:
    """Import modules from their source in this context, and put those imported before back afterwards."""
    before = {name: sys.modules.pop(name) for name in names if name in sys.modules}
    described = set(rule_numbers.DESCRIBED)
    rule_numbers.DESCRIBED.clear()
    finder = pxd_generator.SourceFinder(ROOT / "src")
    sys.meta_path.insert(0, finder)
    try:
        yield
    finally:
        sys.meta_path.remove(finder)
        rule_numbers.DESCRIBED.update(described)
        for name in names:
            del sys.modules[name]
        for name, module in before.items():
            package, _, child = name.rpartition(".")
            setattr(sys.modules[package], child, module)
            sys.modules[name] = module
