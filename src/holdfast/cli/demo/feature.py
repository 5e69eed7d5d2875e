"""A piece of work on a branch of its own."""

from dataclasses import dataclass

from holdfast.cli.demo.people import DemoUser

__all__ = ["Feature", "FeatureCommit"]


@dataclass(frozen=True, slots=True)
class FeatureCommit:
    """One commit: a piece of text added to the end of a file."""

    path: str
    message: str
    piece: str


@dataclass(frozen=True, slots=True)
class Feature:
    """A branch with its commits."""

    branch: str
    person: DemoUser
    steps: tuple[FeatureCommit, ...]
