"""The labels, milestones, issues and comments of the demo."""

from dataclasses import dataclass
from typing import Final

from holdfast_demo.people import IFE, JONAH, MAREN, TOMAS, YUKI, DemoUser

__all__ = [
    "ALMANAC",
    "DEPENDENCIES",
    "HARBOUR",
    "LABELS",
    "MILESTONES",
    "DemoIssue",
    "DemoLabel",
    "DemoMilestone",
]


@dataclass(frozen=True, slots=True)
class DemoLabel:
    """A label of the organization."""

    name: str
    color: str
    description: str
    is_exclusive: bool = False


@dataclass(frozen=True, slots=True)
class DemoMilestone:
    """A milestone, due `due_days` after the first start."""

    title: str
    description: str
    due_days: int
    is_closed: bool = False


@dataclass(frozen=True, slots=True)
class DemoIssue:
    """An issue and its comments, each with its author, in order."""

    person: DemoUser
    title: str
    body: str
    labels: tuple[str, ...] = ()
    milestone: str = ""
    assignees: tuple[DemoUser, ...] = ()
    comments: tuple[tuple[DemoUser, str], ...] = ()
    closed_by: DemoUser | None = None
    due_days: int = 0


LABELS: Final = (
    DemoLabel("bug", "#b5403a", "Something is not as it should be"),
    DemoLabel("wish", "#2a7f8f", "Something that would be good to have"),
    DemoLabel("documentation", "#6d597a", "Words that are missing or wrong"),
    DemoLabel("good first issue", "#4d7c3a", "Small, and explained well"),
    DemoLabel("question", "#d9a441", "Needs an answer, not a change"),
    DemoLabel("size/small", "#cfe8d5", "An evening", is_exclusive=True),
    DemoLabel("size/large", "#7fa98a", "More than a week", is_exclusive=True),
    DemoLabel("waits", "#8a8f98", "Nothing can be done here until something else is"),
)
MILESTONES: Final = (
    DemoMilestone("Season opening", "Everything a visitor sees in May.", 60),
    DemoMilestone("Winter repairs", "What can only be done when the harbour is empty.", 21),
    DemoMilestone("Regatta", "Done, and nobody fell in.", -50, is_closed=True),
)
HARBOUR: Final = (
    DemoIssue(
        TOMAS,
        "The board is an hour off after the clocks change",
        "On the night of the change the board shows high water an hour late.\n\n"
        "1. Set the clock to the last Sunday of October\n2. Look at the board after 3 o'clock\n\n"
        "**Expected:** the time on the tower.\n**Seen:** the time of yesterday.\n\n"
        "There is a test on `fix/winter-time`.",
        ("bug", "size/small"),
        "Winter repairs",
        (TOMAS,),
        (
            (MAREN, "The gauge itself keeps UTC, so it must be the board. @yuki, do you add the offset twice?"),
            (
                YUKI,
                "Once, but at *start*. It never notices that it changed. I'd take the zone's name instead.",
            ),
        ),
        due_days=14,
    ),
    DemoIssue(
        IFE,
        "Lanterns: show which light is lit",
        "Visitors ask which light is which. The board could show each with its character:\n\n"
        "| light | character |\n|---|---|\n| mole | Fl(2) G 5s |\n| inner pier | F R |\n\n"
        "Work is on `feature/lanterns`.",
        ("wish", "size/large"),
        "Season opening",
        (IFE, YUKI),
        ((YUKI, "I can draw them. Do they have to blink? `prefers-reduced-motion` says no for some people."),),
    ),
    DemoIssue(
        JONAH,
        "A fee of 8.00 for a night that did not happen",
        "*Old Peter* came in at noon and left at two. `fee(boat, 0)` should be nothing, and is.\n"
        "But the form sends `1` when the field is empty.",
        ("bug",),
        "",
        (JONAH,),
        ((MAREN, "The form must not guess. An empty field is a question."), (JONAH, "Fixed on the form.")),
        closed_by=JONAH,
    ),
    DemoIssue(
        YUKI,
        "The table jumps while it is refreshed",
        "`replaceChildren` makes all rows anew; a screen reader starts from the top each minute.\n\n"
        "- [x] find out why\n- [ ] change only the cells that changed\n- [ ] try it with a reader",
        ("bug", "good first issue"),
        "Season opening",
        comments=((IFE, "I could try it with NVDA on Thursday."),),
    ),
    DemoIssue(
        MAREN,
        "Say in the README how to get the view from the sea",
        "People clone without LFS and see three lines of text instead of a picture.",
        ("documentation",),
        closed_by=MAREN,
        comments=((MAREN, "`git lfs pull` is in the README now."),),
    ),
    DemoIssue(
        TOMAS,
        "Allot berths by draught first at neaps",
        "At neaps the inner berths keep half a metre more. `allot` looks at the length only, so shallow boats get "
        "the deep places:\n\n```python\nchosen = min(free, key=lambda berth: (berth.depth, berth.length))\n```",
        ("wish", "size/small"),
        comments=((MAREN, "Then a dinghy never lies outside. I like it."), (JONAH, "The dinghies will too.")),
    ),
    DemoIssue(
        IFE,
        "soundings: an empty file should not be an error",
        "When the sounder was off, the script stops with *no soundings* and status 1. Cron then tells us all.",
        ("question",),
        comments=(
            (TOMAS, "I would rather know that it was off."),
            (IFE, "So would I, but once a day, not every minute."),
        ),
    ),
    DemoIssue(
        YUKI,
        "Dark letters for bright days",
        "In June the sun is on the screen from three to six, and nobody reads pale letters on dark blue.",
        ("wish",),
        "Season opening",
        (YUKI,),
        ((MAREN, "Could it follow the clock? The sun does."), (YUKI, "It could follow `sun.csv` of the almanac.")),
    ),
    DemoIssue(
        JONAH,
        "The regatta needs a second start list",
        "Juniors start at ten, the others at noon.",
        ("wish",),
        "Regatta",
        (JONAH,),
        ((JONAH, "Done by hand, it worked, nobody fell in."),),
        JONAH,
    ),
    DemoIssue(
        MAREN,
        "Gauge: readings of the storm are missing",
        "From 02:10 to 05:40 there is nothing. The mast was under water; the logger was not. Where did they go?",
        ("bug",),
        "Winter repairs",
        (IFE, MAREN),
        (
            (IFE, "The logger refuses anything above 4 m as impossible."),
            (MAREN, "It was 4.1."),
            (IFE, "Then I shall teach it manners: keep everything, mark what is odd."),
        ),
    ),
    DemoIssue(
        IFE,
        "Keep what is odd, and mark it",
        "Follows from the storm. A reading outside of the expected range gets a `?`, and the mean leaves it out.",
        ("wish", "waits"),
        "Winter repairs",
    ),
    DemoIssue(
        YUKI,
        "Names of boats that are longer than the board",
        "*Lady of Skerry* is cut to *Lady of Ske*. Break the line, or make the letters narrower?",
        ("bug", "good first issue"),
        comments=((JONAH, "Break it. She is worth two lines."),),
        closed_by=YUKI,
    ),
    DemoIssue(
        TOMAS,
        "Rule of twelfths for places with two high waters",
        "Ours is regular, but Jonah's home port has a stand. Is it worth it?",
        ("question",),
        comments=((JONAH, "Not for me. I look out of the window."),),
        closed_by=TOMAS,
    ),
    DemoIssue(
        JONAH,
        "A page for the telephone",
        "I want to see the level from bed.\n\n> Then get up.\n> -- everybody\n\nStill.",
        ("wish", "size/large"),
        "Season opening",
        comments=((YUKI, "The table is wide. A list would do below 40rem."),),
    ),
    DemoIssue(
        MAREN,
        "Pilot guide: who knows the east passage?",
        "`docs/pilot-guide` has the west entrance. For the east one I need somebody who has done it at night.",
        ("documentation",),
        "Season opening",
        (MAREN,),
        ((TOMAS, "Twice, not on purpose. I'll write it down."),),
    ),
    DemoIssue(
        IFE,
        "Readings twice in one week",
        "The week of the holiday was entered by two of us. `sort -u` helped; a check would help more.",
        ("bug",),
        closed_by=IFE,
    ),
    DemoIssue(
        TOMAS, "Thank you all for the season", "The paper board is in the museum now. :tada:", closed_by=MAREN
    ),
)
ALMANAC: Final = (
    DemoIssue(
        YUKI,
        "Sunset is four minutes early",
        "Refraction is missing, and the sun is not a point. Together about 50 minutes of arc: "
        "use -0.83° instead of 0°.",
        ("bug", "good first issue"),
        comments=((IFE, "Four minutes is how long it takes me to find the lantern, so yes please."),),
    ),
    DemoIssue(
        IFE,
        "Eclipses",
        "The next one here is partial, but people will ask. Draft on `draft/eclipses`.",
        ("wish", "size/large"),
        assignees=(IFE,),
        comments=((JONAH, "Look up. That is the whole page."), (IFE, "It is, so far.")),
    ),
    DemoIssue(
        JONAH,
        "What is the custom with the tree on the crane?",
        "The page of December mentions it as if everybody knew.",
        ("documentation", "question"),
        comments=((MAREN, "The crane had nothing to do in December of 1987. Neither had we."),),
        closed_by=MAREN,
    ),
    DemoIssue(
        YUKI,
        "A table for the board: sunrise and sunset as JSON",
        "Needed by tidewater/harbour#8, which wants to know when the sun is on the screen.",
        ("wish", "size/small"),
        "",
        (YUKI,),
        ((YUKI, "Same columns, one object a week."),),
    ),
    DemoIssue(
        MAREN,
        "The page of May says that the lanterns rest",
        "They do not. It is the law.",
        ("bug",),
        closed_by=IFE,
    ),
    DemoIssue(
        TOMAS,
        "Southern hemisphere",
        "For my mother. `LATITUDE` is a constant; could it be a column?",
        ("wish",),
        comments=(
            (YUKI, "A file for each place, I think. What is her latitude?"),
            (TOMAS, "34.6 south, and she says hello."),
        ),
    ),
    DemoIssue(
        IFE,
        "Weeks that begin on Sunday",
        "Week 1 is not the same everywhere. Write the date of the Monday beside the number?",
        ("question",),
    ),
    DemoIssue(JONAH, "Mackerel in August: confirmed", "Eleven before breakfast.", closed_by=JONAH),
)
# An issue and one it depends on, each as repository and number; one of the dependencies is closed.
DEPENDENCIES: Final = (
    (("harbour", 2), ("almanac", 4)),
    (("almanac", 4), ("almanac", 1)),
    (("harbour", 14), ("harbour", 4)),
    (("harbour", 14), ("harbour", 8)),
    (("harbour", 14), ("harbour", 12)),
    (("harbour", 6), ("harbour", 11)),
    (("harbour", 11), ("harbour", 10)),
)
