"""Ref updates: branch protection, the pending update, the move by compare-and-set, and its events.

The order matters. What is about to move is in the database before the ref moves, and the event is recorded with
the announcement's end in one transaction; so whenever a process dies, `recover` can tell what really happened.
"""

from collections.abc import Callable, Sequence
from itertools import groupby
from typing import Final

import msgspec
import structlog

from holdfast.hosting.app import App
from holdfast.hosting.errors import NoSuchFolder, NoSuchRepository, PushRefused, StorageError
from holdfast.hosting.git import history, refs
from holdfast.hosting.git import ref_store as git_moves
from holdfast.hosting.git.changes import TreeChanges, changes_between
from holdfast.hosting.git.commits import Commit, read_commit
from holdfast.hosting.git.encoding import well_formed
from holdfast.hosting.git.repository import Repo, is_moving_refs, locked, moving_refs, open_repository
from holdfast.hosting.services import branch_protection, commit_references
from holdfast.hosting.store import hook_subscriptions, pending_ref_updates, protections, repositories
from holdfast.hosting.store.accounts import Account
from holdfast.hosting.store.pending_ref_updates import Move, Pending
from holdfast.hosting.store.prepared_statements import Link
from holdfast.hosting.store.repositories import Repository
from holdfast.hosting.webhooks.payloads.pushes import PushedCommits, read_push

__all__ = [
    "Announced",
    "check_rules",
    "described",
    "forget",
    "has_moved",
    "move_refs",
    "recover",
    "settle",
    "settle_all",
    "teams_in",
    "zero_id",
]

log = structlog.get_logger(__name__)
BRANCHES: Final = "refs/heads/"
# Of how many refs that move together a webhook is told all there is to tell; git is asked for each of them.
WHOLE: Final = 50


class Announced(msgspec.Struct, frozen=True):
    """Moves of one person's that were announced, and the numbers they have."""

    actor_id: int | None
    numbers: Sequence[int]
    moves: Sequence[Move]
    commits: Sequence[Commit] | None = None
    """All commits the moves bring, oldest first, where they are at hand."""
    files: TreeChanges | None = None
    """What the only one of these commits changed, where that is at hand too."""
    options: Sequence[str] = ()
    """The options of the push that made the moves (`git push -o`)."""


def zero_id(repository: Repository) -> str:
    """Return the id that stands for no object."""
    return "0" * (64 if repository.object_format == "sha256" else 40)


def teams_in(app: App, user: Account, repository: Repository) -> frozenset[int]:
    """Return the teams of the repository's organization that somebody is in."""
    if not repository.owner.is_organization:
        return frozenset()
    grants = repositories.grants_of(app.database, user, repository)
    return frozenset(grant.team_id for grant in grants if grant.team_id is not None)


def check_rules(
    app: App,
    repository: Repository,
    actor: Account,
    moves: Sequence[Move],
    about: Callable[[Move], branch_protection.BranchChange],
) -> list[tuple[Move, str]]:
    """Return the moves the rules forbid, each with the reason."""
    branches = [move for move in moves if move.ref.startswith(BRANCHES)]
    rules = protections.protections_of(app.database, repository) if branches else []
    if not rules:
        return []
    teams = teams_in(app, actor, repository)
    refused = []
    for move in branches:
        rule = branch_protection.matching(rules, move.ref.removeprefix(BRANCHES))
        reason = None if rule is None else branch_protection.refusal_of(rule, about(move), actor, teams)
        if reason is not None:
            refused.append((move, reason))
    return refused


def described(repo: Repo, move: Move, default_branch: str) -> branch_protection.BranchChange:
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
        new = history.commit_range(repo, move.new, exclude=[] if base is None else [base])
        # Nobody's keys are known here, so no signature counts.
        return next(iter(history.commit_ids(repo, new, limit=1)), None)

    return branch_protection.BranchChange(
        move.ref.removeprefix(BRANCHES), move.deletes, is_forced, paths, unsigned
    )


def move_refs(
    app: App, repository: Repository, actor: Account, moves: Sequence[Move], do: Callable[[Repo], None]
) -> None:
    """Move refs to commits that are there already; `do` makes the moves, all of them or none."""
    folder = app.folders.existing(repository.id)
    repo = open_repository(folder)
    refused = check_rules(
        app, repository, actor, moves, lambda move: described(repo, move, repository.default_branch)
    )
    if refused:
        raise PushRefused(refused[0][1])
    if not any(move.moves for move in moves):
        return
    with moving_refs(folder):
        numbers = pending_ref_updates.announce(app.database, repository, actor.id, moves)
        try:
            do(repo)
        except Exception:
            forget(app, numbers)
            raise
        settle(app, repository, actor.id, numbers, moves)


def settle(
    app: App,
    repository: Repository,
    actor_id: int | None,
    numbers: Sequence[int],
    moves: Sequence[Move],
    *,
    options: Sequence[str] = (),
) -> None:
    """Record what has moved: the events, what the repository's row says about its branches, and closed issues."""
    settle_all(app, repository, [Announced(actor_id, numbers, moves, options=options)])


def forget(app: App, numbers: Sequence[int]) -> None:
    """Remove announcements of what did not happen."""
    if numbers:
        with app.database.write() as connection:
            pending_ref_updates.forget(connection, numbers)


def settle_all(app: App, repository: Repository, announced: Sequence[Announced], *, durable: bool = True) -> None:
    """Record what several people have moved, all of it at once and in their order, and close what it closes.

    When the announcements and the moves are on the disk, this need not be: `recover` would find it out again.
    """
    moves = [move for one in announced for move in one.moves]
    references = [
        reference
        for one in announced
        if one.actor_id is not None
        for move in one.moves
        for reference in commit_references.find_references(app, repository, one.actor_id, move, one.commits)
    ]
    references = commit_references.newest(references) if references else references
    columns: dict[str, str | bool | int] = {}
    if repository.is_empty or not all(move.changes for move in moves):
        repo = open_repository(app.folders.existing(repository.id))
        found, count = refs.branches(repo, limit=1)
        columns |= {"branch_count": count, "is_empty": refs.is_empty(repo)}
        default = refs.branch(repo, repository.default_branch)
        if default is None and found and repository.is_empty:
            # The first branch pushed is the one people mean, when it is not the one the repository was made with.
            columns["default_branch"] = first_branch(moves) or found[0].name

    default_branch = str(columns.get("default_branch", repository.default_branch))
    known = read_pushes(app, repository, announced, default_branch)

    def record(link: Link) -> None:
        pending_ref_updates.finish(link, [number for one in announced for number in one.numbers])
        # Before the events, whose payloads show the repository as it is after the push.
        if any(not move.deletes for move in moves):
            repositories.set_pushed(link, repository)
        for one in announced:
            pending_ref_updates.record_moves(
                link, repository, one.actor_id, one.moves, options=one.options, known=known
            )

    if columns or references:
        with app.database.write() as connection:
            locked = (
                commit_references.lock_repositories(app.database, connection, repository, references)
                if references
                else {}
            )
            if columns:
                repositories.change_repository(connection, repository, **columns)
            record(connection)
            if references:
                commit_references.apply(app.database, connection, repository, locked, references)
    else:
        with app.database.quick_write(durable=durable) as link:
            record(link)
    if "default_branch" in columns:
        app.point_head(repository.id, str(columns["default_branch"]))


def read_pushes(
    app: App, repository: Repository, announced: Sequence[Announced], default_branch: str
) -> dict[Move, PushedCommits]:
    """Read what pushes brought where a webhook is told of them, so that no transaction waits for git."""
    refs = [move.ref for one in announced for move in one.moves]
    if not hook_subscriptions.has_push_subscribers(
        app.database, owner_id=repository.owner.id, repository_id=repository.id, refs=refs
    ):
        return {}
    now = msgspec.structs.replace(repository, default_branch=default_branch)
    known: dict[Move, PushedCommits] = {}
    for one in announced:
        found = at_hand(one)
        for move in one.moves:
            known[move] = read_push(app, now, move, briefly=len(known) >= WHOLE) if found is None else found
    return known


def at_hand(announced: Announced) -> PushedCommits | None:
    """Return what a push brought if nothing has to be read for it: one commit on top of what was there."""
    if announced.commits is None or announced.files is None:
        return None
    ((commit,), (move,)) = announced.commits, announced.moves
    return PushedCommits(commit, [commit], 1, move.old, {commit.id: announced.files})


def first_branch(moves: Sequence[Move]) -> str | None:
    """Return the first branch that was made and has a name of text: others cannot be the default branch."""
    made = (move.ref for move in moves if move.ref.startswith(BRANCHES) and not move.deletes and is_text(move.ref))
    return next((ref.removeprefix(BRANCHES) for ref in made), None)


def is_text(ref: str) -> bool:
    """Tell whether the name of a ref is UTF-8."""
    return well_formed(ref) == ref


def recover(app: App) -> int:
    """Settle what processes that died had announced; return how many moves turned out to have happened.

    Whoever announces under the repository's lock settles under it, and everybody else shows that refs are moving
    until they have settled: what nobody who lives has in hand is settled here, however young it is.
    """
    landed = 0
    after = 0
    while found := pending_ref_updates.pending_updates(app.database, after=after):
        after = found[-1].id
        by_repository: dict[int, list[Pending]] = {}
        for pending in found:
            by_repository.setdefault(pending.repository_id, []).append(pending)
        landed += sum(recover_repository(app, number, its) for number, its in by_repository.items())
    if landed:
        log.warning("recorded ref moves whose process had died", count=landed)
    return landed


def recover_repository(app: App, repository_id: int, found: Sequence[Pending]) -> int:
    """Settle what was announced for one repository, and forget what did not happen."""
    numbers = [pending.id for pending in found]
    try:
        repositories.repository_by_id(app.database, repository_id)
    except NoSuchRepository:
        forget(app, numbers)
        return 0
    try:
        folder = app.folders.existing(repository_id)
        if is_moving_refs(folder):
            numbers = [pending.id for pending in found if pending.under_lock]
        with app.database.advisory_lock(repository_id), locked(folder):
            repo = open_repository(folder)
            repository = repositories.repository_by_id(app.database, repository_id)
            left = pending_ref_updates.still_pending(app.database, repository_id, numbers)
            for pending in left:
                git_moves.drop_stale_lock(repo, pending.move.ref, pending.move.old, pending.move.new)
            told = pending_ref_updates.recorded_since(app.database, repository_id, left)
            once = {pending.move: pending for pending in reversed(left) if pending.move not in told}
            happened = [
                pending for pending in left if once.get(pending.move) is pending and has_moved(repo, pending.move)
            ]
            known = {pending.id for pending in happened}
            lost = [pending.id for pending in left if pending.id not in known]
            if happened:
                settle_all(app, repository, by_actor(happened))
    except NoSuchRepository:  # deleted at this very moment
        happened, lost = [], numbers
    except (NoSuchFolder, StorageError) as error:
        # What has moved in a folder that is missing is not known: it stays announced until the folder is back.
        log.error("ref moves cannot be settled: no folder", repository=repository_id, reason=type(error).__name__)  # noqa: TRY400  # no bug
        return 0
    forget(app, lost)
    return len(happened)


def by_actor(happened: Sequence[Pending]) -> list[Announced]:
    """Put together what one person has announced in a row, in the order it was announced."""
    rows = groupby(happened, key=lambda pending: pending.actor_id)
    made = [(actor_id, list(some)) for actor_id, some in rows]
    return [Announced(actor_id, [one.id for one in some], [one.move for one in some]) for actor_id, some in made]


def has_moved(repo: Repo, move: Move) -> bool:
    """Tell whether a move that was announced has happened; later ones may have come on top of it."""
    at = refs.target(repo, move.ref)
    if not move.moves:
        return False
    if move.deletes:
        return at is None
    if at is None or at == move.old:
        return False
    if at == move.new:
        return True
    if not leads_to(repo, move.new, at):
        return False
    # A branch that was to go backwards and has gone on from where it was leads back to both.
    return move.creates or not (leads_to(repo, move.new, move.old) and leads_to(repo, move.old, at))


def leads_to(repo: Repo, earlier: str, later: str) -> bool:
    """Tell whether a commit is in the history of another."""
    if not (refs.is_commit(repo, earlier) and refs.is_commit(repo, later)):
        return False
    return history.merge_base(repo, earlier, later) == earlier
