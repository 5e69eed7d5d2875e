"""The schema equals the specification."""

import subprocess
import sys
from pathlib import Path

from google.protobuf.descriptor import Descriptor, EnumDescriptor, FieldDescriptor
from google.protobuf.descriptor_pb2 import DescriptorProto

from holdfast.backup.schema import RECORDS, backup_pb2
from tests.backup.schema import spec_table

PACKAGE = "holdfast.backup."
SCALARS = {
    FieldDescriptor.TYPE_UINT64: "uint64",
    FieldDescriptor.TYPE_UINT32: "uint32",
    FieldDescriptor.TYPE_BOOL: "bool",
    FieldDescriptor.TYPE_STRING: "string",
    FieldDescriptor.TYPE_BYTES: "bytes",
    FieldDescriptor.TYPE_FIXED32: "fixed32",
    FieldDescriptor.TYPE_FLOAT: "float",
}


def local(full_name: str) -> str:
    """Drop the package from a full name."""
    return full_name.removeprefix(PACKAGE)


def all_messages() -> dict[str, Descriptor]:
    """Every message of the compiled schema by its nested name."""
    messages: dict[str, Descriptor] = {}
    waiting = list(backup_pb2.DESCRIPTOR.message_types_by_name.values())
    while waiting:
        message = waiting.pop()
        messages[local(message.full_name)] = message
        waiting.extend(message.nested_types)
    return messages


def all_enums() -> dict[str, EnumDescriptor]:
    """Every enum of the compiled schema by its nested name."""
    enums = list(backup_pb2.DESCRIPTOR.enum_types_by_name.values())
    for message in all_messages().values():
        enums.extend(message.enum_types)
    return {local(enum.full_name): enum for enum in enums}


def describe(field: FieldDescriptor) -> str:
    """Write a compiled field the way the table writes it."""
    if field.message_type is not None:
        kind = local(field.message_type.full_name)
    elif field.enum_type is not None:
        kind = local(field.enum_type.full_name)
    else:
        kind = SCALARS[field.type]
    oneof = field.containing_oneof
    if field.is_repeated:
        return f"{field.number} rep {kind} {field.name}"
    if oneof is not None and not oneof.name.startswith("_"):
        return f"{field.number} oneof {kind} {field.name} in {oneof.name}"
    presence = "plain" if oneof is None else "opt"
    return f"{field.number} {presence} {kind} {field.name}"


def reserved(message: Descriptor) -> list[int]:
    """List the numbers a message refuses to use again."""
    proto = DescriptorProto()
    message.CopyToProto(proto)
    return [number for span in proto.reserved_range for number in range(span.start, span.end)]


def test_every_field_is_as_the_specification_writes_it() -> None:
    """Names, numbers, types, presence and oneofs agree with the hand-typed table, in both directions."""
    expected: dict[str, set[str]] = {name: set(fields) for name, fields in spec_table.SPEC_FIELDS.items()}
    for name, fields in spec_table.LATER_FIELDS.items():
        expected.setdefault(name, set()).update(fields)
    actual = {name: {describe(field) for field in message.fields} for name, message in all_messages().items()}
    assert expected == actual


def test_every_enum_value_is_as_the_specification_writes_it() -> None:
    """Enum names and numbers agree with the hand-typed table, in both directions."""
    expected = {**spec_table.SPEC_ENUMS, **spec_table.LATER_ENUMS}
    actual = {name: dict(enum.values_by_name.items()) for name, enum in all_enums().items()}
    assert expected == {
        name: {value: item.number for value, item in values.items()} for name, values in actual.items()
    }


def test_retired_numbers_stay_reserved() -> None:
    """The retired field numbers of every message are reserved."""
    expected = {name: sorted(numbers) for name, numbers in spec_table.SPEC_RESERVED.items()}
    for name, numbers in spec_table.LATER_RESERVED.items():
        expected[name] = sorted([*expected.get(name, []), *numbers])
    actual = {name: sorted(reserved(message)) for name, message in all_messages().items()}
    assert expected == {name: numbers for name, numbers in actual.items() if numbers}


def test_records_are_named_by_their_field_number() -> None:
    """The index of a record name is the field number in the frame."""
    assert RECORDS[1] == "account"
    assert RECORDS[4] == "chatItem"
    assert len(RECORDS) == 9


def test_generated_classes_are_fresh(tmp_path: Path) -> None:
    """`make schema` would change nothing: the classes in the tree come from these .proto files."""
    code = (
        "import pathlib, sys, tools.schema; tools.schema.generate(pathlib.Path('src'), pathlib.Path(sys.argv[1]))"
    )
    subprocess.run([sys.executable, "-c", code, str(tmp_path)], check=True, capture_output=True)
    generated = tmp_path / "holdfast/backup/schema"
    expected = {path.name: path.read_text() for path in Path("src/holdfast/backup/schema").glob("*_pb2.py*")}
    assert set(expected) == {"backup_pb2.py", "backup_pb2.pyi", "local_pb2.py", "local_pb2.pyi"}
    assert expected == {path.name: path.read_text() for path in generated.iterdir()}
