"""The people of a sample and their identifiers."""

from hypothesis import given
from hypothesis import strategies as st

from holdfast_demo.sample.people import MAX_PEOPLE, make_people, make_person
from holdfast_demo.sample.seeded_random import SeededRandom


@given(st.integers(0, 1000))
def test_people_share_no_identity(seed: int) -> None:
    """Ids, identifiers, numbers and usernames are different for everybody."""
    rng = SeededRandom(seed)
    me = make_person(rng, 1, "Robin", "Fairweather")
    people = [me, *make_people(rng, 300, 2)]
    for identity in ("id", "aci", "pni", "e164", "username"):
        assert len({getattr(person, identity) for person in people}) == len(people)


def test_even_the_largest_cast_has_numbers_of_its_own() -> None:
    """All people of the largest cast have different telephone numbers."""
    people = make_people(SeededRandom(1), MAX_PEOPLE, 1)
    assert len({person.e164 for person in people}) == MAX_PEOPLE


def test_every_standing_is_met_early() -> None:
    """The smallest cast has ten friends and one person of each other standing."""
    standings = [person.kind for person in make_people(SeededRandom(1), 14, 1)]
    assert standings == ["friend"] * 10 + ["gone", "number", "invitee", "stranger"]
