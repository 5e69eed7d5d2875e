"""Writes the page of the Python library: every public name with its constructor, fields, methods and types."""

import enum
import inspect
import re
import tomllib
from collections.abc import Callable, Iterator
from dataclasses import is_dataclass
from datetime import timezone
from functools import cached_property
from importlib import import_module
from pathlib import Path
from types import EllipsisType, NoneType, UnionType
from typing import Annotated, Any, Literal, Union, get_args, get_origin

import msgspec

__all__ = ["attributes", "methods", "readable", "section", "signature"]

# What people get from a function, and never make themselves.
MADE_BY = {
    "Archive": "archive",
    "Backup": "open",
    "BackupWriter": "write",
    "Dataset": "dataset",
    "Validation": "validate",
}
# What public classes have for the library's own modules; it may change, and is not documented.
INTERNAL = {
    "Archive": {
        "build_message",
        "build_messages",
        "by_ids",
        "cards",
        "chat_of",
        "fact_sentence",
        "forget_names",
        "load_parts",
        "long_texts",
        "names",
        "polls",
        "receipts",
        "record",
        "rows",
        "rows_between",
        "rows_by_message",
        "sentence_by_author",
        "sentences",
        "subject_name",
        "table",
        "text_range",
        "tombstone",
        "vanished_times",
    },
    "Block": {"damaged", "frame_at", "spans"},
    "GunzipLimits": {"hold"},
    "KeyMaterial": {"message_keys", "own_backup_id", "root"},
    "Limits": {"hold"},
    "Rule": {"checks", "file_repair", "first_repair", "limit", "number", "repairs"},
    "Validator": {"emit", "end", "newer", "scan"},
}
WIDTH = 100
EXAMPLES: dict[str, str] = {
    name: table["example"]
    for name, table in tomllib.loads(Path(__file__).with_name("python_examples.toml").read_text()).items()
}
# Builtin bases, whose methods are documented by Python.
BUILTIN = ("builtins", "enum", "typing", "msgspec", "msgspec._core", "abc")


def readable(annotation: Any) -> str:
    """Write a type as it is written in code, without the modules its parts are defined in."""
    if annotation is None or annotation is NoneType:
        return "None"
    if isinstance(annotation, EllipsisType):
        return "..."
    if isinstance(annotation, list):
        return f"[{', '.join(map(readable, annotation))}]"
    origin, arguments = get_origin(annotation), get_args(annotation)
    if origin in {Union, UnionType}:
        return " | ".join(map(readable, arguments))
    if origin is Literal:
        return " | ".join(map(repr, arguments))
    if origin is Annotated:
        return readable(arguments[0])
    if origin is not None:
        return f"{origin.__name__}[{', '.join(map(readable, arguments))}]"
    if isinstance(annotation, type):
        return annotation.__qualname__
    return re.sub(r"\b(?:\w+\.)+(?=\w)", "", str(annotation))


def default(value: object) -> str:
    """Write a default value."""
    if isinstance(value, enum.Enum):
        return f"{type(value).__name__}.{value.name}"
    if is_dataclass(value) and not isinstance(value, type):
        return f"{type(value).__name__}()"
    if isinstance(value, timezone):
        return str(value)
    return repr(value)


def signature(name: str, function: Callable[..., object]) -> str:
    """Write the signature of a function or constructor, a parameter a line where it is long."""
    found = inspect.signature(function)
    words: list[str] = []
    star = False
    for parameter in found.parameters.values():
        if parameter.name in {"self", "cls"}:
            continue
        if parameter.kind is parameter.KEYWORD_ONLY and not star:
            words.append("*")
            star = True
        word = parameter.name
        if parameter.annotation is not parameter.empty:
            word += f": {readable(parameter.annotation)}"
        if parameter.default is not parameter.empty:
            word += f" = {default(parameter.default)}"
        words.append(word)
    returns = "" if found.return_annotation in {found.empty, None} else f" -> {readable(found.return_annotation)}"
    line = f"{name}({', '.join(words)}){returns}"
    if len(line) <= WIDTH:
        return line
    return f"{name}(\n" + "".join(f"    {word},\n" for word in words) + f"){returns}"


def attributes(cls: type) -> list[tuple[str, str, str]]:
    """List the fields and properties of a class: name, type, and what a property's docstring says."""
    return [one for one in every_attribute(cls) if one[0] not in INTERNAL.get(cls.__name__, ())]


def every_attribute(cls: type) -> list[tuple[str, str, str]]:
    """List the fields and properties of a class, internal ones included."""
    if issubclass(cls, enum.Enum):
        return [(member.name, repr(member.value), "") for member in cls]
    # Not evaluated: a name may be imported for type checkers only.
    hints = {name: kind for base in reversed(cls.__mro__) for name, kind in inspect.get_annotations(base).items()}
    found = [(name, readable(kind), "") for name, kind in hints.items() if not name.startswith("_")]
    for name, member in members(cls):
        getter: Callable[..., object] | None = None
        if isinstance(member, property):
            getter = member.fget
        elif isinstance(member, cached_property):
            getter = member.func
        if getter is not None:
            kind = readable(inspect.signature(getter).return_annotation)
            found.append((name, kind, " ".join((inspect.getdoc(getter) or "").split())))
    return found


def methods(cls: type) -> list[tuple[str, Callable[..., object]]]:
    """List the public methods of a class, those of its bases included."""
    found: list[tuple[str, Callable[..., object]]] = []
    for name, member in members(cls):
        function = member.__func__ if isinstance(member, classmethod | staticmethod) else member
        if inspect.isfunction(function) and name not in INTERNAL.get(cls.__name__, ()):
            found.append((name, function))
    return found


def members(cls: type) -> Iterator[tuple[str, Any]]:
    """Yield what a class and its bases define under a public name, bases first."""
    seen: dict[str, Any] = {}
    for base in reversed(cls.__mro__):
        if base.__module__ not in BUILTIN:
            seen |= {name: value for name, value in vars(base).items() if not name.startswith("_")}
    yield from seen.items()


def is_made_by_hand(cls: type) -> bool:
    """Tell whether a class has a constructor of its own."""
    return issubclass(cls, msgspec.Struct) or (
        not issubclass(cls, enum.Enum) and inspect.isfunction(vars(cls).get("__init__"))
    )


def class_section(name: str, cls: type) -> Iterator[str]:
    """Write a class: what it is, how one is made, what it has and can do."""
    yield f"### {name}\n"
    bases = [base.__name__ for base in cls.__bases__ if base.__module__.startswith("holdfast")]
    if issubclass(cls, Exception):
        yield f"An error, a kind of `{bases[0] if bases else cls.__bases__[0].__name__}`.\n"
    yield f"{inspect.getdoc(cls)}\n"
    if name in MADE_BY:
        yield f"Returned by [`{MADE_BY[name]}`](#{MADE_BY[name]}).\n"
    elif is_made_by_hand(cls):
        yield f"```python\n{signature(name, cls)}\n```\n"
    if name in EXAMPLES:
        yield f"```pycon\n{EXAMPLES[name]}```\n"
    found = attributes(cls)
    if found:
        told = any(text for _, _, text in found)
        yield "| attribute | type | |\n|---|---|---|" if told else "| attribute | type |\n|---|---|"
        for attribute, kind, text in found:
            cells = [f"`{attribute}`", "`" + kind.replace("|", "\\|") + "`", *([text] if told else [])]
            yield "| " + " | ".join(cells) + " |"
        yield ""
    for method, function in methods(cls):
        yield f"#### {name}.{method}\n\n```python\n{signature(method, function)}\n```\n"
        yield f"{inspect.getdoc(function)}\n"


def section(module_name: str) -> str:
    """Write the public names of a library."""
    module = import_module(module_name)
    lines = [f"## {module_name}\n\n{inspect.getdoc(module)}\n"]
    for name in module.__all__:
        value = getattr(module, name)
        if inspect.isclass(value):
            lines.extend(class_section(name, value))
        elif inspect.isfunction(value):
            lines.append(f"### {name}\n\n```python\n{signature(name, value)}\n```\n\n{inspect.getdoc(value)}\n")
        else:
            lines.append(f"### {name}\n\nA `{readable(type(value))}`.\n")
    return "\n".join(lines)
