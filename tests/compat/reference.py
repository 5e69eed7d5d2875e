"""Holds the validator against the reference validator, on whole backups and on mutations of them.

The reference is other people's program and no part of this project: install it into a folder of its own, and run
`python -m tests.compat.reference FOLDER EDITION COUNT [PURPOSE] [FILES...]`. Without files the mutations are of
made-up histories.
"""

import json
import os
import random
import subprocess
import sys
import tempfile
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

from google.protobuf.descriptor import Descriptor, FieldDescriptor
from google.protobuf.message import Message

from holdfast.backup.rules import Finding, Severity, Validator
from holdfast.backup.sample import sample_records
from holdfast.backup.schema import BackupInfo, Frame
from holdfast.backup.wire import FrameStream
from holdfast.backup.wire.varint import encode_varint

__all__ = ["Verdict", "ask", "differences", "judge", "mutations"]

SCRIPT = Path(__file__).with_name("reference_verdicts.mjs")
SHOWN = 40
Records = tuple[bytes, ...]
# What the specification asks for and the reference does not.
OURS_ALONE = {"account.first"}
# What the reference looks at when there are no more frames; here it is found where it stands.
AT_THE_END = {
    *("self.once", "release-notes.once", "chat-folder.all.once"),
    *(f"recipient.{what}.unique" for what in ("username", "e164", "aci", "pni", "group", "list", "call-link")),
}


@dataclass(frozen=True)
class Verdict:
    """What a validator says of a stream: the frame of its first error (0 header, -1 the end), and the error."""

    ok: bool
    frame: int = 0
    error: str = ""


def ask(folder: str, streams: Sequence[Records], purpose: str = "remote") -> list[Verdict]:
    """Ask the reference."""
    with tempfile.NamedTemporaryFile(suffix=".packed") as packed:
        for records in streams:
            data = b"".join(encode_varint(len(raw)) + raw for raw in records)
            packed.write(len(data).to_bytes(4, "little") + data)
        packed.flush()
        done = subprocess.run(
            ["node", str(SCRIPT), purpose, packed.name],
            env={**os.environ, "REFERENCE": folder},
            capture_output=True,
            check=True,
            text=True,
        )
    return [Verdict(**json.loads(line)) for line in done.stdout.splitlines()]


def findings(records: Records, edition: str, purpose: str = "remote") -> list[Finding]:
    """Validate a stream."""
    validator = Validator(records[0], edition=edition, purpose=purpose)  # type: ignore[arg-type]
    found = [finding for raw in records[1:] for finding in validator.check(raw)]
    return found + validator.finish()


def judge(found: Sequence[Finding]) -> list[tuple[int, str]]:
    """List the errors as frame and rule, the way the reference finds them: what is about the whole at the end."""
    errors = [
        (-1 if finding.frame is None or finding.rule.id in AT_THE_END else finding.frame, finding.rule.id)
        for finding in found
        if finding.severity is Severity.ERROR and finding.rule.id not in OURS_ALONE
    ]
    return sorted(errors, key=lambda error: error[0] == -1)


def read(path: Path) -> Records:
    """Take a file apart."""
    with path.open("rb") as source:
        stream = FrameStream(source)
        return (stream.header, *(frame.raw for frame in stream))


def fields_of(message: Message) -> Iterator[tuple[Message, FieldDescriptor]]:
    """Yield every field of the message and of those inside it, set or not."""
    descriptor: Descriptor = message.DESCRIPTOR  # type: ignore[assignment]  # the stubs know two classes for one
    yield from ((message, field) for field in descriptor.fields)
    for field, value in message.ListFields():
        if field.message_type is not None:
            for child in value if field.is_repeated else [value]:
                yield from fields_of(child)


def odd_value(rng: random.Random, field: FieldDescriptor, value: object) -> object:
    """Make up a value that may break a rule."""
    if field.type == FieldDescriptor.TYPE_STRING:
        return rng.choice(["", "x", "a" * 201, "é" * 101, "0", "1.5", ".", "name.01", "Name.0", "x" * 2100])
    if field.type == FieldDescriptor.TYPE_BYTES:
        old = value if isinstance(value, bytes) else b""
        return rng.choice([b"", old[:-1], old + b"\x01", bytes(16), bytes(17), b"\x01" * 17, bytes(32), bytes(33)])
    if field.type == FieldDescriptor.TYPE_BOOL:
        return not value
    if field.type == FieldDescriptor.TYPE_ENUM:
        assert field.enum_type is not None
        return rng.choice([0, 99, *field.enum_type.values_by_number])
    if field.type == FieldDescriptor.TYPE_FLOAT:
        return rng.choice([0.0, 0.5, 1.0])
    if field.type in (FieldDescriptor.TYPE_FIXED32, FieldDescriptor.TYPE_UINT32):
        return rng.choice([0, 1, 2, 5, 60, 2399, 2400, 0xFF112233, 0x7F112233, (1 << 32) - 1])
    numbers = [0, 1, 2, 3, 7, 60_000, 90_000_000, 200, 201, 202, 1_715_636_551_000, 8_640_000_000_000_001]
    return rng.choice([*numbers, (1 << 63) - 1, (1 << 64) - 1])


def mutate(rng: random.Random, records: Records) -> Records:
    """Change one thing in a stream."""
    made = list(records)
    at = rng.randrange(len(made))
    whim = rng.random()
    if whim < 0.04 and at:
        del made[at]
        return tuple(made)
    if whim < 0.08 and at:
        made.insert(rng.randrange(1, len(made) + 1), made[at])
        return tuple(made)
    if whim < 0.11 and at:
        made.insert(rng.randrange(1, len(made)), made.pop(at))
        return tuple(made)
    message: Message = (Frame if at else BackupInfo).FromString(made[at])
    places = list(fields_of(message))
    if not places:
        return tuple(made)
    # Fields that are there are the more interesting ones.
    there = [place for place in places if place[1] in dict(place[0].ListFields())]
    owner, field = rng.choice(there if there and rng.random() < 0.7 else places)
    change(rng, owner, field)
    made[at] = message.SerializeToString()
    return tuple(made)


def change(rng: random.Random, owner: Message, field: FieldDescriptor) -> None:
    """Change one field."""
    value = getattr(owner, field.name)
    if field.is_repeated:
        if len(value) and rng.random() < 0.5:
            if rng.random() < 0.5:
                del value[rng.randrange(len(value))]
            else:
                value.append(value[rng.randrange(len(value))])
        elif field.message_type is not None:
            value.add()
        else:
            value.append(odd_value(rng, field, None))
    elif rng.random() < 0.3:
        owner.ClearField(field.name)
    elif field.message_type is not None:
        value.SetInParent()
        if rng.random() < 0.3:
            value.Clear()
            value.SetInParent()
    else:
        setattr(owner, field.name, odd_value(rng, field, value))


def mutations(rng: random.Random, originals: Sequence[Records], count: int) -> list[Records]:
    """Change streams, most of them in one place and some in more."""
    made = []
    for _ in range(count):
        records = mutate(rng, rng.choice(originals))
        while rng.random() < 0.15:
            records = mutate(rng, records)
        made.append(records)
    return made


def differences(
    folder: str, streams: Sequence[Records], edition: Literal["spec", "current"], purpose: str = "remote"
) -> Iterator[tuple[Records, Verdict, list[tuple[int, str]]]]:
    """Yield the streams on which the verdicts differ, or the first errors are in different frames."""
    for records, verdict in zip(streams, ask(folder, streams, purpose), strict=True):
        errors = judge(findings(records, edition, purpose))
        if verdict.ok != (not errors) or (errors and errors[0][0] != verdict.frame):
            yield records, verdict, errors


def main() -> int:
    """Print the differences, grouped."""
    folder, edition, count, *files = sys.argv[1:]
    assert edition in {"spec", "current"}
    chosen: Literal["spec", "current"] = "spec" if edition == "spec" else "current"
    purpose = files.pop(0) if files and files[0] in {"remote", "transfer", "takeout"} else "remote"
    originals = [read(Path(file)) for file in files] or [
        tuple(sample_records(60, seed, edition=chosen)) for seed in range(1, 20)
    ]
    rng = random.Random(1)
    groups: Counter[str] = Counter()
    for stage, streams in (("as they are", originals), ("mutated", mutations(rng, originals, int(count)))):
        groups.clear()
        for _records, verdict, errors in differences(folder, streams, chosen, purpose):
            theirs = "ok" if verdict.ok else f"{verdict.frame}: {verdict.error}"
            groups[f"reference: {theirs}\n     ours: {errors[:3] or 'ok'}"] += 1
        sys.stdout.write(f"{stage}: {len(streams)} streams, {sum(groups.values())} differences\n")
        for text, number in groups.most_common(SHOWN):
            sys.stdout.write(f"{number:4} {text}\n")
    return 0


if __name__ == "__main__":
    sys.exit(main())
