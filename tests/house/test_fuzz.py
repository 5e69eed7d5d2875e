"""The targets of the fuzzer take their own seeds, whole and damaged; `make fuzz` searches further."""

import io
import random

import pytest
from fuzz.targets import KEYS, TARGETS

from holdfast import backup
from tests.conftest import ROOT


@pytest.mark.parametrize("name", TARGETS)
def test_a_target_takes_its_seeds_whole_and_damaged(name: str) -> None:
    """A target that fails at once finds nothing else."""
    target = TARGETS[name]
    chance = random.Random(name)
    seeds = list(target.seeds())
    assert len(set(seeds)) == len(seeds) > 1
    for seed in seeds[-8:]:
        assert len(seed) <= target.longest
        target.run(seed)
        damaged = bytearray(seed)
        damaged[chance.randrange(len(seed))] ^= 1 << chance.randrange(8)
        target.run(bytes(damaged[: chance.randrange(1, len(seed) + 1)]))
        target.run(seed + seed)


def test_seeds_are_the_same_each_time() -> None:
    """So that a find can be found again; those of encrypted files have a random vector."""
    for name, target in TARGETS.items():
        if target.seeds is not TARGETS["reader"].seeds:
            assert list(target.seeds()) == list(target.seeds()), name


def test_seeds_of_the_reader_are_backups() -> None:
    """Those that are not would be refused at their first byte."""
    forms = []
    for seed in TARGETS["reader"].seeds():
        with backup.open(io.BytesIO(seed), KEYS) as opened:
            summary = backup.info(opened)
            assert sum(summary.counts.values()) > 0
            forms.append(summary.form)
    assert len(forms) > 40
    assert len(set(forms)) == 4


def test_the_targets_are_named_in_the_guide_for_contributors() -> None:
    """It says how to choose one."""
    text = (ROOT / "CONTRIBUTING.md").read_text()
    for name in TARGETS:
        assert f"`{name}`" in text
