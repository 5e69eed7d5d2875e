"""The layout of a directed acyclic graph: nodes in columns, so that every edge points to the right.

Sugiyama's method: layers (columns) by the longest path to a node, dummy nodes where an edge spans a layer, an
order within each layer that reduces crossings (barycenter heuristic), then heights as close to the neighbours' as
the order allows.
"""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from typing import Final

__all__ = ["Layout", "compute_layout"]

SWEEPS: Final = 8
# With more dummy nodes than this, long edges are drawn straight: they would not make such a graph easier to read.
MOST_HELPERS: Final = 4000
Edge = tuple[int, int]


@dataclass(frozen=True, slots=True)
class Layout:
    """The positions of nodes (column and height), and the points of each edge."""

    columns: list[int]
    heights: list[float]
    lines: dict[Edge, list[tuple[int, float]]]
    height: float
    """The distance between the highest and the lowest node centre."""


@dataclass(slots=True)
class Grid:
    """The graph with dummy nodes: every edge connects adjacent columns."""

    columns: list[int]
    before: list[list[int]]
    after: list[list[int]]
    sizes: list[float]
    ways: dict[Edge, list[int]] = field(default_factory=dict)

    def add(self, column: int, size: float) -> int:
        """Add a node, and return its index."""
        self.columns.append(column)
        self.before.append([])
        self.after.append([])
        self.sizes.append(size)
        return len(self.columns) - 1

    def join(self, start: int, end: int) -> None:
        """Add an edge between two nodes of adjacent columns."""
        self.after[start].append(end)
        self.before[end].append(start)


def compute_layout(count: int, edges: Iterable[Edge], *, size: float, helper_size: float) -> Layout:
    """Compute the layout of nodes 0 to `count`; every edge points to a column further right.

    `size` is the height of a node in its column, `helper_size` that of a dummy node.
    """
    wanted = sorted(set(edges))
    columns = columns_of(count, wanted)
    grid = with_helpers(columns, wanted, size=size, helper_size=helper_size)
    ordered = order(grid)
    heights = assign_heights(grid, ordered)
    top = min(heights, default=0.0)
    heights = [height - top for height in heights]
    lines = {edge: [(grid.columns[node], heights[node]) for node in path] for edge, path in grid.ways.items()}
    return Layout(columns, heights[:count], lines, max(heights, default=0.0))


def columns_of(count: int, edges: Sequence[Edge]) -> list[int]:
    """Assign each node the column after its last predecessor; one without any goes next to its successors."""
    after: list[list[int]] = [[] for _ in range(count)]
    missing = [0] * count
    for start, end in edges:
        after[start].append(end)
        missing[end] += 1
    firsts = [node for node in range(count) if not missing[node]]
    columns, ready = [0] * count, list(firsts)
    while ready:
        node = ready.pop()
        for end in after[node]:
            columns[end] = max(columns[end], columns[node] + 1)
            missing[end] -= 1
            if not missing[end]:
                ready.append(end)
    for node in firsts:
        if after[node]:
            columns[node] = min(columns[end] for end in after[node]) - 1
    return columns


def with_helpers(columns: Sequence[int], edges: Sequence[Edge], *, size: float, helper_size: float) -> Grid:
    """Split long edges with dummy nodes, one per column, unless there would be too many."""
    grid = Grid([], [], [], [])
    for column in columns:
        grid.add(column, size)
    needed = sum(columns[end] - columns[start] - 1 for start, end in edges)
    for start, end in edges:
        path = [start]
        if needed <= MOST_HELPERS:
            for column in range(columns[start] + 1, columns[end]):
                helper = grid.add(column, helper_size)
                grid.join(path[-1], helper)
                path.append(helper)
        if needed <= MOST_HELPERS or columns[end] - columns[start] == 1:
            grid.join(path[-1], end)
        grid.ways[start, end] = [*path, end]
    return grid


def order(grid: Grid) -> list[list[int]]:
    """Order each column to reduce crossings: sort nodes by the mean of their neighbours, in alternating sweeps."""
    ordered: list[list[int]] = [[] for _ in range(max(grid.columns, default=-1) + 1)]
    for node, column in enumerate(grid.columns):
        ordered[column].append(node)
    places = [0.0] * len(grid.columns)
    number(ordered, places)
    best, fewest = [list(column) for column in ordered], crossings(grid, ordered, places)
    for sweep in range(SWEEPS):
        if not fewest:
            break
        rightwards = sweep % 2 == 0
        neighbours = grid.before if rightwards else grid.after
        for nodes in ordered if rightwards else reversed(ordered):
            nodes.sort(
                key=lambda node: middle([places[neighbour] for neighbour in neighbours[node]], places[node])
            )
            for place, node in enumerate(nodes):
                places[node] = place
        count = crossings(grid, ordered, places)
        if count < fewest:
            best, fewest = [list(column) for column in ordered], count
    return best


def number(ordered: Sequence[Sequence[int]], places: list[float]) -> None:
    """Store the position of each node in its column in `places`."""
    for column in ordered:
        for place, node in enumerate(column):
            places[node] = place


def middle(values: Sequence[float], otherwise: float) -> float:
    """Return the mean of some values; `otherwise` if there are none."""
    return sum(values) / len(values) if values else otherwise


def crossings(grid: Grid, ordered: Sequence[Sequence[int]], places: Sequence[float]) -> int:
    """Count the crossings of edges between adjacent columns."""
    total = 0
    for column in ordered:
        ends = [places[target] for node in column for target in sorted(grid.after[node], key=places.__getitem__)]
        width = int(max(ends, default=0)) + 1
        # A Fenwick tree: the number of edge ends so far up to a position.
        tree = [0] * (width + 1)
        for index, end in enumerate(ends):
            place, above = int(end) + 1, 0
            while place > 0:
                above += tree[place]
                place -= place & -place
            total += index - above
            place = int(end) + 1
            while place <= width:
                tree[place] += 1
                place += place & -place
    return total


def assign_heights(grid: Grid, ordered: Sequence[Sequence[int]]) -> list[float]:
    """Assign heights: each as close to the mean of its neighbours as the order and sizes in its column allow."""
    heights = [0.0] * len(grid.columns)
    for column in ordered:
        reached = 0.0
        for node in column:
            heights[node] = reached + grid.sizes[node] / 2
            reached += grid.sizes[node]
        for node in column:
            heights[node] -= reached / 2
    for sweep in range(SWEEPS):
        rightwards = sweep % 2 == 0
        for column in ordered if rightwards else reversed(ordered):
            near = [
                middle(
                    [heights[neighbour] for neighbour in (*grid.before[node], *grid.after[node])], heights[node]
                )
                for node in column
            ]
            for node, height in zip(
                column, remove_overlaps(near, [grid.sizes[node] for node in column]), strict=True
            ):
                heights[node] = height
    return heights


def remove_overlaps(preferred: Sequence[float], sizes: Sequence[float]) -> list[float]:
    """Return heights that keep the order and do not overlap, closest to the preferred ones (least squares).

    Isotonic regression (pool adjacent violators): nodes that would overlap are merged into a block.
    """
    starts: list[float] = []
    reached = 0.0
    for place, size in enumerate(sizes):
        reached += (sizes[place - 1] + size) / 2 if place else 0.0
        starts.append(reached)
    blocks: list[tuple[float, int]] = []
    for height, start in zip(preferred, starts, strict=True):
        mean, count = height - start, 1
        while blocks and blocks[-1][0] > mean:
            above, many = blocks.pop()
            mean = (mean * count + above * many) / (count + many)
            count += many
        blocks.append((mean, count))
    means = [mean for mean, count in blocks for _ in range(count)]
    return [mean + start for mean, start in zip(means, starts, strict=True)]
