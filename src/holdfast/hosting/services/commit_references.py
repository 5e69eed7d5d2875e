"""Entries on the timelines of issues that commits name: once for each commit, wherever else it comes up again."""

import time
from collections.abc import Sequence
from dataclasses import asdict
from typing import Final

from sqlalchemy import Connection

from holdfast.hosting import access
from holdfast.hosting.access import Actor, Permissions, Unit
from holdfast.hosting.services.commit_message_events import Places, Wish
from holdfast.hosting.store import issues, repositories
from holdfast.hosting.store.accounts import Account, accounts_by_id
from holdfast.hosting.store.comments import commits_on
from holdfast.hosting.store.database import Database, Within
from holdfast.hosting.store.issue_transactions import IssueTransaction
from holdfast.hosting.store.issues import Issue, Reason
from holdfast.hosting.store.repositories import Repository

__all__ = ["refer"]

# How many commits of one transaction an issue is told of, and how many issues are told of any: the newest.
COMMITS: Final = 30
ISSUES: Final = 300


def refer(
    database: Database, connection: Connection, repository: Repository, places: Places, wishes: Sequence[Wish]
) -> None:
    """Put the commits that name issues on their timelines, as whoever brought them.

    A commit that closed an issue, or opened it again, is there already. Nobody is told: nothing has changed.
    """
    if not wishes:
        return
    within = Within(database, connection)
    known = [(wish, places[wish.place]) for wish in wishes if wish.place in places]
    found = issues.find_issues(within, [(place.id, wish.ask.number) for wish, place in known]) if known else {}
    if not found:
        return
    people = accounts_by_id(connection, {wish.actor_id for wish in wishes})
    rights = {number: rights_of(within, person, places) for number, person in people.items()}
    named: dict[int, dict[str, tuple[Wish, Repository]]] = {}
    for wish, place in known:
        issue = found.get((place.id, wish.ask.number))
        if issue is None or wish.actor_id not in people:
            continue
        if may_refer(rights[wish.actor_id][place.id], issue, place, repository):
            named.setdefault(issue.id, {}).setdefault(wish.commit_id, (wish, place))
    told = {issue: list(commits.items())[-COMMITS:] for issue, commits in list(named.items())[-ISSUES:]}
    before = commits_on(connection, told, {commit for commits in told.values() for commit, _ in commits})
    entries: dict[tuple[int, int], list[tuple[int, str, dict[str, object]]]] = {}
    for issue_id, commits in told.items():
        for commit, (wish, place) in commits:
            if (issue_id, commit) not in before:
                reason = asdict(Reason(commit, repository.id))
                entries.setdefault((wish.actor_id, place.id), []).append((issue_id, "", reason))
    now, by_id = int(time.time()), {place.id: place for place in places.values()}
    for (actor_id, place_id), made in entries.items():
        IssueTransaction(connection, by_id[place_id], people[actor_id], now).note_on("commit_ref", made)


def rights_of(database: Database, person: Account, places: Places) -> dict[int, Permissions]:
    """Return what somebody may do in each of some repositories."""
    by_id = {one.id: one for one in places.values()}
    # Whose everything is needs no grant, and that is nearly everybody who commits.
    asked = [] if person.is_admin else [one for one in by_id.values() if one.owner.id != person.id]
    grants = repositories.grants_in(database, person, asked) if asked else {}
    return {
        number: access.repository_access(Actor(person), one, grants.get(number, ()))
        for number, one in by_id.items()
    }


def may_refer(rights: Permissions, issue: Issue, place: Repository, repository: Repository) -> bool:
    """Tell whether somebody may leave a commit of a repository on an issue of a place.

    On one of the same repository whoever may read it; elsewhere only who may write there, or anybody could fill
    the timelines of strangers.
    """
    unit = Unit.PULLS if issue.is_pull else Unit.ISSUES
    if place.id == repository.id:
        return rights.may_read(unit)
    return not place.archived_at and rights.may_write(unit)
