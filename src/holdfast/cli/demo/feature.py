"""A piece of work on a branch of its own."""

from dataclasses import dataclass

from holdfast.cli.demo.people import Person

__all__ = ["Feature", "Step"]


@dataclass(frozen=True, slots=True)
class Step:
    """One commit: a piece of text added to the end of a file."""

    path: str
    message: str
    piece: str


@dataclass(frozen=True, slots=True)
class Feature:
    """A branch with its commits."""

    branch: str
    person: Person
    steps: tuple[Step, ...]
