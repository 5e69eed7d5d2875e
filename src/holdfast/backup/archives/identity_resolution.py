"""Decides which of the ways people are known in are one person, from everything that all backups say of them.

A record goes by the strongest identifier it has, its alias: the ACI, else the PNI, else the phone number, else the
username. An ACI is a person for good. Any other alias belongs to the stronger one that had the same PNI, number or
username first, unless a backup made then or later lists the two side by side: numbers change hands, and who has
one now need not be who had it. What belongs to nobody is a person of its own.

This looks at what was seen and when, never at the order of imports.
"""

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import Final

from holdfast.backup.archives.identity import Identity
from holdfast.redacted_repr import redacted

__all__ = ["STRENGTH", "Alias", "When", "resolve_people"]

# What may be somebody's, the strongest first. Groups, lists and the owner are known in one way only.
STRENGTH: Final = ("aci", "pni", "e164", "username")

# When a snapshot was made; those of one moment are ordered by their content.
When = tuple[int, str]


@redacted
@dataclass(slots=True)
class Alias:
    """What records go by: `key`, and with each identifier seen on them the earliest snapshot that has it so."""

    id: int
    key: Identity
    identifiers: dict[Identity, int] = field(default_factory=dict)

    @property
    def is_weak(self) -> bool:
        """Whether it may turn out to be somebody else's."""
        return self.key[0] in STRENGTH[1:]

    @property
    def strength(self) -> int:
        """How strong it is, 0 for an ACI."""
        return STRENGTH.index(self.key[0])


def resolve_people(
    aliases: Mapping[int, Alias], order: Mapping[int, When], common_snapshots: Callable[[int, int], list[int]]
) -> dict[int, int]:
    """Lead from each alias to that of the person it belongs to; `together` lists the snapshots with both."""
    person_of = {number: number for number in aliases}
    bearers: dict[Identity, list[Alias]] = {}
    for alias in aliases.values():
        if alias.key[0] in STRENGTH:
            for identifier in alias.identifiers:
                bearers.setdefault(identifier, []).append(alias)
    # What a weak one can belong to is stronger, so its own person is known by then.
    for alias in sorted(
        (weak_alias for weak_alias in aliases.values() if weak_alias.is_weak),
        key=lambda weak_alias: weak_alias.strength,
    ):
        for since, other in candidate_owners(alias, bearers, order):
            owners = {other.id, person_of[other.id]}
            if not any(order[both] >= since for owner in owners for both in common_snapshots(alias.id, owner)):
                person_of[alias.id] = person_of[other.id]
                break
    return person_of


def candidate_owners(
    alias: Alias, bearers: Mapping[Identity, list[Alias]], order: Mapping[int, When]
) -> Iterator[tuple[When, Alias]]:
    """Yield to whom something may belong and since when, the best claim first."""
    candidates = [
        (other.strength, STRENGTH.index(identifier[0]), order[other.identifiers[identifier]], other.key, other)
        for identifier in alias.identifiers
        for other in bearers[identifier]
        if other.strength < alias.strength
    ]
    for _kind, _identifier, since, _key, other in sorted(candidates, key=lambda claim: claim[:4]):
        yield since, other
