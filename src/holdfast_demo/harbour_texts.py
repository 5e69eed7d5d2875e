"""Texts of the repository `harbour`: its first files, its settings, and words for logbook entries and releases."""

from typing import Final

__all__ = [
    "ATTRIBUTES",
    "BOATS",
    "CONTRIBUTING",
    "EDITORCONFIG",
    "GITMODULES",
    "README_AT_FIRST",
    "README_LATER",
    "RELEASES",
    "REMARKS",
    "SCRIPT",
    "SETTINGS",
    "TERMINAL",
    "TUNINGS",
    "WEATHER",
]

README_AT_FIRST: Final = """# Harbour

The board by the ferry office: what the water does, and who lies where.
"""
README_LATER: Final = """# Harbour

The board by the ferry office: what the water does, and who lies where.

![A lantern on the mole, a boat at the quay](docs/harbour.svg)

## What it does

- reads the tide gauge and says when the next high water is,
- gives visiting boats the smallest berth they fit in,
- shows both on the board, in letters that can be read from the pier.

| part | written in | where |
|---|---|---|
| tides, berths, fees | Python | `harbour/` |
| the board | JavaScript | `board/` |
| soundings | C | `tools/` |

## Two days of water

![Four high waters in two days](docs/tides.svg)

What one sees from the sea is in `docs/view.png`. It is a large file and comes with `git lfs pull`.

## Trying it

```sh
scripts/harbour
python -m pytest
```

Tables of the sun and the moon come from the [almanac](almanac), which is a repository of its own.
"""
CONTRIBUTING: Final = """# How we work

1. Say in an issue what you miss, and for whom.
2. Make a branch `feature/...`, `fix/...` or `docs/...`.
3. Somebody else reads it before it is merged.

Readings go into `data/readings/` every Monday. Whoever has the watch writes the logbook.
"""
EDITORCONFIG: Final = """root = true

[*]
charset = utf-8
end_of_line = lf
indent_style = space
indent_size = 4
insert_final_newline = true

[*.{js,css}]
indent_size = 2

[Makefile]
indent_style = tab
"""
ATTRIBUTES: Final = "* text=auto\n*.png filter=lfs diff=lfs merge=lfs -text\n*.csv text eol=lf\n"
GITMODULES: Final = '[submodule "almanac"]\n\tpath = almanac\n\turl = ../almanac.git\n'
SCRIPT: Final = """#!/bin/sh
# Shows the board in a terminal.
set -eu
cd "$(dirname "$0")/.."
exec python3 -m harbour "$@"
"""
TERMINAL: Final = '''"""Shows who lies where."""

import csv
from pathlib import Path

BERTHS = Path("data/berths.csv")

if BERTHS.exists():
    with BERTHS.open(newline="") as file:
        for row in csv.DictReader(file):
            print(f"{row['berth']:>2}  {row['boat'] or 'free'}")
'''
SETTINGS: Final = {
    "board.refresh_seconds": 60,
    "board.rows": 12,
    "gauge.offset_cm": 4,
    "gauge.smoothing": 3,
    "lantern.dusk_minutes": 20,
    "berths.keep_hours": 2,
}
# Changes of settings: name, difference, commit message.
TUNINGS: Final = (
    ("board.refresh_seconds", -5, "Look more often: the ferry was quicker than the board"),
    ("board.rows", 1, "One more row on the board, for the visitors of the weekend"),
    ("gauge.offset_cm", 1, "The gauge sank by a centimetre in the storm"),
    ("gauge.smoothing", 1, "Smooth the readings: the wash of the ferry shows"),
    ("lantern.dusk_minutes", 5, "Light the lanterns earlier, the evenings are grey"),
    ("berths.keep_hours", 1, "Keep a berth longer when there is fog outside"),
    ("gauge.offset_cm", -1, "Read the gauge against the mark on the quay again"),
    ("lantern.dusk_minutes", -5, "Light evenings: the lanterns can wait"),
)
BOATS: Final = (
    *("Marigold", "Petrel", "Anna Sofia", "Halcyon", "Grey Goose", "Tern", "Windhover", "Lady of Skerry"),
    *("Nattljus", "Kittiwake", "Old Peter", "Samphire", "Vesper", "Brisling", "Curlew", "Second Wind"),
)
WEATHER: Final = (
    *("Fog until noon", "Clear and cold", "Wind from the west, 5", "Rain in showers", "Flat calm", "Sun all day"),
    *("Gusts from the north", "Drizzle", "Swell from the last storm", "Mild and grey", "Haze, no wind"),
)
REMARKS: Final = (
    "The mole light was cleaned.",
    "The ferry was ten minutes late.",
    "Two visitors, both for one night.",
    "A seal on the slipway, photographed by everybody.",
    "The crane was oiled.",
    "Nobody came in and nobody went out.",
    "The school came to look at the gauge.",
    "The ladder at berth 4 was mended.",
    "The fishing boats landed mackerel.",
    "A fender was lost and found again.",
    "The pilot brought cinnamon buns.",
    "Sounded the entrance: no change.",
)
RELEASES: Final = (
    ("0.1", "Readings can be kept."),
    ("0.2", "Berths are allotted."),
    ("0.3", "The board can be seen in a browser."),
    ("0.4", "High water is foretold."),
    ("0.5", "Soundings are summed up."),
    ("1.0", "A season without paper."),
    ("1.1", "Fees, and a board that keeps itself up to date."),
    ("1.2", "Slack water."),
)
