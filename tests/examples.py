"""Number of examples for property tests: a quarter in `make test`, all in `make test-properties`, or few."""

from hypothesis import HealthCheck, settings

__all__ = ["examples", "load_profile"]

DEFAULT = 100
FEWEST = 3
# The names that `make test-properties` and `make test-fast` give to pytest's --hypothesis-profile.
THOROUGH = "thorough"
FAST = "fast"


def reduced(count: int) -> int:
    """Return how many of a number of examples `make test` tries."""
    return max(FEWEST, count // 4)


def examples(count: int) -> int:
    """Return how many examples to try where a property has its own number instead of the default."""
    profile = settings.get_current_profile_name()
    return count if profile == THOROUGH else FEWEST if profile == FAST else reduced(count)


def load_profile() -> None:
    """Register the profiles, and load that of `make test`.

    Time is measured by benchmarks; a property that is slow on a busy machine is still true.
    """
    for name, count in (("quick", reduced(DEFAULT)), (THOROUGH, DEFAULT), (FAST, FEWEST)):
        settings.register_profile(
            name, max_examples=count, deadline=None, suppress_health_check=[HealthCheck.too_slow]
        )
    settings.load_profile("quick")
