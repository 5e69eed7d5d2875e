"""Rows of commit lists: author, summary and date; authors with an account are linked."""

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Final

from holdfast.hosting.access import account_visible
from holdfast.hosting.git.commits import Commit
from holdfast.hosting.request_context import RequestContext
from holdfast.hosting.schemas.git import people_of
from holdfast.hosting.store.accounts import Account

__all__ = ["CommitRow", "lines_of", "summary_of"]

LONGEST: Final = 200


@dataclass(frozen=True, slots=True)
class CommitRow:
    """A commit in a list; `person` is the account with the e-mail address of its author."""

    id: str
    summary: str
    rest: str
    author: str
    person: Account | None
    time: int
    parents: tuple[str, ...] = ()

    @property
    def short(self) -> str:
        """The abbreviated id."""
        return self.id[:10]


def summary_of(message: str) -> tuple[str, str]:
    """Split a commit message into its subject and body."""
    first, _, rest = message.strip().partition("\n")
    first = first.strip() or "(no message)"
    if len(first) > LONGEST:
        return f"{first[:LONGEST]}…", f"…{first[LONGEST:]}\n\n{rest.strip()}".strip()
    return first, rest.strip()


def lines_of(request: RequestContext, commits: Iterable[Commit]) -> list[CommitRow]:
    """Return the rows of commits; all authors are looked up with one query."""
    page = list(commits)
    people = people_of(request, page)
    rows = []
    for commit in page:
        summary, rest = summary_of(commit.message)
        author = commit.author
        person = people.get(author.email)
        if person is not None and not account_visible(request.actor, person):
            person = None
        rows.append(
            CommitRow(commit.id, summary, rest, author.name, person, commit.committer.time, commit.parents)
        )
    return rows
