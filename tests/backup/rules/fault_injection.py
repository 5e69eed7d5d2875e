"""Faults injected into valid backups: any rule about a single field, at any occurrence of that field."""

import random
from collections.abc import Sequence
from dataclasses import dataclass

from google.protobuf.descriptor import FieldDescriptor
from google.protobuf.message import Message

from holdfast.backup.rules import RULES, Finding, Severity
from holdfast.backup.rules.checks import CheckRole, FieldCheck, Op
from holdfast.backup.schema import Frame
from holdfast.backup.wire.collect import name_of
from tests.backup.rules.example_backup import findings
from tests.compat.structured import fields_of, is_there

__all__ = ["InjectedFault", "error_rows", "inject"]

# A value that no check of a kind lets pass.
WRONG: dict[Op, object] = {
    Op.NONZERO: 0,
    Op.AMONG: 0,
    Op.DATE: 1 << 62,
    Op.DATE_OR_FOREVER: 1 << 62,
    Op.REFERS: 1 << 40,
    Op.SERVICE_ID: bytes(15),
    Op.OPAQUE: 1,
    Op.DECIMAL: "x",
    Op.CLOCK: 2460,
    Op.CHARACTERS: "x" * 201,
    Op.PREFIXED: b"\x05",
}


@dataclass(frozen=True)
class InjectedFault:
    """A frame with an injected fault, and the errors that this fault alone causes."""

    frame: int
    rule: str
    raw: bytes
    errors: list[tuple[str, int | None, str]]


def error_rows(reported: Sequence[Finding]) -> list[tuple[str, int | None, str]]:
    """Return errors as rows that can be compared."""
    errors = [finding for finding in reported if finding.severity is Severity.ERROR]
    return [(finding.rule.id, finding.frame, finding.path) for finding in errors]


def break_check(rng: random.Random, owner: Message, check: FieldCheck) -> bool:
    """Break a check at a field of a message; return whether there is a way."""
    name = check.field.rpartition(".")[2]
    if check.role is CheckRole.ONEOF:
        member = owner.WhichOneof(name)
        if member is not None:
            owner.ClearField(member)
        return member is not None
    field: FieldDescriptor = owner.DESCRIPTOR.fields_by_name[name]  # type: ignore[assignment]  # two classes for one
    if not is_there(owner, field):
        return False
    if check.role is CheckRole.MISSING:
        owner.ClearField(name)
        return True
    if check.role is not CheckRole.VALUE:
        return False
    value = WRONG.get(check.op)
    if check.op is Op.LENGTH:
        value = rng.randbytes(check.argument + 1)
    elif check.op is Op.USERNAME:
        # No two alike: that would be a fault of its own.
        value = str(rng.getrandbits(64))
    elif check.op is Op.AT_LEAST:
        value = type(getattr(owner, name))()
    if value is None:
        return False
    if field.is_repeated:
        getattr(owner, name)[0] = value
    else:
        setattr(owner, name, value)
    return True


def messages_with_field(frame: Frame, check: FieldCheck) -> list[Message]:
    """Find the messages of a frame that have the field, or the oneof, of a check."""
    message = check.field.rpartition(".")[0]
    owners = {id(owner): (owner, name_of(field)) for owner, field in fields_of(frame)}
    return [owner for owner, name in owners.values() if name.rpartition(".")[0] == message]


CHECKS = [(rule.id, check) for rule in RULES if rule.strict is Severity.ERROR for check in rule.checks]


def inject(
    rng: random.Random, records: Sequence[bytes], count: int, *, edition: str, tries: int = 10_000
) -> list[InjectedFault]:
    """Inject faults into different frames; only those that cause errors in no other frame."""
    injected: dict[int, InjectedFault] = {}
    for _try in range(tries):
        if len(injected) == count:
            break
        index = rng.randrange(1, len(records))
        rule, check = rng.choice(CHECKS)
        frame = Frame.FromString(records[index])
        owners = messages_with_field(frame, check)
        if index in injected or not owners or not break_check(rng, rng.choice(owners), check):
            continue
        raw = frame.SerializeToString()
        rows = error_rows(findings([*records[:index], raw, *records[index + 1 :]], edition=edition))
        if rule in {name for name, _frame, _path in rows} and {number for _rule, number, _path in rows} == {index}:
            injected[index] = InjectedFault(index, rule, raw, rows)
    return [injected[index] for index in sorted(injected)]
