"""What must be true of a file before it may be written: that it is there, that it is not, or which one it is."""

from dataclasses import dataclass

from holdfast.hosting.errors import ConditionFailed

__all__ = ["Condition"]


@dataclass(frozen=True, slots=True)
class Condition:
    """What a caller asks of the file at a path; without anything said, nothing."""

    is_there: bool = False
    """That there is one."""
    is_missing: bool = False
    """That there is none."""
    one_of: frozenset[str] | None = None
    """That its blob is one of these; none of them can be when there are none."""
    none_of: frozenset[str] = frozenset()
    """That its blob is not one of these."""

    @property
    def needs_file(self) -> bool:
        """Whether it can only hold where a file is."""
        return self.is_there or self.one_of is not None

    def check(self, path: str, blob: str | None) -> None:
        """Ask that it holds for what lies at a path: a file's blob, or nothing."""
        if blob is None:
            if self.needs_file:
                raise ConditionFailed(f"object does not exist [id: , rel_path: {path}]")
            return
        if self.one_of is not None and blob not in self.one_of:
            given = ", ".join(sorted(self.one_of)) or "none that can match"
            raise ConditionFailed(f"sha does not match [given: {given}, expected: {blob}]")
        if self.is_missing:
            raise ConditionFailed(f"repository file already exists [path: {path}]")
        if blob in self.none_of:
            raise ConditionFailed(f"repository file is one of those it must not be [path: {path}, sha: {blob}]")
