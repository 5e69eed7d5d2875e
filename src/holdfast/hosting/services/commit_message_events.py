"""What commits that somebody brought to the default branch say of issues."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Final

from holdfast.hosting.services.keyword_parser import Ask, asks_in, names_in
from holdfast.hosting.store.repositories import Repository

__all__ = ["MOST", "Places", "Wish", "newest", "said_in"]

# How many wishes of one transaction are heard: of those that ask for something, and of those that only name one.
MOST: Final = 1000

Places = Mapping[tuple[str, str], Repository]
"""The repositories that wishes name, by owner and name as they fold; the commits' own under two empty texts."""


@dataclass(frozen=True, slots=True)
class Wish:
    """What a commit that somebody brought to the default branch asks for, or that it names an issue."""

    actor_id: int
    commit_id: str
    ask: Ask

    @property
    def place(self) -> tuple[str, str]:
        """The name of the repository it is about, folded."""
        return self.ask.owner.casefold(), self.ask.name.casefold()


def said_in(message: str) -> Sequence[Ask]:
    """Return what a message asks for, and then which issues it names."""
    # Nearly every message is done with here.
    return [*asks_in(message), *names_in(message)] if "#" in message else ()


def newest(wishes: Sequence[Wish]) -> list[Wish]:
    """Return the newest wishes: however many only name issues, those that ask for something are heard."""
    asking = [wish for wish in wishes if wish.ask.closes is not None]
    naming = [wish for wish in wishes if wish.ask.closes is None]
    return asking[-MOST:] + naming[-MOST:]
