"""The fuzz targets with their seeds, unchanged and damaged; `make fuzz` searches further."""

import io
import random

import pytest
from fuzz.targets import KEYS, TARGETS

from holdfast import backup
from tests.conftest import ROOT


@pytest.mark.parametrize("name", TARGETS)
def test_a_target_takes_its_seeds_whole_and_damaged(name: str) -> None:
    """A target accepts its seeds, damaged and doubled ones included; else it would find nothing else."""
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
    """The seeds are reproducible, except those of encrypted files, which have a random IV."""
    for name, target in TARGETS.items():
        if target.seeds is not TARGETS["reader"].seeds:
            assert list(target.seeds()) == list(target.seeds()), name


def test_seeds_of_the_reader_are_backups() -> None:
    """Each seed is a backup with frames, because other data is refused at its first byte."""
    forms = []
    for seed in TARGETS["reader"].seeds():
        with backup.open(io.BytesIO(seed), KEYS) as opened:
            summary = backup.info(opened)
            assert sum(summary.counts.values()) > 0
            forms.append(summary.form)
    assert len(forms) > 40
    assert len(set(forms)) == 4


def test_the_targets_are_named_in_the_guide_for_contributors() -> None:
    """CONTRIBUTING.md has the name of each target."""
    text = (ROOT / "CONTRIBUTING.md").read_text()
    for name in TARGETS:
        assert f"`{name}`" in text
