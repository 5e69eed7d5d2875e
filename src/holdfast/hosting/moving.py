"""Moves refs for people: asks the rules, announces the move, makes it, and records what came of it.

The order matters. What is about to move is in the database before the ref moves, and the event is recorded with
the announcement's end in one transaction; so whenever a process dies, `recover` can tell what really happened.
"""

import time
from collections.abc import Callable, Sequence
from typing import Final

import structlog

from holdfast.hosting import protection
from holdfast.hosting.errors import NoSuchFolder, NoSuchRepository, PushRefused
from holdfast.hosting.git import history, refs
from holdfast.hosting.git.changes import changes_between
from holdfast.hosting.git.commits import read_commit
from holdfast.hosting.git.repository import Repo, open_repository
from holdfast.hosting.host import Host
from holdfast.hosting.store import protections, repositories, updates
from holdfast.hosting.store.accounts import Account
from holdfast.hosting.store.repositories import Repository
from holdfast.hosting.store.updates import Move

__all__ = ["check_rules", "move_refs", "recover", "settle", "teams_in", "zero_id"]

log = structlog.get_logger(__name__)
BRANCHES: Final = "refs/heads/"
# An announcement younger than this may belong to a push that is still going on.
ABANDONED_SECONDS: Final = 900


def zero_id(repository: Repository) -> str:
    """Return the id that stands for no object."""
    return "0" * (64 if repository.object_format == "sha256" else 40)


def teams_in(host: Host, user: Account, repository: Repository) -> frozenset[int]:
    """Return the teams of the repository's organization that somebody is in."""
    if not repository.owner.is_organization:
        return frozenset()
    grants = repositories.grants_of(host.database, user, repository)
    return frozenset(grant.team_id for grant in grants if grant.team_id is not None)


def check_rules(
    host: Host,
    repository: Repository,
    actor: Account,
    moves: Sequence[Move],
    about: Callable[[Move], protection.Change],
) -> list[tuple[Move, str]]:
    """Return the moves the rules forbid, each with the reason."""
    branches = [move for move in moves if move.ref.startswith(BRANCHES)]
    rules = protections.protections_of(host.database, repository) if branches else []
    if not rules:
        return []
    teams = teams_in(host, actor, repository)
    refused = []
    for move in branches:
        rule = protection.matching(rules, move.ref.removeprefix(BRANCHES))
        reason = None if rule is None else protection.refusal_of(rule, about(move), actor, teams)
        if reason is not None:
            refused.append((move, reason))
    return refused


def described(repo: Repo, move: Move, default_branch: str) -> protection.Change:
    """Describe a move between commits the repository has already."""

    def before() -> str | None:
        if not move.creates:
            return move.old
        default = refs.branch(repo, default_branch)
        return None if default is None else history.merge_base(repo, default.id, move.new)

    def is_forced() -> bool:
        return not move.creates and history.merge_base(repo, move.old, move.new) != move.old

    def paths() -> list[str]:
        base = before()
        old = None if base is None else read_commit(repo, base).tree
        changed = changes_between(repo, old, read_commit(repo, move.new).tree)
        return [change.path for change in changed.files]

    def unsigned() -> str | None:
        base = before()
        new = history.span(repo, move.new, exclude=[] if base is None else [base])
        # Nobody's keys are known here, so no signature counts.
        return next(iter(history.ids(repo, new, limit=1)), None)

    return protection.Change(move.ref.removeprefix(BRANCHES), move.deletes, is_forced, paths, unsigned)


def move_refs(
    host: Host, repository: Repository, actor: Account, moves: Sequence[Move], do: Callable[[Repo], None]
) -> None:
    """Move refs to commits that are there already; `do` makes the moves, all of them or none."""
    repo = open_repository(host.folders.existing(repository.id))
    refused = check_rules(
        host, repository, actor, moves, lambda move: described(repo, move, repository.default_branch)
    )
    if refused:
        raise PushRefused(refused[0][1])
    numbers = updates.announce(host.database, repository, actor.id, moves)
    try:
        do(repo)
    except Exception:
        with host.database.write() as connection:
            updates.forget(connection, numbers)
        raise
    settle(host, repository, actor.id, numbers, moves)


def settle(
    host: Host,
    repository: Repository,
    actor_id: int | None,
    numbers: Sequence[int],
    moves: Sequence[Move],
) -> None:
    """Record what has moved: the events, and what the repository's row says about its branches."""
    repo = open_repository(host.folders.existing(repository.id))
    found, count = refs.branches(repo, limit=1)
    columns: dict[str, str | bool | int] = {"branch_count": count, "is_empty": refs.is_empty(repo)}
    if any(not move.deletes for move in moves):
        columns["pushed_at"] = int(time.time())
    default = refs.branch(repo, repository.default_branch)
    if default is None and found and repository.is_empty:
        # The first branch pushed is the one people mean, when it is not the one the repository was made with.
        columns["default_branch"] = first_branch(moves) or found[0].name
    with host.database.write() as connection:
        updates.finish(connection, numbers)
        updates.record_moves(connection, repository, actor_id, moves)
        repositories.change_repository(connection, repository, **columns)
    if "default_branch" in columns:
        host.point_head(repository.id, str(columns["default_branch"]))


def first_branch(moves: Sequence[Move]) -> str | None:
    """Return the first branch that was made."""
    made = (move.ref for move in moves if move.ref.startswith(BRANCHES) and not move.deletes)
    return next((ref.removeprefix(BRANCHES) for ref in made), None)


def recover(host: Host, *, now: float | None = None) -> int:
    """Settle what processes that died had announced; return how many moves turned out to have happened."""
    moment = time.time() if now is None else now
    landed = 0
    for pending in updates.pending_updates(host.database, before=int(moment) - ABANDONED_SECONDS):
        try:
            repository = repositories.repository_by_id(host.database, pending.repository_id)
            happened = has_moved(open_repository(host.folders.existing(repository.id)), pending.move)
        except (NoSuchRepository, NoSuchFolder):
            happened = False
            repository = None
        if happened and repository is not None:
            settle(host, repository, pending.actor_id, [pending.id], [pending.move])
            landed += 1
        else:
            with host.database.write() as connection:
                updates.forget(connection, [pending.id])
    if landed:
        log.warning("recorded ref moves whose process had died", count=landed)
    return landed


def has_moved(repo: Repo, move: Move) -> bool:
    """Tell whether a move that was announced has happened; later ones may have come on top of it."""
    at = refs.target(repo, move.ref)
    if move.deletes:
        return at is None
    if at is None or at == move.old:
        return False
    return at == move.new or (
        refs.is_commit(repo, move.new) and history.merge_base(repo, at, move.new) == move.new
    )
