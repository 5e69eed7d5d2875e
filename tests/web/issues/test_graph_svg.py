"""The dependency graph as SVG."""

import pytest

from holdfast.hosting.schemas.dependencies import DependencyEdge, DependencyGraph, DependencyNode
from holdfast.web.issues.graph_svg import (
    FOR_WORDS,
    MOST_LINES,
    MOST_NODES,
    WIDTH,
    draw_graph,
    letter_width,
    shortened,
)


def node(key: int, depth: int = 0, **fields: object) -> DependencyNode:
    """Make an issue of a graph."""
    facts: dict[str, object] = {
        "hidden": False,
        "repository": "ada/ship",
        "number": key + 1,
        "title": f"Issue {key + 1}",
        "state": "open",
        "is_pull": False,
        "html_url": "",
    }
    return DependencyNode(key=key, depth=depth, **(facts | fields))  # type: ignore[arg-type]  # fields of several types


def graph(nodes: list[DependencyNode], *edges: tuple[int, int]) -> DependencyGraph:
    """Make a graph; each edge is an issue and its blocker."""
    return DependencyGraph(nodes, [DependencyEdge(*edge) for edge in edges], truncated=False)


def test_blockers_stand_to_the_left() -> None:
    """A blocker is drawn left of the issue it blocks, and lines run from blocker to blocked issue."""
    drawing = draw_graph(graph([node(0), node(1, 1), node(2, -1)], (0, 1), (2, 0)), "ada/ship")
    here, blocker, blocked = drawing.boxes
    assert blocker.x < here.x < blocked.x
    assert drawing.own_lines.startswith(f"M{blocker.x + WIDTH} ") or drawing.own_lines.startswith(
        f"M{here.x + WIDTH} "
    )
    assert drawing.own_lines.count("M") == drawing.own_heads.count("M") == 2
    assert drawing.lines == drawing.heads == ""
    assert drawing.width > blocked.x + WIDTH


def test_every_box_says_what_it_is() -> None:
    """A box has the shortest name, the state and the path of its issue, and nothing of a hidden issue."""
    others = [
        node(1, 1, state="closed"),
        node(2, 1, repository="bob/tools", is_pull=False),
        node(3, 1, hidden=True, repository="", number=0, title="HIDDEN"),
    ]
    drawing = draw_graph(graph([node(0), *others], (0, 1), (0, 2), (0, 3)), "ada/ship")
    assert [(box.name, box.state, box.path) for box in drawing.boxes] == [
        ("#1", "Open", "/ada/ship/issues/1"),
        ("#2", "Closed", "/ada/ship/issues/2"),
        ("bob/tools#3", "Open", "/bob/tools/issues/3"),
        ("", "Hidden", ""),
    ]
    assert drawing.boxes[3].title == "An issue you cannot see"


def test_of_a_large_graph_the_nearest_part_is_drawn() -> None:
    """The numbers of nodes and lines are limited, and those left out are counted."""
    count = MOST_NODES + 30
    star = draw_graph(
        graph([node(key, min(key, 1)) for key in range(count)], *[(0, key) for key in range(1, count)]), ""
    )
    assert (len(star.boxes), star.left_out, star.lines_left_out) == (MOST_NODES, 30, 0)
    dense = [(item, other) for item in range(60) for other in range(item + 1, 60)]
    drawing = draw_graph(graph([node(key, key) for key in range(60)], *dense), "ada/ship")
    assert drawing.lines_left_out == len(dense) - MOST_LINES
    assert drawing.own_lines.count("M") == 59


@pytest.mark.parametrize("text", ["word " * 40, "W" * 100, "潮" * 50, "a" * 300, "e\u0301" * 300, "\u202e" * 300])
def test_long_titles_are_cut(text: str) -> None:
    """A long title ends with an ellipsis and fits the width of its box."""
    title = shortened(text)
    assert title.endswith("…")
    assert sum(map(letter_width, title[:-1])) <= FOR_WORDS


def test_short_titles_stay() -> None:
    """A short title is kept, with runs of whitespace collapsed to one space."""
    assert shortened("  The  gauge\nis stuck ") == "The gauge is stuck"
