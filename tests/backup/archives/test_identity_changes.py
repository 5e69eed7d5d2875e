"""Aliases that move to another person."""

import random

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from tests.backup.archives.dump import dump
from tests.backup.archives.histories import import_backups, write_later
from tests.examples import examples


@settings(max_examples=examples(8), deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(st.randoms(use_true_random=False), st.integers(2, 4))
def test_people_who_become_known_bit_by_bit_are_the_same_in_any_order(
    tmp_path_factory: pytest.TempPathFactory, dice: random.Random, count: int
) -> None:
    """People known by number, PNI, both or ACI give the same archive in any order of imports."""
    folder = tmp_path_factory.mktemp("people")
    sources = [
        write_later(folder / f"{number}", dice, days=dice.randrange(3), messages=30, half_known=True)
        for number in range(count)
    ]
    import_backups(folder / "a.db", *sources)
    mixed = [*sources, dice.choice(sources)]
    dice.shuffle(mixed)
    import_backups(folder / "b.db", *mixed)
    assert dump(folder / "a.db") == dump(folder / "b.db")
