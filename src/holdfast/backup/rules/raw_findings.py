"""Raw findings, as the compiled modules report them, and their conversion to `Finding` objects."""

from array import array
from collections import Counter
from collections.abc import Iterator
from typing import Final, NamedTuple

from holdfast.backup.rules.finding import Finding
from holdfast.backup.rules.registry import RULES, rule_named, rule_numbered
from holdfast.backup.rules.rule import Breach, Edition, Profile, Severity
from holdfast.backup.rules.rule_numbers import number_of_rule
from holdfast.backup.wire import tables
from holdfast.backup.wire.layout import HEAD

__all__ = ["READABLE", "WHOLE", "Explainer", "RawFinding", "read_findings"]

READABLE: Final = number_of_rule("frame.readable")
WHOLE: Final = number_of_rule("stream.whole")
# The rules that are broken if another record is missing.
NEEDS_ANOTHER: Final = frozenset(
    rule.number
    for rule in RULES
    if (rule.breach is Breach.REFERENCE and rule.id.endswith(".known")) or rule.id == "account.first"
)

# The limits that the compiled modules cannot apply, by rule number, and how the size of a value is measured.
LIMITS: Final = {rule.number: rule.limit for rule in RULES if rule.limit is not None}
MEASURES: Final = {number: limit.measure for number, limit in LIMITS.items() if limit.measure is not None}
CROWDED: Final = rule_named("frame.crowded").number
UNKNOWN_FIELD: Final = rule_named("schema.field.unknown").number
UNKNOWN_VALUE: Final = rule_named("schema.value.unknown").number
DATES: Final = {
    rule_named("date.zero").number: 1,
    rule_named("date.past").number: 2,
    rule_named("date.future").number: 4,
}
# How often a warning about the dates of one field is repeated.
MOST_WARNINGS: Final = 5
LENGTHS: Final = frozenset(rule.number for rule in RULES if rule.id.endswith((".length", ".id", ".id.length")))


class RawFinding(NamedTuple):
    """A broken rule by its number; profile and edition decide whether it is a finding."""

    frame: int
    offset: int
    rule: int
    extra: int
    slot: int
    path: str


def read_findings(page: bytes, data: bytes) -> Iterator[RawFinding]:
    """Yield the findings of a buffer of findings; `data` is the buffer that was checked."""
    words = array("Q", page)
    at = 0
    while at < len(words):
        size = words[at]
        rule, frame, offset, extra, start, end = words[at + 1 : at + HEAD]
        steps = words[at + HEAD : at + size]
        at += size
        if rule in MEASURES:
            extra = int(MEASURES[rule](data[start:end]))
        path = ".".join(map(step, steps))
        yield RawFinding(frame, offset, rule, extra, steps[-1] >> 32 if steps else 0, path)


def step(word: int) -> str:
    """Return one step of a path."""
    name = tables.FIELDS[word >> 32].name
    element = word & 0xFFFFFFFF
    return f"{name}[{element - 1}]" if element else name


class Explainer:
    """Converts raw findings to findings of a profile, in file order.

    `muted` gets a bit for each kind of warning that need not be reported again for a field; `lost` is set once a
    record could not be read.
    """

    def __init__(self, profile: Profile, muted: bytearray) -> None:
        self._profile = profile
        self._muted = muted
        self._warned: Counter[tuple[int, int]] = Counter()
        self.lost = False

    def keep(self, raw: RawFinding) -> bool:
        """Return whether to keep a finding: warnings about dates are limited to a number per field."""
        mark = DATES.get(raw.rule)
        if mark is None:
            return True
        self._warned[raw.rule, raw.slot] += 1
        count = self._warned[raw.rule, raw.slot]
        if count >= MOST_WARNINGS:
            self._muted[raw.slot] |= mark
        return count <= MOST_WARNINGS

    def explain(self, raw: RawFinding, edition: Edition) -> Finding | None:
        """Return the finding, or None if the profile or the edition excludes the rule."""
        rule = rule_numbered(raw.rule)
        severity = rule.severity(self._profile, edition)
        if severity is None or is_allowed(raw, edition):
            return None
        if raw.rule == CROWDED:
            severity = Severity.ERROR if raw.extra & 1 else Severity.NOTE
        self.lost = self.lost or raw.rule in {READABLE, WHOLE}
        consequence = self.lost and raw.rule in NEEDS_ANOTHER
        if raw.rule == WHOLE and raw.path:
            return Finding(rule, severity, raw.frame, None, "", raw.path)
        return Finding(rule, severity, raw.frame, raw.offset, raw.path, detail(raw, rule.breach), consequence)


def is_allowed(raw: RawFinding, edition: Edition) -> bool:
    """Return whether the edition allows a reported value: the compiled checks apply the strictest edition."""
    limit = LIMITS.get(raw.rule)
    if limit is None:
        return False
    # The number of bytes is reported plus one: 0 means that the value is missing.
    return limit.allows(raw.extra if limit.measure else raw.extra - 1, edition)


def detail(raw: RawFinding, breach: Breach) -> str:
    """Return the detail of a finding, a length or a number of the format; empty if there is none."""
    if raw.rule == CROWDED:
        return f"{raw.extra >> 1:,} more"
    if raw.rule == WHOLE:
        if not raw.extra:
            return ""
        return f"{raw.extra:,} byte{'' if raw.extra == 1 else 's'} skipped at byte {raw.offset:,}"
    if raw.rule == UNKNOWN_FIELD:
        return f"field {raw.extra}"
    if raw.rule == UNKNOWN_VALUE:
        return f"value {raw.extra - (1 << 32) if raw.extra >> 31 else raw.extra}"
    if raw.rule in MEASURES:
        unit = LIMITS[raw.rule].unit
        return f"{raw.extra} {unit}" if unit else ""
    if breach is Breach.FORMAT and raw.extra and raw.rule in LENGTHS:
        return f"{raw.extra - 1} bytes"
    return ""
