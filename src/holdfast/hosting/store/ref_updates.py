"""The update of a ref: its name, the id it had and the id it gets."""

import msgspec

__all__ = ["RefUpdate"]


class RefUpdate(msgspec.Struct, frozen=True):
    """A ref that goes from one id to another; an id of zeros stands for no ref."""

    ref: str
    old: str
    new: str

    @property
    def creates(self) -> bool:
        """Whether there was no such ref."""
        return not self.old.strip("0")

    @property
    def deletes(self) -> bool:
        """Whether there is no such ref afterwards."""
        return not self.new.strip("0")

    @property
    def has_effect(self) -> bool:
        """Whether anything is different afterwards; it is not when a missing ref is deleted."""
        return self.old != self.new and not (self.creates and self.deletes)

    @property
    def keeps_ref(self) -> bool:
        """Whether the ref exists before and afterwards."""
        return not self.creates and not self.deletes
