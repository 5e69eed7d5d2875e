"""Feature branches of the demo history."""

from dataclasses import dataclass

from holdfast_demo.people import DemoUser

__all__ = ["Feature", "FeatureCommit"]


@dataclass(frozen=True, slots=True)
class FeatureCommit:
    """A commit that appends text to a file."""

    path: str
    message: str
    text: str


@dataclass(frozen=True, slots=True)
class Feature:
    """A branch with its commits."""

    branch: str
    person: DemoUser
    commits: tuple[FeatureCommit, ...]
