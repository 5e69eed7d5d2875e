"""Statistics drawn as one SVG picture."""

from dataclasses import replace
from xml.etree import ElementTree

from holdfast.backup.archives import Archive
from holdfast.backup.archives.chart import MOST, chart
from holdfast.backup.archives.statistics import MessageCount, Statistics

SVG = "{http://www.w3.org/2000/svg}"
EMPTY = Statistics(0, None, None, (), ((0,) * 24,) * 7, (), (), (), (), ())


def drawn(found: Statistics) -> ElementTree.Element:
    """Draw statistics, and parse the picture."""
    return ElementTree.fromstring(chart(found))


def texts(root: ElementTree.Element) -> list[str]:
    """Return what is written in a picture, in its order."""
    return [one.text or "" for one in root.iter(f"{SVG}text")]


def test_the_picture_is_well_formed_whatever_people_are_called(opened: Archive) -> None:
    """Names are text in it, never markup."""
    found = opened.statistics()
    hostile = MessageCount(1, "</text><script>alert(1)</script>\x00\x1b\ufffe", 5, 5)
    drawn = chart(replace(found, chats=(hostile, *found.chats)))
    root = ElementTree.fromstring(drawn)
    assert root.tag.endswith("svg")
    assert not [one for one in root.iter() if one.tag.endswith("script")]
    assert "http" not in drawn.replace("http://www.w3.org/2000/svg", "")


def test_nothing_can_be_drawn_too(opened: Archive) -> None:
    """A chat without messages."""
    drawn = chart(opened.statistics(0))
    assert ElementTree.fromstring(drawn).tag.endswith("svg")


def test_the_highest_month_has_the_highest_bar() -> None:
    """The others in proportion, each named with its count; the first and the last month are written below."""
    root = drawn(replace(EMPTY, messages=1500, months=(("2024-01", 500), ("2024-02", 1000), ("2024-03", 0))))
    bars = {
        one.findtext(f"{SVG}title"): float(one.attrib["height"])
        for one in root.iter(f"{SVG}rect")
        if one.attrib["class"] == "b" and "opacity" not in one.attrib
    }
    assert bars == {"2024-01: 500": 60.0, "2024-02: 1,000": 120.0, "2024-03: 0": 0.0}
    assert texts(root)[:3] == ["1,500 messages by month", "2024-01", "2024-03"]


def test_every_hour_of_the_week_has_a_square_as_dark_as_it_is_busy() -> None:
    """Monday first."""
    day = (0,) * 24
    root = drawn(replace(EMPTY, hours=((4, *day[1:]), *[day] * 5, (*day[:23], 1))))
    squares = {one.findtext(f"{SVG}title"): one.attrib["opacity"] for one in root.iter(f"{SVG}rect") if len(one)}
    assert len(squares) == 7 * 24
    assert (squares["Mon 0:00: 4"], squares["Sun 23:00: 1"], squares["Tue 5:00: 0"]) == ("1.00", "0.25", "0.00")


def test_only_the_first_chats_and_people_are_drawn_and_long_names_are_cut_off() -> None:
    """A picture of thousands of chats would be no picture; its height follows what is in it."""
    many = tuple(MessageCount(number, f"chat {number}", 100 - number, 0) for number in range(MOST + 8))
    long = MessageCount(1, "x" * 40, 1, 0)
    root = drawn(replace(EMPTY, chats=many, people=(long,)))
    written = texts(root)
    assert [text for text in written if text.startswith("chat ")] == [one.name for one in many[:MOST]]
    assert f"{'x' * 27}…" in written
    heights = [int(drawn(one).attrib["viewBox"].split()[3]) for one in (EMPTY, replace(EMPTY, chats=many))]
    assert heights[1] - heights[0] == MOST * 24
