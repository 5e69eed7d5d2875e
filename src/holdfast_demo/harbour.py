"""The repository `harbour`: a year of commits by several users, with merged and open branches."""

from collections.abc import Callable
from functools import partial
from typing import Final

from holdfast_demo import harbour_texts as texts
from holdfast_demo.calendar import DAY, format_day, format_month, random_times
from holdfast_demo.drawings import harbour_svg, tides_svg, water_level
from holdfast_demo.feature import Feature, FeatureCommit
from holdfast_demo.harbour_early import EARLY
from holdfast_demo.harbour_late import LATE
from holdfast_demo.harbour_open import OPEN
from holdfast_demo.history import EXECUTABLE, LINK, SUBMODULE, DemoBranch, DemoFile, DemoHistory, text
from holdfast_demo.people import EVERYBODY, IFE, JONAH, MAREN, TOMAS, YUKI
from holdfast_demo.sample.seeded_random import SeededRandom

__all__ = ["PUSHED_BRANCHES", "harbour_history"]

PUSHED_BRANCHES: Final = ("main", *(feature.branch for feature in OPEN), "release/1.1")
FEATURES: Final = (*EARLY, *LATE)
LOGBOOK_DAYS: Final = 110
BERTH_CHANGES: Final = 70
BERTHS: Final = 16
Event = tuple[int, Callable[[int], None]]


def harbour_history(now: int, almanac: str, view: bytes) -> DemoHistory:
    """Return the history up to `now`; `almanac` is the commit of the submodule, `view` the Git LFS pointer."""
    return DemoSchedule(now, almanac, view).build()


class DemoSchedule:
    """The planned commits of a year; `build` writes them in order of time."""

    def __init__(self, now: int, almanac: str, view: bytes) -> None:
        self.rng = SeededRandom("harbour")
        self.history = DemoHistory()
        self.main = DemoBranch("main")
        self.start, self.end = now - 365 * DAY, now - 3600
        self.almanac, self.view = almanac, view
        self.berths = [""] * BERTHS
        self.settings = dict(texts.SETTINGS)
        self.events: list[Event] = []

    def build(self) -> DemoHistory:
        """Plan all commits, then write them."""
        self.initial_commits()
        self.weekly_readings()
        self.daily_work()
        self.features()
        self.releases()
        self.open_branches()
        for when, action in sorted(self.events, key=lambda event: event[0]):
            action(when)
        return self.history

    def initial_commits(self) -> None:
        """Commit the first files."""
        steps: tuple[tuple[str, dict[str, DemoFile]], ...] = (
            ("Begin", {"README.md": text(texts.README_AT_FIRST), ".editorconfig": text(texts.EDITORCONFIG)}),
            ("Say how we work", {"CONTRIBUTING.md": text(texts.CONTRIBUTING)}),
            ("Keep pictures as large files", {".gitattributes": text(texts.ATTRIBUTES)}),
            ("Make a package", {"harbour/__init__.py": text('"""The board by the ferry office."""\n')}),
            ("Show the board in a terminal", self.program()),
            ("Write the settings down", {"harbour.toml": text(toml(self.settings))}),
            ("Draw the harbour and its tides", self.pictures()),
            (
                "Take the tables of sun and moon from the almanac",
                {".gitmodules": text(texts.GITMODULES), "almanac": DemoFile(self.almanac.encode(), SUBMODULE)},
            ),
        )
        for number, (message, files) in enumerate(steps):
            self.history.commit(self.main, MAREN, self.start + number * 5400, message, files)

    def program(self) -> dict[str, DemoFile]:
        """Return the files of the program."""
        return {"scripts/harbour": text(texts.SCRIPT, EXECUTABLE), "harbour/__main__.py": text(texts.TERMINAL)}

    def pictures(self) -> dict[str, DemoFile]:
        """Return the README with its pictures, and a symbolic link to it."""
        return {
            "docs/harbour.svg": text(harbour_svg()),
            "docs/tides.svg": text(tides_svg()),
            "docs/view.png": DemoFile(self.view),
            "docs/index.md": text("../README.md", LINK),
            "README.md": text(texts.README_LATER),
        }

    def schedule(self, when: int, action: Callable[[int], None]) -> None:
        """Schedule an action."""
        self.events.append((when, action))

    def weekly_readings(self) -> None:
        """Schedule a commit of tide readings every week."""
        for monday in range(self.start + 7 * DAY, self.end, 7 * DAY):
            self.schedule(monday + self.rng.between(0, 3 * 3600), self.enter_readings)

    def enter_readings(self, when: int) -> None:
        """Append a week of readings to the file of its month."""
        path = f"data/readings/{format_month(when)}.csv"
        lines = [
            f"{format_day(moment)},{moment // 3600 % 24:02}:00,{water_level((moment - self.start) / 3600):.2f}\n"
            for moment in range(when - 7 * DAY, when, 6 * 3600)
        ]
        message = f"Readings of the week before {format_day(when)}"
        self.add(path, when, message, "".join(lines), first="day,time,level\n")

    def daily_work(self) -> None:
        """Schedule commits to the logbook, the berths and the settings."""
        for when in random_times(self.rng, self.start + DAY, self.end, LOGBOOK_DAYS):
            self.schedule(when, self.write_logbook)
        for when in random_times(self.rng, self.start + 2 * DAY, self.end, BERTH_CHANGES):
            self.schedule(when, self.move_boat)
        times = random_times(self.rng, self.start + 3 * DAY, self.end, 3 * len(texts.TUNINGS))
        for number, when in enumerate(times):
            self.schedule(when, partial(self.tune, *texts.TUNINGS[number % len(texts.TUNINGS)]))

    def write_logbook(self, when: int) -> None:
        """Append a day to the logbook of its month."""
        weather, remark = self.rng.pick(texts.WEATHER), self.rng.pick(texts.REMARKS)
        path = f"docs/logbook/{format_month(when)}.md"
        line = f"- **{format_day(when)}** {weather}. {remark}\n"
        self.add(path, when, f"Logbook: {weather[0].lower()}{weather[1:]}", line, first="# Logbook\n\n")

    def move_boat(self, when: int) -> None:
        """Assign a boat to a free berth, or free a berth."""
        number = self.rng.below(BERTHS)
        boat = self.berths[number]
        if boat:
            self.berths[number], message = "", f"{boat} leaves berth {number + 1}"
        else:
            boat = self.rng.pick([name for name in texts.BOATS if name not in self.berths])
            self.berths[number], message = boat, f"{boat} takes berth {number + 1}"
        rows = "".join(f"{place},{name}\n" for place, name in enumerate(self.berths, 1))
        person = self.rng.pick((JONAH, IFE, TOMAS))
        self.history.commit(self.main, person, when, message, {"data/berths.csv": text("berth,boat\n" + rows)})

    def tune(self, name: str, change: int, reason: str, when: int) -> None:
        """Change a setting."""
        self.settings[name] += change
        person = self.rng.pick((YUKI, MAREN, IFE))
        self.history.commit(self.main, person, when, reason, {"harbour.toml": text(toml(self.settings))})

    def add(self, path: str, when: int, message: str, words: str, *, first: str) -> None:
        """Append a text to a file, which is created with `first`."""
        before = self.main.files[path].content if path in self.main.files else first.encode()
        files = {path: DemoFile(before + words.encode())}
        self.history.commit(self.main, self.rng.pick_biased(EVERYBODY), when, message, files)

    def features(self) -> None:
        """Schedule the feature branches, one after the other, and their merges."""
        share = (self.end - 40 * DAY - self.start) // len(FEATURES)
        for number, feature in enumerate(FEATURES):
            begin = self.start + DAY + number * share
            times = random_times(self.rng, begin, begin + share - DAY, len(feature.commits) + 1)
            branch = DemoBranch(feature.branch)
            for step, when in zip(feature.commits, times, strict=False):
                self.schedule(when, partial(self.commit_to_feature, branch, feature, step))
            self.schedule(times[-1], partial(self.merge, branch))

    def commit_to_feature(self, branch: DemoBranch, feature: Feature, step: FeatureCommit, when: int) -> None:
        """Commit to a feature branch; the first commit creates it."""
        if not branch.tip:
            branch.tip, branch.files = self.main.tip, dict(self.main.files)
        before = branch.files.get(step.path)
        gap = b"\n\n" if step.path.endswith(".py") else b"\n"
        content = step.text.encode() if before is None else before.content + gap + step.text.encode()
        self.history.commit(branch, feature.person, when, step.message, {step.path: DemoFile(content)})

    def merge(self, branch: DemoBranch, when: int) -> None:
        """Merge a feature branch."""
        person = self.rng.pick((MAREN, TOMAS))
        self.history.merge(self.main, branch, person, when, f"Merge branch '{branch.name}'")

    def releases(self) -> None:
        """Schedule the releases; version 1.1 has a maintenance branch."""
        share = (self.end - 20 * DAY - self.start) // len(texts.RELEASES)
        for number, (version, words) in enumerate(texts.RELEASES, 1):
            when = self.start + number * share
            self.schedule(when, partial(self.release, version, words))

    def release(self, version: str, words: str, when: int) -> None:
        """Add a release to the changelog, and tag it."""
        before = self.main.files["CHANGELOG.md"].content if "CHANGELOG.md" in self.main.files else b""
        files = {
            "CHANGELOG.md": DemoFile(f"## {version}, {format_day(when)}\n\n{words}\n\n".encode() + before),
            "VERSION": text(f"{version}.0\n"),
        }
        self.history.commit(self.main, MAREN, when, f"Release {version}", files)
        # The first tag is not annotated.
        self.history.tag(f"v{version}", self.main, MAREN, when, "" if version == "0.1" else words)
        if version == "1.1":
            kept = self.history.fork(self.main, "release/1.1")
            later = when + 2 * DAY
            repaired = {"VERSION": text("1.1.1\n"), "harbour.toml": text(toml(self.settings | {"board.rows": 12}))}
            self.history.commit(kept, TOMAS, later, "Go back to twelve rows: the screen shows no more", repaired)
            self.history.tag("v1.1.1", kept, TOMAS, later, "Twelve rows again.")

    def open_branches(self) -> None:
        """Schedule the branches of the last weeks, which are not merged."""
        for feature in OPEN:
            branch = DemoBranch(feature.branch)
            times = random_times(self.rng, self.end - 12 * DAY, self.end, len(feature.commits))
            for step, when in zip(feature.commits, times, strict=True):
                self.schedule(when, partial(self.commit_to_feature, branch, feature, step))


def toml(settings: dict[str, int]) -> str:
    """Format the settings as TOML."""
    tables: dict[str, list[str]] = {}
    for name, value in settings.items():
        table, _, key = name.partition(".")
        tables.setdefault(table, []).append(f"{key} = {value}\n")
    return "\n".join(f"[{table}]\n" + "".join(lines) for table, lines in tables.items())
