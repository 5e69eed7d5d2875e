"""The repository `almanac`: tables of the sun and the moon, and a page for each month."""

import math
from datetime import UTC, datetime
from typing import Final

from holdfast_demo.calendar import DAY, random_times
from holdfast_demo.history import DemoBranch, DemoFile, DemoHistory, text
from holdfast_demo.people import IFE, JONAH, YUKI
from holdfast_demo.sample.seeded_random import SeededRandom

__all__ = ["PUSHED_BRANCHES", "almanac_history"]

PUSHED_BRANCHES: Final = ("main", "draft/eclipses")
LATITUDE: Final = 57.7
MOON_DAYS: Final = 29.530588
NEW_MOON: Final = 947_182_440
PHASES: Final = (
    "new",
    "waxing crescent",
    "first quarter",
    "waxing",
    "full",
    "waning",
    "last quarter",
    "waning crescent",
)
MONTHS: Final = (
    ("January", "Ice on the ropes. The fairway buoys are taken in for paint."),
    ("February", "The lowest waters of the year; the old slipway shows its foot."),
    ("March", "Equinoctial springs: keep an eye on the cellar of the ferry office."),
    ("April", "The first visitors. Terns come back in the last week."),
    ("May", "Light until ten. The lanterns rest."),
    ("June", "No night to speak of; the mole light is a matter of habit."),
    ("July", "Every berth is taken. Book the wash-house in the book."),
    ("August", "Sea fire on warm evenings. Mackerel."),
    ("September", "The regatta, whatever the weather."),
    ("October", "The clocks change, the board does not."),
    ("November", "Fog. Ring the bell."),
    ("December", "The tree on the crane is lit on the first Sunday."),
)
README: Final = """# Almanac

Sun, moon and customs of the harbour. The tables are worked out, not observed: good enough for people with
a lantern, not for navigation.

- `sun.csv`: sunrise and sunset for every week, local time
- `moon.csv`: the phase at noon for every week
- `months/`: what to expect
"""


def almanac_history(now: int) -> DemoHistory:
    """Return the history up to `now`."""
    history, main = DemoHistory(), DemoBranch("main")
    times = iter(random_times(SeededRandom("almanac"), now - 400 * DAY, now - 366 * DAY, 18))
    history.commit(main, YUKI, next(times), "Begin", {"README.md": text(README)})
    history.commit(main, YUKI, next(times), "Work out the sun", {"sun.csv": text(sun_table())})
    history.commit(main, IFE, next(times), "Work out the moon", {"moon.csv": text(moon_table(now))})
    history.tag("first-tables", main, YUKI, now - 366 * DAY, "The tables are complete.")
    for number, (month, words) in enumerate(MONTHS, 1):
        path = f"months/{number:02}-{month.lower()}.md"
        person = (YUKI, IFE, JONAH)[number % 3]
        history.commit(
            main, person, next(times), f"Say what {month} is like", {path: text(f"# {month}\n\n{words}\n")}
        )
    draft = history.fork(main, "draft/eclipses")
    words = "# Eclipses\n\nTo be worked out. Until then: look up.\n"
    history.commit(
        draft, IFE, next(times), "Begin a page about eclipses", {"eclipses.md": DemoFile(words.encode())}
    )
    return history


def sun_table() -> str:
    """Compute the sunrise and sunset of each week."""
    lines = ["week,rises,sets\n"]
    for week in range(1, 53):
        declination = math.radians(-23.44) * math.cos(2 * math.pi * (week * 7 + 10) / 365.25)
        cosine = -math.tan(math.radians(LATITUDE)) * math.tan(declination)
        half = math.degrees(math.acos(max(-1.0, min(1.0, cosine)))) / 15
        lines.append(f"{week},{clock(12 - half)},{clock(12 + half)}\n")
    return "".join(lines)


def clock(hours: float) -> str:
    """Format hours as HH:MM."""
    minutes = round(hours * 60)
    return f"{minutes // 60:02}:{minutes % 60:02}"


def moon_table(now: int) -> str:
    """Compute the phase of the moon for each week of the year around `now`."""
    lines = ["day,phase\n"]
    for noon in range(now // DAY * DAY + DAY // 2 - 182 * DAY, now + 182 * DAY, 7 * DAY):
        age = (noon - NEW_MOON) / DAY % MOON_DAYS
        phase = PHASES[round(age / MOON_DAYS * len(PHASES)) % len(PHASES)]
        lines.append(f"{datetime.fromtimestamp(noon, UTC):%Y-%m-%d},{phase}\n")
    return "".join(lines)
