"""Identity resolution: decides which aliases belong to one person, from all backups of the account.

The alias of a record is its strongest identifier: the ACI, else the PNI, else the phone number, else the username.
An ACI is one person permanently. Any other alias belongs to the stronger alias that had the same PNI, number or
username first, unless a backup made then or later contains both: phone numbers are reassigned. An alias that
belongs to no other is a person of its own.

The result depends on what was seen and when, never on the order of imports.
"""

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import Final

from holdfast.backup.archives.identity import Identity
from holdfast.redacted_repr import redacted

__all__ = ["STRENGTH", "Alias", "When", "resolve_people"]

# Kinds of identifiers of people, the strongest first. Groups, lists and the owner have one kind only.
STRENGTH: Final = ("aci", "pni", "e164", "username")

# Snapshots are ordered by time, then by content digest.
When = tuple[int, str]


@redacted
@dataclass(slots=True)
class Alias:
    """The key of a recipient's records; `identifiers` maps those seen on them to the earliest snapshot."""

    id: int
    key: Identity
    identifiers: dict[Identity, int] = field(default_factory=dict)

    @property
    def is_weak(self) -> bool:
        """Whether it may belong to another person."""
        return self.key[0] in STRENGTH[1:]

    @property
    def strength(self) -> int:
        """The index in `STRENGTH`, 0 for an ACI."""
        return STRENGTH.index(self.key[0])


def resolve_people(
    aliases: Mapping[int, Alias], order: Mapping[int, When], common_snapshots: Callable[[int, int], list[int]]
) -> dict[int, int]:
    """Map each alias to its person; `common_snapshots` lists the snapshots that contain two aliases."""
    person_of = {number: number for number in aliases}
    bearers: dict[Identity, list[Alias]] = {}
    for alias in aliases.values():
        if alias.key[0] in STRENGTH:
            for identifier in alias.identifiers:
                bearers.setdefault(identifier, []).append(alias)
    # Aliases are resolved in the order of strength, so the person of a stronger one is known.
    for alias in sorted(
        (weak_alias for weak_alias in aliases.values() if weak_alias.is_weak),
        key=lambda weak_alias: weak_alias.strength,
    ):
        for since, stronger in candidate_owners(alias, bearers, order):
            owners = {stronger.id, person_of[stronger.id]}
            if not any(order[both] >= since for owner in owners for both in common_snapshots(alias.id, owner)):
                person_of[alias.id] = person_of[stronger.id]
                break
    return person_of


def candidate_owners(
    alias: Alias, bearers: Mapping[Identity, list[Alias]], order: Mapping[int, When]
) -> Iterator[tuple[When, Alias]]:
    """Yield the stronger aliases that an alias may belong to, with the time since when, the best match first."""
    candidates = [
        (
            stronger.strength,
            STRENGTH.index(identifier[0]),
            order[stronger.identifiers[identifier]],
            stronger.key,
            stronger,
        )
        for identifier in alias.identifiers
        for stronger in bearers[identifier]
        if stronger.strength < alias.strength
    ]
    for _kind, _identifier, since, _key, stronger in sorted(candidates, key=lambda claim: claim[:4]):
        yield since, stronger
