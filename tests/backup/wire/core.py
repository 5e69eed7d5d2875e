"""The core twice: as it is installed, and from the same source interpreted."""

import ast
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from importlib import import_module
from importlib.machinery import SourceFileLoader
from importlib.util import module_from_spec, spec_from_loader
from pathlib import Path
from types import ModuleType

from holdfast.backup.rules import rule_numbers
from holdfast.backup.rules.checker import Checker
from holdfast.backup.rules.registry import CHECK_TABLES

ROOT = Path(__file__).parents[3]


def core_modules() -> list[str]:
    """Read the names of the compiled modules from setup.py, in an order in which they can be imported."""
    for node in ast.parse((ROOT / "setup.py").read_text()).body:
        if isinstance(node, ast.Assign) and ast.unparse(node.targets[0]) == "CORE":
            return [str(name) for name in ast.literal_eval(node.value)]
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
    id_table: ModuleType
    checker: ModuleType
    item_rows: ModuleType
    part_rows: ModuleType
    plain_rows: ModuleType
    families: tuple[ModuleType, ...]

    def new_checker(self, *_arguments: object) -> Checker:
        """Make a checker of this core, with the checks of its record families."""
        made: Checker = self.checker.Checker(CHECK_TABLES, [family.add_checks for family in self.families])
        return made


def gather(name: str, modules: dict[str, ModuleType]) -> Core:
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
        "id_table",
        "checker",
        "item_rows",
        "part_rows",
        "plain_rows",
    )
    families = tuple(module for module in modules.values() if hasattr(module, "add_checks"))
    return Core(name, **{module: short[module] for module in names}, families=families)


def installed() -> Core:
    """Import the core the way everybody does."""
    return gather("installed", {name: import_module(name) for name in core_modules()})


def interpreted() -> Core:
    """Load the source of every module again, under another name, so that they find each other."""
    installed()
    modules: dict[str, ModuleType] = {}
    with modules_replaced(core_modules()):
        for name in core_modules():
            path = ROOT / "src" / f"{name.replace('.', '/')}.py"
            # A name inside the package, so that coverage counts what runs.
            loader = SourceFileLoader(f"{name}_interpreted", str(path))
            spec = spec_from_loader(loader.name, loader)
            assert spec is not None
            modules[name] = sys.modules[name] = module_from_spec(spec)
            loader.exec_module(modules[name])
    return gather("interpreted", modules)


@contextmanager
def modules_replaced(names: list[str]) -> Iterator[None]:
    """Put the imported modules back afterwards; meanwhile their rules may be described again."""
    before = {name: sys.modules[name] for name in names}
    described = set(rule_numbers.DESCRIBED)
    rule_numbers.DESCRIBED.clear()
    try:
        yield
    finally:
        sys.modules.update(before)
        rule_numbers.DESCRIBED.update(described)
