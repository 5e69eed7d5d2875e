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
    """How strict to be: as for an exporter, which must write no fault, or as an importer reads."""

    STRICT = "strict"
    IMPORT = "import"


@public
class Edition(StrEnum):
    """The edition of the format: that of the specification, or with later additions."""

    SPEC = "spec"
    CURRENT = "current"


@public
class Purpose(StrEnum):
    """The purpose of a backup, which is not in the file."""

    REMOTE = "remote"
    TRANSFER = "transfer"
    TAKEOUT = "takeout"


# The number of each purpose in the compiled modules.
PURPOSE_NUMBERS: Final = {purpose: number for number, purpose in enumerate(Purpose)}
BOTH: Final = frozenset(Edition)
CURRENT: Final = frozenset({Edition.CURRENT})
SPEC: Final = frozenset({Edition.SPEC})
Source: TypeAlias = str


class Breach(StrEnum):
    """The kind of a rule, which decides its severity and what an importer does when it is broken."""

    FORMAT = "format"  # the bytes, the order, a length or a limit of the format itself
    REFERENCE = "reference"  # an id that is not defined, or refers to the wrong kind of record
    DEFAULTED = "defaulted"  # importers use a default instead
    SKIPPED = "skipped"  # importers skip the record or field
    CARE = "care"  # importers accept it; exporters should not write it
    NEWS = "news"  # not a fault: a field or value of a newer format
    TIME = "time"  # an implausible date


# The severity of each kind under the two profiles.
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
    Breach.FORMAT: "An importer rejects the backup at this record, or skips the record.",
    Breach.REFERENCE: "An importer cannot resolve the reference and rejects the record.",
    Breach.DEFAULTED: "An importer reads the default in its place.",
    Breach.SKIPPED: "An importer skips it silently.",
    Breach.CARE: "An importer accepts it, or converts it as best it can.",
    Breach.NEWS: "An importer of the same version as these rules ignores it.",
    Breach.TIME: "An importer accepts the date.",
}


@dataclass(frozen=True, slots=True)
class Limit:
    """The allowed sizes of a value in each edition, for what the compiled checks cannot decide.

    The compiled checks report every value that the strictest edition may not allow. `measure` computes the size of
    such a value, in `unit`; without it the size is the reported number of bytes.
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
    """Limit a text to so many bytes; the compiled checks report the size of a longer one."""
    return Limit(range(spec + 1), range(current + 1))


@public
@dataclass(frozen=True, slots=True)
class Rule:
    """A rule. `strict` and `lenient` are its severities under the two profiles, None if it does not apply.

    `editions` are the editions in which it applies, `strict_editions` those in which it applies to exporters.
    `wrong` is the message of a finding, `advice` what to do, `importer` what an importer will do. `number` is its
    number in the compiled modules. `checks` are its checks of single fields; without any, other code checks the
    rule by its number. `fields` are all fields that it reads, each written as `Message.field`, a oneof by its
    name. `limit` is applied to reported values. `repairs` are tried in order; `file_repair` is for rules about the
    file instead of a record.
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
        """Return the severity under a profile, None if the profile or the edition excludes the rule."""
        if edition is not None and edition not in self.editions:
            return None
        if profile is Profile.IMPORT:
            return self.lenient
        return self.strict if edition is None or edition in self.strict_editions else None

    def first_repair(self, *, loses: bool) -> RepairAction | None:
        """Return the action that is tried first: of a safe repair, or with `loses` of one that loses data."""
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
    """Return a rule; the severities follow from its kind, the fields from its checks."""
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
