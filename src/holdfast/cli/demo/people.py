"""The people of the demo: nobody who exists, and nobody whose password is known."""

from dataclasses import dataclass
from typing import Final

__all__ = ["EVERYBODY", "IFE", "JONAH", "MAREN", "TOMAS", "YUKI", "Person"]


@dataclass(frozen=True, slots=True)
class Person:
    """Somebody who commits, opens issues and answers them; `zone` is where their clock is set."""

    name: str
    full_name: str
    zone: str

    @property
    def email(self) -> str:
        """The address that joins their commits to their account."""
        return f"{self.name}@tidewater.example"


MAREN: Final = Person("maren", "Maren Lindqvist", "+0100")
TOMAS: Final = Person("tomas", "Tomás Arriaga", "-0300")
YUKI: Final = Person("yuki", "Yuki Harada", "+0900")
IFE: Final = Person("ife", "Ifeoma Eze", "+0000")
JONAH: Final = Person("jonah", "Jonah Pike", "-0500")
EVERYBODY: Final = (MAREN, TOMAS, YUKI, IFE, JONAH)
