"""The core and protobuf agree on tens of thousands of damaged and non-canonical frames."""

import pytest

from tests.backup.wire.core import Core
from tests.backup.wire.differential import compare

# Interpreted, the core is forty times slower, and slower still while coverage is measured.
COUNTS = {"installed": 57_000, "interpreted": 3_000}


@pytest.mark.long
@pytest.mark.timeout(300)
def test_the_core_and_protobuf_agree(core: Core) -> None:
    """Core and protobuf agree on validity, canonical form, JSON and the bytes read back from it."""
    score = compare(core, COUNTS[core.name], seed=43, round_trips=5)
    assert score.frames == COUNTS[core.name]
    assert 0.3 * score.frames < score.accepted < 0.8 * score.frames
    assert 0.1 * score.frames < score.canonical < 0.6 * score.frames
