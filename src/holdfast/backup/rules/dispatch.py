"""Calls the checks of a message at its end.

A record family lists its checks in `CHECKS`, by the name of the message; several families may check the same
message, in the order of the registry. When interpreted, they are looked up here; compiled, they are called by a
switch statement that the build generates in place of this module.
"""

from collections import defaultdict
from collections.abc import Callable, Iterator
from importlib import import_module
from types import ModuleType
from typing import Final, TypeAlias

import cython

from holdfast.backup.rules.checks import MESSAGE_BY_NAME
from holdfast.backup.rules.registry import FAMILIES
from holdfast.backup.rules.rule_context import RuleContext

__all__ = ["MessageCheck", "family_modules", "run_checks"]

MessageCheck: TypeAlias = Callable[[RuleContext, int], None]


def family_modules() -> Iterator[tuple[str, ModuleType]]:
    """Yield the modules of the record families by name, in the order of the registry."""
    for name in FAMILIES:
        yield name, import_module(f"holdfast.backup.rules.{name}")


def checks_by_message() -> dict[int, list[MessageCheck]]:
    """Return the checks of every message, by the number of the message."""
    checks: dict[int, list[MessageCheck]] = defaultdict(list)
    for _name, family in family_modules():
        for message, check in getattr(family, "CHECKS", {}).items():
            checks[MESSAGE_BY_NAME[message]].append(check)
    return checks


MESSAGE_CHECKS: Final = checks_by_message()


def run_checks(context: RuleContext, message: cython.uint, depth: cython.int) -> cython.void:
    """Run the checks of a message whose fields have all been read."""
    for check in MESSAGE_CHECKS.get(message, ()):
        check(context, depth)
