"""Reads a backup once, frame by frame, into the tables of a dataset.

Messages are read by the compiled core that also fills archives; columns are made of its rows by Arrow, so that no
Python code runs for a plain message. What a message has besides text goes through `PartReader`, and what is rare
through protobuf. Memory does not grow with the number of messages.
"""

import gc
from bisect import bisect_right
from collections import Counter, defaultdict
from collections.abc import Iterator, Mapping, Sequence
from typing import Any, Final

from google.protobuf.message import DecodeError

from holdfast.backup.archives.identity import group_id, service_id, uuid_text
from holdfast.backup.archives.item_rows import (
    DIRECTIONS,
    HAS_LINK,
    HAS_TEXT,
    IS_READ,
    IS_SMS,
    KINDS,
    ODD,
    PARTS,
    RICH,
    Item,
    read_items,
)
from holdfast.backup.archives.part_rows import PartReader
from holdfast.backup.archives.rows import ROW, Rows
from holdfast.backup.archives.tolerance import Notes
from holdfast.backup.backup_reader import Backup
from holdfast.backup.datasets.schema import TABLES, dataset_schema
from holdfast.backup.errors import DamagedBackup
from holdfast.backup.exports.periods import END
from holdfast.backup.names import account_name, joined, recipient_name
from holdfast.backup.rules.checker import Checker
from holdfast.backup.rules.finding import Finding
from holdfast.backup.rules.validator import Validator, examine, merge
from holdfast.backup.schema import Frame
from holdfast.backup.schema import backup_pb2 as pb
from holdfast.backup.wire import Block, walk
from holdfast.backup.wire.stream import NO_CAP
from holdfast.backup.wire.varint import encode_varint

__all__ = ["TableReader"]

Row = tuple[Any, ...]
# Rows of a record batch: fewer cost time for each batch, more cost memory.
BATCH_ROWS: Final = 20_000
LATEST: Final = (1 << 63) - 1
WHAT, REACTIONS, PART_PLACES = 2, 4, 5
CHAT, AUTHOR, SENT, RECEIVED, LOOK, TEXT, EXPIRES_IN, PINNED = 1, 2, 3, 5, 9, 10, 13, 14
# Where a quote has when and by whom what it quotes was sent, and what that said.
QUOTED_SENT, QUOTED_AUTHOR, QUOTED_TEXT = 2, 3, 5
# What makes a message more than its text.
SPECIAL: Final = RICH | ODD | PARTS
PERSON_KINDS: Final = {"contact": "contact", "self": "self", "releaseNotes": "release_notes"}
CHAT_KINDS: Final = {**PERSON_KINDS, "group": "group", "distributionList": "distribution_list", "": "unknown"}


class TableReader:
    """Reads a backup into record batches; afterwards `messages` and `findings` tell how many there were."""

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
        self._waiting: dict[str, list[Row]] = {name: [] for name in TABLES}
        self._ids: list[int] = []
        self._quotes: dict[int, Row] = {}
        self._events: dict[int, str] = {}
        self._counts: dict[str, dict[int, int]] = defaultdict(dict)
        self._notes = Notes()
        self._rich = Rows(self._people, {}, self._notes, lambda: 0)
        self._schemas = {name: dataset_schema(table) for name, table in TABLES.items()}

    def batches(self) -> Iterator[tuple[str, Any]]:
        """Yield each table's name and a `pyarrow.RecordBatch` of it, as they are filled; read once."""
        validator, checker = Validator(self._backup.header), Checker()
        collected = gc.isenabled()
        # Millions of rows are made, none of which form a circle.
        gc.disable()
        try:
            for block in self._backup.blocks():
                found = validator.scan(block)
                items, newer = examine(checker, validator.state.reference_tables(), block)
                self._add_findings(validator.emit(merge(found, items), newer=newer or validator.newer))
                self._add_block(block)
                yield from self._filled(self._size)
            self._add_findings(validator.end())
            self._add_people_and_chats()
            yield from self._filled(1)
        finally:
            if collected:
                gc.enable()

    def _filled(self, size: int) -> Iterator[tuple[str, Any]]:
        for name, rows in self._waiting.items():
            if len(rows) >= size:
                yield name, self._message_batch(rows) if name == "messages" else self._batch(name, rows)
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
        """Take in the frames of a block: those that messages refer to first."""
        data = block.data
        walked = walk.walk(data, 0, NO_CAP)
        if walked.fault:
            raise block.damaged(walked.fault, walked.frames, walked.at)
        items, others, frames, fault, at, *_place = self._read(data)
        if fault:
            raise block.damaged(fault, frames, at)
        extra: list[tuple[int, Frame]] = []
        if others:
            for n, (before, start, end) in enumerate(others):
                number = block.index + before + n
                frame = parse_frame(data[start:end], number, block.offset + start)
                if frame.WhichOneof("item") == "chatItem":
                    extra.append((number, frame))
                else:
                    self._add_other(frame, number)
            items = self._read(data)[0]
        places = [before for before, _start, _end in others]
        begin = len(self._ids)
        if others:
            self._ids += [block.index + n + bisect_right(places, n) for n in range(len(items))]
        else:
            self._ids += range(block.index, block.index + len(items))
        rows = self._waiting["messages"]
        rows += [item[ROW] for item in items]
        parts = PartReader(data, self._people, self._by_service_id)
        for n, item in enumerate(items):
            if item[WHAT] & SPECIAL or item[REACTIONS] is not None:
                rows[begin + n] = self._complete(begin + n, item, data, parts)
        for number, frame in extra:
            self._ids.append(number)
            rows.append(self._complete(len(rows), *self._read_again(frame.chatItem)))

    def _read_again(self, chat_item: pb.ChatItem) -> tuple[Item, bytes, PartReader]:
        """Read a message of which the core is not sure as protobuf writes it, alone in its frame."""
        raw = Frame(chatItem=chat_item).SerializeToString()
        data = encode_varint(len(raw)) + raw
        return self._read(data)[0][0], data, PartReader(data, self._people, self._by_service_id)

    def _read(self, data: bytes) -> tuple[list[Item], list[tuple[int, int, int]], int, int, int, int, int]:
        return read_items(data, NO_CAP, self._people, self._chats, 0, -1, LATEST, {}, {})

    def _complete(self, place: int, item: Item, data: bytes, parts: PartReader) -> Row:
        """Add what a message has besides text, and return its row; `place` is that in the batch."""
        what, number = item[WHAT], self._ids[place]
        row: Row = item[ROW]
        if what & ODD:
            again = self._read_again(pb.ChatItem.FromString(data[item[0] : item[1]]))
            return self._complete_rich(place, again[0], again[1])
        if what & RICH or (what & PARTS and not parts.read(number, item[PART_PLACES])):
            return self._complete_rich(place, item, data)
        if what & PARTS:
            for quote in parts.quotes:
                self._quotes[place] = quote
            self._add_attachments(place, row[CHAT], parts.attachments)
            if parts.links:
                row = (*row[:LOOK], row[LOOK] | HAS_LINK, *row[LOOK + 1 :])
        if item[REACTIONS] is not None:
            self._add_reactions(place, row[CHAT], item[REACTIONS])
        return row

    def _complete_rich(self, place: int, item: Item, data: bytes) -> Row:
        """Add what protobuf has to read of a message, and return its row."""
        rich, number = self._rich, self._ids[place]
        row = (number, *item[ROW][1:])
        self._notes.found.clear()
        rich.add((*item[:ROW], row), pb.ChatItem.FromString(data[item[0] : item[1]]), ())
        # A dataset has no receipts, which stand last.
        row, tables, chat = rich.messages[0][:-1], rich.tables, row[CHAT]
        for quote in tables["quote"]:
            if quote[1] == 0:
                self._quotes[place] = quote
        self._add_attachments(place, chat, tables["attachment"])
        self._add_reactions(place, chat, tables["reaction"])
        if tables["revision"]:
            self._counts["revisions"][place] = len(tables["revision"])
        for event in tables["update_event"][:1]:
            self._events[place] = event[2]
        for _n, kind, _id, media, direction, state, started, ended, ringer, starter, read in tables["call"]:
            times, people = (started, ended), (ringer or None, starter or None)
            self._waiting["calls"].append(
                (number, chat or None, kind, media, direction, state, *times, *people, bool(read), None)
            )
        rich.clear()
        return row

    def _add_reactions(self, place: int, chat: int, rows: Sequence[Row]) -> None:
        if rows:
            number = self._ids[place]
            self._counts["reactions"][place] = len(rows)
            self._waiting["reactions"] += [(number, chat or None, one[2] or None, one[3], one[4]) for one in rows]

    def _add_attachments(self, place: int, chat: int, rows: Sequence[Row]) -> None:
        if not rows:
            return
        number = self._ids[place]
        self._counts["attachments"][place] = len(rows)
        self._waiting["attachments"] += [
            (
                number,
                chat or None,
                one[1],
                one[2],
                one[3],
                one[4] or None,
                one[5] or None,
                one[6],
                one[7] if one[7] >= 0 else None,
                one[8] if one[8] >= 0 else None,
                one[9] or None,
                one[11] or None,
                one[12] or None,
                one[13] or None,
            )
            for one in rows
        ]

    def _add_other(self, frame: Frame, number: int) -> None:
        """Take in a frame that is not a message."""
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
        """Take in a person, a group or whatever else a chat can be with."""
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
        for known in (aci, f"PNI:{pni}" if pni else None):
            if known:
                self._by_service_id.setdefault(known, recipient.id)
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
        """Take in everybody who has to do with a group; who they are is known when all people were read."""
        shot, enum = recipient.group.snapshot, self._notes.enum
        add = self._members.append
        for member in shot.members:
            label = joined(member.labelEmoji, member.labelString) or None
            add((public_id, recipient.id, member.userId, "member", enum(member, "role"), label, None, None))
        for invited in shot.membersPendingProfileKey:
            member, by = invited.member, service_id(invited.addedByUserId) or None
            role, at = enum(member, "role"), time_of(invited.timestamp)
            add((public_id, recipient.id, member.userId, "invited", role, None, by, at))
        for asking in shot.membersPendingAdminApproval:
            add((public_id, recipient.id, asking.userId, "asking", None, None, None, time_of(asking.timestamp)))
        for banned in shot.members_banned:
            add((public_id, recipient.id, banned.userId, "banned", None, None, None, time_of(banned.timestamp)))

    def _add_people_and_chats(self) -> None:
        """Take in what is complete at the end of a backup only."""
        self._chat_messages.update(row[CHAT] for row in self._waiting["messages"])
        for group, recipient, raw, *rest in self._members:
            known = service_id(raw)
            self._waiting["members"].append((group, recipient, self._by_service_id.get(known), known, *rest))
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

    def _message_batch(self, rows: Sequence[Row]) -> Any:
        """Make a record batch of messages, a column at a time."""
        import pyarrow as pa  # noqa: PLC0415  # an extra, imported on first use
        import pyarrow.compute as pc  # noqa: PLC0415  # an extra, imported on first use

        self.messages += len(rows)
        ids = self._ids
        cells = list(zip(*rows, strict=True))
        self._chat_messages.update(cells[CHAT])
        look = pa.array(cells[LOOK], pa.int64())

        def flag(bit: int) -> Any:
            return pc.not_equal(pc.bit_wise_and(look, bit), 0)

        def label(shift: int, names: Sequence[str]) -> Any:
            places = pc.bit_wise_and(pc.shift_right(look, shift), 15 if not shift else 31)
            names = [*names, *[""] * (32 - len(names))]
            return pa.array([name or None for name in names]).take(places).dictionary_encode()

        def known(column: int, least: int = 0) -> Any:
            values = pa.array(cells[column], pa.int64())
            return pc.if_else(pc.greater_equal(values, least), values, None)

        def moment(values: Any) -> Any:
            # Readers refuse a whole file for a time that no calendar has.
            return pc.if_else(pc.less(values, END), values, None).cast(pa.timestamp("ms", tz="UTC"))

        def sparse(found: Mapping[int, Any], kind: Any, default: int | None = None) -> Any:
            values: list[Any] = [default] * len(ids)
            for place, value in found.items():
                values[place] = value
            return pa.array(values, kind)

        def quoted(column: int) -> dict[int, Any]:
            return {place: quote[column] for place, quote in self._quotes.items()}

        incoming = pc.equal(pc.bit_wise_and(look, 15), DIRECTIONS.index("incoming"))
        sent = known(SENT)
        schema = self._schemas["messages"]
        arrays = [
            pa.array(ids, pa.int64()),
            known(CHAT, 1),
            known(AUTHOR, 1),
            label(0, DIRECTIONS),
            label(4, KINDS),
            sparse(self._events, pa.string()).dictionary_encode(),
            moment(sent),
            sent,
            moment(known(RECEIVED, 1)),
            pc.if_else(flag(HAS_TEXT), pa.array(cells[TEXT], pa.string()), None),
            moment(sparse(quoted(QUOTED_SENT), pa.int64())),
            sparse({place: who or None for place, who in quoted(QUOTED_AUTHOR).items()}, pa.int64()),
            sparse(quoted(QUOTED_TEXT), pa.string()),
            *(sparse(self._counts[name], pa.int64(), 0) for name in ("attachments", "reactions", "revisions")),
            flag(HAS_LINK),
            pc.if_else(incoming, flag(IS_READ), None),
            flag(IS_SMS),
            known(EXPIRES_IN),
            moment(known(PINNED)),
        ]
        self._ids = []
        self._quotes.clear()
        self._events.clear()
        self._counts.clear()
        return pa.record_batch(
            [one.cast(field.type) for one, field in zip(arrays, schema, strict=True)], schema=schema
        )

    def _batch(self, name: str, rows: Sequence[Row]) -> Any:
        """Make a record batch of rows of any other table."""
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
    """Return a time, None for one that is not set."""
    return min(value, LATEST) or None


def parse_frame(raw: bytes, number: int, offset: int) -> Frame:
    """Parse a frame."""
    try:
        return Frame.FromString(raw)
    except DecodeError:
        raise DamagedBackup("a record cannot be read", frame=number, offset=offset) from None
