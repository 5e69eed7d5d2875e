"""The feature branches of the repository `harbour` in its first half year."""

from typing import Final

from holdfast_demo.feature import Feature, FeatureCommit
from holdfast_demo.people import MAREN, TOMAS, YUKI

__all__ = ["EARLY"]

EARLY: Final = (
    Feature(
        "feature/readings",
        MAREN,
        (
            FeatureCommit(
                "harbour/tides.py",
                "Keep a reading of the tide gauge",
                '''"""What the tide gauge says, and what follows from it."""

from dataclasses import dataclass
from datetime import datetime


@dataclass(frozen=True)
class Reading:
    """The level of the water at a moment, in metres above chart datum."""

    at: datetime
    level: float
''',
            ),
            FeatureCommit(
                "harbour/tides.py",
                "Work out the mean level",
                '''def mean_level(readings: list[Reading]) -> float:
    """Return the mean of all readings."""
    return sum(reading.level for reading in readings) / len(readings)
''',
            ),
            FeatureCommit(
                "tests/test_tides.py",
                "Hold the mean level to two readings",
                """from datetime import datetime

from harbour.tides import Reading, mean_level


def reading(hour: int, level: float) -> Reading:
    return Reading(datetime(2026, 3, 1, hour), level)


def test_mean_level() -> None:
    assert mean_level([reading(1, 1.0), reading(2, 2.0)]) == 1.5
""",
            ),
        ),
    ),
    Feature(
        "feature/berths",
        TOMAS,
        (
            FeatureCommit(
                "harbour/berths.py",
                "Describe a berth and a boat",
                '''"""Who lies where, and who could."""

from dataclasses import dataclass


@dataclass(frozen=True)
class Boat:
    """A boat that wants a place."""

    name: str
    length: float
    draught: float


@dataclass
class Berth:
    """A place at the quay; `boat` is whoever lies there."""

    number: int
    length: float
    depth: float
    boat: Boat | None = None
''',
            ),
            FeatureCommit(
                "harbour/berths.py",
                "Tell whether a boat fits",
                '''def fits(boat: Boat, berth: Berth, level: float) -> bool:
    """Return whether a boat floats and has room at a berth at this level of the water."""
    return boat.length <= berth.length and boat.draught < berth.depth + level
''',
            ),
            FeatureCommit(
                "harbour/berths.py",
                "Allot the smallest berth that will do",
                '''def allot(boat: Boat, berths: list[Berth], level: float) -> Berth | None:
    """Give a boat the smallest free berth it fits in."""
    free = [berth for berth in berths if berth.boat is None and fits(boat, berth, level)]
    if not free:
        return None
    chosen = min(free, key=lambda berth: berth.length)
    chosen.boat = boat
    return chosen
''',
            ),
            FeatureCommit(
                "tests/test_berths.py",
                "The ferry does not get the dinghy's place",
                """from harbour.berths import Berth, Boat, allot, fits


def test_a_deep_keel_needs_water() -> None:
    assert not fits(Boat("Petrel", 9, 2.4), Berth(1, 12, 1.0), level=1.2)


def test_small_boats_get_small_berths() -> None:
    berths = [Berth(1, 20, 4), Berth(2, 8, 3)]
    chosen = allot(Boat("Marigold", 6, 1), berths, level=0)
    assert chosen is not None and chosen.number == 2
""",
            ),
        ),
    ),
    Feature(
        "feature/board",
        YUKI,
        (
            FeatureCommit(
                "board/board.js",
                "Draw the board in a browser",
                """// The board by the ferry office: what the water does, and who lies where.

export function formatLevel(metres) {
  const sign = metres < 0 ? "\\u2212" : "";
  return `${sign}${Math.abs(metres).toFixed(1)} m`;
}
""",
            ),
            FeatureCommit(
                "board/board.js",
                "Show berths as a table",
                """export function rowFor(berth) {
  const row = document.createElement("tr");
  for (const value of [berth.number, berth.boat ?? "free"]) {
    const cell = document.createElement("td");
    cell.textContent = value;
    row.append(cell);
  }
  return row;
}
""",
            ),
            FeatureCommit(
                "board/board.css",
                "Letters that can be read from the pier",
                """body { font: 2rem/1.4 "Atkinson Hyperlegible", sans-serif; }
body { background: #0b2430; color: #f4efe1; }
td { padding: 0.2em 0.8em; border-bottom: 1px solid #2d5566; }
""",
            ),
        ),
    ),
    Feature(
        "feature/high-water",
        MAREN,
        (
            FeatureCommit(
                "harbour/tides.py",
                "Find the next high water",
                '''def next_high(readings: list[Reading], after: datetime) -> Reading | None:
    """Return the first reading after a moment that is higher than both its neighbours."""
    for before, here, then in zip(readings, readings[1:], readings[2:]):
        if here.at > after and before.level < here.level >= then.level:
            return here
    return None
''',
            ),
            FeatureCommit(
                "harbour/tides.py",
                "Add the rule of twelfths",
                '''TWELFTHS = (0, 1, 3, 6, 9, 11, 12)


def by_twelfths(low: float, high: float, hours: int) -> float:
    """Estimate the level some whole hours after low water."""
    return low + (high - low) * TWELFTHS[min(max(hours, 0), 6)] / 12
''',
            ),
        ),
    ),
)
