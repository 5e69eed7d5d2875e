"""The dependency graph as SVG: boxes in columns, and edges from blockers to blocked issues."""

import unicodedata
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

from holdfast.hosting.schemas.dependencies import DependencyEdge, DependencyGraph, DependencyNode
from holdfast.web.issues.graph_layout import Layout, compute_layout

__all__ = ["Box", "Drawing", "draw_graph", "shortened"]

WIDTH: Final = 230
HEIGHT: Final = 52
ACROSS: Final = 70
BETWEEN: Final = 16
MARGIN: Final = 12
# The width of the text in a box, beside the icon of the state.
FOR_WORDS: Final = 186
MOST_NODES: Final = 120
MOST_LINES: Final = 1200


@dataclass(frozen=True, slots=True)
class Box:
    """An issue in the drawing: its position and its text."""

    node: DependencyNode
    x: int
    y: int
    title: str
    """The title, truncated to the width of the box."""
    name: str
    state: str
    """Its state as text, in addition to its colour and icon."""
    path: str


@dataclass(frozen=True, slots=True)
class Drawing:
    """The drawing, in units that are CSS pixels at its default size."""

    width: int
    height: int
    boxes: list[Box]
    lines: str
    """The edges as one SVG path; those of the issue itself are in a separate path."""
    own_lines: str
    heads: str
    own_heads: str
    left_out: int
    """The number of issues that are not drawn."""
    lines_left_out: int


def letter_width(letter: str) -> float:
    """Return the estimated width of a letter."""
    if unicodedata.combining(letter):
        return 0
    if unicodedata.east_asian_width(letter) in "WF":
        return 13.5
    return 9.4 if letter.isupper() or letter in "mwMW@%" else 7.1


def shortened(text: str, width: float = FOR_WORDS) -> str:
    """Truncate a text to a width."""
    flat = " ".join(text.split())
    used = 0.0
    for place, letter in enumerate(flat):
        used += letter_width(letter)
        if used > width or place >= 60:
            return f"{flat[: max(place - 1, 1)].rstrip()}…"
    return flat


def draw_graph(graph: DependencyGraph, repository: str) -> Drawing:
    """Draw a graph around its first node, an issue of this repository; of a large graph the nearest part."""
    nodes = graph.nodes[:MOST_NODES]
    edges = [edge for edge in graph.edges if edge.issue < len(nodes) and edge.blocker < len(nodes)]
    nearest_edges = nearest(nodes, edges)[:MOST_LINES]
    placed = compute_layout(
        len(nodes),
        [(edge.blocker, edge.issue) for edge in nearest_edges],
        size=HEIGHT + BETWEEN,
        helper_size=BETWEEN,
    )
    boxes = [box(node, placed, repository) for node in nodes]
    own_edges = {(edge.blocker, edge.issue) for edge in nearest_edges if 0 in {edge.blocker, edge.issue}}
    others = [edge for edge in placed.lines if edge not in own_edges]
    return Drawing(
        width=(max(placed.columns, default=0) + 1) * (WIDTH + ACROSS) - ACROSS + 2 * MARGIN,
        height=round(placed.height) + HEIGHT + 2 * MARGIN,
        boxes=boxes,
        lines="".join(line(placed.lines[edge]) for edge in others),
        own_lines="".join(line(placed.lines[edge]) for edge in sorted(own_edges)),
        heads="".join(head(placed.lines[edge]) for edge in others),
        own_heads="".join(head(placed.lines[edge]) for edge in sorted(own_edges)),
        left_out=len(graph.nodes) - len(nodes),
        lines_left_out=len(edges) - len(nearest_edges),
    )


def nearest(nodes: Sequence[DependencyNode], edges: Sequence[DependencyEdge]) -> list[DependencyEdge]:
    """Return the edges sorted by their distance from the first node."""
    return sorted(edges, key=lambda edge: abs(nodes[edge.issue].depth) + abs(nodes[edge.blocker].depth))


def box(node: DependencyNode, placed: Layout, repository: str) -> Box:
    """Return the box of an issue, with its texts truncated."""
    name = f"#{node.number}" if node.repository == repository else f"{node.repository}#{node.number}"
    state = "Hidden" if node.hidden else node.state.capitalize()
    return Box(
        node=node,
        x=x_of(placed.columns[node.key]),
        y=y_of(placed.heights[node.key]),
        title="An issue you cannot see" if node.hidden else shortened(node.title),
        name="" if node.hidden else shortened(name, FOR_WORDS - letter_width("W") * len(state) * 0.8 - 16),
        state=f"{state} pull request" if node.is_pull and node.repository == repository else state,
        path="" if node.hidden else f"/{node.repository}/issues/{node.number}",
    )


def x_of(column: int) -> int:
    """Return the left edge of the boxes of a column."""
    return MARGIN + column * (WIDTH + ACROSS)


def y_of(height: float) -> int:
    """Return the top edge of a box whose centre is at a height."""
    return MARGIN + round(height)


def line(points: Sequence[tuple[int, float]]) -> str:
    """Return an edge as SVG path data: horizontal at both ends and across the columns it passes."""
    column, height = points[0]
    x, y = x_of(column) + WIDTH, y_of(height) + HEIGHT // 2
    written = [f"M{x} {y}"]
    for place, (column, height) in enumerate(points[1:], 2):
        is_last = place == len(points)
        to_x, to_y = x_of(column), y_of(height) + HEIGHT // 2
        bend = (x + to_x) // 2
        written.append(f"C{bend} {y} {bend} {to_y} {to_x - (7 if is_last else 0)} {to_y}")
        if not is_last:
            to_x += WIDTH
            written.append(f"H{to_x}")
        x, y = to_x, to_y
    return "".join(written)


def head(points: Sequence[tuple[int, float]]) -> str:
    """Return the arrow head of an edge as SVG path data."""
    column, height = points[-1]
    return f"M{x_of(column)} {y_of(height) + HEIGHT // 2}l-9 -5v10z"
