"""What a validation finds: each problem with its place, and never with what stands there."""

from dataclasses import dataclass

from holdfast.backup.public import public
from holdfast.backup.rules.rule import Rule, Severity

__all__ = ["Finding"]


@public
@dataclass(frozen=True, slots=True)
class Finding:
    """One broken rule at one place.

    `frame` 0 is the header and 1 the first frame; it is None where the backup as a whole is meant. `offset` is
    where that record's length begins in the plain stream. `path` leads to the field as in
    `chatItem.standardMessage.reactions[2].authorId`, and is empty for the record itself. `detail` gives a length,
    a count or a number of the format where that helps; a finding never holds what somebody wrote, a name, an id or
    a key. It is a `consequence` where it may only come of records that could not be read: what it says is missing
    may have been among them.
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
