"""The core fixture: every test that uses it runs with the compiled and with the interpreted core."""

import pytest

from tests.backup.wire.core import Core, installed, interpreted


@pytest.fixture(scope="session", params=[installed, interpreted], ids=["installed", "interpreted"])
def core(request: pytest.FixtureRequest) -> Core:
    """Return the core as it is installed, then the same source interpreted."""
    load = request.param
    loaded = load()
    assert isinstance(loaded, Core)
    return loaded
