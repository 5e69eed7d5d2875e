"""Reads what the core writes on its pages, and makes findings of it."""

from array import array
from collections import Counter
from collections.abc import Callable, Iterator
from typing import Final, NamedTuple

from holdfast.backup.rules.book import RULES, rule_numbered
from holdfast.backup.rules.finding import Finding
from holdfast.backup.rules.graphemes import count_graphemes
from holdfast.backup.rules.receipts import is_receipt
from holdfast.backup.rules.rule import Breach, Edition, Profile, Severity
from holdfast.backup.wire import tables
from holdfast.backup.wire.layout import HEAD
from holdfast.backup.wire.numbers import number_of_rule

__all__ = ["READABLE", "WHOLE", "Explainer", "Raw", "read_page"]

READABLE: Final = number_of_rule("frame.readable")
WHOLE: Final = number_of_rule("stream.whole")
# What is broken when a record that another needs is not there.
NEEDS_ANOTHER: Final = frozenset(
    number_of_rule(rule.id)
    for rule in RULES
    if (rule.breach is Breach.REFERENCE and rule.id.endswith(".known")) or rule.id == "account.first"
)

# What is looked at again, since the core cannot tell; the number it comes to is kept with the finding.
MEASURES: Final[dict[int, Callable[[bytes], int]]] = {
    number_of_rule("gift-badge.presentation"): is_receipt,
    **dict.fromkeys(
        map(number_of_rule, ("poll.question.length", "poll.option.length", "poll-terminate.question.length")),
        lambda text: count_graphemes(text.decode()),
    ),
}
RECEIPT: Final = number_of_rule("gift-badge.presentation")
OPTION: Final = number_of_rule("poll.option.length")
MOST_CHARACTERS: Final = {Edition.SPEC: 100, Edition.CURRENT: 200}
MOST_IN_OPTION: Final = 100
ROOT_KEY: Final = number_of_rule("call-link.root-key.length")
ROOT_KEY_SIZE: Final = 16
CROWDED: Final = number_of_rule("frame.crowded")
UNKNOWN_FIELD: Final = number_of_rule("schema.field.unknown")
UNKNOWN_VALUE: Final = number_of_rule("schema.value.unknown")
DATES: Final = {
    number_of_rule("date.zero"): 1,
    number_of_rule("date.past"): 2,
    number_of_rule("date.future"): 4,
}
# How often a warning about the dates of one field is repeated.
MOST_WARNINGS: Final = 5
LENGTHS: Final = frozenset(
    number_of_rule(rule.id) for rule in RULES if rule.id.endswith((".length", ".id", ".id.length"))
)


class Raw(NamedTuple):
    """A broken rule by its number; what it means depends on profile and edition."""

    frame: int
    offset: int
    rule: int
    extra: int
    slot: int
    path: str


def read_page(page: bytes, data: bytes) -> Iterator[Raw]:
    """Read the findings of a page; `data` is what they were found in."""
    words = array("Q", page)
    at = 0
    while at < len(words):
        size = words[at]
        rule, frame, offset, extra, start, end = words[at + 1 : at + HEAD]
        steps = words[at + HEAD : at + size]
        at += size
        if rule in MEASURES:
            extra = MEASURES[rule](data[start:end])
        path = ".".join(map(step, steps))
        yield Raw(frame, offset, rule, extra, steps[-1] >> 32 if steps else 0, path)


def step(word: int) -> str:
    """Write one step of a path."""
    name = tables.FIELDS[word >> 32].name
    element = word & 0xFFFFFFFF
    return f"{name}[{element - 1}]" if element else name


class Explainer:
    """Makes findings under one profile, in the order of the file.

    `quiet` gets a mark where warnings of a kind need not be written again; `lost` is set once a record could not
    be read.
    """

    def __init__(self, profile: Profile, quiet: bytearray) -> None:
        self._profile = profile
        self._quiet = quiet
        self._warned: Counter[tuple[int, int]] = Counter()
        self.lost = False

    def heed(self, raw: Raw) -> bool:
        """Tell whether a finding is to be kept: warnings about dates are, up to a number."""
        mark = DATES.get(raw.rule)
        if mark is None:
            return True
        self._warned[raw.rule, raw.slot] += 1
        count = self._warned[raw.rule, raw.slot]
        if count >= MOST_WARNINGS:
            self._quiet[raw.slot] |= mark
        return count <= MOST_WARNINGS

    def explain(self, raw: Raw, edition: Edition) -> Finding | None:
        """Make a finding, or None where the rule is not asked for."""
        rule = rule_numbered(raw.rule)
        severity = rule.severity(self._profile, edition)
        if severity is None or holds_after_all(raw, edition):
            return None
        if raw.rule == CROWDED:
            severity = Severity.ERROR if raw.extra & 1 else Severity.NOTE
        self.lost = self.lost or raw.rule in {READABLE, WHOLE}
        consequence = self.lost and raw.rule in NEEDS_ANOTHER
        if raw.rule == WHOLE and raw.path:
            return Finding(rule, severity, raw.frame, None, "", raw.path)
        return Finding(rule, severity, raw.frame, raw.offset, raw.path, detail(raw, rule.breach), consequence)


def holds_after_all(raw: Raw, edition: Edition) -> bool:
    """Tell whether what the core was not sure about is in order."""
    if raw.rule == ROOT_KEY:
        return edition is Edition.CURRENT and raw.extra > ROOT_KEY_SIZE
    if raw.rule not in MEASURES:
        return False
    if raw.rule == RECEIPT:
        return bool(raw.extra)
    most = MOST_IN_OPTION if raw.rule == OPTION else MOST_CHARACTERS[edition]
    return 0 < raw.extra <= most


def detail(raw: Raw, breach: Breach) -> str:
    """Write a number of the format that helps, where there is one."""
    if raw.rule == CROWDED:
        return f"{raw.extra >> 1:,} more"
    if raw.rule == WHOLE:
        if not raw.extra:
            return ""
        return f"{raw.extra:,} byte{'' if raw.extra == 1 else 's'} from byte {raw.offset:,} on passed over"
    if raw.rule == UNKNOWN_FIELD:
        return f"field {raw.extra}"
    if raw.rule == UNKNOWN_VALUE:
        return f"value {raw.extra - (1 << 32) if raw.extra >> 31 else raw.extra}"
    if raw.rule in MEASURES:
        return f"{raw.extra} characters" if raw.rule != RECEIPT else ""
    if breach is Breach.FORMAT and raw.extra and raw.rule in LENGTHS:
        return f"{raw.extra - 1} bytes"
    return ""
