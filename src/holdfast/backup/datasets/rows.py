"""Reads a backup in one pass into the tables of a dataset.

The compiled core reads messages into columns (`message_columns`), which become Arrow record batches, so that no
Python code runs for most messages; rare content is parsed by protobuf. Memory does not grow with the number of
messages.
"""

import gc
from collections import Counter
from collections.abc import Iterator, Sequence
from typing import Any, Final

from google.protobuf.message import DecodeError

from holdfast.backup.archives.identity import group_id, service_id, uuid_text
from holdfast.backup.archives.item_rows import DIRECTIONS, HAS_LINK, HAS_TEXT, IS_READ, IS_SMS, KINDS, read_items
from holdfast.backup.archives.rows import ROW, Rows
from holdfast.backup.archives.tolerance import Notes
from holdfast.backup.backup_reader import Backup
from holdfast.backup.datasets.message_columns import (
    MessageColumns,
    attachment_rows,
    other_frames,
    reaction_rows,
    read_messages,
)
from holdfast.backup.datasets.schema import TABLES, dataset_schema
from holdfast.backup.dates import END
from holdfast.backup.errors import DamagedBackup
from holdfast.backup.names import account_name, joined, recipient_name
from holdfast.backup.rules.checker import Checker
from holdfast.backup.rules.finding import Finding
from holdfast.backup.rules.message_checks import check_messages, merge
from holdfast.backup.rules.raw_findings import READABLE
from holdfast.backup.rules.validator import Validator
from holdfast.backup.schema import Frame
from holdfast.backup.schema import backup_pb2 as pb
from holdfast.backup.wire import Block, walk
from holdfast.backup.wire.stream import NO_CAP
from holdfast.backup.wire.varint import encode_varint

__all__ = ["TableReader"]

Row = tuple[Any, ...]
# Rows of a record batch: smaller batches cost time, larger ones memory.
BATCH_ROWS: Final = 20_000
# A batch ends earlier if texts are long; a string column of Arrow is limited to 2 GB.
BATCH_BYTES: Final = 1 << 26
LATEST: Final = (1 << 63) - 1
CHAT: Final = 1
PERSON_KINDS: Final = {"contact": "contact", "self": "self", "releaseNotes": "release_notes"}
CHAT_KINDS: Final = {**PERSON_KINDS, "group": "group", "distributionList": "distribution_list", "": "unknown"}


class TableReader:
    """Reads a backup into record batches; afterwards `messages` and `findings` have their counts."""

    def __init__(self, backup: Backup, size: int = BATCH_ROWS) -> None:
        self.messages = 0
        self.findings: Counter[str] = Counter()
        self._backup = backup
        self._size = size
        self._owner = ""
        self._people: dict[int, int] = {}
        self._chats: dict[int, int] = {}
        self._by_service_id: dict[str, int] = {}
        self._recipients: dict[int, tuple[str, str, str]] = {}
        self._chat_records: dict[int, pb.Chat] = {}
        self._chat_messages: Counter[int] = Counter()
        self._members: list[Row] = []
        self._waiting: dict[str, list[Row]] = {name: [] for name in TABLES if name != "messages"}
        self._columns = MessageColumns(0)
        self._message_batches: list[Any] = []
        self._notes = Notes()
        self._rich = Rows(self._people, {}, self._notes, lambda: 0)
        self._schemas = {name: dataset_schema(table) for name, table in TABLES.items()}

    def batches(self) -> Iterator[tuple[str, Any]]:
        """Yield table names and `pyarrow.RecordBatch` objects as they are filled; can be called once."""
        validator, checker = Validator(self._backup.header), Checker()
        was_enabled = gc.isenabled()
        # Millions of rows are created, none of them in reference cycles.
        gc.disable()
        try:
            for block in self._backup.blocks():
                raw_findings = validator.scan(block)
                items, newer = check_messages(checker, validator.state.reference_tables(), block)
                raw_findings = merge(raw_findings, items)
                if any(raw.rule == READABLE for raw in raw_findings):
                    check_frames(block)
                self._add_findings(validator.emit(raw_findings, newer=newer or validator.newer))
                self._add_block(block)
                yield from self._full_batches(self._size)
            self._add_findings(validator.end())
            self._add_people_and_chats()
            yield from self._full_batches(1)
        finally:
            if was_enabled:
                gc.enable()

    def _full_batches(self, size: int) -> Iterator[tuple[str, Any]]:
        import pyarrow as pa  # noqa: PLC0415  # an extra, imported on first use

        rows = self._columns.rows + sum(batch.num_rows for batch in self._message_batches)
        texts = len(self._columns.texts) + sum(batch.nbytes for batch in self._message_batches)
        if rows >= size or texts >= BATCH_BYTES:
            self._flush_columns(0)
            yield "messages", pa.concat_batches(self._message_batches)
            self._message_batches.clear()
        for name, rows in self._waiting.items():
            if len(rows) >= size:
                yield name, self._batch(name, rows)
                rows.clear()

    def _add_findings(self, findings: Iterator[Finding]) -> None:
        rows = self._waiting["findings"]
        for finding in findings:
            self.findings[finding.severity.value] += 1
            rows.append(
                (
                    finding.frame,
                    finding.rule.id,
                    finding.severity.value,
                    finding.path,
                    finding.detail,
                    finding.consequence,
                )
            )

    def _add_block(self, block: Block) -> None:
        """Read the frames of a block: first those that messages refer to."""
        data = block.data
        chat_items: list[tuple[int, pb.ChatItem]] = []
        for n, start, end in other_frames(data):
            number = block.index + n
            frame = parse_frame(data[start:end], number, block.offset + start)
            if frame.WhichOneof("item") == "chatItem":
                chat_items.append((number, frame.chatItem))
            else:
                self._add_other(frame, number)
        count = block.count
        if self._columns.rows + count > self._columns.capacity:
            self._flush_columns(max(count, BATCH_ROWS))
        columns = self._columns

        def add_special(number: int, start: int, end: int) -> None:
            self._add_message(columns, number, pb.ChatItem.FromString(data[start:end]))

        fault, frames, at = read_messages(
            data,
            block.index,
            self._people,
            self._chats,
            self._by_service_id,
            columns,
            self._waiting["reactions"],
            self._waiting["attachments"],
            add_special,
        )
        if fault:
            raise block.damaged(fault, frames, at)
        for number, chat_item in chat_items:
            self._add_message(columns, number, chat_item)

    def _flush_columns(self, capacity: int) -> None:
        """Convert the messages read so far to a record batch, and start columns of a new capacity."""
        if self._columns.rows:
            self._message_batches.append(self._message_batch(self._columns))
        self._columns = MessageColumns(capacity)

    def _add_message(self, columns: MessageColumns, number: int, chat_item: pb.ChatItem) -> None:
        """Add a message through protobuf, with its related rows."""
        raw = Frame(chatItem=chat_item).SerializeToString()
        (item,), *_rest = read_items(
            encode_varint(len(raw)) + raw, NO_CAP, self._people, self._chats, 0, -1, LATEST, {}, {}
        )
        rich, tables = self._rich, self._rich.tables
        self._notes.counts.clear()
        rich.add((*item[:ROW], (number, *item[ROW][1:])), chat_item, ())
        (row,) = rich.messages
        index, chat = columns.add_row(number, row), row[CHAT]
        for quote in tables["quote"]:
            if quote[1] == 0:
                columns.add_quote(index, quote)
        columns.attachments[index] = len(tables["attachment"])
        self._waiting["attachments"] += attachment_rows(number, chat, tables["attachment"])
        columns.reactions[index] = len(tables["reaction"])
        self._waiting["reactions"] += reaction_rows(number, chat, tables["reaction"])
        columns.revisions[index] = len(tables["revision"])
        for event in tables["update_event"][:1]:
            columns.events[index] = event[2]
        for _n, kind, _id, media, direction, state, started, ended, ringer, starter, read in tables["call"]:
            times, people = (started, ended), (ringer or None, starter or None)
            self._waiting["calls"].append(
                (number, chat or None, kind, media, direction, state, *times, *people, bool(read), None)
            )
        rich.clear()

    def _add_other(self, frame: Frame, number: int) -> None:
        """Read a frame that is not a message."""
        kind = frame.WhichOneof("item")
        if kind == "account":
            self._owner = account_name(frame.account)
        elif kind == "recipient":
            self._add_recipient(frame.recipient)
        elif kind == "chat":
            chat = frame.chat
            if 0 < chat.id <= LATEST:
                self._chats[chat.id] = chat.id
                self._chat_records.setdefault(chat.id, chat)
        elif kind == "adHocCall":
            call = frame.adHocCall
            name = self._recipients.get(call.recipientId, ("", "", ""))[1]
            state = self._notes.enum(call, "state")
            started = min(call.callTimestamp, LATEST) or None
            self._waiting["calls"].append(
                (number, None, "call_link", None, None, state, started, None, None, None, None, name or None)
            )

    def _add_recipient(self, recipient: pb.Recipient) -> None:
        """Read a recipient: a person, a group or another destination of a chat."""
        if not 0 < recipient.id <= LATEST or recipient.id in self._people:
            return
        self._people[recipient.id] = recipient.id
        kind, name = recipient.WhichOneof("destination") or "", recipient_name(recipient)
        public_id = group_id(recipient.group.masterKey).hex() if kind == "group" else ""
        self._recipients[recipient.id] = (kind, name, public_id)
        if kind == "group":
            self._add_members(recipient, public_id)
        if kind not in PERSON_KINDS:
            return
        person = recipient.contact
        aci, pni = uuid_text(person.aci), uuid_text(person.pni)
        for identifier in (aci, f"PNI:{pni}" if pni else None):
            if identifier:
                self._by_service_id.setdefault(identifier, recipient.id)
        contact = kind == "contact"
        self._waiting["people"].append(
            (
                recipient.id,
                PERSON_KINDS[kind],
                self._owner or name if kind == "self" else name,
                aci,
                pni,
                f"+{person.e164}" if person.e164 else None,
                person.username or None,
                joined(person.profileGivenName, person.profileFamilyName) or None,
                joined(person.systemGivenName, person.systemFamilyName) or None,
                joined(person.nickname.given, person.nickname.family) or None,
                person.note or None,
                person.blocked if contact else None,
                person.WhichOneof("registration") != "notRegistered" if contact else None,
            )
        )

    def _add_members(self, recipient: pb.Recipient, public_id: str) -> None:
        """Read the members of a group; they are resolved to people after all recipients were read."""
        snapshot, enum = recipient.group.snapshot, self._notes.enum
        add = self._members.append
        for member in snapshot.members:
            label = joined(member.labelEmoji, member.labelString) or None
            add((public_id, recipient.id, member.userId, "member", enum(member, "role"), label, None, None))
        for invited in snapshot.membersPendingProfileKey:
            member, by = invited.member, service_id(invited.addedByUserId) or None
            role, at = enum(member, "role"), time_of(invited.timestamp)
            add((public_id, recipient.id, member.userId, "invited", role, None, by, at))
        for asking in snapshot.membersPendingAdminApproval:
            add((public_id, recipient.id, asking.userId, "asking", None, None, None, time_of(asking.timestamp)))
        for banned in snapshot.members_banned:
            add((public_id, recipient.id, banned.userId, "banned", None, None, None, time_of(banned.timestamp)))

    def _add_people_and_chats(self) -> None:
        """Add the rows that are complete only at the end of a backup."""
        self._flush_columns(0)
        for group, recipient, raw, *rest in self._members:
            identifier = service_id(raw)
            self._waiting["members"].append(
                (group, recipient, self._by_service_id.get(identifier), identifier, *rest)
            )
        for number, chat in self._chat_records.items():
            kind, name, public_id = self._recipients.get(chat.recipientId, ("", "Unknown", ""))
            self._waiting["chats"].append(
                (
                    number,
                    chat.recipientId if chat.recipientId in self._people else None,
                    CHAT_KINDS.get(kind, "unknown"),
                    name,
                    public_id or None,
                    self._chat_messages[number],
                    chat.archived,
                    chat.pinnedOrder if chat.HasField("pinnedOrder") else None,
                    min(chat.expirationTimerMs, LATEST) if chat.HasField("expirationTimerMs") else None,
                    time_of(chat.muteUntilMs),
                    chat.markedUnread,
                )
            )

    def _message_batch(self, columns: MessageColumns) -> Any:
        """Convert message columns to a record batch."""
        import pyarrow as pa  # noqa: PLC0415  # an extra, imported on first use
        import pyarrow.compute as pc  # noqa: PLC0415  # an extra, imported on first use

        rows = columns.rows
        self.messages += rows

        def numbers(column: Any, kind: Any) -> Any:
            return pa.Array.from_buffers(kind, rows, [None, pa.py_buffer(column)])

        look = numbers(columns.look, pa.int32())

        def flag(bit: int) -> Any:
            return pc.not_equal(pc.bit_wise_and(look, bit), 0)

        def label(shift: int, mask: int, names: Sequence[str]) -> Any:
            # Every batch has the same dictionary, so that a row group has a single one.
            labels = [name for name in names if name]
            codes = [labels.index(name) if name else None for name in names]
            codes += [None] * (mask + 1 - len(names))
            indices = pa.array(codes, pa.int32()).take(pc.bit_wise_and(pc.shift_right(look, shift), mask))
            return pa.DictionaryArray.from_arrays(indices, labels)

        def nullable(column: Any, least: int = 0) -> Any:
            values = numbers(column, pa.int64())
            return pc.if_else(pc.greater_equal(values, least), values, None)

        def timestamp(values: Any) -> Any:
            # Readers reject a whole file for a timestamp out of range.
            return pc.if_else(pc.less(values, END), values, None).cast(pa.timestamp("ms", tz="UTC"))

        def sparse(by_row: dict[int, str]) -> Any:
            places: list[int | None] = [None] * rows
            for n, row in enumerate(by_row):
                places[row] = n
            return pa.array(list(by_row.values()), pa.string()).take(pa.array(places, pa.int32()))

        chats = nullable(columns.chat_id, 1)
        counted, counts = pc.value_counts(chats).flatten()
        self._chat_messages.update(dict(zip(counted.to_pylist(), counts.to_pylist(), strict=True)))
        # The bitmap of messages with a text is Arrow's validity bitmap.
        _none, has_text = flag(HAS_TEXT).buffers()
        incoming = pc.equal(pc.bit_wise_and(look, 15), DIRECTIONS.index("incoming"))
        sent = nullable(columns.sent)
        arrays = [
            numbers(columns.message_id, pa.int64()),
            chats,
            nullable(columns.author_id, 1),
            label(0, 15, DIRECTIONS),
            label(4, 31, KINDS),
            sparse(columns.events).dictionary_encode(),
            timestamp(sent),
            sent,
            timestamp(nullable(columns.received, 1)),
            pa.Array.from_buffers(
                pa.string(), rows, [has_text, pa.py_buffer(columns.text_ends), pa.py_buffer(columns.texts)]
            ),
            timestamp(nullable(columns.quoted_sent)),
            nullable(columns.quoted_author, 1),
            sparse(columns.quoted_texts),
            *(
                numbers(counts, pa.int32()).cast(pa.int64())
                for counts in (columns.attachments, columns.reactions, columns.revisions)
            ),
            flag(HAS_LINK),
            pc.if_else(incoming, flag(IS_READ), None),
            flag(IS_SMS),
            nullable(columns.expires_in),
            timestamp(nullable(columns.pinned)),
        ]
        schema = self._schemas["messages"]
        return pa.record_batch(arrays, schema=schema)

    def _batch(self, name: str, rows: Sequence[Row]) -> Any:
        """Convert rows of any other table to a record batch."""
        import pyarrow as pa  # noqa: PLC0415  # an extra, imported on first use

        schema = self._schemas[name]
        arrays = []
        for column, field, cells in zip(TABLES[name].columns, schema, zip(*rows, strict=True), strict=True):
            values: Sequence[Any] = cells
            if column.kind == "time":
                values = [value if value is not None and value < END else None for value in cells]
            arrays.append(pa.array(values, field.type))
        return pa.record_batch(arrays, schema=schema)


def time_of(value: int) -> int | None:
    """Return a time, clamped to 63 bits; None for 0."""
    return min(value, LATEST) or None


def check_frames(block: Block) -> None:
    """Raise `DamagedBackup` for the first frame that cannot be parsed."""
    walked = walk.walk(block.data, 0, NO_CAP)
    if walked.fault:
        raise block.damaged(walked.fault, walked.frames, walked.at)


def parse_frame(raw: bytes, number: int, offset: int) -> Frame:
    """Parse a frame."""
    try:
        return Frame.FromString(raw)
    except DecodeError:
        raise DamagedBackup("a record cannot be read", frame=number, offset=offset) from None
