"""What a push means: judged by the rules before a ref moves, announced, and recorded once it has moved."""

from dataclasses import dataclass, field

from holdfast.hosting import moving, protection
from holdfast.hosting.git.push import Push, Refusal
from holdfast.hosting.host import Host
from holdfast.hosting.store import updates
from holdfast.hosting.store.accounts import Account
from holdfast.hosting.store.repositories import Repository
from holdfast.hosting.store.updates import Move

__all__ = ["Pushing"]


@dataclass(slots=True)
class Pushing:
    """One push of somebody's to a repository; `judge` and `landed` are what git's side calls, in a thread."""

    host: Host
    repository: Repository
    actor: Account
    numbers: list[int] = field(default_factory=list)

    def judge(self, push: Push) -> list[Refusal]:
        """Ask the rules; when nothing is refused, write down what is about to move."""
        moves = push.changes
        default = self.repository.default_branch

        def about(move: Move) -> protection.Change:
            return protection.Change(
                move.ref.removeprefix(moving.BRANCHES),
                move.deletes,
                lambda: not push.is_fast_forward(move),
                lambda: sorted(push.changed_paths(move, base=f"refs/heads/{default}")),
                # Nobody's keys are known here, so no signature counts.
                lambda: next(iter(push.commits(move, most=1)), None),
            )

        refused = moving.check_rules(self.host, self.repository, self.actor, moves, about)
        refusals = [Refusal(move.ref, reason) for move, reason in refused]
        refusals += [
            Refusal(move.ref, f"Branch {default} is the default branch and cannot be deleted")
            for move in moves
            if move.deletes and move.ref == f"refs/heads/{default}"
        ]
        if not refusals:
            self.numbers = updates.announce(self.host.database, self.repository, self.actor.id, moves)
        return refusals

    def landed(self, moves: tuple[Move, ...]) -> None:
        """Record what has really moved, and forget what has not."""
        if moves:
            moving.settle(self.host, self.repository, self.actor.id, self.numbers, moves)
            self.host.pushed.add(self.repository.id)
        elif self.numbers:
            with self.host.database.write() as connection:
                updates.forget(connection, self.numbers)
