"""The feature branches of the repository `harbour` in its second half year."""

from typing import Final

from holdfast_demo.feature import Feature, FeatureCommit
from holdfast_demo.people import IFE, JONAH, TOMAS, YUKI

__all__ = ["LATE"]

LATE: Final = (
    Feature(
        "feature/soundings",
        IFE,
        (
            FeatureCommit(
                "tools/soundings.c",
                "Read soundings from the echo sounder",
                """/* Reads one depth a line and prints how many there were, the least and the mean. */

#include <stdio.h>

struct summary {
    unsigned long count;
    double least, sum;
};
""",
            ),
            FeatureCommit(
                "tools/soundings.c",
                "Keep the least depth: it is the one that matters",
                """static void add(struct summary *all, double depth)
{
    if (all->count == 0 || depth < all->least)
        all->least = depth;
    all->sum += depth;
    all->count++;
}
""",
            ),
            FeatureCommit(
                "tools/soundings.c",
                "Print the summary",
                """int main(void)
{
    struct summary all = {0, 0.0, 0.0};
    double depth;

    while (scanf("%lf", &depth) == 1)
        add(&all, depth);
    if (all.count == 0) {
        fputs("no soundings\\n", stderr);
        return 1;
    }
    printf("%lu soundings, least %.2f m, mean %.2f m\\n", all.count, all.least, all.sum / all.count);
    return 0;
}
""",
            ),
            FeatureCommit(
                "tools/Makefile",
                "Build the tool with make",
                "CFLAGS ?= -O2 -Wall -Wextra\n\nsoundings: soundings.c\n\nclean:\n\trm -f soundings\n",
            ),
        ),
    ),
    Feature(
        "feature/fees",
        JONAH,
        (
            FeatureCommit(
                "harbour/fees.py",
                "Work out what a night costs",
                '''"""What a night in the harbour costs."""

from harbour.berths import Boat

PER_METRE = 1.5
LEAST = 8.0


def fee(boat: Boat, nights: int = 1) -> float:
    """Return the fee; short boats pay the least there is, and the seventh night is free."""
    paid = nights - nights // 7
    return max(boat.length * PER_METRE, LEAST) * paid
''',
            ),
            FeatureCommit(
                "tests/test_fees.py",
                "The seventh night is free",
                """from harbour.berths import Boat
from harbour.fees import fee


def test_the_seventh_night_is_free() -> None:
    assert fee(Boat("Marigold", 6, 1), 7) == 6 * 9.0
""",
            ),
        ),
    ),
    Feature(
        "feature/live-board",
        YUKI,
        (
            FeatureCommit(
                "board/live.js",
                "Ask for news every minute",
                """import { formatLevel, rowFor } from "./board.js";

const MINUTE = 60_000;

export async function refresh(table, level) {
  const answer = await fetch("/state.json");
  if (!answer.ok) return;
  const state = await answer.json();
  level.textContent = formatLevel(state.level);
  table.replaceChildren(...state.berths.map(rowFor));
}
""",
            ),
            FeatureCommit(
                "board/live.js",
                "Keep asking when the network is away",
                """export function start(table, level) {
  const again = () => refresh(table, level).catch(() => {}).finally(() => setTimeout(again, MINUTE));
  again();
}
""",
            ),
        ),
    ),
    Feature(
        "feature/slack-water",
        TOMAS,
        (
            FeatureCommit(
                "harbour/tides.py",
                "Tell when the water stands",
                '''def is_slack(before: Reading, after: Reading, tolerance: float = 0.05) -> bool:
    """Return whether the water hardly moves between two readings."""
    return abs(after.level - before.level) <= tolerance
''',
            ),
            FeatureCommit(
                "tests/test_slack.py",
                "Slack water stays slack within the tolerance",
                """from harbour.tides import is_slack
from tests.test_tides import reading


def test_water_that_hardly_moves_is_slack() -> None:
    assert is_slack(reading(1, 2.00), reading(2, 2.04))
    assert not is_slack(reading(1, 2.00), reading(2, 2.30))
""",
            ),
        ),
    ),
)
