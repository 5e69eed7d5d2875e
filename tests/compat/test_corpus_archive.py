"""Archives of the corpus, which do not depend on the order of imports."""

import random
from pathlib import Path

import pytest

from tests.backup.archives.dump import dump
from tests.backup.archives.histories import import_backups


@pytest.mark.parametrize("seed", [1, 2])
def test_the_corpus_in_any_order_gives_the_same_archive(corpus: Path, tmp_path: Path, seed: int) -> None:
    """Imports in another order, with some files imported twice, give the same archive."""
    dice = random.Random(seed)
    files = dice.sample(sorted((corpus / "valid").glob("*.binproto")), 60)
    import_backups(tmp_path / "a.db", *files)
    mixed = [*files, *dice.sample(files, 3)]
    dice.shuffle(mixed)
    import_backups(tmp_path / "b.db", *mixed)
    assert dump(tmp_path / "a.db") == dump(tmp_path / "b.db")
