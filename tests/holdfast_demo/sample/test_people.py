"""The people of a sample and their identifiers."""

from hypothesis import given
from hypothesis import strategies as st

from holdfast_demo.sample.people import MAX_PEOPLE, bystander, meet
from holdfast_demo.sample.seeded_random import Dice


@given(st.integers(0, 1000))
def test_people_share_no_identity(seed: int) -> None:
    """Ids, identifiers, numbers and usernames are different for everybody."""
    dice = Dice(seed)
    me = bystander(dice, 1, "Robin", "Fairweather")
    people = [me, *meet(dice, 300, 2)]
    for identity in ("id", "aci", "pni", "e164", "username"):
        assert len({getattr(person, identity) for person in people}) == len(people)


def test_even_the_largest_cast_has_numbers_of_its_own() -> None:
    """All people of the largest cast have different telephone numbers."""
    people = meet(Dice(1), MAX_PEOPLE, 1)
    assert len({person.e164 for person in people}) == MAX_PEOPLE


def test_every_standing_is_met_early() -> None:
    """The smallest cast has ten friends and one person of each other standing."""
    standings = [person.standing for person in meet(Dice(1), 14, 1)]
    assert standings == ["friend"] * 10 + ["gone", "number", "invitee", "stranger"]
