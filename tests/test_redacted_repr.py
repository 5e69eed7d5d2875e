"""The repr of frames, records, rows, findings, keys and errors, which shows no user content."""

import dataclasses
import importlib
import inspect
import io
import pkgutil
import traceback
from collections.abc import Iterator
from types import ModuleType
from typing import Any

import msgspec
import pytest

import holdfast.backup
import holdfast.hosting
import holdfast.web
from holdfast import backup
from holdfast.backup import archives, errors
from holdfast.backup.schema import BackupInfo, Frame, backup_pb2
from tests.backup.container.vectors import SET_B
from tests.backup.streams import KEYS, container_of, sample, stream_of

MARK = "words nobody else may read"
# What has texts that this program wrote itself: rules, tables, names of columns.
OWN_WORDS = (
    "holdfast.backup.Finding",
    "holdfast.backup.Rule",
    "holdfast.backup.rules.",
    "holdfast.backup.wire.unknown.Unknown",
    "holdfast.backup.file_types.FileType",
    "holdfast.backup.datasets.schema.",
    "holdfast.backup.exports.tables.",
    "holdfast.backup.table_columns.Column",
    "holdfast.backup.exports.periods.Period",
    "holdfast.backup.repairs.plan.Step",
    "holdfast.backup.repairs.plan.RemainingError",
    "holdfast.backup.repairs.plan.RepairPlan",
)
SECRETS = ("password", "token", "secret", "passphrase", "authorization", "credential", "sha1")
# What only counts secrets, names them, or holds what wraps them itself.
NO_SECRETS = (
    "holdfast.hosting.access.Actor",
    "holdfast.hosting.data_folder.FirstStart",
    "holdfast.hosting.app.App",
    "holdfast.hosting.store.accounts.Account",
    "holdfast.web.settings.hook_forms.HookKind",
)
NUMBERS = {"int", "bool", "float", "int | None", "bool | None", "float | None"}
TEXT = backup_pb2.Text(body=MARK)
PLANTED: dict[str, object] = {
    "text": MARK,
    "bytes": MARK.encode(),
    "list": [MARK],
    "tuple": (1, MARK),
    "set": {MARK},
    "key": {MARK: 1},
    "value": {1: MARK},
    "message": TEXT,
    "array": bytearray(MARK.encode()),
}


def record_classes(package: ModuleType = holdfast.backup) -> Iterator[type]:
    """Find every class of a package that is made of fields."""
    for module in pkgutil.walk_packages(package.__path__, f"{package.__name__}."):
        if module.name.endswith(("_pb2", ".env")):
            continue
        for value in vars(importlib.import_module(module.name)).values():
            if inspect.isclass(value) and value.__module__ in {module.name, "holdfast.backup"} and names_of(value):
                yield value


def names_of(cls: type) -> tuple[str, ...]:
    """List the fields of a dataclass, a struct or a named tuple."""
    if dataclasses.is_dataclass(cls):
        return tuple(field.name for field in dataclasses.fields(cls))
    if issubclass(cls, msgspec.Struct):
        return cls.__struct_fields__
    return getattr(cls, "_fields", ())


def make_instance(cls: type, value: object) -> object:
    """Create an instance with 0 in every number field, and the value in all other fields."""
    kinds = {name: kind for base in cls.__mro__ for name, kind in getattr(base, "__annotations__", {}).items()}
    words = {
        name: getattr(kind, "__forward_arg__", kind.__name__ if isinstance(kind, type) else str(kind))
        for name, kind in kinds.items()
    }
    values = {name: 0 if words[name] in NUMBERS else value for name in names_of(cls)}
    if issubclass(cls, msgspec.Struct | tuple):
        return cls(**values)
    instance: Any = object.__new__(cls)
    for name, content in values.items():
        object.__setattr__(instance, name, content)
    return instance


CLASSES = {f"{one.__module__}.{one.__qualname__}": one for one in record_classes()}


def test_the_classes_are_found() -> None:
    """More than 200 classes are found, without which the next test would check nothing."""
    assert len(CLASSES) > 200
    assert {"holdfast.backup.Frame", "holdfast.backup.Message", "holdfast.backup.media.Pointer"} <= set(CLASSES)


def test_no_model_of_the_host_shows_a_password_or_a_token() -> None:
    """The repr of a form or response model does not show its fields with secrets."""
    showing: list[str] = []
    hidden: list[str] = []
    for package in (holdfast.hosting, holdfast.web):
        for cls in record_classes(package):
            secrets = [name for name in names_of(cls) if any(word in name for word in SECRETS)]
            if secrets:
                shown = MARK in repr(make_instance(cls, MARK))
                (showing if shown else hidden).append(f"{cls.__module__}.{cls.__qualname__} {secrets}")
    assert [name for name in showing if not name.startswith(NO_SECRETS)] == []
    assert len(hidden) > 20


@pytest.mark.parametrize("kind", PLANTED)
def test_no_class_shows_what_is_in_its_fields(kind: str) -> None:
    """No repr shows a field value of any type or nesting, except in classes with constant texts, like rules."""
    showing = []
    for name, cls in CLASSES.items():
        if name.startswith(OWN_WORDS):
            continue
        instance = make_instance(cls, PLANTED[kind])
        if MARK in repr(instance) or MARK in str(instance) or MARK in f"{instance}" or MARK in repr([instance]):
            showing.append(name)
    assert showing == []


def test_no_record_shows_what_is_in_it() -> None:
    """The repr of a protobuf message has its type and size instead of its content."""
    frames = [Frame.FromString(raw) for raw in sample(200)[1:]]
    items = [frame.chatItem for frame in frames if frame.WhichOneof("item") == "chatItem"]
    bodies = [item.standardMessage.text.body for item in items if item.standardMessage.text.body]
    assert len(bodies) > 20
    text = " ".join(f"{frame!r} {frame} {frame.chatItem!r} {[frame]}" for frame in frames)
    assert not any(body in text for body in bodies if len(body) > 8)
    assert "<Frame, " in text
    for described in message_classes(backup_pb2.DESCRIPTOR.message_types_by_name.values()):
        assert repr(described()) == f"<{described.DESCRIPTOR.name}, 0 bytes>"
    header = BackupInfo(mediaRootBackupKey=MARK.encode(), currentAppVersion=MARK)
    assert MARK not in repr(header)


def message_classes(descriptors: Any) -> Iterator[Any]:
    """Return the class of every protobuf message, nested ones included."""
    for descriptor in descriptors:
        yield descriptor._concrete_class
        yield from message_classes(descriptor.nested_types)


def test_an_opened_backup_its_frames_and_its_findings_show_nothing() -> None:
    """The repr of a backup, its blocks, frames, info, findings and keys has no content and no key."""
    records = sample(60)
    texts = [name.decode(errors="ignore") for name in names_in(records)]
    with backup.open(io.BytesIO(stream_of(records))) as source:
        representations = [repr(source), *(repr(block) for block in source.blocks()), *map(repr, source)]
    representations.append(repr(backup.info(io.BytesIO(stream_of(records)))))
    findings = list(backup.validate(io.BytesIO(stream_of(records[:9] + records[40:]))))
    representations += map(repr, findings)
    representations.append(repr(KEYS))
    everything = "\n".join(representations)
    assert texts
    assert findings
    assert not any(text in everything for text in texts)
    assert SET_B.pool not in everything


def names_in(records: tuple[bytes, ...]) -> list[bytes]:
    """List the names of people in a sample."""
    frames = [Frame.FromString(raw) for raw in records[1:]]
    names = {frame.recipient.contact.profileGivenName.encode() for frame in frames}
    return [name for name in names if len(name) > 3]


def test_an_archive_row_and_a_hit_show_nothing(tmp_path: Any) -> None:
    """Rows of an archive and search hits have reprs without content."""
    with archives.open(tmp_path / "a.archive", create=True) as archive:
        archive.add(backup.open(io.BytesIO(stream_of(sample(60)))))
        chat = archive.chats()[0]
        rows: list[Any] = [chat, *archive.people(), *archive.messages(chat.id)]
        texts = [row.text for row in rows if getattr(row, "text", None)]
        hits = archive.search(max(texts, key=len).split()[0])
    names = [row.name for row in rows if getattr(row, "name", None)]
    shown = repr(rows) + repr(hits) + repr(hits.hits)
    assert hits.hits
    assert not any(text in shown for text in (*texts, *names) if len(text) > 5)


def test_a_traceback_of_a_damaged_backup_shows_nothing() -> None:
    """The rest of a truncated record is an attribute of the error, and not in its message or arguments."""
    raw = Frame(
        chatItem=backup_pb2.ChatItem(standardMessage=backup_pb2.StandardMessage(text=TEXT))
    ).SerializeToString()
    stream = stream_of([sample(5)[0], raw])
    with pytest.raises(errors.DamagedBackup) as caught:
        list(backup.open(io.BytesIO(stream[:-3])))
    assert MARK.encode()[:10] in caught.value.rest
    message = "".join(traceback.format_exception(caught.value)) + repr(caught.value) + repr(caught.value.args)
    assert MARK[:10] not in message
    changed = bytearray(container_of(sample(5)))
    changed[-1] ^= 1
    with pytest.raises(errors.DamagedContainer) as told_of:
        backup.open(io.BytesIO(changed), KEYS)
    assert SET_B.pool not in "".join(traceback.format_exception(told_of.value))
