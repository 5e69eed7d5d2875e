"""The random generator: bounds, and equal results for equal seeds."""

from hypothesis import given
from hypothesis import strategies as st

from holdfast_demo.sample.seeded_random import SeededRandom

SEEDS = st.integers(0, 2**64)


def test_a_seed_always_gives_the_same_draws() -> None:
    """The draws are written down here, so a Python that drew differently would be noticed."""
    rng = SeededRandom(1)
    assert [rng.below(100) for _ in range(5)] == [13, 84, 76, 25, 49]
    assert rng.pick("abcdef") == "c"
    assert rng.randbytes(4).hex() == "1bcccea6"
    assert rng.uuid().hex() == "96762e6116c649c9ad99bf358c2e0718"


@given(SEEDS, st.integers(1, 10**12))
def test_below_stays_below(seed: int, bound: int) -> None:
    """A draw is never negative and never reaches its bound."""
    assert 0 <= SeededRandom(seed).below(bound) < bound


@given(SEEDS, st.integers(-1000, 1000), st.integers(0, 1000))
def test_between_includes_both_ends_and_nothing_beyond(seed: int, low: int, span: int) -> None:
    """A draw between two numbers is one of them or lies between them, and each of them is drawn."""
    rng = SeededRandom(seed)
    assert low <= rng.between(low, low + span) <= low + span
    assert {rng.between(low, low + 1) for _ in range(100)} == {low, low + 1}


@given(SEEDS, st.lists(st.integers(), min_size=1))
def test_picks_are_among_the_things(seed: int, things: list[int]) -> None:
    """`pick` and `pick_early` return an item of the list."""
    rng = SeededRandom(seed)
    assert rng.pick(things) in things
    assert rng.pick_biased(things) in things


@given(SEEDS, st.lists(st.integers(), unique=True), st.integers(0, 20))
def test_some_are_different_things(seed: int, things: list[int], count: int) -> None:
    """`some` returns distinct items of the list, and never more than there are."""
    sample = SeededRandom(seed).pick_some(things, count)
    assert len(sample) == len(set(sample)) == min(count, len(things))
    assert set(sample) <= set(things)


@given(SEEDS, st.lists(st.integers()))
def test_mixing_keeps_everything(seed: int, things: list[int]) -> None:
    """A shuffled list has the same items."""
    assert sorted(SeededRandom(seed).shuffled(things)) == sorted(things)


@given(SEEDS)
def test_a_uuid_is_of_version_four(seed: int) -> None:
    """A UUID has version 4 and the standard variant."""
    raw = SeededRandom(seed).uuid()
    assert (len(raw), raw[6] >> 4, raw[8] >> 6) == (16, 4, 2)
