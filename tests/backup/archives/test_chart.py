"""Statistics as an SVG image."""

from dataclasses import replace
from xml.etree import ElementTree

from holdfast.backup.archives import Archive
from holdfast.backup.archives.chart import MOST, chart
from holdfast.backup.archives.statistics import MessageCount, Statistics

SVG = "{http://www.w3.org/2000/svg}"
EMPTY = Statistics(0, None, None, (), ((0,) * 24,) * 7, (), (), (), (), ())


def draw(statistics: Statistics) -> ElementTree.Element:
    """Draw statistics, and parse the picture."""
    return ElementTree.fromstring(chart(statistics))


def texts(root: ElementTree.Element) -> list[str]:
    """Return the texts of an SVG image, in document order."""
    return [element.text or "" for element in root.iter(f"{SVG}text")]


def test_the_picture_is_well_formed_whatever_people_are_called(opened: Archive) -> None:
    """Markup and control characters in names stay text in the SVG image."""
    statistics = opened.statistics()
    hostile = MessageCount(1, "</text><script>alert(1)</script>\x00\x1b\ufffe", 5, 5)
    picture = chart(replace(statistics, chats=(hostile, *statistics.chats)))
    root = ElementTree.fromstring(picture)
    assert root.tag.endswith("svg")
    assert not [element for element in root.iter() if element.tag.endswith("script")]
    assert "http" not in picture.replace("http://www.w3.org/2000/svg", "")


def test_nothing_can_be_drawn_too(opened: Archive) -> None:
    """The statistics of a chat without messages are drawn as an SVG image too."""
    picture = chart(opened.statistics(0))
    assert ElementTree.fromstring(picture).tag.endswith("svg")


def text_positions(root: ElementTree.Element) -> dict[str, tuple[float, float]]:
    """Return the position of each text of an SVG image."""
    elements = root.iter(f"{SVG}text")
    return {text.text or "": (float(text.attrib["x"]), float(text.attrib["y"])) for text in elements}


def rectangles(root: ElementTree.Element, kind: str) -> list[tuple[float, ...]]:
    """Return the place and the size of the rectangles of one class."""
    return [
        tuple(float(element.attrib[name]) for name in ("x", "y", "width", "height"))
        for element in root.iter(f"{SVG}rect")
        if element.attrib["class"] == kind
    ]


def test_the_highest_month_has_the_highest_bar() -> None:
    """The bars are in proportion to the counts they are titled with.

    The first and the last month are written below them.
    """
    root = draw(replace(EMPTY, messages=1500, months=(("2024-01", 500), ("2024-02", 1000), ("2024-03", 0))))
    bars = {
        element.findtext(f"{SVG}title"): float(element.attrib["height"])
        for element in root.iter(f"{SVG}rect")
        if element.attrib["class"] == "b" and "opacity" not in element.attrib
    }
    assert bars == {"2024-01: 500": 60.0, "2024-02: 1,000": 120.0, "2024-03: 0": 0.0}
    assert texts(root)[:3] == ["1,500 messages by month", "2024-01", "2024-03"]


def test_every_hour_of_the_week_has_a_square_as_dark_as_it_is_busy() -> None:
    """The opacity of a square is the share of its hour in the busiest one, from Monday to Sunday."""
    day = (0,) * 24
    root = draw(replace(EMPTY, hours=((4, *day[1:]), *[day] * 5, (*day[:23], 1))))
    rects = [element for element in root.iter(f"{SVG}rect") if len(element)]
    squares = {element.findtext(f"{SVG}title"): element.attrib["opacity"] for element in rects}
    assert len(squares) == 7 * 24
    assert (squares["Mon 0:00: 4"], squares["Sun 23:00: 1"], squares["Tue 5:00: 0"]) == ("1.00", "0.25", "0.00")


def test_only_the_first_chats_and_people_are_drawn_and_long_names_are_cut_off() -> None:
    """The number of rows is limited, long names end in an ellipsis, and the height follows the number of rows."""
    many = tuple(MessageCount(number, f"chat {number}", 100 - number, 0) for number in range(MOST + 8))
    long = MessageCount(1, "x" * 29, 1, 0)
    root = draw(replace(EMPTY, chats=many, people=(long,)))
    written = texts(root)
    assert [text for text in written if text.startswith("chat ")] == [entry.name for entry in many[:MOST]]
    assert f"{'x' * 27}…" in written
    heights = [int(draw(entry).attrib["viewBox"].split()[3]) for entry in (EMPTY, replace(EMPTY, chats=many))]
    assert heights[1] - heights[0] == MOST * 24


def test_the_parts_are_below_one_another() -> None:
    """Each part is below its heading, with a gap before the next, and the image ends below the last part."""
    row = (MessageCount(1, "Ada", 1, 0),)
    root = draw(replace(EMPTY, chats=row, people=row))
    written = text_positions(root)
    assert [(text, y) for text, (x, y) in written.items() if x == 20 and "essages by" in text] == [
        ("0 messages by month", 30),
        ("Messages by chat", 432),
        ("Messages by person", 510),
    ]
    assert list(written["By weekday and hour (UTC)"]) == [20, 224]
    assert root.attrib["viewBox"] == "0 0 900 568"


def test_months_stand_on_one_line_across_the_picture() -> None:
    """The bars share a baseline, are at least one unit wide, and the months are named below both ends."""
    root = draw(replace(EMPTY, months=(("2024-01", 1), ("2024-02", 2))))
    assert rectangles(root, "b")[:2] == [(20, 104, 344, 60), (450, 44, 344, 120)]
    assert (text_positions(root)["2024-01"], text_positions(root)["2024-02"]) == ((20, 182), (880, 182))
    crowded = draw(replace(EMPTY, months=tuple((f"month {number}", 1) for number in range(2000))))
    assert {width for _, _, width, _ in rectangles(crowded, "b")[:2000]} == {1}


def test_one_message_of_a_month_fills_its_bar() -> None:
    """The highest count has the full height even if it is 1, and a month without messages has no height."""
    alone = draw(replace(EMPTY, months=(("2024-01", 1),)))
    assert rectangles(alone, "b")[0] == (20, 44, 688, 120)
    nothing = draw(replace(EMPTY, months=(("2024-01", 0),)))
    assert rectangles(nothing, "b")[0] == (20, 164, 688, 0)


def test_hours_are_in_a_grid_with_the_days_at_its_side() -> None:
    """The square of each hour lies on a background square of the same size."""
    root = draw(EMPTY)
    grid = [(60 + hour * 34, 238 + day * 22, 32, 20) for day in range(7) for hour in range(24)]
    assert rectangles(root, "f") == grid
    assert rectangles(root, "b") == grid
    assert [text_positions(root)[day] for day in ("Mon", "Sun")] == [(20, 253), (20, 385)]
    assert {element.attrib["opacity"] for element in root.iter(f"{SVG}rect") if len(element)} == {"0.00"}


def test_a_single_message_makes_its_hour_the_darkest() -> None:
    """The busiest hour has the full opacity, even with one message."""
    day = (0,) * 24
    root = draw(replace(EMPTY, hours=((1, *day[1:]), *[day] * 6)))
    assert next(element.attrib["opacity"] for element in root.iter(f"{SVG}rect") if len(element)) == "1.00"


def test_a_row_has_a_name_a_bar_and_a_number() -> None:
    """The number follows the end of the bar, and a name that fits is written whole."""
    fits = "x" * 28
    root = draw(replace(EMPTY, chats=(MessageCount(1, fits, 4000, 0), MessageCount(2, "Ada", 1000, 0))))
    assert rectangles(root, "b")[-2:] == [(260, 448, 520, 18), (260, 472, 130, 18)]
    written = text_positions(root)
    assert (written[fits], written["4,000"]) == ((20, 461), (786, 461))
    assert (written["Ada"], written["1,000"]) == ((20, 485), (396, 485))
    picture = draw(replace(EMPTY, chats=(MessageCount(1, "Ada", 1, 0), MessageCount(2, "Bob", 0, 0))))
    assert [width for _, _, width, _ in rectangles(picture, "b")[-2:]] == [520, 0]
