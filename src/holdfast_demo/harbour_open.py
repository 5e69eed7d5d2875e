"""The branches of the repository `harbour` that are not merged."""

from typing import Final

from holdfast_demo.feature import Feature, FeatureCommit
from holdfast_demo.people import IFE, MAREN, TOMAS

__all__ = ["OPEN"]

OPEN: Final = (
    Feature(
        "feature/lanterns",
        IFE,
        (
            FeatureCommit(
                "harbour/lanterns.py",
                "Describe the character of a light",
                '''"""Which lantern shines when."""

from dataclasses import dataclass


@dataclass(frozen=True)
class Light:
    """A light that flashes a number of times in each period, both in seconds."""

    name: str
    colour: str
    flashes: int
    period: float
''',
            ),
            FeatureCommit(
                "harbour/lanterns.py",
                "Tell whether a light is lit",
                '''def is_lit(light: Light, second: float, flash: float = 0.5) -> bool:
    """Return whether a light shines at a second; flashes come first in a period, with pauses as long between."""
    phase = second % light.period
    return phase < light.flashes * 2 * flash and phase % (2 * flash) < flash
''',
            ),
            FeatureCommit(
                "tests/test_lanterns.py",
                "Two flashes, then darkness",
                """from harbour.lanterns import Light, is_lit


def test_two_flashes_then_darkness() -> None:
    light = Light("mole", "green", 2, 5.0)
    assert [is_lit(light, second / 2) for second in range(6)] == [True, False, True, False, False, False]
""",
            ),
        ),
    ),
    Feature(
        "fix/winter-time",
        TOMAS,
        (
            FeatureCommit(
                "tests/test_clock.py",
                "Show that the board is an hour off after the clocks change",
                """from datetime import datetime
from zoneinfo import ZoneInfo


def test_the_night_the_clocks_change_has_25_hours() -> None:
    zone = ZoneInfo("Europe/Stockholm")
    start, end = datetime(2026, 10, 25, tzinfo=zone), datetime(2026, 10, 26, tzinfo=zone)
    assert end.timestamp() - start.timestamp() == 25 * 3600
""",
            ),
        ),
    ),
    Feature(
        "docs/pilot-guide",
        MAREN,
        (
            FeatureCommit(
                "docs/pilot.md",
                "Begin a guide for visiting boats",
                "# Coming in\n\nKeep the white house left of the church until the mole light bears north.\n",
            ),
            FeatureCommit(
                "docs/pilot.md",
                "Say where the water is shallow",
                "Off the old slipway there is less than two metres at low water. Stay in the green sector.\n",
            ),
        ),
    ),
)
