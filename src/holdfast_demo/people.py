"""The users of the demo. They are fictional, and their passwords are random and not stored."""

from dataclasses import dataclass
from typing import Final

__all__ = ["EVERYBODY", "IFE", "JONAH", "MAREN", "TOMAS", "YUKI", "DemoUser"]


@dataclass(frozen=True, slots=True)
class DemoUser:
    """A demo user; `zone` is the UTC offset of their commits."""

    name: str
    full_name: str
    zone: str

    @property
    def email(self) -> str:
        """The e-mail address of the account and of its commits."""
        return f"{self.name}@tidewater.example"


MAREN: Final = DemoUser("maren", "Maren Lindqvist", "+0100")
TOMAS: Final = DemoUser("tomas", "Tomás Arriaga", "-0300")
YUKI: Final = DemoUser("yuki", "Yuki Harada", "+0900")
IFE: Final = DemoUser("ife", "Ifeoma Eze", "+0000")
JONAH: Final = DemoUser("jonah", "Jonah Pike", "-0500")
EVERYBODY: Final = (MAREN, TOMAS, YUKI, IFE, JONAH)
