"""Mutants of a module: each has one operator, constant, condition or statement of a function changed.

Only the bodies of functions are changed: a function is replaced in place, so that everything that imported it runs
the mutant. Docstrings, annotations, assertions, calls of a logger and `usedforsecurity` are left alone. So is the
only use of a variable from outside of the function: code without it cannot replace that of the function.
"""

import ast
import copy
from collections.abc import Iterator
from dataclasses import dataclass
from types import CodeType
from typing import Final

__all__ = ["REACHED", "Mutant", "mutants", "outer_functions", "recorders"]

COMPARISONS: Final[dict[type[ast.cmpop], type[ast.cmpop]]] = {
    ast.Eq: ast.NotEq,
    ast.NotEq: ast.Eq,
    ast.Lt: ast.LtE,
    ast.LtE: ast.Lt,
    ast.Gt: ast.GtE,
    ast.GtE: ast.Gt,
    ast.Is: ast.IsNot,
    ast.IsNot: ast.Is,
    ast.In: ast.NotIn,
    ast.NotIn: ast.In,
}
ARITHMETIC: Final[dict[type[ast.operator], type[ast.operator]]] = {
    ast.Add: ast.Sub,
    ast.Sub: ast.Add,
    ast.Mult: ast.FloorDiv,
    ast.FloorDiv: ast.Mult,
    ast.Mod: ast.Mult,
    ast.LShift: ast.RShift,
    ast.RShift: ast.LShift,
    ast.BitOr: ast.BitAnd,
    ast.BitAnd: ast.BitOr,
}
LOGGERS: Final = frozenset({"log", "logger", "logging"})
REACHED: Final[set[str]] = set()
"""The statements that ran since somebody last cleared it, where the code of `recorders` is in place."""
RECORD: Final = "__import__('sys').modules['tools.mutants'].REACHED.add({!r})"
FunctionNode = ast.FunctionDef | ast.AsyncFunctionDef
FUNCTIONS: Final = (ast.FunctionDef, ast.AsyncFunctionDef)
BLOCKS: Final = ("body", "orelse", "finalbody")
"""The fields in which nodes have lists of statements."""


@dataclass(frozen=True, slots=True)
class Mutant:
    """One change to a function of a module."""

    function: str
    """The qualified name of the outermost function that the change is in."""
    line: int
    statement: str
    """The innermost statement that the change is in, as `recorders` names it."""
    description: str
    code: CodeType
    """The code of that function with the change."""


def mutants(source: str, filename: str) -> list[Mutant]:
    """List the mutants of a module, in the order of its lines."""
    tree = ast.parse(source, filename)
    unchanged = compile(tree, filename, "exec", dont_inherit=True)
    made = []
    for name, function in outer_functions(tree):
        original = find_code(unchanged, name, function)
        for node, statement in [*mutable(function)]:
            for line, description, undo in changes(node):
                ast.fix_missing_locations(tree)
                code = find_code(compile(tree, filename, "exec", dont_inherit=True), name, function)
                undo()
                if code is not None and original is not None and code.co_freevars == original.co_freevars:
                    made.append(Mutant(name, line, statement_name(name, statement), description, code))
    return sorted(made, key=lambda mutant: mutant.line)


def recorders(source: str, filename: str) -> list[Mutant]:
    """List the functions of a module, each with code that adds what it runs to `REACHED`, else the same."""
    tree = ast.parse(source, filename)
    made = []
    functions = [*outer_functions(tree)]
    for name, function in functions:
        # A function inside of it may be called when it has long returned, and has statements of its own.
        for node in [*ast.walk(function)]:
            for field in BLOCKS:
                block = getattr(node, field, None)
                if isinstance(block, list):
                    setattr(node, field, [*recorded(name, block)])
    module = compile(tree, filename, "exec", dont_inherit=True)
    for name, function in functions:
        code = find_code(module, name, function)
        if code is not None:
            made.append(Mutant(name, function.lineno, name, "it is recorded", code))
    return made


def recorded(function: str, block: list[ast.stmt]) -> Iterator[ast.stmt]:
    """Put before each statement of a block one that records it."""
    for statement in block:
        if not is_text(statement):
            record = ast.parse(RECORD.format(statement_name(function, statement))).body[0]
            for child in ast.walk(record):
                ast.copy_location(child, statement)
            yield record
        yield statement


def statement_name(function: str, statement: ast.stmt) -> str:
    """Name a statement by its outermost function and its line."""
    return f"{function}:{statement.lineno}"


def outer_functions(tree: ast.Module) -> Iterator[tuple[str, FunctionNode]]:
    """List the functions of a module and the methods of its classes, with their qualified names."""

    def walk(body: list[ast.stmt], prefix: str) -> Iterator[tuple[str, FunctionNode]]:
        for node in body:
            if isinstance(node, FUNCTIONS):
                yield prefix + node.name, node
            elif isinstance(node, ast.ClassDef):
                yield from walk(node.body, f"{prefix}{node.name}.")
            elif isinstance(node, ast.If | ast.Try | ast.With):
                yield from walk(node.body, prefix)

    yield from walk(tree.body, "")


def find_code(module: CodeType, name: str, function: FunctionNode) -> CodeType | None:
    """Find the code of a function in that of its module."""
    first = min([function.lineno, *(one.lineno for one in function.decorator_list)])
    waiting = [module]
    while waiting:
        for constant in waiting.pop().co_consts:
            if isinstance(constant, CodeType):
                if constant.co_qualname == name and constant.co_firstlineno == first:
                    return constant
                waiting.append(constant)
    return None


def mutable(function: FunctionNode) -> Iterator[tuple[ast.AST, ast.stmt]]:
    """Walk the statements and expressions of a function's body that may be changed, each with its statement."""
    waiting: list[tuple[ast.AST, ast.stmt]] = [(node, node) for node in function.body]
    while waiting:
        node, statement = waiting.pop(0)
        if is_text(node) or is_log(node) or is_about_policy(node) or isinstance(node, ast.Assert):
            continue
        yield node, statement
        for field, value in ast.iter_fields(node):
            if field in {"annotation", "returns", "decorator_list", "args"} and not isinstance(node, ast.Call):
                continue
            children = value if isinstance(value, list) else [value]
            waiting += [
                (child, child if isinstance(child, ast.stmt) else statement)
                for child in children
                if isinstance(child, ast.AST)
            ]


def is_text(node: ast.AST) -> bool:
    """Tell whether a statement is a docstring."""
    return isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant)


def is_log(node: ast.AST) -> bool:
    """Tell whether a statement calls a logger."""
    call = node.value if isinstance(node, ast.Expr) else None
    return (
        isinstance(call, ast.Call)
        and isinstance(call.func, ast.Attribute)
        and isinstance(call.func.value, ast.Name)
        and call.func.value.id in LOGGERS
    )


def is_about_policy(node: ast.AST) -> bool:
    """Tell whether an argument only says to a hash function what it is for: the digest is the same."""
    return isinstance(node, ast.keyword) and node.arg == "usedforsecurity"


Change = tuple[int, str, "Undo"]


@dataclass(frozen=True, slots=True)
class Undo:
    """Puts back the fields of a node that a change has replaced."""

    node: ast.AST
    fields: dict[str, object]

    def __call__(self) -> None:
        for name, value in self.fields.items():
            setattr(self.node, name, value)


def changes(node: ast.AST) -> Iterator[Change]:
    """Change a node in each way there is; the caller undoes one before it takes the next."""

    def change(description: str, **fields: object) -> Change:
        undo = Undo(node, {name: getattr(node, name) for name in fields})
        for name, value in fields.items():
            setattr(node, name, value)
        return getattr(node, "lineno", 0), description, undo

    match node:
        case ast.Compare():
            for index, operator in enumerate(node.ops):
                other = COMPARISONS[type(operator)]
                ops = [*node.ops[:index], other(), *node.ops[index + 1 :]]
                yield change(f"{name_of(operator)} becomes {other.__name__}", ops=ops)
        case ast.BoolOp():
            other_op = ast.Or if isinstance(node.op, ast.And) else ast.And
            yield change(f"{name_of(node.op)} becomes {other_op.__name__}", op=other_op())
        case ast.BinOp() if type(node.op) in ARITHMETIC and not is_string(node):
            yield change(
                f"{name_of(node.op)} becomes {ARITHMETIC[type(node.op)].__name__}", op=ARITHMETIC[type(node.op)]()
            )
        case ast.UnaryOp(op=ast.Not()):
            yield change("not is removed", operand=ast.UnaryOp(ast.Not(), copy.deepcopy(node.operand)))
        case ast.If() | ast.While() | ast.IfExp():
            yield change("the condition is negated", test=ast.UnaryOp(ast.Not(), node.test))
        case ast.Constant(value=bool(flag)):
            yield change(f"{flag} becomes {not flag}", value=not flag)
        case ast.Constant(value=int(number)):
            yield change(f"{number} becomes {number + 1}", value=number + 1)
        case ast.Expr(value=ast.Call() | ast.Await()):
            yield change("the call is removed", value=ast.Constant(None))
        case ast.Return(value=ast.expr()) if not is_none(node.value):
            yield change("None is returned", value=ast.Constant(None))
        case _:
            pass


def name_of(operator: ast.AST) -> str:
    """Name an operator as `ast` does."""
    return type(operator).__name__


def is_string(node: ast.BinOp) -> bool:
    """Tell whether an operator formats or joins a text written there."""
    return any(
        isinstance(side, ast.JoinedStr | ast.Constant) and not isinstance(getattr(side, "value", None), int)
        for side in (node.left, node.right)
    )


def is_none(node: ast.expr | None) -> bool:
    """Tell whether an expression is None."""
    return node is None or (isinstance(node, ast.Constant) and node.value is None)
