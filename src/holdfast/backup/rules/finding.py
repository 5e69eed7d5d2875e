"""Findings of a validation: the broken rule and its location, never any content."""

from dataclasses import dataclass

from holdfast.backup.public import public
from holdfast.backup.rules.rule import Rule, Severity

__all__ = ["Finding"]


@public
@dataclass(frozen=True, slots=True)
class Finding:
    """A broken rule at one location.

    `frame` 0 is the header and 1 the first frame; it is None for a finding about the backup as a whole. `offset`
    is the offset of the record's length prefix in the plain stream. `path` is the path of the field, as in
    `chatItem.standardMessage.reactions[2].authorId`, empty for the record itself. `detail` is a length, a count or
    a number of the format; a finding never contains text, names, ids or keys. `consequence` is set if the finding
    may only result from records that could not be read: what is missing may have been among them.
    """

    rule: Rule
    severity: Severity
    frame: int | None
    offset: int | None
    path: str
    detail: str = ""
    consequence: bool = False

    @property
    def problem(self) -> str:
        """What is wrong, in one sentence."""
        return self.rule.wrong
