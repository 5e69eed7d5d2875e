"""Generates the `.pxd` files of the rules at build time, from the modules that declare the rules.

The checks are Python that Cython compiles. The `.pxd` file beside each module declares

- the functions whose annotations are C types, as C functions,
- the names that are set under `if not cython.compiled:`, as C constants and tables, with the values that they have
  when the module is imported from its source, and
- the names that are imported there, as `cimport` from the `.pxd` of that module.

Two files are more than declarations: `rule_numbers.pxd` has the numbers of all rules, and `dispatch.pxd` the
switch statement that calls the checks of a message. A rule that nothing checks is a build error, as is an unused
constant or function, such as the number of a rule that is never reported, or a check that `CHECKS` does not list.
"""

import ast
import sys
from array import array
from collections import defaultdict
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from importlib import import_module
from importlib.abc import MetaPathFinder
from importlib.machinery import ModuleSpec
from importlib.util import spec_from_file_location
from pathlib import Path
from types import FunctionType, ModuleType
from typing import Final

__all__ = ["compiled_modules", "declarations", "write_declarations"]

RULES: Final = "holdfast.backup.rules"
# The modules, beside those of the record families, whose declarations are generated and which are compiled.
CORE: Final = ("rule_numbers", "value_forms", "value_checks", "record_checks")
# Those whose `.pxd` is written by hand, because they have classes.
BY_HAND: Final = frozenset({"backup_state", "checker", "id_table", "rule_context"})
# The numbers reserved for each record family, so that a new rule does not change the numbers of other families.
FAMILY_SIZE: Final = 64
C_TYPES: Final = {
    "RuleContext": "RuleContext",
    "cython.Py_ssize_t": "Py_ssize_t",
    "cython.bint": "bint",
    "cython.int": "int",
    "cython.size_t": "size_t",
    "cython.uchar": "unsigned char",
    "cython.uint": "unsigned int",
    "cython.ulonglong": "unsigned long long",
    "cython.void": "void",
}
ITEM_TYPES: Final = {"B": "unsigned char", "I": "unsigned int", "Q": "unsigned long long"}
CONTEXT_IMPORT: Final = f"from {RULES}.rule_context cimport RuleContext"


class SourceFinder(MetaPathFinder):
    """Imports the package from its source, ignoring extension modules of an earlier build.

    Packages are imported without running their `__init__`, which the declarations do not need; that of `schema` is
    run, because it defines classes.
    """

    def __init__(self, source: Path) -> None:
        self._source = source

    def find_spec(self, fullname: str, _path: object = None, _target: object = None) -> ModuleSpec | None:
        """Return the spec of a module of the package."""
        if fullname.partition(".")[0] != "holdfast":
            return None
        path = self._source.joinpath(*fullname.split("."))
        if not path.is_dir():
            file = path.with_suffix(".py")
            return spec_from_file_location(fullname, file) if file.exists() else None
        if fullname.endswith(".schema"):
            return spec_from_file_location(fullname, path / "__init__.py", submodule_search_locations=[str(path)])
        spec = ModuleSpec(fullname, None, is_package=True)
        spec.submodule_search_locations = [str(path)]
        return spec


@contextmanager
def imports_from_source(source: Path) -> Iterator[None]:
    """Import the package from its source inside this context, and restore `sys.modules` afterwards."""
    before = remove_modules()
    finder = SourceFinder(source)
    sys.meta_path.insert(0, finder)
    try:
        yield
    finally:
        sys.meta_path.remove(finder)
        remove_modules()
        sys.modules.update(before)


def remove_modules() -> dict[str, ModuleType]:
    """Remove the modules of the package from `sys.modules`, and return them."""
    names = [name for name in sys.modules if name.partition(".")[0] == "holdfast"]
    return {name: sys.modules.pop(name) for name in names}


def rule_module(name: str) -> ModuleType:
    """Import a module of the rules."""
    return import_module(f"{RULES}.{name}")


def rule_ids(source: Path) -> dict[str, list[str]]:
    """Return the ids of all rules, by the name of their record family."""
    with imports_from_source(source):
        families = rule_module("registry").FAMILIES
        return {name: [rule.id for rule in rules] for name, rules in families.items()}


def compiled_modules(source: Path) -> list[str]:
    """Return the names of the modules whose declarations are generated and which are compiled."""
    return [f"{RULES}.{name}" for name in (*CORE, *rule_ids(source))]


def numbered(families: dict[str, list[str]]) -> dict[str, int]:
    """Return the number of every rule; a new rule does not change the numbers of other families."""
    for name, ids in families.items():
        if len(ids) >= FAMILY_SIZE:
            raise ValueError(f"{name} has too many rules: {len(ids)}")
    return {
        rule: FAMILY_SIZE * index + place
        for index, ids in enumerate(families.values())
        for place, rule in enumerate(ids, 1)
    }


class ModuleSource:
    """The declarations in the source of a module."""

    def __init__(self, name: str, path: Path) -> None:
        self.name = name
        self.tree = ast.parse(path.read_text(encoding="utf-8"))
        blocks = [
            statement
            for node in self.tree.body
            if isinstance(node, ast.If) and ast.unparse(node.test) == "not cython.compiled"
            for statement in node.body
        ]
        # The names under `if not cython.compiled:` that are imported, by module, and those that are set.
        self.imports = {
            str(node.module): [alias.name for alias in node.names]
            for node in blocks
            if isinstance(node, ast.ImportFrom)
        }
        self.constants = [
            target.id
            for node in blocks
            for target in (node.targets if isinstance(node, ast.Assign) else [getattr(node, "target", None)])
            if isinstance(target, ast.Name) and target.id != "CHECKS"
        ]
        self.functions = dict(self._functions())

    def _functions(self) -> Iterator[tuple[str, str]]:
        """Yield the functions of C by name, with their declarations."""
        for node in self.tree.body:
            if not isinstance(node, ast.FunctionDef):
                continue
            parameters = [(item.arg, C_TYPES.get(annotation(item.annotation))) for item in node.args.args]
            returned = C_TYPES.get(annotation(node.returns))
            types = [kind for _name, kind in parameters]
            if returned is not None and None not in types:
                listed = ", ".join(f"{kind} {name}" for name, kind in parameters)
                yield node.name, f"{returned} {node.name}({listed}) noexcept nogil"
            elif "RuleContext" in types:
                raise ValueError(f"{self.name}.py: {node.name} has a rule context, but is not a function of C")

    def used_names(self) -> set[str]:
        """Return the names that the code reads."""
        return {
            node.id
            for node in ast.walk(self.tree)
            if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Load)
        }

    def numbers_asked_for(self) -> set[str]:
        """Return the ids of rules whose numbers the code asks for."""
        return {
            node.args[0].value
            for node in ast.walk(self.tree)
            if isinstance(node, ast.Call)
            and ast.unparse(node.func) == "number_of_rule"
            and isinstance(node.args[0], ast.Constant)
            and isinstance(node.args[0].value, str)
        }


def annotation(node: ast.expr | None) -> str:
    """Return the source text of an annotation."""
    return "" if node is None else ast.unparse(node)


def constant(module: str, name: str, value: object) -> list[str]:
    """Return the lines that declare a C constant or table."""
    symbol = f"holdfast_{module}_{name}"
    if isinstance(value, int) and 0 <= value < 1 << 31:
        return ["cdef enum:", f"    {name} = {int(value)}"]
    if isinstance(value, int) and 0 <= value < 1 << 64:
        definition, declared = f"#define {symbol} {int(value)}ULL", f'unsigned long long {name} "{symbol}"'
    elif isinstance(value, array):
        kind = ITEM_TYPES[value.typecode]
        suffix = "ULL" if value.typecode == "Q" else "U"
        items = ", ".join(f"{item}{suffix}" for item in value)
        definition = f"static const {kind} {symbol}[{len(value)}] = {{{items}}};"
        declared = f'const {kind} {name} "{symbol}"[{len(value)}]'
    elif isinstance(value, list):
        items = ", ".join(f'"{item.decode()}"' for item in value)
        definition = f"static const char *const {symbol}[{len(value)}] = {{{items}}};"
        declared = f'const char *{name} "{symbol}"[{len(value)}]'
    else:
        raise TypeError(f"{module}.py: {name} cannot be a constant of C: {type(value).__name__}")
    return ["cdef extern from *:", '    """', f"    {definition}", '    """', f"    {declared}"]


def module_declarations(module: ModuleSource, values: ModuleType) -> str:
    """Return the `.pxd` of a compiled module."""
    lines = [CONTEXT_IMPORT]
    lines += [f"from {name} cimport {', '.join(names)}" for name, names in module.imports.items()]
    for name in module.constants:
        lines += constant(module.name, name, getattr(values, name))
    lines += [f"cdef {declared}" for declared in module.functions.values()]
    return "\n".join(lines) + "\n"


def dispatch_declarations(families: dict[str, ModuleSource]) -> str:
    """Return the switch statement that calls the checks of a message."""
    lines = [CONTEXT_IMPORT]
    calls: dict[str, list[str]] = defaultdict(list)
    messages: dict[str, int] = rule_module("checks").MESSAGE_BY_NAME
    for name, family in families.items():
        checks: dict[str, FunctionType] = getattr(rule_module(name), "CHECKS", {})
        for message, check in checks.items():
            if check.__name__ not in family.functions:
                raise ValueError(f"{name}.py: {check.__name__} checks {message}, but is not a function of C")
            lines.append(f"from {RULES}.{name} cimport {check.__name__} as {name}_{check.__name__}")
            calls[message].append(f"{name}_{check.__name__}")
    lines += ["cdef enum:", *(f"    {message.replace('.', '_')} = {messages[message]}" for message in calls)]
    lines.append(
        "cdef inline void run_checks(RuleContext context, unsigned int message, int depth) noexcept nogil:"
    )
    for index, (message, functions) in enumerate(calls.items()):
        lines.append(f"    {'elif' if index else 'if'} message == {message.replace('.', '_')}:")
        lines += [f"        {function}(context, depth)" for function in functions]
    return "\n".join(lines) + "\n"


def require_use(compiled: dict[str, ModuleSource], everything: Iterable[ModuleSource]) -> None:
    """Raise `ValueError` for an unused C constant or function of the compiled modules."""
    imported = {(name, item) for module in everything for name, names in module.imports.items() for item in names}
    for module in compiled.values():
        used = module.used_names() | {item for name, item in imported if name == f"{RULES}.{module.name}"}
        if unused := [name for name in (*module.constants, *module.functions) if name not in used]:
            raise ValueError(f"{module.name}.py: no code uses {', '.join(unused)}")


def declarations(source: Path) -> dict[str, str]:
    """Return the generated `.pxd` files of the rules by the name of their module.

    Raises `ValueError` for a rule that nothing checks, and for a check of a rule that does not exist.
    """
    families = rule_ids(source)
    numbers = numbered(families)
    folder = source.joinpath(*RULES.split("."))
    everything = {path.stem: ModuleSource(path.stem, path) for path in sorted(folder.glob("*.py"))}
    compiled = {name: everything[name] for name in (*CORE, *families)}
    with imports_from_source(source):
        rule_numbers = rule_module("rule_numbers")
        rule_numbers.NUMBERS.update(numbers)
        by_number = {number: name.encode() for name, number in numbers.items()}
        count = 1 + max(numbers.values())
        ids = [by_number.get(number, b"") for number in range(count)]
        vars(rule_numbers).update(RULE_IDS=ids, RULE_COUNT=count)
        found = {name: module_declarations(module, rule_module(name)) for name, module in compiled.items()}
        found["dispatch"] = dispatch_declarations({name: compiled[name] for name in families})
        for name, names in sorted(constants_of_others(compiled).items()):
            values = rule_module(name)
            lines = [line for item in sorted(names) for line in constant(name, item, getattr(values, item))]
            found[name] = "\n".join(lines) + "\n"
        checked = set(rule_numbers.CHECKED)
    require_use(compiled, everything.values())
    for module in everything.values():
        checked |= module.numbers_asked_for()
    rule_numbers.require_checks(set(numbers), checked)
    return found


def constants_of_others(compiled: dict[str, ModuleSource]) -> dict[str, set[str]]:
    """Return what compiled modules import from modules of the rules that are not compiled."""
    needed: dict[str, set[str]] = defaultdict(set)
    for module in compiled.values():
        for full, names in module.imports.items():
            package, _, name = full.rpartition(".")
            if package == RULES and name not in BY_HAND and name not in compiled and name != "dispatch":
                needed[name].update(names)
    return needed


def write_declarations(source: Path) -> None:
    """Write the generated `.pxd` files beside their modules; an unchanged file is not touched."""
    folder = source.joinpath(*RULES.split("."))
    made = declarations(source)
    for path in folder.glob("*.pxd"):
        if path.stem not in made and path.stem not in BY_HAND:
            path.unlink()
    for name, text in made.items():
        path = folder / f"{name}.pxd"
        if not path.exists() or path.read_text(encoding="utf-8") != text:
            path.write_text(text, encoding="utf-8")
