"""The layout of the dependency graph."""

from itertools import pairwise

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from holdfast.web.issues.graph_layout import MOST_HELPERS, Edge, compute_layout, remove_overlaps

SIZE, HELPER = 60.0, 10.0


@st.composite
def graphs(draw: st.DrawFn) -> tuple[int, list[Edge]]:
    """Draw a graph without cycles."""
    count = draw(st.integers(1, 25))
    pairs = st.tuples(st.integers(0, count - 1), st.integers(0, count - 1))
    edges = {(min(pair), max(pair)) for pair in draw(st.lists(pairs, max_size=60)) if pair[0] != pair[1]}
    return count, sorted(edges)


@settings(max_examples=60)
@given(graphs())
def test_lines_run_to_the_right_and_nothing_overlaps(graph: tuple[int, list[Edge]]) -> None:
    """Every edge runs column by column from its first node to its second, and nodes do not overlap."""
    count, edges = graph
    layout = compute_layout(count, edges, size=SIZE, helper_size=HELPER)
    assert len(layout.columns) == len(layout.heights) == count
    assert min(layout.columns) >= 0
    for one, other in edges:
        assert layout.columns[one] < layout.columns[other]
        way = layout.lines[one, other]
        assert way[0] == (layout.columns[one], layout.heights[one])
        assert way[-1] == (layout.columns[other], layout.heights[other])
        assert [column for column, _ in way] == list(range(layout.columns[one], layout.columns[other] + 1))
    for column in set(layout.columns):
        heights = sorted(layout.heights[node] for node in range(count) if layout.columns[node] == column)
        assert all(after - before >= SIZE - 1e-6 for before, after in pairwise(heights))
        assert heights[0] >= -1e-6
        assert heights[-1] <= layout.height + 1e-6


def test_lines_that_can_be_drawn_without_crossing_are() -> None:
    """Four pairs of nodes in the worst order are connected by straight lines."""
    layout = compute_layout(8, [(0, 7), (1, 6), (2, 5), (3, 4)], size=SIZE, helper_size=HELPER)
    for one, other in layout.lines:
        assert layout.heights[one] == layout.heights[other]


def test_a_blocker_is_placed_close_to_the_issue_it_blocks() -> None:
    """A blocker without blockers is in the column just before its issue, not in the first one."""
    layout = compute_layout(5, [(0, 1), (1, 2), (2, 3), (4, 3)], size=SIZE, helper_size=HELPER)
    assert layout.columns == [0, 1, 2, 3, 2]


@pytest.mark.parametrize("step", [1, 7])
def test_a_graph_too_dense_for_virtual_nodes_is_laid_out(step: int) -> None:
    """Its long edges are drawn as straight lines without virtual nodes."""
    count = 130
    edges = [(item, other) for item in range(count) for other in range(item + 1, count, step)]
    assert sum(other - item for item, other in edges) > MOST_HELPERS
    layout = compute_layout(count, edges, size=SIZE, helper_size=HELPER)
    assert layout.columns == list(range(count))
    assert all(len(way) == 2 for way in layout.lines.values())


def test_an_empty_graph_has_no_height() -> None:
    """The layout of a graph without nodes has height 0."""
    assert compute_layout(0, [], size=SIZE, helper_size=HELPER).height == 0


@given(st.lists(st.tuples(st.floats(-1e4, 1e4), st.floats(1, 100)), max_size=20))
def test_spreading_keeps_order_and_distance(items: list[tuple[float, float]]) -> None:
    """Boxes keep their order without overlapping, and boxes that do not overlap are not moved."""
    wanted, sizes = [item for item, _ in items], [size for _, size in items]
    heights = remove_overlaps(wanted, sizes)
    for (before, one), (after, other) in pairwise(zip(heights, sizes, strict=True)):
        assert after - before >= (one + other) / 2 - 1e-6
    assert remove_overlaps([0.0, 100.0], [60.0, 60.0]) == [0.0, 100.0]
    assert remove_overlaps([50.0, 50.0], [60.0, 60.0]) == [20.0, 80.0]
