"""A ref update: the name of the ref, its old id and its new id."""

import msgspec

__all__ = ["RefUpdate"]


class RefUpdate(msgspec.Struct, frozen=True):
    """The update of a ref from one id to another; an id of zeros means that the ref does not exist."""

    ref: str
    old: str
    new: str

    @property
    def creates(self) -> bool:
        """Whether the ref did not exist before."""
        return not self.old.strip("0")

    @property
    def deletes(self) -> bool:
        """Whether the ref does not exist afterwards."""
        return not self.new.strip("0")

    @property
    def has_effect(self) -> bool:
        """Whether the update changes anything; deleting a missing ref does not."""
        return self.old != self.new and not (self.creates and self.deletes)

    @property
    def keeps_ref(self) -> bool:
        """Whether the ref exists before and afterwards."""
        return not self.creates and not self.deletes
