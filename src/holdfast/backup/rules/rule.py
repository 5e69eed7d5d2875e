"""Rules: id, source, severity per profile and edition, messages, checks, limits and repairs."""

from collections.abc import Callable
from dataclasses import dataclass, field
from enum import StrEnum
from typing import Final, TypeAlias

from holdfast.backup.public import public
from holdfast.backup.rules.checks import FieldCheck
from holdfast.backup.rules.repairs import Fix, RepairAction
from holdfast.backup.rules.rule_numbers import add_rule

__all__ = [
    "BOTH",
    "CURRENT",
    "PURPOSE_NUMBERS",
    "SPEC",
    "Breach",
    "Edition",
    "Limit",
    "Profile",
    "Purpose",
    "Rule",
    "Severity",
    "max_bytes",
    "rule",
]


@public
class Severity(StrEnum):
    """The severity of a finding; only errors make a backup invalid."""

    ERROR = "error"
    WARNING = "warning"
    NOTE = "note"


@public
class Profile(StrEnum):
    """The view to take: an exporter is to write no fault, an importer reads what is there."""

    STRICT = "strict"
    IMPORT = "import"


@public
class Edition(StrEnum):
    """The edition of the format: that of the specification, or with what was added since."""

    SPEC = "spec"
    CURRENT = "current"


@public
class Purpose(StrEnum):
    """The purpose of a backup, which is not in the file."""

    REMOTE = "remote"
    TRANSFER = "transfer"
    TAKEOUT = "takeout"


# How the compiled core knows a purpose.
PURPOSE_NUMBERS: Final = {purpose: number for number, purpose in enumerate(Purpose)}
BOTH: Final = frozenset(Edition)
CURRENT: Final = frozenset({Edition.CURRENT})
SPEC: Final = frozenset({Edition.SPEC})
Source: TypeAlias = str


class Breach(StrEnum):
    """The kind of a rule, which decides its severity and what an importer does when it is broken."""

    FORMAT = "format"  # the bytes, the order, a length or a limit of the format itself
    REFERENCE = "reference"  # an id that leads nowhere, or to the wrong kind of thing
    DEFAULTED = "defaulted"  # importers read another value in its place
    SKIPPED = "skipped"  # importers pass over the thing
    CARE = "care"  # importers take it as it is; exporters are expected to take more care
    NEWS = "news"  # nothing is wrong: there is more than is known here
    TIME = "time"  # a date that can hardly be meant


# What each kind is under the two profiles.
STRICT: Final[dict[Breach, Severity | None]] = {
    Breach.FORMAT: Severity.ERROR,
    Breach.REFERENCE: Severity.ERROR,
    Breach.DEFAULTED: Severity.ERROR,
    Breach.SKIPPED: Severity.ERROR,
    Breach.CARE: Severity.ERROR,
    Breach.NEWS: Severity.NOTE,
    Breach.TIME: Severity.WARNING,
}
IMPORT: Final[dict[Breach, Severity | None]] = {
    **STRICT,
    Breach.DEFAULTED: Severity.NOTE,
    Breach.SKIPPED: Severity.NOTE,
    Breach.CARE: Severity.NOTE,
}
IMPORTER: Final[dict[Breach, str]] = {
    Breach.FORMAT: "An importer refuses the backup, or the record, from here on.",
    Breach.REFERENCE: "An importer cannot tell what is meant and refuses the record.",
    Breach.DEFAULTED: "An importer reads the default in its place.",
    Breach.SKIPPED: "An importer passes over it without a word.",
    Breach.CARE: "An importer takes it as it is, or makes of it what it can.",
    Breach.NEWS: "An importer of the same age as these rules ignores it.",
    Breach.TIME: "An importer takes the date as it is.",
}


@dataclass(frozen=True, slots=True)
class Limit:
    """The allowed sizes of a value in each edition, for what the compiled core cannot decide.

    The core reports every value that the strictest edition may not allow. `measure` computes the size of such a
    value, in `unit`; without it the size is the number of bytes that the core reported.
    """

    spec: range
    current: range
    measure: Callable[[bytes], int] | None = None
    unit: str = ""

    @property
    def strictest(self) -> int:
        """The largest size that every edition allows."""
        return min(self.spec[-1], self.current[-1])

    def allows(self, size: int, edition: Edition) -> bool:
        """Return whether an edition allows a size."""
        return size in (self.spec if edition is Edition.SPEC else self.current)


def max_bytes(*, spec: int, current: int) -> Limit:
    """Limit a text to so many bytes; the compiled core reports the size of one that has more."""
    return Limit(range(spec + 1), range(current + 1))


@public
@dataclass(frozen=True, slots=True)
class Rule:
    """One rule. `strict` and `lenient` are its severity under the two profiles, None where it does not apply.

    `editions` are those in which it applies at all, `strict_editions` those in which exporters were held to it.
    `wrong` says in one sentence what is wrong when it is broken, `advice` what to do, `importer` what an importer
    will do about it. `number` is how the compiled core knows it. `checks` are what the core holds single fields
    to; where there are none, other code asks for the number and checks the rule. `fields` are all it looks at,
    each written as `Message.field`, a oneof by its own name. `limit` is applied to what the core reports.
    `repairs` are tried in their order; `file_repair` is for rules about the file instead of a record.
    """

    id: str
    number: int = field(repr=False)
    wrong: str
    advice: str
    source: Source
    breach: Breach
    importer: str
    strict: Severity | None
    lenient: Severity | None
    editions: frozenset[Edition]
    strict_editions: frozenset[Edition]
    fields: tuple[str, ...]
    checks: tuple[FieldCheck, ...]
    limit: Limit | None = field(repr=False)
    repairs: tuple[Fix, ...] = field(repr=False)
    file_repair: RepairAction | None = field(repr=False)

    def severity(self, profile: Profile, edition: Edition | None = None) -> Severity | None:
        """Return the severity under a profile, None where profile or edition leave the rule out."""
        if edition is not None and edition not in self.editions:
            return None
        if profile is Profile.IMPORT:
            return self.lenient
        return self.strict if edition is None or edition in self.strict_editions else None

    def first_repair(self, *, loses: bool) -> RepairAction | None:
        """Return what is tried first: a safe repair, or with `loses` one that loses data."""
        if self.file_repair is not None:
            return self.file_repair if loses == (self.file_repair is RepairAction.DROP_BYTES) else None
        return next((fix.action for fix in self.repairs if fix.loses == loses), None)


def rule(  # noqa: PLR0917  # a C function: no keywords, and no struct to fill
    name: str,
    wrong: str,
    advice: str,
    source: Source,
    breach: Breach,
    checks: tuple[FieldCheck, ...] = (),
    *,
    fields: tuple[str, ...] = (),
    importer: str = "",
    lenient: Severity | None = None,
    only_import: bool = False,
    editions: frozenset[Edition] = BOTH,
    strict_editions: frozenset[Edition] = BOTH,
    limit: Limit | None = None,
    repairs: tuple[Fix, ...] = (),
    file_repair: RepairAction | None = None,
) -> Rule:
    """Describe a rule; its kind decides the severities, and its checks name their fields."""
    return Rule(
        id=name,
        number=add_rule(name, by_fields=bool(checks)),
        wrong=wrong,
        advice=advice,
        source=source,
        breach=breach,
        importer=importer or IMPORTER[breach],
        strict=None if only_import else STRICT[breach],
        lenient=lenient or IMPORT[breach],
        editions=editions,
        strict_editions=strict_editions & editions,
        fields=tuple(dict.fromkeys([*(check.field for check in checks), *fields])),
        checks=checks,
        limit=limit,
        repairs=repairs,
        file_repair=file_repair,
    )
